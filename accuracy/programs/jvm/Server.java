package jvm;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A server with a pool of four threads, and four clients in the same process that send a request as soon as they have
 * the last answer. A request is 0.3 ms of reading, the target, 1 ms, and 0.2 ms with a lock.
 *
 * <p>Truth: both cores are always full: some 16, 32, 48, 65, less what sockets take.
 */
public class Server {
  private static final Object database = new Object();

  /** The target. */
  static long handle(int steps) {
    long x = steps;
    for (int i = 0; i < steps; i++) x = (x ^ x >>> 15) * Bench.M; // TARGET
    switch ((int) x) { case 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76 -> x++; }
    return x;
  }

  static void serve(Socket client) throws Exception {
    InputStream in = client.getInputStream();
    OutputStream out = client.getOutputStream();
    for (int steps = Bench.shrunk(Bench.us(1000)); in.read() >= 0;) {
      Bench.use(Bench.work(Bench.us(300)));
      Bench.use(handle(steps));
      synchronized (database) {
        Bench.use(Bench.work(Bench.us(200)));
      }
      Bench.visit();
      out.write(1);
    }
  }

  static void client(int port) throws Exception {
    Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
    server.setTcpNoDelay(true);
    for (;;) {
      server.getOutputStream().write(1);
      server.getInputStream().read();
    }
  }

  public static void main(String[] args) throws Exception {
    Bench.start(args);
    ExecutorService pool = Executors.newFixedThreadPool(4);
    ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    int port = listening.getLocalPort();
    for (int i = 0; i < 4; i++) {
      Bench.spawn(() -> client(port));
    }
    for (;;) {
      Socket client = listening.accept();
      client.setTcpNoDelay(true);
      pool.execute(() -> Bench.run(() -> serve(client)));
    }
  }
}
