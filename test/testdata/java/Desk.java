import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * A clerk serves orders, each for a time by the clock; another thread brings them. "ORDERS NANOSECONDS": how many were
 * served, and how long each took on average, from its order to its end.
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
    long taken = 0;
    for (int i = 0; i < orders; i++) {
      Order order = queue.take();
      serve(order);
      taken += System.nanoTime() - order.begun;
      order.served();
      done(0, "order " + order.id, (int) order.id);
    }
    System.out.println(orders + " " + taken / orders);
  }
}
