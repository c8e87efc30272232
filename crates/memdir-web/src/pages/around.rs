//! What stands around a note: what links to it, links that lead nowhere, and what is near.

use maud::{Markup, html};
use memdir_core::path::MemoryPath;
use memdir_core::report::{LinkEntry, LinkStatus};
use memdir_engine::Surroundings;

use super::{graph, shown};
use crate::door::Visitor;
use crate::site::Site;
use crate::{href, layout, markdown, text};

/// How many bytes of the page each list beside the text may have.
pub(super) const LIST_BYTES: usize = 9 * 1024;
/// So much of a value or a line is shown beside the text.
pub(super) const MOST_LETTERS: usize = 240;

/// Which of the links to a note are listed.
pub(super) struct Backlinks {
    /// How many come before them.
    pub(super) from: usize,
    /// How many bytes of the page they may have.
    pub(super) most_bytes: usize,
}

impl Backlinks {
    /// Those beside the note itself.
    pub(super) const FIRST: Self = Self { from: 0, most_bytes: LIST_BYTES };

    /// What links to it, each with its line, of which the audit is told, and where the list goes on.
    pub(super) fn list(&self, site: &Site, visitor: &Visitor, path: &MemoryPath, around: &Surroundings) -> Markup {
        let line_of = |link: &LinkEntry| {
            let text = site.engine().text_of(&link.source).unwrap_or_default();
            let line = text.lines().nth(link.line.saturating_sub(1)).unwrap_or_default();
            text::shortened(&markdown::as_read(line), MOST_LETTERS)
        };
        // What does not fit is not read.
        let mut bytes = 0;
        let fits = |link: &&LinkEntry| {
            bytes += 2 * MOST_LETTERS + href::note(&link.source).len();
            bytes <= 2 * self.most_bytes
        };
        let fitting: Vec<&LinkEntry> = around.backlinks.iter().skip(self.from).take_while(fits).collect();
        shown::excerpts(site, visitor, fitting.iter().map(|link| &link.source));
        let next = self.from + fitting.len();
        html! {
            ul {
                @for link in fitting {
                    li {
                        a href=(href::note(&link.source)) { (link.source.stem()) }
                        " " small { "line " (link.line) }
                        br;
                        span .quiet { (line_of(link)) }
                    }
                }
            }
            @if let left @ 1.. = around.backlinks.len().saturating_sub(next) {
                p .more { a #more-links rel="next" href={ (href::at("links", path)) "?from=" (next) } { "and " (left) " more" } }
            }
        }
    }
}

/// What links to it, beside the note.
pub(super) fn backlinks(site: &Site, visitor: &Visitor, path: &MemoryPath, around: &Surroundings) -> Markup {
    html! {
        section #backlinks {
            h2 { "Linked from" }
            @if around.backlinks.is_empty() { p .quiet { "No note links here." } }
            (Backlinks::FIRST.list(site, visitor, path, around))
        }
    }
}

/// The links of it that lead nowhere.
pub(super) fn broken(around: &Surroundings) -> Markup {
    let broken: Vec<&LinkEntry> = around.links.iter().filter(|link| link.status.is_broken()).collect();
    let items = broken.iter().map(|link| {
        let what = match link.status {
            LinkStatus::BrokenHeading => "has no such heading",
            LinkStatus::BrokenBlock => "has no such block",
            LinkStatus::BrokenFile | LinkStatus::Ok | LinkStatus::Outside => "leads nowhere",
        };
        html! {
            li {
                span .broken { (text::shortened(&link.target, MOST_LETTERS)) (text::shortened(&link.subpath, MOST_LETTERS)) }
                " " small { "line " (link.line) ", " (what) }
            }
        }
    });
    let (shown, left) = layout::fitting(items, LIST_BYTES);
    html! {
        @if !broken.is_empty() {
            section #broken {
                h2 { "Broken links" }
                ul { (shown) }
                (more(left))
            }
        }
    }
}

/// The notes that are one or two links away.
pub(super) fn near(path: &MemoryPath, around: &Surroundings) -> Markup {
    let list = |notes: &[MemoryPath]| {
        let items = notes.iter().map(|note| html! { li { a href=(href::note(note)) { (note.stem()) } } });
        layout::fitting(items, LIST_BYTES / 2)
    };
    let ((one, one_left), (two, two_left)) = (list(&around.near), list(&around.far));
    html! {
        @if !around.near.is_empty() {
            section #near {
                h2 { "Around it" }
                (graph::draw(path, around))
                details open {
                    summary { "One link away (" (around.near.len()) ")" }
                    ul { (one) }
                    (more(one_left))
                }
                @if !around.far.is_empty() {
                    details {
                        summary { "Two links away (" (around.far.len()) ")" }
                        ul { (two) }
                        (more(two_left))
                    }
                }
                @if around.is_cut { p .quiet { "There are more than are shown here." } }
            }
        }
    }
}

/// How many of a list are not shown.
pub(super) fn more(left: usize) -> Markup {
    html! { @if left > 0 { p .quiet { "and " (left) " more" } } }
}
