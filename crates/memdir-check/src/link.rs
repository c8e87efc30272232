//! Links that lead nowhere, and the edit that would mend one.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::edit::edit;
use super::{File, Finding, Kind, Seen, finding};
use memdir_core::path::MemoryPath;
use memdir_core::report::{LinkEntry, LinkKind, LinkStatus};
use memdir_note::heading::Found;
use memdir_note::link::Style;
use memdir_note::relink::Before;
use memdir_note::{Link, Note, Syntax, folded};

/// No more links of one note are mended at once; the rest is when these are.
const MOST_MENDS: usize = 100;
/// No more notes are read for their headings, and no more headings compared: the links after that are told none.
const MOST_TARGETS: usize = 1_000;
const MOST_COMPARED: usize = 1_000_000;
/// How much alike two headings have to be, and how much less so the next one.
const LIKENESS: f64 = 0.85;
const CLEARNESS: f64 = 0.05;

/// The extensions of the files other than notes that Obsidian opens, as its help lists them.
const ATTACHED: &[&str] = &[
    "3gp", "avif", "base", "bmp", "canvas", "flac", "gif", "jpeg", "jpg", "m4a", "mkv", "mov", "mp3", "mp4", "ogg",
    "ogv", "pdf", "png", "svg", "wav", "webm", "webp",
];

/// The headings of the notes that links lead to, and how many were compared.
#[derive(Default)]
struct Headings {
    of: HashMap<MemoryPath, Vec<String>>,
    compared: usize,
}

/// All broken links, and those by name to notes that are not written yet.
pub(super) fn broken(seen: &Seen<'_>, read: &mut dyn FnMut(&MemoryPath) -> Option<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut headings = Headings::default();
    let names = Names::of(seen);
    for entries in seen.links.links.chunk_by(|one, other| one.source == other.source) {
        let Some(source) = entries.first().map(|entry| &entry.source) else { continue };
        if !entries.iter().any(|entry| entry.status.is_broken()) || seen.excluded.holds(source) {
            continue;
        }
        // No action can mend a canvas.
        let text = if source.is_note() { read(source).unwrap_or_default() } else { String::new() };
        let links = Note::parse(&text).links();
        let mut mends = 0;
        // Both are in the order of the note, and what only looks like a link has no entry.
        let mut rest = links.iter();
        let is_of = |entry: &LinkEntry, link: &Link| link.path == entry.target && link.subpath == entry.subpath;
        for entry in entries {
            let link = rest.find(|link| is_of(entry, link));
            if !entry.status.is_broken() {
                continue;
            }
            let kind = if names.is_unwritten(entry, link) { Kind::Unwritten } else { Kind::BrokenLink };
            let called = if kind == Kind::Unwritten { names.called(&entry.target) } else { &[] };
            let heading = nearest_heading(entry, &mut headings, read);
            let mended = link.filter(|_| mends < MOST_MENDS).and_then(|link| match (entry.status, called) {
                (LinkStatus::BrokenFile, []) => to_file(seen, entry, link),
                (LinkStatus::BrokenFile, [note]) => to_called(seen, entry, link, &text, note),
                (LinkStatus::BrokenHeading, _) => to_heading(&text, link, heading.as_deref()?),
                (LinkStatus::Ok | LinkStatus::BrokenFile | LinkStatus::BrokenBlock | LinkStatus::Outside, _) => None,
            });
            mends += usize::from(mended.is_some());
            let action = mended.and_then(|(place, new)| edit(source, &text, &link?.span, place, &new));
            let message =
                if kind == Kind::Unwritten { unwritten(entry, called) } else { message(entry, heading.as_deref()) };
            findings.push(Finding {
                line: Some(entry.line),
                target: Some(format!("{}{}", entry.target, entry.subpath)),
                message,
                action,
                ..finding(kind, source)
            });
        }
    }
    findings
}

/// What notes are called beside their file names, and which extensions the other files have.
struct Names<'s> {
    notes: HashMap<String, Vec<&'s MemoryPath>>,
    extensions: HashSet<&'s str>,
}

impl<'s> Names<'s> {
    fn of(seen: &Seen<'s>) -> Self {
        let mut names = Self { notes: HashMap::new(), extensions: HashSet::new() };
        for File { path, is_link, look } in seen.files {
            let Some(look) = look else {
                names.extensions.extend(extension(path.name()));
                continue;
            };
            for name in look.title.iter().chain(&look.aliases).filter(|_| !is_link) {
                let notes = names.notes.entry(folded(name.trim())).or_default();
                if notes.last() != Some(&path) {
                    notes.push(path);
                }
            }
        }
        names
    }

    /// Whether a link names a note that is not there, and no file: a wikilink without a folder and without an extension.
    fn is_unwritten(&self, entry: &LinkEntry, link: Option<&Link>) -> bool {
        let is_wikilink = match entry.kind {
            LinkKind::Wikilink | LinkKind::FrontMatter => true,
            LinkKind::Embed => link.is_some_and(|link| link.style == Style::Wiki),
            LinkKind::Markdown => false,
        };
        entry.status == LinkStatus::BrokenFile
            && is_wikilink
            && !entry.target.contains('/')
            && extension(entry.target.trim()).is_none_or(|extension| !self.is_file(extension))
    }

    /// Whether a name with this extension is that of a file, and not of a note with a dot in its name.
    fn is_file(&self, extension: &str) -> bool {
        let extension = extension.to_ascii_lowercase();
        extension == "md" || ATTACHED.contains(&extension.as_str()) || self.extensions.contains(extension.as_str())
    }

    /// The notes that have a name as their title or alias.
    fn called(&self, name: &str) -> &[&'s MemoryPath] {
        self.notes.get(&folded(name.trim())).map_or(&[], Vec::as_slice)
    }
}

/// What stands behind the last dot of a name.
fn extension(name: &str) -> Option<&str> {
    name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension)
}

fn unwritten(entry: &LinkEntry, called: &[&MemoryPath]) -> String {
    let name = &entry.target;
    match (called, &entry.nearest) {
        ([], Some(nearest)) => format!("`{name}` is not written yet; the nearest is `{nearest}`"),
        ([], None) => format!("`{name}` is not written yet"),
        ([note], _) => format!("`{name}` is a title or an alias of `{note}`, which no link follows"),
        ([note, ..], _) => format!("`{name}` is a title or an alias of `{note}` and others, which no link follows"),
    }
}

fn message(entry: &LinkEntry, heading: Option<&str>) -> String {
    let place = entry.subpath.trim_start_matches(['#', '^']);
    let target = entry.resolved.as_ref().unwrap_or(&entry.source);
    match (entry.status, &entry.nearest, heading) {
        (LinkStatus::BrokenFile, Some(nearest), _) => {
            format!("there is no file `{}`; the nearest is `{nearest}`", entry.target)
        }
        (LinkStatus::BrokenHeading, _, Some(heading)) => {
            format!("`{target}` has no heading `{place}`; the nearest is `{heading}`")
        }
        (LinkStatus::BrokenHeading, ..) => format!("`{target}` has no heading `{place}`"),
        (LinkStatus::BrokenBlock, ..) => format!("`{target}` has no block `{place}`"),
        (LinkStatus::BrokenFile | LinkStatus::Ok | LinkStatus::Outside, ..) => {
            format!("there is no file `{}`", entry.target)
        }
    }
}

/// What has to stand in the place of a title or an alias: the note, and the name as the text that is shown.
fn to_called(
    seen: &Seen<'_>,
    entry: &LinkEntry,
    link: &Link,
    text: &str,
    note: &MemoryPath,
) -> Option<(Range<usize>, String)> {
    let before = Before { path: &link.path, syntax: link.syntax, is_joined: false, target: note };
    let path = link.style.encode(&seen.targets.relink(before, &entry.source, note)?)?;
    if link.text.is_some() || !link.subpath.is_empty() || link.kind == LinkKind::Embed {
        return Some((link.target.clone(), path));
    }
    let line = text.get(..link.span.start)?.rsplit('\n').next()?;
    // In a table a bar would end the cell.
    let bar = if line.trim_start().starts_with('|') { "\\|" } else { "|" };
    Some((link.target.clone(), format!("{path}{bar}{}", text.get(link.target.clone())?)))
}

/// What has to stand in the place of the path, where it is plain which file is meant.
fn to_file(seen: &Seen<'_>, entry: &LinkEntry, link: &Link) -> Option<(Range<usize>, String)> {
    let nearest = entry.nearest.as_ref()?;
    let written = link.path.trim().rsplit('/').next()?;
    let stem = MemoryPath::parse(written).map_or_else(|_| written.to_owned(), |path| path.stem().to_owned());
    if !is_meant(&stem, nearest.stem()) {
        return None;
    }
    let before =
        Before { path: &link.path, syntax: link.syntax, is_joined: link.syntax != Syntax::Wiki, target: nearest };
    let path = seen.targets.relink(before, &entry.source, nearest)?;
    Some((link.target.clone(), link.style.encode(&path)?))
}

/// Whether one name is the other, misspelled: the same letters, or few that differ and no digit among them.
fn is_meant(written: &str, name: &str) -> bool {
    let letters =
        |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>().to_lowercase();
    let digits = |text: &str| text.chars().filter(|letter| letter.is_numeric()).collect::<String>();
    let (one, other) = (letters(written), letters(name));
    let shorter = one.chars().count().min(other.chars().count());
    let most = match shorter {
        0..4 => 0,
        4..8 => 1,
        _ => 2,
    };
    // Names are short; a hostile one is no name of a file.
    shorter < 256
        && !one.is_empty()
        && digits(written) == digits(name)
        && (one == other || strsim::osa_distance(&one, &other) <= most)
}

/// The heading that a link most likely means, where it is plain.
fn nearest_heading(
    entry: &LinkEntry,
    headings: &mut Headings,
    read: &mut dyn FnMut(&MemoryPath) -> Option<String>,
) -> Option<String> {
    let target = entry.resolved.as_ref().filter(|_| entry.status == LinkStatus::BrokenHeading)?;
    if !headings.of.contains_key(target) && headings.of.len() < MOST_TARGETS {
        let text = read(target).unwrap_or_default();
        let all = Note::parse(&text).headings().iter().map(|heading| short(&heading.text)).collect();
        headings.of.insert(target.clone(), all);
    }
    let all = headings.of.get(target)?;
    headings.compared = headings.compared.saturating_add(all.len());
    if headings.compared > MOST_COMPARED {
        return None;
    }
    let wanted = short(entry.subpath.rsplit('#').next()?).to_lowercase();
    let likeness = |heading: &str| strsim::jaro_winkler(&wanted, &heading.to_lowercase());
    let mut found: Vec<_> = all.iter().map(|heading| (likeness(heading), heading)).collect();
    found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let (best, heading) = found.first()?;
    let is_clear = found.get(1).is_none_or(|(next, _)| best - next >= CLEARNESS);
    (*best >= LIKENESS && is_clear).then(|| (*heading).clone())
}

/// The part of a heading that is compared.
fn short(text: &str) -> String {
    text.chars().take(100).collect()
}

/// What has to stand in the place of the subpath.
fn to_heading(text: &str, link: &Link, heading: &str) -> Option<(Range<usize>, String)> {
    let rest = text.get(link.target.end..link.span.end)?;
    let start =
        link.target.end + rest.find('#').filter(|at| rest.get(..*at).is_some_and(|gap| gap.trim().is_empty()))?;
    let rest = text.get(start..link.span.end)?;
    let end = match link.style {
        Style::Wiki | Style::Yaml(_) => rest.find(['|', ']']),
        Style::Encoded => rest.find([')', ' ', '\n']),
        Style::Angled => rest.find('>'),
        Style::Strict => None,
    }?;
    let written = rest.get(..end)?.trim_end_matches('\\').trim_end();
    if link.syntax == Syntax::Markdown && !written.contains(|sign: char| sign.is_uppercase() || "% ".contains(sign)) {
        // It was an anchor, as GitHub writes them, and becomes one.
        let shown = heading.to_lowercase();
        let kept = |sign: &char| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_');
        let anchor: String = shown.chars().filter(kept).map(|sign| if sign == ' ' { '-' } else { sign }).collect();
        let is_shown = !heading.contains(['[', '`', '*', '<', '{', '&', '\\']);
        return (is_shown && !anchor.is_empty()).then(|| (start..start + written.len(), format!("#{anchor}")));
    }
    // Readers leave these out where they compare headings.
    let plain = heading.replace(['#', '^', '|', '[', ']', '%', ':', '<', '>', '\\'], " ");
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let note = format!("# {heading}\n");
    if plain.is_empty() || Note::parse(&note).heading(&plain) == Found::Nothing {
        return None;
    }
    Some((start..start + written.len(), format!("#{}", link.style.encode(&plain)?)))
}
