// Counts in four threads, and in a generic function.
fn work<T: Copy>(times: u32, _of: T) {
    for _ in 0..times {
        whatif::begin!("part");
        whatif::progress!("visited");
        whatif::end!("part");
    }
}

fn main() {
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| { work(1000, 1u8); work(500, "x") })).collect();
    for t in threads {
        t.join().unwrap();
    }
    println!("visits 6000");
}
