//! What a text says with its shape: a cell below its head, a line below its heading or label.
//!
//! Detectors know labels that stand before their values, as in `phone: 555 0100`. Here the other shapes are written so, in lines of
//! their own, so that no detector needs a pattern for each.

/// The longest label, in bytes; what is longer is prose.
const LABEL: usize = 48;

/// Labels with their values, a line each.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) text: String,
    /// In which line of what was read each value stands, from 0.
    pub(super) lines: Vec<usize>,
}

/// The cells of tables, each behind the head of its column, and behind the first cell of its row.
pub(super) fn cells(text: &str) -> Said {
    let mut said = Said::default();
    if !text.contains('|') {
        return said;
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
            said.add(at, label, value);
        }
        if let Some((label, values)) = row.split_first() {
            values.iter().for_each(|value| said.add(at, label, value));
        }
    }
    said
}

/// The lines below headings and labels, and values that a dash, an arrow or bold letters part from their labels.
pub(super) fn values(text: &str) -> Said {
    let mut said = Said::default();
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
                said.add(at, name, bare);
            }
            let next = label_of(body).map(|name| (name, false));
            label = next.or(label.map(|(name, _)| (name, true)));
        }
        let parted = [" - ", " -> ", " → ", " => ", "\t"].iter().filter_map(|mark| bare.split_once(mark));
        parted.for_each(|(label, value)| said.add(at, label, value));
        if let Some((label, value)) = body.split_once("**").and_then(|(_, rest)| rest.split_once("**")) {
            said.add(at, label, value);
        }
    }
    said
}

/// The label that a line is: with a colon at its end, or in bold.
fn label_of(line: &str) -> Option<&str> {
    let is_bold = |inside: &&str| !inside.contains("**");
    let bold = || line.strip_prefix("**").and_then(|rest| rest.strip_suffix("**")).filter(is_bold);
    let label = line.strip_suffix([':', '：']).or_else(bold)?;
    Some(label.trim_matches(['-', '*', '+', '>', ' ', '_']))
}

impl Said {
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
