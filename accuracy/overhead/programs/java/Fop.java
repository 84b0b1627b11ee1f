import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.StringReader;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.sax.SAXResult;
import javax.xml.transform.stream.StreamSource;
import org.apache.fop.apps.FopFactory;
import org.apache.fop.apps.MimeConstants;

/** Apache FOP makes a PDF of a report with a table. */
public class Fop implements Runs.Work {
  static final int ROWS = 40;

  final FopFactory factory = FopFactory.newInstance(new File(".").toURI());
  final String document;

  // The level of a logger that nobody refers to is forgotten.
  static final Logger LOGGER = Logger.getLogger("org.apache.fop");

  public Fop() {
    LOGGER.setLevel(Level.WARNING);
    StringBuilder b = new StringBuilder("<fo:root xmlns:fo='http://www.w3.org/1999/XSL/Format'><fo:layout-master-set>"
        + "<fo:simple-page-master master-name='page' page-width='210mm' page-height='297mm' margin='20mm'>"
        + "<fo:region-body/></fo:simple-page-master></fo:layout-master-set><fo:page-sequence master-reference='page'>"
        + "<fo:flow flow-name='xsl-region-body' font-family='Helvetica'><fo:table table-layout='fixed' width='100%'>"
        + "<fo:table-column column-width='50%'/><fo:table-column column-width='50%'/><fo:table-body>");
    for (int i = 0; i < ROWS; i++) {
      b.append("<fo:table-row><fo:table-cell border='1pt solid'><fo:block>item " + i + "</fo:block></fo:table-cell>"
          + "<fo:table-cell><fo:block text-align='justify' hyphenate='false'>" + "some words that fill lines ".repeat(6)
          + "</fo:block></fo:table-cell></fo:table-row>");
    }
    document = b + "</fo:table-body></fo:table></fo:flow></fo:page-sequence></fo:root>";
  }

  @Override
  public void once() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    org.apache.fop.apps.Fop fop = factory.newFop(MimeConstants.MIME_PDF, out);
    TransformerFactory.newInstance().newTransformer()
        .transform(new StreamSource(new StringReader(document)), new SAXResult(fop.getDefaultHandler()));
    if (out.size() < 1000) {
      throw new IllegalStateException("no document");
    }
  }
}
