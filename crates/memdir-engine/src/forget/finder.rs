//! [`Finders`]: looking for letters in files of any size.

use std::io::{self, Read};

use memchr::memmem::Finder;

use memdir_plan::Sought;
use memdir_vault::Region;

/// Searches files of any size in pieces.
pub(super) struct Finders {
    finders: Vec<Finder<'static>>,
    longest: usize,
    /// Whether what is sought are names, which are none as part of longer ones.
    is_name: bool,
}

/// How much of a file is looked at at once.
const PIECE: usize = 1 << 16;

impl Finders {
    pub(super) fn new(sought: &Sought) -> Self {
        let needles = sought.needles();
        let longest = needles.iter().map(Vec::len).max().unwrap_or(0);
        let finders = needles.iter().map(|needle| Finder::new(needle).into_owned()).collect();
        Self { finders, longest, is_name: matches!(sought, Sought::Note(_)) }
    }

    /// In the database of another machine names stand beside numbers, which may look like letters; what is said of ours
    /// is that it was looked through row by row.
    pub(super) fn count(&self, file: &mut dyn Read, region: Region) -> io::Result<u64> {
        let is_name = self.is_name && region != Region::Foreign;
        let (mut piece, mut count) = (Vec::with_capacity(PIECE + self.longest + 1), 0);
        // Places that end before this one were counted with the piece before.
        let mut counted = 0;
        loop {
            let read = Read::take(&mut *file, PIECE as u64).read_to_end(&mut piece)?;
            // What follows the last byte is known with the next piece.
            let end = if read < PIECE { piece.len() + 1 } else { piece.len() };
            for finder in &self.finders {
                let length = finder.needle().len();
                let is_new = |at: &usize| (counted..end).contains(&(at + length));
                let found =
                    finder.find_iter(&piece).filter(is_new).filter(|at| !is_name || stands_alone(&piece, *at, length));
                count += u64::try_from(found.count()).unwrap_or(u64::MAX);
            }
            if read < PIECE {
                return Ok(count);
            }
            // The beginning of a place may stand at the end of a piece, and a byte before it.
            let gone = piece.len().saturating_sub(self.longest + 1);
            counted = end - gone;
            piece.drain(..gone);
        }
    }
}

/// Whether a place is the whole name, as far as bytes can tell.
fn stands_alone(piece: &[u8], at: usize, length: usize) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || matches!(byte, b'_' | b'-');
    let before = at.checked_sub(1).and_then(|before| piece.get(before));
    !before.is_some_and(|byte| is_part(byte) || *byte == b'/') && !piece.get(at + length).is_some_and(is_part)
}

#[cfg(test)]
mod tests {
    use super::{Finders, PIECE, Region, Sought};
    use memdir_core::path::MemoryPath;
    use memdir_plan::{Called, Forms};

    #[track_caller]
    fn check(sought: &Sought, bytes: &[u8], expected: u64) {
        assert_eq!(Finders::new(sought).count(&mut &*bytes, Region::Open).unwrap(), expected);
    }

    #[test]
    fn a_place_is_counted_once_wherever_a_piece_ends() {
        let note = Sought::Note(vec![Called::always(MemoryPath::parse("a.md").unwrap())]);
        let text = Sought::Text(Forms::new("a.md").unwrap());
        for (around, names, texts) in [
            (" a.md ", 1, 1),
            (" a.mda.md", 0, 2),
            ("xa.md ", 0, 1),
            ("/a.md ", 0, 1),
            (" a.md\u{e9}", 0, 1),
            ("(a.md)", 1, 1),
        ] {
            for at in (0..3).chain(PIECE - 12..PIECE + 3).chain(2 * PIECE - 12..2 * PIECE + 3) {
                let before = ".".repeat(at);
                for after in [0, 1, PIECE] {
                    let bytes = format!("{before}{around}{}", ".".repeat(after));
                    check(&note, bytes.as_bytes(), names);
                    check(&text, bytes.as_bytes(), texts);
                }
            }
        }
        check(&note, b"a.md", 1);
        check(&note, b"", 0);
    }
}
