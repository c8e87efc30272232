//! The notes as a tree: folders that open and close, all or those below one of them, page by page.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Failure, Kind};
use memdir_engine::ListedEntry;
use serde::Deserialize;

use crate::door::Visitor;
use crate::href;
use crate::layout::{Page, Section};
use crate::sent::Query;
use crate::site::Site;

/// So many entries are on one page, if they are not more bytes than this.
const MOST_ENTRIES: usize = 500;
const MOST_BYTES: usize = 64 * 1024;
/// About how many bytes an entry needs beside its path, which stands in it twice.
const ENTRY_BYTES: usize = 64;
/// With no more entries than this all folders are open.
const FEW: usize = 60;

/// Which page of the list.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    after: Option<String>,
}

pub(crate) async fn show(State(site): State<Arc<Site>>, visitor: Visitor, Query(asked): Query<Asked>) -> Response {
    site.show(&visitor, move |site, _| below(site, None, asked.after.as_deref())).await
}

/// The page of what is below a folder, or of everything.
pub(crate) fn below(site: &Site, folder: Option<&MemoryPath>, after: Option<&str>) -> Result<Page, Failure> {
    let mut listed = site.engine().tree(folder, MOST_ENTRIES, after)?;
    let mut bytes = 0;
    let fitting = listed.entries.iter().take_while(|entry| {
        bytes += 2 * href::note(&entry.path).len() + ENTRY_BYTES;
        bytes <= MOST_BYTES
    });
    let shown = fitting.count().max(1);
    if shown < listed.entries.len() {
        listed.entries.truncate(shown);
        listed.cursor = listed.entries.last().map(|entry| entry.path.to_string());
    }
    let tree = Branch::of(&listed.entries, folder);
    let here = folder.map_or_else(|| "/notes".to_owned(), href::note);
    let title = folder.map_or("Notes", |folder| folder.name());
    let is_open = listed.total <= FEW;
    let main = html! {
        @if let Some(folder) = folder { (trail(folder)) }
        h1 { (title) }
        p .row { a #new .button href={ "/new" @if let Some(folder) = folder { "?folder=" (href::value(folder.as_str())) } } { "New note" } }
        div #tree data-live="notes" {
            p .count {
                (listed.total) @if listed.total == 1 { " entry" } @else { " entries" }
                @if listed.cursor.is_some() || after.is_some() { ", " (listed.entries.len()) " on this page" }
            }
            @if listed.entries.is_empty() { p { "Nothing is here yet." } }
            (tree.list(is_open))
            @if let Some(cursor) = &listed.cursor {
                p .more { a #more rel="next" href={ (here) "?after=" (href::value(cursor)) } { "More" } }
            }
        }
    };
    Ok(Page::new(title, Section::Notes, main))
}

/// The folders above a place, each a link.
pub(crate) fn trail(path: &MemoryPath) -> Markup {
    let mut above: Vec<MemoryPath> = path.ancestors().collect();
    above.sort();
    html! {
        nav .trail aria-label="Folders" {
            a href="/notes" { "Notes" }
            @for folder in &above { " / " a href=(href::note(folder)) { (folder.name()) } }
        }
    }
}

/// A folder with what is in it, by name.
#[derive(Default)]
struct Branch<'e> {
    folders: BTreeMap<String, (MemoryPath, Branch<'e>)>,
    files: Vec<&'e MemoryPath>,
}

impl<'e> Branch<'e> {
    fn of(entries: &'e [ListedEntry], root: Option<&MemoryPath>) -> Self {
        let mut tree = Self::default();
        for entry in entries {
            match entry.kind {
                Kind::Directory => {
                    tree.at(Some(&entry.path), root);
                }
                _ => tree.at(entry.path.parent().as_ref(), root).files.push(&entry.path),
            }
        }
        tree
    }

    /// The branch of a folder below `root`, made where it is not there.
    fn at(&mut self, folder: Option<&MemoryPath>, root: Option<&MemoryPath>) -> &mut Self {
        let Some(folder) = folder.filter(|folder| Some(*folder) != root) else { return self };
        let parent = folder.parent();
        let above = self.at(parent.as_ref(), root);
        &mut above.folders.entry(folder.name().to_owned()).or_insert_with(|| (folder.clone(), Self::default())).1
    }

    fn list(&self, is_open: bool) -> Markup {
        html! {
            @if !(self.folders.is_empty() && self.files.is_empty()) {
                ul .tree {
                    @for (name, (path, below)) in &self.folders {
                        li {
                            details id={ "folder-" (path) } open[is_open] {
                                summary { (name) "/" }
                                p .self { a href=(href::note(path)) { "Only this folder" } }
                                (below.list(is_open))
                            }
                        }
                    }
                    @for path in &self.files { li { a href=(href::note(path)) { (file_name(path)) } } }
                }
            }
        }
    }
}

/// A note without the ending that all have.
fn file_name(path: &MemoryPath) -> &str {
    if path.is_note() { path.stem() } else { path.name() }
}
