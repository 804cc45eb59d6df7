//! How long a line takes: the corpora of this crate, one by one, and the worst of them.

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use stayexec_policy::SecurityPolicy;

/// Each line alone, best of nine: the budget is one of lines, and a mean hides the worst of them.
fn spread(policy: &SecurityPolicy, lines: &[&str]) {
    let time = |line: &&str| {
        let once = || {
            let begin = Instant::now();
            black_box(policy.classify_command(black_box(line)));
            begin.elapsed()
        };
        (0..9).map(|_| once()).min().unwrap_or_default()
    };
    let mut times: Vec<_> = lines.iter().map(time).collect();
    times.sort();
    let at = |share: f64| times.get(((times.len() as f64 - 1.0) * share) as usize).copied().unwrap_or_default();
    println!("{} lines: median {:?}, p99 {:?}, p99.9 {:?}, most {:?}", times.len(), at(0.5), at(0.99), at(0.999), at(1.0));
}

fn corpus(c: &mut Criterion) {
    let policy = SecurityPolicy::default();
    let corpus = common::corpus();
    let lines: Vec<&str> = corpus.iter().map(|case| case.text.as_str()).collect();
    let count = lines.len();
    spread(&policy, &lines);
    c.bench_function(&format!("corpus of {count} lines"), |bencher| {
        bencher.iter(|| lines.iter().map(|line| policy.classify_command(black_box(line)) as usize).sum::<usize>())
    });
    c.bench_function("one pipeline", |bencher| {
        bencher.iter(|| policy.classify_command(black_box("find . -name '*.rs' | xargs grep -n foo | sort | uniq -c | head -20")))
    });
    let brackets = "$(".repeat(100_000);
    c.bench_function("100,000 open substitutions", |bencher| bencher.iter(|| policy.classify_command(black_box(&brackets))));
    let long = "ls | head; ".repeat((1 << 20) / 11);
    c.bench_function("a mebibyte of commands", |bencher| bencher.iter(|| policy.classify_command(black_box(&long))));
}

criterion_group!(benches, corpus);
criterion_main!(benches);
