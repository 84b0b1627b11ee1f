//! What the Rust programs of the accuracy suite share: bench.h in Rust. The target stays in the program's own file.
//!
//! A step of work is a xorshift here, because LLVM merges two steps of a multiply-and-add into one.

use std::sync::OnceLock;
use std::time::Instant;

/// Steps that take about a microsecond on this machine, as bench_calibrate of bench.h finds them. WHATIF_STEPS counts
/// multiplications with additions, which take 4 cycles. A xorshift takes 6.
pub fn us() -> u64 {
    static FOUND: OnceLock<u64> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let said = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<f64>().ok()).filter(|v| *v > 0.0);
        if let Some(steps) = said("WHATIF_STEPS") {
            return (steps * 4.0 / 6.0).max(1.0) as u64;
        }
        let steps = 60_000;
        let lap = |_| {
            let begin = Instant::now();
            std::hint::black_box(own_work(std::hint::black_box(steps)));
            begin.elapsed().as_secs_f64() * 1e6
        };
        let best = (0..40).map(lap).fold(f64::INFINITY, f64::min);
        (steps as f64 / best * said("WHATIF_CALIBRATION").unwrap_or(1.0)).max(1.0) as u64
    })
}

/// The progress point. The asm makes the compiler keep the function and its calls.
#[no_mangle]
#[inline(never)]
pub extern "C" fn progress_done() {
    unsafe { std::arch::asm!("") }
}

/// Work that is not the target.
#[inline(never)]
pub fn own_work(steps: u64) -> u64 {
    // Other shifts than in a program's job: LLVM merges two functions that are alike.
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
    /// Reads PERCENT and SECONDS.
    pub fn start() -> Run {
        let mut args = std::env::args().skip(1).map(|a| a.parse::<f64>().expect("PERCENT SECONDS"));
        let (percent, seconds) = (args.next().expect("PERCENT"), args.next().expect("SECONDS"));
        Run { percent: percent as u64, seconds, started: None, visits: 0 }
    }

    /// What is left of the target's steps.
    pub fn shrunk(&self, steps: u64) -> u64 {
        std::hint::black_box(steps * (100 - self.percent) / 100)
    }

    /// One unit of progress. The first call starts the clock.
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
