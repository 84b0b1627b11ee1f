//! Each round starts three threads, of 0.5, 0.5 and 0.2 + 0.8 ms, waits for them, and computes 0.2 ms. The target is the
//! 0.8 ms.
//!
//! Truth: were the two cores always full a round would take 0.2 + max(1 - 0.8s, (2 - 0.8s)/2) ms: 8, 17, 25, 33, and
//! making threads.

#[path = "../bench.rs"]
mod bench;
use bench::{own_work, us};
use std::hint::black_box;
use std::thread::scope;

#[inline(never)]
fn job(steps: u64) -> u64 {
    let (mut x, mut i) = (88172645463325252u64, 0);
    while i < steps { x ^= x << 13; x ^= x >> 7; x ^= x << 17; i += 1; } // TARGET
    x
}

fn main() {
    let mut run = bench::Run::start();
    let steps = run.shrunk(800 * us());
    loop {
        scope(|s| {
            s.spawn(|| black_box(own_work(black_box(500 * us()))));
            s.spawn(|| black_box(own_work(black_box(500 * us()))));
            s.spawn(|| black_box(own_work(black_box(200 * us())) ^ job(steps)));
        });
        black_box(own_work(black_box(200 * us())));
        run.visit();
    }
}
