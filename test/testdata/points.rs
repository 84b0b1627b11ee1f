// Four threads visit points in a generic function. Then one thread begins something and another one ends it.
use std::{sync::mpsc, thread, time::Duration};

fn work<T: Copy>(times: u32, _of: T) {
    for _ in 0..times {
        whatif::begin!("part");
        whatif::progress!("visited");
        whatif::end!("part");
    }
}

fn main() {
    let threads: Vec<_> = (0..4).map(|_| thread::spawn(|| { work(1000, 1u8); work(500, "x") })).collect();
    for t in threads {
        t.join().unwrap();
    }
    let (give, take) = mpsc::channel();
    let other = thread::spawn(move || {
        for id in take {
            whatif::end_id!("handed", id);
        }
    });
    for id in 0..400u32 {
        whatif::begin_id!("handed", id);
        give.send(id).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
    drop(give);
    other.join().unwrap();
    println!("visits 6000");
}
