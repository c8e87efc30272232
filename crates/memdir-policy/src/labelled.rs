//! Labels and values that a text shows by its layout: a cell below its head, a line below its heading or label.
//!
//! Detectors know labels before their values, as in `phone: 555 0100`. Here the other layouts are rewritten in that form, one
//! line each, so that no detector needs a pattern for every layout.

/// The longest label, in bytes; what is longer is prose.
const LABEL: usize = 48;

/// Labels with their values, a line each.
#[derive(Debug, Default)]
pub(super) struct Labelled {
    pub(super) text: String,
    /// In which line of what was read each value stands, from 0.
    pub(super) lines: Vec<usize>,
}

/// The cells of tables, each behind the head of its column, and behind the first cell of its row.
pub(super) fn cells(text: &str) -> Labelled {
    let mut labelled = Labelled::default();
    if !text.contains('|') {
        return labelled;
    }
    let mut head: Option<Vec<&str>> = None;
    for (at, line) in text.lines().enumerate() {
        if !line.contains('|') {
            head = None;
            continue;
        }
        let row: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let Some(head) = &head else {
            head = Some(row);
            continue;
        };
        for (label, value) in head.iter().zip(&row) {
            labelled.add(at, label, value);
        }
        if let Some((label, values)) = row.split_first() {
            values.iter().for_each(|value| labelled.add(at, label, value));
        }
    }
    labelled
}

/// The lines below headings and labels, and values that a dash, an arrow or bold letters part from their labels.
pub(super) fn values(text: &str) -> Labelled {
    let mut labelled = Labelled::default();
    // The heading that is open; and the label, with whether anything stands below it yet.
    let (mut heading, mut label): (Option<&str>, Option<(&str, bool)>) = (None, None);
    for (at, line) in text.lines().enumerate() {
        let body = line.trim();
        let bare = body.trim_start_matches(['-', '*', '+', '>', ' ', '\t']);
        if body.starts_with('#') {
            (heading, label) = (Some(body.trim_matches(['#', ' ', ':', '*', '_'])), None);
        } else if body.is_empty() {
            // What stands after a gap is a label's only where nothing stands before it.
            label = label.filter(|(_, is_used)| !is_used);
        } else {
            for name in heading.into_iter().chain(label.map(|(name, _)| name)) {
                labelled.add(at, name, bare);
            }
            let next = label_of(body).map(|name| (name, false));
            label = next.or(label.map(|(name, _)| (name, true)));
        }
        let parted = [" - ", " -> ", " → ", " => ", "\t"].iter().filter_map(|mark| bare.split_once(mark));
        parted.for_each(|(label, value)| labelled.add(at, label, value));
        if let Some((label, value)) = body.split_once("**").and_then(|(_, rest)| rest.split_once("**")) {
            labelled.add(at, label, value);
        }
    }
    labelled
}

/// The label that a line is: with a colon at its end, or in bold.
fn label_of(line: &str) -> Option<&str> {
    let is_bold = |inside: &&str| !inside.contains("**");
    let bold = || line.strip_prefix("**").and_then(|rest| rest.strip_suffix("**")).filter(is_bold);
    let label = line.strip_suffix([':', '：']).or_else(bold)?;
    Some(label.trim_matches(['-', '*', '+', '>', ' ', '_']))
}

impl Labelled {
    /// Writes a value behind its label, where both are there.
    fn add(&mut self, line: usize, label: &str, value: &str) {
        let label = label.trim_matches(['*', '_', '`', ' ']);
        if label.is_empty() || label.len() > LABEL || !value.contains(char::is_alphanumeric) {
            return;
        }
        let value = value.trim_start_matches([':', '=', ' ', '\t']);
        self.text.extend([label, ": ", value, "\n"]);
        self.lines.push(line);
    }
}
