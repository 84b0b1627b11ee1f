//! Three threads in a row, with channels of the standard library between them, which have room for four. They work 0.3
//! ms, 0.6 ms (the target) and 0.2 ms an item.
//!
//! Truth: were the two cores always full an item would take max(0.6(1-s), (1.1 - 0.6s)/2) ms: 20, 33, 46, 58. The
//! scheduler often lets two of the threads share a core, so the measured truth counts.

#[path = "../bench.rs"]
mod bench;
use bench::{own_work, us};
use std::hint::black_box;
use std::sync::mpsc::sync_channel;
use std::thread::spawn;

#[inline(never)]
fn job(steps: u64) -> u64 {
    let (mut x, mut i) = (88172645463325252u64, 0);
    while i < steps { x ^= x << 13; x ^= x >> 7; x ^= x << 17; i += 1; } // TARGET
    x
}

fn main() {
    let mut run = bench::Run::start();
    let steps = run.shrunk(600 * us());
    let (to_second, from_first) = sync_channel::<u64>(4);
    let (to_third, from_second) = sync_channel::<u64>(4);
    spawn(move || loop {
        to_second.send(own_work(black_box(300 * us()))).unwrap();
    });
    spawn(move || loop {
        let x = from_first.recv().unwrap();
        to_third.send(x ^ job(steps)).unwrap();
    });
    loop {
        black_box(from_second.recv().unwrap() ^ own_work(black_box(200 * us())));
        run.visit();
    }
}
