//! The bar of long work, on standard error where that is a terminal.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::args::Global;

/// A bar that counts up to `total` of something.
pub(super) fn bar(global: &Global, total: usize, what: &str) -> ProgressBar {
    styled(global, Some(total), &format!("{{bar:30}} {{pos}} of {{len}} {what}, {{eta}} left"))
}

/// What moves a bar: to so many done, of so many.
pub(super) fn moves(bar: &ProgressBar) -> impl Fn(usize, usize) + Sync {
    |done, total| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    }
}

/// What moves a bar of bytes: to so many done, of so many.
pub(super) fn moves_bytes(bar: &ProgressBar) -> impl FnMut(u64, u64) {
    |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    }
}

/// A bar for work of which nobody knows how much it is.
pub(super) fn spinner(global: &Global, what: &str) -> ProgressBar {
    styled(global, None, &format!("{{spinner}} {{pos}} {what}, {{per_sec}}"))
}

/// A bar of bytes; its message says what is done with them.
pub(super) fn bytes(global: &Global) -> ProgressBar {
    let template = "{bar:30} {bytes} of {total_bytes} {msg}, {bytes_per_sec}, {eta} left";
    styled(global, Some(0), template)
}

fn styled(global: &Global, total: Option<usize>, template: &str) -> ProgressBar {
    if global.json || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = match total {
        Some(total) => ProgressBar::new(u64::try_from(total).unwrap_or(u64::MAX)),
        None => ProgressBar::new_spinner(),
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = bar.with_style(style);
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
