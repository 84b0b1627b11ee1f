// What the macros of Rust's crate coz do, written out. When a point is first passed, they look up
// COZ's function among the process's symbols. They count in the counter that it returns.
use std::ffi::{c_char, c_int, c_void, CStr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

#[repr(C)]
struct CozCounter {
    count: AtomicUsize,
    backoff: usize,
}

type GetCounter = unsafe extern "C" fn(c_int, *const c_char) -> *mut CozCounter;

static GET: OnceLock<Option<GetCounter>> = OnceLock::new();

fn get_counter() -> Option<GetCounter> {
    *GET.get_or_init(|| unsafe {
        let found = dlsym(std::ptr::null_mut(), b"_coz_get_counter\0".as_ptr() as *const c_char);
        if found.is_null() {
            return None;
        }
        Some(std::mem::transmute::<*mut c_void, GetCounter>(found))
    })
}

struct Counter {
    kind: c_int,
    name: &'static CStr,
    at: OnceLock<Option<&'static AtomicUsize>>,
}

impl Counter {
    const fn new(kind: c_int, name: &'static CStr) -> Counter {
        Counter { kind, name, at: OnceLock::new() }
    }

    fn increment(&self) {
        let at = self.at.get_or_init(|| unsafe {
            get_counter()?(self.kind, self.name.as_ptr()).as_ref().map(|c| &c.count)
        });
        if let Some(count) = at {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

static DONE: Counter = Counter::new(1, c"rust done");
static BEGIN: Counter = Counter::new(2, c"rust pair");
static END: Counter = Counter::new(3, c"rust pair");

fn main() {
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                for _ in 0..1000 {
                    BEGIN.increment();
                    DONE.increment();
                    END.increment();
                }
            })
        })
        .collect();
    for t in threads {
        t.join().unwrap();
    }
}
