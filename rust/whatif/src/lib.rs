// SPDX-License-Identifier: MIT
//! Progress points in the source of a Rust program, for the profiler whatif.
//!
//! ```
//! whatif::progress!("requests"); // one more unit of useful work is done
//!
//! whatif::begin!("request"); // a latency begins …
//! whatif::end!("request"); // … and ends, in the same thread
//!
//! whatif::begin_id!("request", 7); // a latency that may end in another thread:
//! whatif::end_id!("request", 7); // an integer tells it from others
//! ```
//!
//! A visit adds one to a number in the program's own memory, whether the program is profiled
//! or not. The profiler finds these numbers from outside, by notes in the program's file: see
//! whatif.h, which does the same for C. Names are string literals without quotes, backslashes
//! and braces.
//!
//! The macros work on Linux on x86-64 and arm64, and do nothing elsewhere.
#![no_std]

/// Counts one more unit of useful work.
#[macro_export]
macro_rules! progress {
    ($name:literal) => {
        $crate::__event!("1", $name)
    };
}

/// Marks the begin of a latency that ends in the same thread.
#[macro_export]
macro_rules! begin {
    ($name:literal) => {
        $crate::__event!("2", $name)
    };
}

/// Marks the end of a latency that began in the same thread.
#[macro_export]
macro_rules! end {
    ($name:literal) => {
        $crate::__event!("3", $name)
    };
}

/// Marks the begin of a latency with an id. No two that are under way may have the same id.
#[macro_export]
macro_rules! begin_id {
    ($name:literal, $id:expr) => {
        $crate::__event!("2", $name, $id)
    };
}

/// Marks the end of the latency with an id, in any thread.
#[macro_export]
macro_rules! end_id {
    ($name:literal, $id:expr) => {
        $crate::__event!("3", $name, $id)
    };
}

// The id is in rax or x0 at the site.
#[doc(hidden)]
#[macro_export]
macro_rules! __event {
    ($event:literal, $name:literal) => {
        $crate::__visit!($event, "0", $name,)
    };
    ($event:literal, $name:literal, $id:expr) => {{
        let id = ($id) as u64;
        #[cfg(all(target_os = "linux", target_pointer_width = "64", target_arch = "x86_64"))]
        $crate::__visit!($event, "1", $name, in("rax") id,);
        #[cfg(all(target_os = "linux", target_pointer_width = "64", target_arch = "aarch64"))]
        $crate::__visit!($event, "1", $name, in("x0") id,);
        let _ = id;
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __visit {
    ($event:literal, $keyed:literal, $name:literal, $($id:tt)*) => {{
        #[cfg(all(target_os = "linux", target_pointer_width = "64", any(target_arch = "x86_64", target_arch = "aarch64")))]
        // SAFETY: only this place and the profiler use the memory at the address.
        unsafe {
            let numbers: usize;
            let thread: usize;
            #[cfg(target_arch = "x86_64")]
            core::arch::asm!(
                "991: nop", // of one byte: see whatif.h
                "lea {0}, [rip + 992f]",
                "mov {1}, qword ptr fs:[0]",
                $crate::__describe!($event, $keyed, $name),
                out(reg) numbers, out(reg) thread, $($id)* options(nostack, preserves_flags)
            );
            #[cfg(target_arch = "aarch64")]
            core::arch::asm!(
                "991: nop",
                "adrp {0}, 992f",
                "add {0}, {0}, :lo12:992f",
                "mrs {1}, tpidr_el0",
                $crate::__describe!($event, $keyed, $name),
                out(reg) numbers, out(reg) thread, $($id)* options(nostack, preserves_flags)
            );
            let shard = ((thread >> 12) + (thread >> 21)) & 15;
            let number = (numbers + shard * 64) as *const core::sync::atomic::AtomicU64;
            (*number).fetch_add(1, core::sync::atomic::Ordering::Relaxed);
        }
    }};
}

// The same as WHATIF_DESCRIBE_ of whatif.h.
#[doc(hidden)]
#[macro_export]
macro_rules! __describe {
    ($event:literal, $keyed:literal, $name:literal) => {
        concat!(
            ".pushsection .data.whatif,\"aw?\",\"progbits\"\n",
            ".balign 1024\n",
            "992: .8byte 0, 0, 0x9d3f5a41c6e27b18\n",
            ".zero 1000\n",
            ".popsection\n",
            ".pushsection .note.whatif,\"a?\",\"note\"\n",
            ".balign 4\n",
            ".4byte 7, 994f - 993f, 1\n",
            ".asciz \"whatif\"\n",
            ".balign 4\n",
            "993: .4byte ", $event, ", 16, 64, ", $keyed, "\n",
            ".8byte 992b - .\n",
            ".8byte 991b - .\n",
            ".asciz \"", $name, "\"\n",
            "994: .balign 4\n",
            ".popsection\n"
        )
    };
}
