//! A thread pool: two workers that park on a futex (std's Mutex and Condvar). A round is 1 ms of the main
//! thread's own work, then eight jobs of 0.5 ms each, the target, which the workers take while main waits for
//! all of them. The workers are pinned to a core each: otherwise they would now and then share one for a run.
//!
//! Truth: a round takes 1 + 8*0.5/2*(1-s) = 3 - 2s ms: two thirds of s: 17, 33, 50, 67.

#[path = "../bench.rs"]
mod bench;
use bench::{own_work, us};
use std::sync::{Arc, Condvar, Mutex};

extern "C" {
    fn sched_setaffinity(pid: i32, size: usize, mask: *const u64) -> i32;
}

/// Keeps the calling thread on one of the first two processors.
fn pin(cpu: usize) {
    let mask = 1u64 << cpu;
    let failed = unsafe { sched_setaffinity(0, std::mem::size_of_val(&mask), &mask) };
    assert!(failed == 0, "pinning a worker: {}", std::io::Error::last_os_error());
}

#[inline(never)]
fn job(steps: u64) -> u64 {
    let (mut x, mut i) = (88172645463325252u64, 0);
    while i < steps { x ^= x << 13; x ^= x >> 7; x ^= x << 17; i += 1; } // TARGET
    x
}

#[derive(Default)]
struct Round {
    waiting: u32,
    unfinished: u32,
}

#[derive(Default)]
struct Pool {
    round: Mutex<Round>,
    started: Condvar,
    ended: Condvar,
}

impl Pool {
    fn worker(&self, steps: u64) {
        loop {
            let mut round = self.round.lock().unwrap();
            while round.waiting == 0 {
                round = self.started.wait(round).unwrap();
            }
            round.waiting -= 1;
            drop(round);
            std::hint::black_box(job(std::hint::black_box(steps)));
            let mut round = self.round.lock().unwrap();
            round.unfinished -= 1;
            if round.unfinished == 0 {
                self.ended.notify_one();
            }
        }
    }

    fn run(&self, jobs: u32) {
        let mut round = self.round.lock().unwrap();
        *round = Round { waiting: jobs, unfinished: jobs };
        self.started.notify_all();
        while round.unfinished > 0 {
            round = self.ended.wait(round).unwrap();
        }
    }
}

fn main() {
    let mut run = bench::Run::start();
    let steps = run.shrunk(500 * us());
    let pool = Arc::new(Pool::default());
    for cpu in 0..2 {
        let pool = Arc::clone(&pool);
        std::thread::spawn(move || {
            pin(cpu);
            pool.worker(steps)
        });
    }
    loop {
        std::hint::black_box(own_work(std::hint::black_box(1000 * us())));
        pool.run(8);
        run.visit();
    }
}
