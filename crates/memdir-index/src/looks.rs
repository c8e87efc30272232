//! What a check looks at, of a few notes: those that have a key, a name, or a link.

use rusqlite::params;

use super::record::{key_term, token};
use super::{Index, IndexError, blob, sealed, text};
use memdir_check::Look;
use memdir_core::path::MemoryPath;
use memdir_note::stem::Stem;
use memdir_note::words;
use memdir_rank::called;

/// Which notes are asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LooksOf<'q> {
    /// Those with a fact of a key that has all words of this one.
    Key(&'q str),
    /// Those whose file name, title or alias it is.
    Name(&'q str),
    /// Those with a link to a note of this name.
    LinkTo(&'q str),
}

impl Index {
    /// What is kept of at most `most` notes, in the order in which they were put. Names that are links to files elsewhere are
    /// left out.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn looks(&self, of: LooksOf<'_>, most: usize) -> Result<Vec<(MemoryPath, Look)>, IndexError> {
        let (found, about) = match of {
            LooksOf::Key(key) => ("SELECT rowid FROM text WHERE text MATCH ?1", having_key(key)),
            LooksOf::Name(name) => ("SELECT file FROM name WHERE name = ?1", Some(called(name))),
            LooksOf::LinkTo(name) => ("SELECT file FROM link WHERE name = ?1", Some(called(name))),
        };
        let Some(about) = about else { return Ok(Vec::new()) };
        let sql = format!(
            "SELECT path, look FROM file JOIN note ON note.file = file.id
             WHERE id IN ({found}) AND NOT is_link AND card IS NOT NULL ORDER BY id LIMIT ?2"
        );
        self.checked(|db| {
            let mut statement = db.prepare_cached(&sql)?;
            let mut rows = statement.query(params![about, i64::try_from(most).unwrap_or(i64::MAX)])?;
            let mut looks = Vec::new();
            while let Some(row) = rows.next()? {
                let path = sealed::path(text(row, 0)?)?;
                if let Some(look) = blob(row, 1)? {
                    looks.push((path.clone(), sealed::open(&path, look)?));
                }
            }
            Ok(looks)
        })
    }
}

/// The query for a key; `None` for one that has no word.
fn having_key(key: &str) -> Option<String> {
    let mut all: Vec<String> = Vec::new();
    words::each(key, &mut |word, _| {
        let forms: Vec<_> = Stem::forms(word).iter().map(|stem| format!("\"{}\"", key_term(&token(stem)))).collect();
        all.push(format!("({})", forms.join(" OR ")));
    });
    (!all.is_empty()).then(|| all.join(" AND "))
}
