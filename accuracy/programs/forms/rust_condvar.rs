//! Two producers and a consumer, with a Mutex and two Condvars of the standard library around the number of items. A
//! producer works 1.2 ms an item, the consumer 0.8 ms, the target.
//!
//! Truth: were the two cores always full an item would take (1.2 + 0.8(1-s))/2 ms, and no less than 0.6: 10, 20, 30, 40.

#[path = "../bench.rs"]
mod bench;
use bench::{own_work, us};
use std::hint::black_box;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::spawn;

#[inline(never)]
fn job(steps: u64) -> u64 {
    let (mut x, mut i) = (88172645463325252u64, 0);
    while i < steps { x ^= x << 13; x ^= x >> 7; x ^= x << 17; i += 1; } // TARGET
    x
}

fn main() {
    let mut run = bench::Run::start();
    let steps = run.shrunk(800 * us());
    let q = Arc::new((Mutex::new(0u64), Condvar::new(), Condvar::new()));
    for _ in 0..2 {
        let q = q.clone();
        spawn(move || loop {
            black_box(own_work(black_box(1200 * us())));
            let mut n = q.0.lock().unwrap();
            while *n == 8 { n = q.1.wait(n).unwrap(); }
            *n += 1;
            q.2.notify_one();
        });
    }
    loop {
        let mut n = q.0.lock().unwrap();
        while *n == 0 { n = q.2.wait(n).unwrap(); }
        *n -= 1;
        q.1.notify_one();
        drop(n);
        black_box(job(steps));
        run.visit();
    }
}
