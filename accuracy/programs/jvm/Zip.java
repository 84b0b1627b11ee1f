package jvm;

import java.util.zip.Deflater;

/**
 * Native code below Java: pack, the target, compresses with zlib, some 0.7 ms. The rest of a round is 2 ms of work.
 *
 * <p>Truth: the target's share, measured only.
 */
public class Zip {
  private static final byte[] text = new byte[4096];
  private static final byte[] packed = new byte[8192];

  /** The target: zlib has nearly all of its time. */
  static long pack(Deflater deflater, int times) {
    long sum = 0;
    for (int i = 0; i < times; i++) {
      deflater.reset(); deflater.setInput(text); deflater.finish(); sum += deflater.deflate(packed); // TARGET
    }
    return sum;
  }

  public static void main(String[] args) throws Exception {
    Bench.start(args);
    for (int i = 0; i < text.length; i++) {
      text[i] = (byte) "what if it were faster".charAt((i * i >> 7) % 22);
    }
    Deflater deflater = new Deflater();
    for (int times = Bench.shrunk(20);;) {
      Bench.use(pack(deflater, times));
      Bench.use(Bench.work(Bench.us(2000)));
      Bench.visit();
    }
  }
}
