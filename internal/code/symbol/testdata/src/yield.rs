use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static READY: AtomicBool = AtomicBool::new(false);
static TOTAL: AtomicU64 = AtomicU64::new(0);

#[no_mangle]
#[inline(never)]
pub extern "C" fn wait_ready() {
    while !READY.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn work_adds() {
    while !READY.load(Ordering::Acquire) {
        TOTAL.fetch_add(1, Ordering::Relaxed);
        std::thread::yield_now();
    }
}

fn main() {
    std::thread::spawn(|| READY.store(true, Ordering::Release));
    wait_ready();
    work_adds();
}
