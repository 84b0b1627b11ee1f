// Does in Rust what places.c does: next to each place that is marked with a name, a line of its
// own counts the executions of that place.
//
//     places N     prints "NAME COUNT" for each place

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

static BODY: AtomicI64 = AtomicI64::new(0);
static GENERIC: AtomicI64 = AtomicI64::new(0);
static CLOSURE: AtomicI64 = AtomicI64::new(0);
static ARM: AtomicI64 = AtomicI64::new(0);
static ITERATED: AtomicI64 = AtomicI64::new(0);
static METHOD: AtomicI64 = AtomicI64::new(0);

fn count(of: &AtomicI64) {
    of.store(of.load(Relaxed) + 1, Relaxed);
}

#[inline(never)]
fn work(x: i64) -> i64 {
    std::hint::black_box(x).wrapping_mul(3) + 1
}

fn generic<T: Copy + Into<f64>>(x: T) -> i64 {
    count(&GENERIC);
    work(x.into() as i64) // generic
}

#[inline(never)]
fn arm(x: i64) -> i64 {
    match x % 5 {
        0 => work(x) + 7,
        1 | 2 => {
            count(&ARM);
            work(x + 2) // arm
        }
        3 => x + 1,
        _ => work(work(x)),
    }
}

trait Shape {
    fn area(&self, by: i64) -> i64;
}

struct Square(i64);
struct Circle(i64);

impl Shape for Square {
    fn area(&self, by: i64) -> i64 {
        count(&METHOD);
        work(self.0 + by) // method
    }
}

impl Shape for Circle {
    fn area(&self, by: i64) -> i64 {
        self.0 * 3 + by
    }
}

fn main() {
    let n: i64 = std::env::args().nth(1).map_or(10, |s| s.parse().unwrap());
    let mut sum = 0i64;
    for i in 0..n {
        count(&BODY);
        sum = sum.wrapping_add(work(i)); // body
        sum = sum.wrapping_add(generic(1.5f32)).wrapping_add(generic(i as i32)).wrapping_add(generic(2u8));
        sum = sum.wrapping_add(arm(i));
        let shapes: [Box<dyn Shape>; 2] = [Box::new(Square(i)), Box::new(Circle(i))];
        sum = sum.wrapping_add(shapes[(i % 2) as usize].area(i));
    }
    let v: Vec<i64> = (0..n).map(|x| x * 2).collect();
    sum = v.iter().filter(|x| *x % 3 != 0).fold(sum, |s, &x| {
        count(&CLOSURE);
        s.wrapping_add(work(x)) // closure
    });
    for x in v.iter().rev().step_by(2) {
        count(&ITERATED);
        sum = sum.wrapping_add(work(*x)); // iterated
    }
    std::hint::black_box(sum);
    for (name, of) in [("body", &BODY), ("generic", &GENERIC), ("closure", &CLOSURE), ("arm", &ARM), ("iterated", &ITERATED), ("method", &METHOD)] {
        println!("{} {}", name, of.load(Relaxed));
    }
}
