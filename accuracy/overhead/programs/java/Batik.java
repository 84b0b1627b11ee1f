import java.io.ByteArrayOutputStream;
import java.io.StringReader;
import org.apache.batik.transcoder.TranscoderInput;
import org.apache.batik.transcoder.TranscoderOutput;
import org.apache.batik.transcoder.image.PNGTranscoder;

/** Apache Batik draws a picture. */
public class Batik implements Runs.Work {
  static final int SHAPES = 60;

  final String picture;

  public Batik() {
    System.setProperty("java.awt.headless", "true");
    StringBuilder b = new StringBuilder("<svg xmlns='http://www.w3.org/2000/svg' width='300' height='300'><defs>"
        + "<linearGradient id='g'><stop offset='0' stop-color='red'/><stop offset='1' stop-color='blue'/>"
        + "</linearGradient></defs>");
    for (int i = 0; i < SHAPES; i++) {
      b.append("<path fill='url(#g)' fill-opacity='0.5' stroke='black' d='M" + (10 + i * 4) + " 10 C 20 " + (i * 5)
          + ", 200 40, " + (290 - i * 3) + " 280 S 150 " + (i * 2) + ", 40 200 Z'/>"
          + "<circle cx='" + (i * 5) + "' cy='" + (i * 37 % 300) + "' r='12' fill='green'/>");
    }
    picture = b + "</svg>";
  }

  @Override
  public void once() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new PNGTranscoder().transcode(new TranscoderInput(new StringReader(picture)), new TranscoderOutput(out));
    if (out.size() < 1000) {
      throw new IllegalStateException("no picture");
    }
  }
}
