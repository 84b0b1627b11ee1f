import java.util.Scanner;

/** For each number on standard input it makes so many steps. */
public class Steps {
  static long sum;

  public static void main(String[] args) {
    Scanner in = new Scanner(System.in);
    System.out.println("ready");
    while (in.hasNextInt()) {
      int n = in.nextInt();
      for (int i = 0; i < n; i++) {
        step(i);
      }
      Later.steps(n);
      System.out.println("done");
    }
  }

  static void step(int i) {
    if (i % 2 == 0) {
      sum += i;
    }
  }
}

/** It is loaded when the first steps are made. */
class Later {
  static void steps(int n) {
    for (int i = 0; i < n; i++) {
      Steps.sum++;
    }
  }
}
