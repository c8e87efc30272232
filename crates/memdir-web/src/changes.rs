//! What a change did, as pages show it: in words, and as a diff that is cut into parts where it is long.

use maud::{Markup, PreEscaped, html};
use memdir_core::path::MemoryPath;
use memdir_plan::NoteChange;

use crate::diff_lines::DiffLines;
use crate::href;
use crate::text::seen;

/// How many notes of one change are listed.
const MOST_NOTES: usize = 20;
/// About how many bytes of a diff are on one page.
pub(crate) const PART_BYTES: usize = 48 * 1024;
/// About how many bytes a line needs beside its text.
const LINE_BYTES: usize = 32;

/// A line of a diff, or a piece of a long one, with the class of its sign.
type Piece<'d> = (&'d str, Option<&'static str>);

/// What was done to each note.
pub(crate) fn words(changes: &[NoteChange]) -> Markup {
    html! {
        @if !changes.is_empty() {
            dl .changes {
                @for change in changes.iter().take(MOST_NOTES) {
                    dt { (name(&change.name)) }
                    dd {
                        @for line in &change.lines {
                            @if line.is_loss { strong .loss { (seen(&line.words)) } } @else { span { (seen(&line.words)) } }
                        }
                    }
                }
            }
            @if let more @ 1.. = changes.len().saturating_sub(MOST_NOTES) { p .quiet { "and " (more) " more" } }
        }
    }
}

/// A note's name, with its address where it has one.
pub(crate) fn name(name: &str) -> Markup {
    match MemoryPath::parse(name.trim_end_matches('/')) {
        Ok(path) => html! { a .path href=(href::note(&path)) { (seen(name)) } },
        Err(_) => html! { span .path { (seen(name)) } },
    }
}

/// A part of a diff, from 1, of as many as it has; each line with its sign. A change of files that are no text has an empty diff.
pub(crate) fn diff(diff: &str, part: usize, most_bytes: usize) -> (Markup, usize) {
    let told = diff.lines().map(seen).collect::<Vec<_>>().join("\n");
    let pieces = pieces(&told, most_bytes);
    let mut parts: Vec<(usize, Vec<Piece<'_>>)> = vec![(0, Vec::new())];
    for (piece, class) in pieces {
        let bytes = page_bytes(piece) + LINE_BYTES;
        if parts.last().is_some_and(|(full, lines)| !lines.is_empty() && full + bytes > most_bytes) {
            parts.push((0, Vec::new()));
        }
        if let Some((full, lines)) = parts.last_mut() {
            *full += bytes;
            lines.push((piece, class));
        }
    }
    let count = parts.len();
    let lines = parts.into_iter().nth(part.clamp(1, count) - 1).map(|(_, lines)| lines).unwrap_or_default();
    let shown = html! {
        @if diff.is_empty() {
            p .quiet { "Nothing in it is text." }
        } @else {
            pre .diff tabindex="0" role="region" aria-label="Difference" {
                code { @for (line, class) in lines { span class=[class] { (line) "\n" } } }
            }
        }
    };
    (shown, count)
}

/// Links to the parts of what is on several pages; `address` ends where the number of a part goes.
pub(crate) fn part_links(address: &str, part: usize, count: usize) -> Markup {
    if count < 2 {
        return PreEscaped(String::new());
    }
    html! {
        nav .parts aria-label="Parts" {
            "Part " (part.clamp(1, count)) " of " (count)
            @if part > 1 { " · " a rel="prev" href={ (address) (part - 1) } { "Back" } }
            @if part < count { " · " a rel="next" href={ (address) (part + 1) } { "More" } }
        }
    }
}

/// The lines of a diff, each with the class of its sign; a line that is too long for a page is several.
fn pieces(diff: &str, most_bytes: usize) -> Vec<Piece<'_>> {
    let longest = most_bytes.saturating_sub(LINE_BYTES) / LARGEST;
    let (mut pieces, mut lines) = (Vec::new(), DiffLines::default());
    for line in diff.lines() {
        let class = lines.class(line);
        let mut rest = line;
        while rest.len() > longest.max(1) {
            let end = rest.floor_char_boundary(longest.max(4));
            let (piece, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            pieces.push((piece, class));
            rest = after;
        }
        pieces.push((rest, class));
    }
    pieces
}

/// As many bytes as one byte of a text can become on a page.
const LARGEST: usize = 6;

fn page_bytes(text: &str) -> usize {
    text.bytes().map(|byte| if matches!(byte, b'"' | b'&' | b'<' | b'>') { LARGEST } else { 1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::diff;

    /// The text of a page without its tags.
    fn text(page: &str) -> String {
        let mut inside = false;
        let plain: String = page
            .chars()
            .filter(|letter| {
                inside = inside && *letter != '>' || *letter == '<';
                !inside && *letter != '>'
            })
            .collect();
        plain.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
    }

    #[test]
    fn all_parts_together_are_the_diff_and_none_is_too_large() {
        let long = format!("+{}\n", "ü\"<x".repeat(400));
        for told in ["+a\n-b\n".to_owned(), "+x\n".repeat(500), format!("@@ -1 +1 @@\n{long}-<script>\n{long}")] {
            let (_, count) = diff(&told, 1, 1000);
            let mut all = String::new();
            for part in 1..=count {
                let page = diff(&told, part, 1000).0.into_string();
                assert!(page.len() < 1200, "{}", page.len());
                assert!(!page.contains("<script>"));
                all.push_str(&text(&page));
            }
            assert_eq!(all.replace('\n', ""), told.replace('\n', ""));
        }
    }

    #[test]
    fn a_part_that_is_not_there_is_the_nearest() {
        let (page, count) = diff("+a\n", 9, 1000);
        assert_eq!(count, 1);
        assert!(page.into_string().contains("+a"));
    }
}
