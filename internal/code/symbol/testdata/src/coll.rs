// Generics, closures, traits and the collections of Rust's library.
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::{Arc, Mutex};

trait Shape {
    fn area(&self) -> f64;
    fn name(&self) -> String {
        "shape".to_string()
    }
}

struct Square(f64);
struct Circle {
    r: f64,
}

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        self.r * self.r * std::f64::consts::PI
    }
    fn name(&self) -> String {
        format!("circle {}", self.r)
    }
}

mod words {
    use super::*;

    pub fn count(text: &str) -> BTreeMap<String, usize> {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for w in text.split_whitespace().filter(|w| w.len() > 1) {
            *seen.entry(w).or_default() += 1;
        }
        seen.into_iter().map(|(k, v)| (k.to_uppercase(), v)).collect()
    }

    pub fn longest<'a, I: Iterator<Item = &'a str>>(it: I) -> Option<&'a str> {
        it.max_by_key(|w| w.len())
    }
}

#[inline(never)]
fn parse(list: &[String]) -> Result<Vec<i64>, std::num::ParseIntError> {
    list.iter().map(|s| s.trim().parse::<i64>()).collect()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = "the quick brown fox jumps over the lazy dog ".repeat(args.len() * 3);
    let mut out = String::new();
    for (w, n) in words::count(&text) {
        writeln!(out, "{w}: {n}").unwrap();
    }
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(2.0)), Box::new(Circle { r: args.len() as f64 })];
    let total: f64 = shapes.iter().map(|s| s.area()).sum();
    let sum = Arc::new(Mutex::new(0i64));
    let workers: Vec<_> = (0..3)
        .map(|i| {
            let sum = sum.clone();
            std::thread::spawn(move || *sum.lock().unwrap() += i)
        })
        .collect();
    for w in workers {
        w.join().unwrap();
    }
    let mut v = parse(&["3".into(), " 4".into(), args.len().to_string()]).unwrap_or_default();
    v.sort_unstable_by(|a, b| b.cmp(a));
    println!("{out}{total} {} {:?} {:?} {}", sum.lock().unwrap(), v, words::longest(text.split(' ')), shapes[1].name());
}
