import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Statements of many kinds. A comment with an equals sign says how often its line is executed. A comment with an at sign
 * says how often the method is entered, and how often it returns.
 */
public class Shapes {
  static int sink;
  final int field;

  Shapes(int n) { //@ 3 2
    this(n > 1 ? new int[] {n} : null, n); //= 3
    sink++; //= 2
  }

  Shapes(int[] a, int n) { //@ 3 2
    field = check(n) + (a == null ? 0 : a.length); //= 3
  }

  static int check(int n) { //@ 3 2
    if (n < 0) { //= 3
      throw new IllegalArgumentException("negative"); //= 1
    }
    return n; //= 2
  }

  static int loops(int n) { //@ 2 2
    int x = 0; //= 2
    for (int i = 0; i < n; i++) { //= 2
      x += i; //= 10
    }
    while (x > 0) { //= 10
      x -= 3; //= 8
    }
    do {
      x++; //= 24
    } while (x < 10); //= 24
    outer:
    for (int i = 0; ; i++) { //= 2
      for (int j = 0; j < 4; j++) { //= 6
        if (j == 2) continue outer; //= 14
        if (i == 2) break outer; //= 10
        x ^= j; //= 8
      }
    }
    for (;;) {
      if (++x > 20) break; //= 22
    }
    return x; //= 2
  }

  /** A loop goes back to the first instruction. */
  static void spin() { //@ 1 1
    do {
      sink--; //= 3
    } while (sink > -1); //= 3
  }

  static int switches(int n, String s) { //@ 6 6
    switch (n) { //= 6
      case 0:
        sink += 1; //= 1
      case 1:
        sink += 2; //= 2
        break; //= 2
      case 2: return 1; //= 1
      case 1000000:
        sink += 4; //= 1
        break;
      default:
        sink += 8; //= 2
    }
    switch (s) { //= 5
      case "one": return 2; //= 1
      case "two": return 3; //= 2
      default: sink++; //= 2
    }
    return switch (n) { //= 2
      case 4 -> 7; //= 1
      case 5 -> {
        int x = n; //= 1
        yield x; //= 1
      }
      default -> 0;
    };
  }

  static int tries(int n) throws Exception { //@ 4 3
    try {
      sink += 10 / n; //= 4
      if (n == 2) return 5; //= 3
    } catch (ArithmeticException e) {
      sink++; //= 1
    } finally {
      sink += 2; //= 4
    }
    try (AutoCloseable c = () -> sink++) { //= 6
      if (n == 3) throw new Exception("three"); //= 3
      sink++; //= 2
    }
    return sink; //= 2
  }

  static synchronized void locks(Object lock) { //@ 5 5
    synchronized (lock) { //= 5
      sink++; //= 5
      synchronized (Shapes.class) { //= 5
        if (sink % 2 == 0) return; //= 5
      }
    }
  }

  static void lambdas() { //@ 1 1
    List<Integer> all = new ArrayList<>(List.of(1, 2, 3)); //= 1
    IntUnaryOperator twice = x -> { //= 1
      int y = 2 * x; //= 3
      return y; //= 3
    };
    all.replaceAll(x -> twice.applyAsInt(x)); //= 4
    for (int x : all) { //= 1
      sink += x; //= 3
    }
    new Object() { //= 2
      void go() { //@ 1 1
        sink++; //= 1
      }
    }.go();
  }

  static void pieces(int n) { //@ 1 1
    sink += max( //= 1
        n > 2 //= 1
            ? n //= 1
            : -n,
        new StringBuilder().append(n).append('x').length());
    long wide = n; double d = wide; boolean yes = d > 1 && wide < 100; //= 1
    sink += yes ? 1 : 0; //= 1
  }

  static int max(int a, int b) { //@ 1 1
    return a > b ? a : b; //= 1
  }

  public static void main(String[] args) throws Exception { //@ 1 1
    new Shapes(1); //= 1
    new Shapes(2);
    try {
      new Shapes(-1);
    } catch (IllegalArgumentException e) {
      sink++; //= 1
    }
    loops(5); //= 1
    loops(5);
    sink = 2;
    spin();
    String[] names = {"one", "two", "two", "x", "y", "z"};
    int[] numbers = {0, 1, 1000000, 4, 5, 2};
    for (int i = 0; i < 6; i++) { //= 1
      switches(numbers[i], names[i]); //= 6
    }
    for (int i = 0; i < 4; i++) {
      try {
        tries(i); //= 4
      } catch (Exception e) {
        sink++; //= 1
      }
    }
    for (int i = 0; i < 5; i++) locks(names); //= 1
    lambdas();
    pieces(7);
  }
}
