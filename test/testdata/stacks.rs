// Spends some time in Rust's library, in threads.
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

#[inline(never)]
fn fill(n: u64) -> usize {
    let sorted: BTreeMap<u64, String> = (0..n).map(|i| (i.wrapping_mul(7919) % 5003, format!("{:e}", i as f64 / 3.0))).collect();
    let hashed: HashMap<&str, u64> = sorted.iter().map(|(k, v)| (v.as_str(), *k)).collect();
    let mut all: Vec<_> = hashed.into_iter().collect();
    all.sort();
    all.len()
}

fn main() {
    let end = Instant::now() + Duration::from_millis(600);
    let other = std::thread::spawn(move || {
        let mut n = 0;
        while Instant::now() < end {
            n += fill(3000);
        }
        n
    });
    let mut n = 0;
    while Instant::now() < end {
        n += fill(2000);
    }
    println!("{}", n + other.join().unwrap());
}
