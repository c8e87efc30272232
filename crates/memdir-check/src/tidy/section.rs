//! Making notes of the sections that make a note too long.
//!
//! Owns what may leave a note: a section that takes along all it needs, and to which nothing leads but by its heading.

use std::collections::HashSet;
use std::ops::Range;

use super::{TidyStep, link_to};
use crate::{Seen, name};
use memdir_core::action::{Action, CreateFile, ReplaceSection};
use memdir_core::path::MemoryPath;
use memdir_core::report::LinkKind;
use memdir_note::name::check_portable;
use memdir_note::{Note, Syntax};

/// A note with more bytes than this is long: an answer to a model rarely holds that much.
const LONG_BYTES: usize = 16_000;
/// A shorter section of it stays.
const LEAST_SECTION_BYTES: usize = 2_000;
/// A note that defines as many labels is not cut, nor one with more headings, or links to different places of it.
const MOST_LABELS: usize = 200;
const MOST_HEADINGS: usize = 1_000;
const MOST_PLACES: usize = 100;
/// No more sections of one note are looked at.
const MOST_SECTIONS: usize = 20;

/// The sections that make a note too long, each to become a note of its own: the longest first, until the rest is short.
pub(super) fn split(path: &MemoryPath, note: &Note<'_>, seen: &Seen<'_>) -> Vec<TidyStep> {
    let (text, mut left) = (note.text(), note.text().len());
    if left <= LONG_BYTES || name::is_day(path.stem()) {
        return Vec::new();
    }
    let headings = note.headings();
    if headings.len() > MOST_HEADINGS {
        return Vec::new();
    }
    let Some(level) = headings.iter().map(|heading| heading.level).filter(|level| *level > 1).min() else {
        return Vec::new();
    };
    let mut sections: Vec<(String, Range<usize>)> = Vec::new();
    for (at, heading) in headings.iter().enumerate().filter(|(_, heading)| heading.level == level) {
        let next = headings.get(at + 1..).and_then(|rest| rest.iter().find(|next| next.level <= level));
        sections.push((heading.shown(), heading.span.end..next.map_or(text.len(), |next| next.span.start)));
    }
    let count = |name: &str| sections.iter().filter(|(other, _)| other == name).count();
    let mut long: Vec<_> =
        sections.iter().filter(|(name, body)| body.len() >= LEAST_SECTION_BYTES && count(name) == 1).collect();
    long.sort_by_key(|(_, body)| std::cmp::Reverse(body.len()));
    let mut steps = Vec::new();
    for (heading, body) in long.into_iter().take(MOST_SECTIONS) {
        if left <= LONG_BYTES {
            break;
        }
        if let Some((actions, rest)) = moved(path, note, body, heading, seen) {
            left = left.saturating_sub(text.len().saturating_sub(rest));
            steps.push(TidyStep { why: "its note has grown too long", path: path.clone(), actions });
        }
    }
    steps
}

/// The actions that make a note of a section, which keeps its heading and a link, and how many bytes the old note has after that alone.
fn moved(
    path: &MemoryPath,
    note: &Note<'_>,
    section: &Range<usize>,
    heading: &str,
    seen: &Seen<'_>,
) -> Option<(Vec<Action>, usize)> {
    let plain: String =
        heading.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-')).collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let stem = format!("{} {plain}", path.stem());
    let new = MemoryPath::in_folder(path.parent().as_ref(), &format!("{stem}.md")).ok()?;
    if plain.is_empty() || check_portable(new.name()).is_err() || seen.targets.has(&new) {
        return None;
    }
    let text = note.text();
    let body = text.get(section.clone())?;
    let end = if body.contains("\r\n") { "\r\n" } else { "\n" };
    let content = format!("# {heading}{end}{end}{}{end}", body.trim());
    let link = link_to(&new, &stem, path, note, seen)? + end;
    let rest = format!("{}{link}{}", text.get(..section.start)?, text.get(section.end..)?);
    if !is_whole((path, heading), note, &Note::parse(&rest), &Note::parse(&content), seen) {
        return None;
    }
    let (path, heading) = (path.clone(), heading.to_owned());
    let actions = vec![
        Action::CreateFile(CreateFile { path: new, content }),
        Action::ReplaceSection(ReplaceSection { path, heading, content: link }),
    ];
    Some((actions, rest.len()))
}

/// Whether a note that was cut in two at a heading still says the same: each link is there and leads where it led, so does each from elsewhere, and
/// no part uses a label that the other part defines.
fn is_whole(
    (path, heading): (&MemoryPath, &str),
    note: &Note<'_>,
    rest: &Note<'_>,
    new: &Note<'_>,
    seen: &Seen<'_>,
) -> bool {
    let said = |note: &Note<'_>| {
        let links = note.links().into_iter();
        links.map(|link| (link.path, link.subpath, link.text)).collect::<Vec<_>>()
    };
    let (mut before, mut after) = (said(note), said(rest));
    after.extend(said(new));
    before.sort_unstable();
    after.sort_unstable();
    // The link to the new note is the only one more.
    let is_kept = after.len() == before.len() + 1 && before.iter().all(|link| after.contains(link));
    let is_led = |part: &Note<'_>, subpath: &str, syntax: Syntax| {
        let before = led_to(note, subpath, syntax, heading);
        before.is_none() || led_to(part, subpath, syntax, heading) == before
    };
    let leads_on = |part: &Note<'_>| {
        let own = part.links().into_iter().filter(|link| link.path.is_empty());
        let own: HashSet<_> = own.map(|link| (link.subpath, link.syntax)).collect();
        own.len() <= MOST_PLACES && own.iter().all(|(subpath, syntax)| is_led(part, subpath, *syntax))
    };
    let to_places =
        seen.links.links.iter().filter(|link| link.resolved.as_ref() == Some(path) && !link.subpath.is_empty());
    let is_embedded = to_places.clone().any(|link| link.kind == LinkKind::Embed);
    let from_elsewhere = to_places.filter(|link| link.source != *path || !link.target.is_empty());
    let places: HashSet<_> = from_elsewhere
        .map(|link| {
            let syntax = if link.kind == LinkKind::Markdown { Syntax::Markdown } else { Syntax::Wiki };
            (link.subpath.as_str(), syntax)
        })
        .collect();
    let is_led_to = !is_embedded
        && places.len() <= MOST_PLACES
        && places.iter().all(|(subpath, syntax)| is_led(rest, subpath, *syntax));
    let is_torn =
        needs(rest.text(), new.text()) || needs(new.text(), rest.text()) || cuts_html(note.text(), new.text());
    is_kept && leads_on(rest) && leads_on(new) && is_led_to && !is_torn
}

/// Whether a text has a label that another one defines, as `[1]: address` or as the footnote `[^1]: text`; or whether that defines too
/// many to look for each.
fn needs(text: &str, other: &str) -> bool {
    let defined = other.lines().filter_map(|line| Some(line.trim_start().strip_prefix('[')?.split_once("]:")?.0));
    let labels: Vec<String> = defined.map(|label| format!("[{}]", label.to_lowercase())).take(MOST_LABELS).collect();
    let text = text.to_lowercase();
    labels.len() == MOST_LABELS || labels.iter().any(|label| text.contains(label.as_str()))
}

/// Whether a part of a text opens an element of HTML, such as `<details>`, and does not close it, or the other way round. One that the whole
/// never closes may have no end.
fn cuts_html(whole: &str, part: &str) -> bool {
    let (whole, text) = (whole.to_lowercase(), part.to_lowercase());
    let count = |tag: &str| {
        let ends = |after: &&str| after.starts_with(|next: char| next == '>' || next == '/' || next.is_whitespace());
        text.split(tag).skip(1).filter(ends).count()
    };
    let name =
        |after: &str| after.split(|sign: char| !sign.is_ascii_alphanumeric()).next().unwrap_or_default().to_owned();
    let closed: HashSet<String> = whole.split("</").skip(1).map(name).take(MOST_LABELS).collect();
    closed.len() == MOST_LABELS || closed.iter().any(|name| count(&format!("<{name}")) != count(&format!("</{name}")))
}

/// The heading or the block to which a link leads; `None` where it leads nowhere. Of several headings of one name what stands below tells
/// them apart; below the one that stays with a link, `left`, that is something else afterwards.
fn led_to(note: &Note<'_>, subpath: &str, syntax: Syntax, left: &str) -> Option<String> {
    let place = subpath.trim_start_matches('#').trim();
    let heading = note.led_to(place, syntax).and_then(|at| Some((note.headings().get(at)?.shown(), note.own_text(at))));
    let said = heading.map(|(heading, own)| {
        let own = if heading == left { "" } else { note.text().get(own).unwrap_or_default() };
        format!("{heading}\n{own}")
    });
    said.or_else(|| note.has_place(place, syntax).then(|| place.to_owned()))
}
