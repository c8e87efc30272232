//! The tree that `list_files` shows.

use std::collections::BTreeMap;

use memdir_core::report::{Kind, TreeEntry};

/// A folder, by the names in it; `None` is a file.
#[derive(Default)]
struct Folder<'e>(BTreeMap<&'e str, Option<Folder<'e>>>);

/// Draws all that is below the root.
pub(super) fn render(entries: &[TreeEntry]) -> String {
    let mut root = Folder::default();
    for entry in entries {
        let mut names = entry.path.as_str().split('/');
        let last = names.next_back().unwrap_or_default();
        let mut folder = &mut root;
        for name in names {
            folder = folder.0.entry(name).or_default().get_or_insert_default();
        }
        let place = folder.0.entry(last).or_default();
        if entry.kind == Kind::Directory {
            place.get_or_insert_default();
        }
    }
    let mut text = "./".to_owned();
    // Paths have at most so many bytes that this goes no deeper than a stack bears.
    root.draw("", &mut text);
    text
}

impl Folder<'_> {
    fn draw(&self, indent: &str, text: &mut String) {
        let last = self.0.keys().next_back();
        for (name, below) in &self.0 {
            let is_last = last == Some(name);
            let (branch, deeper) = if is_last { ("└── ", "    ") } else { ("├── ", "│   ") };
            text.push('\n');
            text.push_str(indent);
            text.push_str(branch);
            text.push_str(name);
            match below {
                Some(folder) if folder.0.is_empty() => text.push_str("/ (empty)"),
                Some(folder) => {
                    text.push('/');
                    folder.draw(&format!("{indent}{deeper}"), text);
                }
                None => {}
            }
        }
    }
}
