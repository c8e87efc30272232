//! Looking for what is wrong in a memory: each note is read once, and what is kept of it is small.

use super::Engine;
use crate::check::{self, Checked, File, Look};
use crate::note::{Note, Seen, Web};
use crate::path::MemoryPath;
use crate::plan::{self, Scan, Tree, TreeError};
use crate::policy;
use crate::report::Failure;

/// No more lines of each kind of active content are told of one note.
const MOST_ACTIVE: usize = 20;

/// What is kept of one note, or why nothing can be said of any.
type Looked = Result<(Option<Seen>, Look), Failure>;

impl Engine {
    /// Says what is wrong in the memory; `looked` is told of each note that was read, from several threads.
    ///
    /// # Errors
    ///
    /// `io`, and `internal` when the detectors cannot work.
    pub fn check(&self, looked: &(dyn Fn() + Sync)) -> Result<Checked, Failure> {
        let scan =
            Scan { folder: None, limit: self.settings.limits.file_bytes, wants: &MemoryPath::is_note, stop: &|| false };
        let look = |_: &MemoryPath, bytes: Result<&[u8], TreeError>| {
            looked();
            look(bytes)
        };
        let scanned = self.vault.scan(&scan, &look).map_err(plan::failure)?;
        let (mut files, mut seen) = (Vec::with_capacity(scanned.len()), Vec::with_capacity(scanned.len()));
        for file in scanned {
            let (links, look) = match file.seen.transpose()? {
                Some((links, look)) => (links, Some(look)),
                None => (None, None),
            };
            files.push(File { path: file.path.clone(), is_link: file.is_link, look });
            seen.push((file.path, links));
        }
        let web = Web::new(seen);
        let links = web.links();
        let memory = check::Seen {
            files: &files,
            links: &links,
            targets: web.targets(),
            note_bytes: self.settings.limits.note_bytes,
        };
        Ok(check::check(&memory, &mut |path| {
            let (bytes, _) = self.vault.read_bytes(path, self.settings.limits.file_bytes).ok()?;
            String::from_utf8(bytes).ok()
        }))
    }
}

fn look(bytes: Result<&[u8], TreeError>) -> Looked {
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(TreeError::TooLarge { size, .. }) => return Ok((None, Look::of_size(size))),
        // What cannot be read says nothing.
        Err(_) => return Ok((None, Look::default())),
    };
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok((None, Look::of_bytes(bytes))) };
    let note = Note::parse(text);
    let active = policy::active_content(text, MOST_ACTIVE)?;
    Ok((Some(Seen::of_note(&note)), Look::of(text, &note, active)))
}
