// wait_* and work_* as in spin.c.
#![crate_type = "lib"]
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::*};

#[no_mangle]
pub fn wait_hint(f: &AtomicBool) {
    while !f.load(Acquire) {
        std::hint::spin_loop()
    }
}
#[no_mangle]
pub fn wait_bare(f: &AtomicBool) {
    while !f.load(Acquire) {}
}
#[no_mangle]
pub fn wait_value(f: &AtomicUsize, n: usize) {
    while f.load(SeqCst) != n {}
}
#[no_mangle]
pub fn wait_swap(f: &AtomicBool) {
    while f.swap(true, Acquire) {}
}
#[no_mangle]
pub fn wait_cas(f: &AtomicU32) {
    while f.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {}
}
#[no_mangle]
pub fn wait_ttas(f: &AtomicBool) {
    while f.compare_exchange(false, true, Acquire, Relaxed).is_err() {
        while f.load(Relaxed) {
            std::hint::spin_loop()
        }
    }
}
#[no_mangle]
pub fn work_update(f: &AtomicU32) -> u32 {
    f.fetch_update(SeqCst, SeqCst, |v| Some(v * 3 + 1)).unwrap()
}
#[no_mangle]
pub fn work_sum(a: &[i32]) -> i32 {
    a.iter().fold(0i32, |s, v| (s ^ v).rotate_left(3))
}
#[no_mangle]
pub fn work_count(f: &AtomicUsize, n: usize) {
    for _ in 0..n {
        f.fetch_add(1, Relaxed);
    }
}
#[no_mangle]
pub fn work_position(a: &[u8], b: u8) -> Option<usize> {
    a.iter().position(|&x| x == b)
}
