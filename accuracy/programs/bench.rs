//! What the Rust programs of the accuracy suite share: bench.h, in Rust. The target stays in the program's own file.
//!
//! A step of work is a xorshift here: LLVM knows how to merge two steps of a multiply-and-add.

use std::time::Instant;

/// Steps that take about a microsecond where the suite was tuned.
pub const US: u64 = 600;

/// The progress point; the asm keeps it a real function, really called.
#[no_mangle]
#[inline(never)]
pub extern "C" fn progress_done() {
    unsafe { std::arch::asm!("") }
}

/// Work that is not the target.
#[inline(never)]
pub fn own_work(steps: u64) -> u64 {
    // Not the same shifts as in a program's job: LLVM makes one function of two that are alike.
    let (mut x, mut i) = (88172645463325252u64, 0);
    while i < steps { x ^= x << 12; x ^= x >> 25; x ^= x << 27; i += 1; }
    x
}

pub struct Run {
    percent: u64,
    seconds: f64,
    started: Option<Instant>,
    visits: u64,
}

impl Run {
    /// Reads PERCENT SECONDS.
    pub fn start() -> Run {
        let mut args = std::env::args().skip(1).map(|a| a.parse::<f64>().expect("PERCENT SECONDS"));
        let (percent, seconds) = (args.next().expect("PERCENT"), args.next().expect("SECONDS"));
        Run { percent: percent as u64, seconds, started: None, visits: 0 }
    }

    /// What is left of the target's steps.
    pub fn shrunk(&self, steps: u64) -> u64 {
        std::hint::black_box(steps * (100 - self.percent) / 100)
    }

    /// One unit of progress. The first starts the clock.
    pub fn visit(&mut self) {
        progress_done();
        let Some(started) = self.started else {
            self.started = Some(Instant::now());
            return;
        };
        self.visits += 1;
        let passed = started.elapsed().as_secs_f64();
        if passed >= self.seconds {
            println!("visits {} seconds {passed:.6}", self.visits);
            std::process::exit(0);
        }
    }
}
