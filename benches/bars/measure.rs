//! Measuring in turns, and the table.

use std::time::{Duration, Instant};

/// One thing to be measured: it prepares itself, and gives the time of what counts.
pub(crate) type Subject<'a> = Box<dyn FnMut() -> Duration + 'a>;

/// Runs all subjects in turns, A B C, C B A, and so on, and gives the median time of each.
pub(crate) fn in_turns(rounds: usize, mut subjects: Vec<Subject<'_>>) -> Vec<Duration> {
    let mut times = vec![Vec::with_capacity(rounds); subjects.len()];
    // The first round warms caches and does not count.
    for round in 0..=rounds {
        let mut turn = |(subject, times): (&mut Subject<'_>, &mut Vec<Duration>)| {
            let time = subject();
            if round > 0 {
                times.push(time);
            }
        };
        // Each comes after each other one, for what a process leaves to the system slows the next.
        let pairs = subjects.iter_mut().zip(&mut times);
        if round % 2 == 0 { pairs.for_each(&mut turn) } else { pairs.rev().for_each(&mut turn) }
    }
    times.into_iter().map(median).collect()
}

/// The time of one call, as a mean over `times` of them: for what is shorter than the clock is exact.
pub(crate) fn each(times: u32, mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    (0..times).for_each(|_| work());
    start.elapsed() / times
}

/// The time of one call.
pub(crate) fn once(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(times: Vec<Duration>) -> Duration {
    let [median] = shares(times, [50]);
    median
}

/// The times that so many of a hundred are not longer than.
pub(crate) fn shares<const N: usize>(mut times: Vec<Duration>, percents: [usize; N]) -> [Duration; N] {
    times.sort_unstable();
    percents.map(|percent| {
        times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default()
    })
}

/// Prints what the columns are.
pub(crate) fn head(title: &str) {
    println!("\n{title}");
    println!("{:<58}|{:>11} |{:>11} |{:>7} |{:>7} | met?", "what", "ours", "baseline", "ratio", "bar");
}

/// What a ratio has to be.
#[derive(Clone, Copy)]
pub(crate) enum Bar {
    /// Ours may be at most this many times the baseline.
    Most(f64),
    /// The baseline has to be at least this many times ours.
    Faster(f64),
    /// Ours may be at most this many times the baseline and so much more.
    MostAnd(f64, Duration),
    /// Ours may take at most so long, whatever the baseline.
    Within(Duration),
    /// Nothing: the row is there to be looked at.
    None,
}

/// Prints one row.
pub(crate) fn row(what: &str, ours: Duration, baseline: Duration, bar: Bar) {
    let (ours_s, baseline_s) = (ours.as_secs_f64(), baseline.as_secs_f64());
    let ratio = ours_s / baseline_s;
    let (ratio, bar, met) = match bar {
        Bar::Most(most) => (ratio, format!("<= {most}"), word(ratio <= most)),
        Bar::Faster(least) => (baseline_s / ours_s, format!(">= {least}"), word(baseline_s / ours_s >= least)),
        Bar::MostAnd(most, more) => {
            (ratio, format!("<= {most} + {more:?}"), word(ours_s <= baseline_s * most + more.as_secs_f64()))
        }
        Bar::Within(most) => (ratio, format!("< {most:?}"), word(ours < most)),
        Bar::None => (ratio, String::new(), ""),
    };
    println!("{what:<58}|{:>11} |{:>11} |{ratio:>7.2} |{bar:>7} | {met}", shown(ours), shown(baseline));
}

/// Prints a row that has no baseline.
pub(crate) fn note(what: &str, value: &str) {
    println!("{what:<58}|{value:>11} |");
}

/// A time in the unit that suits it.
pub(crate) fn shown(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1000.0 { format!("{micros:.2} us") } else { format!("{:.2} ms", micros / 1e3) }
}

fn word(is_met: bool) -> &'static str {
    if is_met { "yes" } else { "NO" }
}
