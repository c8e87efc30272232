//! How fast text of a model and the Markdown of notes are read, and whether ten times the text takes ten times as long.
#![expect(clippy::print_stdout, reason = "a bench reports to the terminal")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use memdir_note::{Note, Seen};

#[path = "parse/families.rs"]
mod families;
#[path = "parse/notes.rs"]
mod notes;

use families::{FAMILIES, Family, PROSE};
use notes::{NOTE, NOTES};

const SMALL: usize = 1 << 20;
const LARGE: usize = 10 << 20;
/// More than this for ten times the text is not linear.
const MOST: f64 = 12.0;
/// What takes longer is timed once.
const SLOW: Duration = Duration::from_secs(2);

fn main() {
    // `-- NAME` runs the hostile families alone whose names hold it.
    if let Some(name) = std::env::args().skip(1).find(|word| !word.starts_with('-')) {
        let chosen =
            |all: &[Family]| all.iter().filter(|family| family.name.contains(&name)).copied().collect::<Vec<_>>();
        ratios("hostile text of a model", &chosen(FAMILIES), dialect);
        ratios("hostile notes", &chosen(NOTES), note);
        return;
    }
    println!("{:<40}{:>8.0} MB/s", "prose of a model, 10 MB", rate(&PROSE.text(LARGE), dialect));
    println!("{:<40}{:>8.0} MB/s", "one block, 1 MB", rate(&block(SMALL), dialect));
    println!("{:<40}{:>8.0} MB/s", "links, headings and facts of notes, 10 MB", rate(&NOTE.text(LARGE), note));
    ratios("hostile text of a model", FAMILIES, dialect);
    ratios("hostile notes", NOTES, note);
}

fn dialect(text: &[u8]) {
    drop(black_box(memdir_dialect::parse(black_box(text))));
}

fn note(text: &[u8]) {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let note = Note::parse(black_box(text));
    drop(black_box((Seen::of_note(&note), note.facts(), note.block("none"))));
}

fn ratios(what: &str, families: &[Family], read: fn(&[u8])) {
    println!("\n{what:<40}{:>10}{:>10}{:>8}", "1 MB", "10 MB", "ratio");
    let mut worst: f64 = 0.0;
    for family in families {
        let small = time(&family.text(SMALL), read);
        let large = time(&family.text(LARGE), read);
        // Below two milliseconds the clock and the caches are all there is to see.
        let ratio = large.as_secs_f64() / small.max(Duration::from_millis(2)).as_secs_f64();
        let mark = if ratio > MOST { "  not linear" } else { "" };
        println!("{:<40}{:>7.1} ms{:>7.1} ms{ratio:>8.1}{mark}", family.name, milliseconds(small), milliseconds(large));
        worst = worst.max(ratio);
    }
    println!("{:<40}{:>28.1}", "worst", worst);
}

/// A block as a model should write it.
fn block(bytes: usize) -> Vec<u8> {
    let call = r##"{"action":"write_file","path":"notes/long.md","content":"# A note\n\n"##;
    let line = r"- a line of some length, as notes have them\n";
    let mut text = String::from("<actions>[");
    while text.len() < bytes {
        text.push_str(call);
        text.push_str(&line.repeat(40));
        text.push_str("\"},\n");
    }
    text.truncate(text.len() - 2);
    text.push_str("]</actions>");
    text.into_bytes()
}

/// The best of a few times.
fn time(text: &[u8], read: fn(&[u8])) -> Duration {
    let once = || {
        let start = Instant::now();
        read(text);
        start.elapsed()
    };
    // What is slow needs no more tries to be seen.
    let mut best = once();
    for _ in 0..8 {
        if best > SLOW {
            break;
        }
        best = best.min(once());
    }
    best
}

fn rate(text: &[u8], read: fn(&[u8])) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
    let bytes = text.len() as f64;
    bytes / 1e6 / time(text, read).as_secs_f64()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
