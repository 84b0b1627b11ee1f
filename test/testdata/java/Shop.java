package com.shop;

import java.util.Scanner;

/** Sells as many things as it is told on standard input, or by its argument; if negative, it is busy for so many ms. */
public class Shop {
  public static void main(String[] args) {
    Scanner in = new Scanner(args.length > 0 ? args[0] : "");
    if (args.length == 0) {
      System.out.println("open");
      in = new Scanner(System.in);
    }
    while (in.hasNextInt()) {
      int n = busy(in.nextInt());
      for (int i = 0; i < n; i++) {
        sell(i);
      }
      System.out.println("sold " + n);
    }
  }

  static void sell(int thing) {
    if (Cart.total(thing) % 2 == 0) {
      Cart.even++;
    }
  }

  static int busy(int ms) {
    for (long end = System.nanoTime() - ms * 1_000_000L; System.nanoTime() < end; ) {}
    return ms;
  }

  /** It is loaded when the first thing is sold. */
  static class Cart {
    static int even;

    static int total(int thing) {
      if (thing < 0) {
        throw new IllegalArgumentException();
      }
      return thing;
    }
  }
}
