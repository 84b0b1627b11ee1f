use std::collections::BTreeMap;

#[inline(never)]
fn fill(n: u64) -> BTreeMap<u64, String> {
    (0..n).map(|i| (i.wrapping_mul(7919) % 101, format!("{i:>8}"))).collect()
}

fn main() {
    let n = std::env::args().count() as u64 * 50;
    let text: Vec<String> = std::thread::spawn(move || fill(n).into_values().collect()).join().unwrap();
    println!("{}", text.concat().len());
}
