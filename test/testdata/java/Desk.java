import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * A clerk serves orders, each for a time by the clock; another thread brings them. "ORDERS TOOK SERVED LONG": how many
 * were served, how many nanoseconds they took together, from each order to its end, and how many of these the clerk
 * served them; and how many were served for more than 4 ms.
 *
 * <p>java Desk ORDERS
 */
public class Desk {
  static class Order {
    final long id;
    long begun;

    Order(long id) {
      this.id = id;
    }

    /** By the object. */
    void served() {}
  }

  /** By the object, by a number and by a text. */
  static void ordered(Order order, long id, String name) {
    order.begun = System.nanoTime();
  }

  static void done(double unused, String name, int id) {}

  /** In one thread. */
  static void work(long until) {
    while (System.nanoTime() < until) {
      Thread.onSpinWait();
    }
  }

  static long serve(Order order) {
    work(System.nanoTime() + (order.id % 10 == 9 ? 5_000_000 : 500_000));
    return order.id;
  }

  public static void main(String[] args) throws InterruptedException {
    int orders = Integer.parseInt(args[0]);
    BlockingQueue<Order> queue = new ArrayBlockingQueue<>(2);
    Thread brings = new Thread(() -> {
      for (int i = 0; i < orders; i++) {
        Order order = new Order(i);
        ordered(order, i, "order " + i);
        try {
          queue.put(order);
        } catch (InterruptedException e) {
          return;
        }
      }
    });
    brings.start();
    long taken = 0, served = 0, longer = 0;
    for (int i = 0; i < orders; i++) {
      Order order = queue.take();
      long begun = System.nanoTime();
      serve(order);
      long ended = System.nanoTime();
      taken += ended - order.begun;
      served += ended - begun;
      longer += ended - begun > 4_000_000 ? 1 : 0;
      order.served();
      done(0, "order " + order.id, (int) order.id);
    }
    System.out.println(orders + " " + taken + " " + served + " " + longer);
  }
}
