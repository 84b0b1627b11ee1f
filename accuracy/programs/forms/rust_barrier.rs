//! Three threads on two cores meet at a Barrier of the standard library: 0.5 ms and 1 ms (the target), 0.8 ms, 0.7 ms.
//!
//! Truth: on a perfect scheduler a round takes max(3 - s, 2(1.5 - s), 1.6)/2 ms: 8, 17, 25, 33.

#[path = "../bench.rs"]
mod bench;
use bench::{own_work, us};
use std::hint::black_box;
use std::sync::{Arc, Barrier};
use std::thread::spawn;

#[inline(never)]
fn job(steps: u64) -> u64 {
    let (mut x, mut i) = (88172645463325252u64, 0);
    while i < steps { x ^= x << 13; x ^= x >> 7; x ^= x << 17; i += 1; } // TARGET
    x
}

fn main() {
    let mut run = bench::Run::start();
    let steps = run.shrunk(1000 * us());
    let barrier = Arc::new(Barrier::new(3));
    for work in [800, 700] {
        let barrier = barrier.clone();
        spawn(move || loop {
            black_box(own_work(black_box(work * us())));
            barrier.wait();
        });
    }
    loop {
        black_box(own_work(black_box(500 * us())));
        black_box(job(steps));
        barrier.wait();
        run.visit();
    }
}
