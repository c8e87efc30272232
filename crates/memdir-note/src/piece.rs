//! Pieces of a note that are small enough to have one meaning each.

use memdir_core::path::MemoryPath;

/// How many words a piece has.
const WORDS: usize = 90;
/// A piece ends here, however few words it has: not every script has blanks.
const BYTES: usize = 900;
/// The rest of a longer note has no pieces.
const MOST: usize = 64;

/// The text of a note in pieces, each with the note's name in front, which often says whom it is about. At least one, at most
/// 64 of about 90 words. Linear in the text.
///
/// # Examples
///
/// ```
/// use memdir_note::pieces;
/// use memdir_core::path::MemoryPath;
///
/// let path = MemoryPath::parse("people/ada_king.md").unwrap();
/// assert_eq!(pieces(&path, "# Ada\n\n- dog: Rex\n"), ["ada king: # Ada - dog: Rex"]);
/// ```
#[must_use]
pub fn pieces(path: &MemoryPath, text: &str) -> Vec<String> {
    let name = format!("{}:", path.stem().replace('_', " "));
    let mut pieces = Vec::new();
    let (mut piece, mut words) = (name.clone(), 0);
    for word in text.split_whitespace().flat_map(cut) {
        let has_room = words < WORDS && piece.len() + word.len() < name.len() + BYTES;
        if words > 0 && !has_room {
            if pieces.len() + 1 == MOST {
                break;
            }
            pieces.push(std::mem::replace(&mut piece, name.clone()));
            words = 0;
        }
        piece.push(' ');
        piece.push_str(word);
        words += 1;
    }
    pieces.push(piece);
    pieces
}

/// A word in parts that fit into a piece.
fn cut(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let (part, after) = rest.split_at_checked(rest.floor_char_boundary(BYTES - 1))?;
        rest = after;
        Some(part).filter(|part| !part.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        pieces(&MemoryPath::parse("a/my_dog.md").unwrap(), text)
    }

    #[test]
    fn no_piece_is_long_and_nothing_is_lost() {
        assert_eq!(of(""), ["my dog:"]);
        for text in ["word ".repeat(200), "我".repeat(2_000), format!("{} b", "x".repeat(5_000)), "ab\n\n".repeat(91)]
        {
            let pieces = of(&text);
            assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.len() <= 8 + BYTES), "{pieces:?}");
            let joined: String = pieces.iter().map(|piece| piece.strip_prefix("my dog:").unwrap()).collect();
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(bare(&joined), bare(&text));
        }
        assert_eq!(of(&"ab ".repeat(180)).len(), 2);
    }

    #[test]
    fn a_note_without_end_has_so_many() {
        assert_eq!(of(&"word ".repeat(100_000)).len(), MOST);
    }
}
