//! What a text says with its shape: a cell below its head, a line below its heading or label.
//!
//! Detectors know labels that stand before their values, as in `phone: 555 0100`. Here the other shapes are written so, in lines of
//! their own, so that no detector needs a pattern for each.

/// The longest label, in bytes; what is longer is prose.
const LABEL: usize = 48;
/// How many lines below a heading or a label are taken to be its values.
const LINES: usize = 24;

/// The cells of tables, each behind the head of its column, and behind the first cell of its row.
pub(super) fn cells(text: &str) -> String {
    let mut said = String::new();
    if !text.contains('|') {
        return said;
    }
    let mut head: Option<Vec<&str>> = None;
    for line in text.lines() {
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
            add(&mut said, label, value);
        }
        if let Some((label, values)) = row.split_first() {
            values.iter().for_each(|value| add(&mut said, label, value));
        }
    }
    said
}

/// The lines below headings and labels, and values that a dash, an arrow or bold letters part from their labels.
pub(super) fn values(text: &str) -> String {
    let mut said = String::new();
    // The heading and the label that are open, each with how many lines it has had.
    let (mut heading, mut label): (Option<(&str, usize)>, Option<(&str, usize)>) = (None, None);
    for line in text.lines() {
        let body = line.trim();
        let bare = body.trim_start_matches(['-', '*', '+', '>', ' ', '\t']);
        if body.starts_with('#') {
            (heading, label) = (Some((body.trim_matches(['#', ' ', ':', '*', '_']), 0)), None);
        } else if body.is_empty() {
            // What stands after a gap is a label's only where nothing stands before it.
            label = label.filter(|(_, lines)| *lines == 0);
        } else {
            for open in [&mut heading, &mut label] {
                if let Some((name, lines)) = *open {
                    add(&mut said, name, bare);
                    *open = (lines < LINES).then_some((name, lines + 1));
                }
            }
            label = label_of(body).map(|name| (name, 0)).or(label);
        }
        let parted = [" - ", " -> ", " → ", " => ", "\t"].iter().filter_map(|mark| bare.split_once(mark));
        parted.for_each(|(label, value)| add(&mut said, label, value));
        if let Some((label, value)) = body.split_once("**").and_then(|(_, rest)| rest.split_once("**")) {
            add(&mut said, label, value);
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

/// Writes a value behind its label, where both are there.
fn add(said: &mut String, label: &str, value: &str) {
    let label = label.trim_matches(['*', '_', '`', ' ']);
    if label.is_empty() || label.len() > LABEL || !value.contains(char::is_alphanumeric) {
        return;
    }
    let value = value.trim_start_matches([':', '=', ' ', '\t']);
    said.extend([label, ": ", value, "\n"]);
}
