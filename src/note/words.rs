//! Words: how a text is taken apart for search, the same way for a note and for a query.
//!
//! A word is what Unicode's rules call one, cut where it is no letter and no digit (`snake_case`) and where a capital
//! begins another (`camelCase`, which counts as a whole too: people write GitHub and look for github). Case and
//! diacritics are folded. Scripts that put nothing between words give each two neighbours, and one that stands alone.
//! Touches nothing but text.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

/// Gives every word of a text, folded, with the bytes it stands for, in the order of their ends. Linear.
///
/// # Examples
///
/// ```
/// let mut words = Vec::new();
/// memdir::note::words::each("Zoë's to_do: 北京市", &mut |word, _| words.push(word.to_owned()));
/// assert_eq!(words, ["zoe", "s", "to", "do", "北京", "京市"]);
/// ```
pub fn each(text: &str, found: &mut impl FnMut(&str, Range<usize>)) {
    let mut words = Words { buffer: String::new(), found };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.is_ascii() {
            words.pieces(line, start);
        } else {
            words.mixed(line, start);
        }
        start += line.len();
    }
}

/// A text as it is compared where case, diacritics and Unicode form do not count.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let bare: String = text.nfkd().filter(|character| !is_diacritic(*character)).collect();
    caseless::default_case_fold_str(&bare).nfkc().collect()
}

/// The stem of a folded word, under which an index holds all its forms.
#[must_use]
pub fn stem(word: &str) -> std::borrow::Cow<'_, str> {
    word.into()
}

/// Whether a folded word is one character of a script without blanks, which stands in no pair.
#[must_use]
pub fn is_single(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next().is_some_and(is_unspaced) && characters.next().is_none()
}

struct Words<'f, F> {
    buffer: String,
    found: &'f mut F,
}

impl<F: FnMut(&str, Range<usize>)> Words<'_, F> {
    /// A line of any scripts.
    fn mixed(&mut self, line: &str, start: usize) {
        let mut rest = line;
        let mut at = start;
        while !rest.is_empty() {
            let is_pairs = rest.starts_with(is_unspaced);
            let end = rest.find(|character: char| is_unspaced(character) != is_pairs && !is_combining_mark(character));
            let (run, after) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or((rest, ""));
            if is_pairs {
                self.pairs(run, at);
            } else {
                run.unicode_word_indices().for_each(|(offset, word)| self.pieces(word, at + offset));
            }
            at += run.len();
            rest = after;
        }
    }

    /// Each two neighbours of a run without blanks, marks with what they stand on.
    fn pairs(&mut self, run: &str, start: usize) {
        let mut bases = run.char_indices().filter(|(_, character)| !is_combining_mark(*character)).map(|(at, _)| at);
        let mut first = bases.next().unwrap_or(0);
        let Some(mut second) = bases.next() else { return self.word(run, start) };
        for third in bases.chain([run.len()]) {
            self.word(run.get(first..third).unwrap_or_default(), start + first);
            (first, second) = (second, third);
        }
        debug_assert_eq!(second, run.len(), "the last pair ends the run");
    }

    /// The runs of letters and digits in a text.
    fn pieces(&mut self, text: &str, start: usize) {
        let is_part = |character: char| character.is_alphanumeric() || is_combining_mark(character);
        let mut at = start;
        for piece in text.split(|character| !is_part(character)) {
            if !piece.is_empty() {
                self.piece(piece, at);
            }
            // What it was split at may have several bytes.
            at += piece.len();
            at += text.get(at - start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        }
    }

    /// A run of letters and digits, cut where a capital begins another word.
    fn piece(&mut self, piece: &str, start: usize) {
        let (mut part, mut before) = (0, None::<char>);
        let mut characters = piece.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let mut is_before_small = || characters.peek().is_some_and(|(_, next)| next.is_lowercase());
            let begins = character.is_uppercase()
                && before
                    .is_some_and(|before| before.is_lowercase() || (before.is_alphanumeric() && is_before_small()));
            if begins {
                self.word(piece.get(part..at).unwrap_or_default(), start + part);
                part = at;
            }
            if !is_combining_mark(character) {
                before = Some(character);
            }
        }
        self.word(piece.get(part..).unwrap_or_default(), start + part);
        if part > 0 {
            self.word(piece, start);
        }
    }

    fn word(&mut self, word: &str, start: usize) {
        let range = start..start + word.len();
        if word.is_ascii() {
            self.buffer.clear();
            self.buffer.push_str(word);
            self.buffer.make_ascii_lowercase();
        } else {
            self.buffer = fold(word);
        }
        // What is all marks folds to nothing.
        if !self.buffer.is_empty() {
            (self.found)(&self.buffer, range);
        }
    }
}

/// The combining marks of Latin, Greek and Cyrillic. Those of other scripts make other letters.
fn is_diacritic(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}')
}

/// Scripts whose words stand side by side without blanks, and Hangul, whose words take endings.
fn is_unspaced(character: char) -> bool {
    matches!(character,
        // Thai, Lao, Myanmar, Khmer.
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        // Hangul.
        | '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7ff}'
        // Kana, Bopomofo and Han, with what only they use.
        | '\u{3005}'..='\u{3007}' | '\u{3031}'..='\u{3035}' | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{318e}' | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Words, each, fold};

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut words = Vec::new();
        each(text, &mut |word, range| {
            assert!(text.get(range.clone()).is_some(), "{range:?}");
            words.push(word.to_owned());
        });
        assert_eq!(words, expected, "{text}");
    }

    #[test]
    fn words_of_many_kinds() {
        check("Ada's city: London (3.14)", &["ada", "s", "city", "london", "3", "14"]);
        check("snake_case, kebab-case, camelCase", &["snake", "case", "kebab", "case", "camel", "case", "camelcase"]);
        check(
            "HTTPServer GPT4 Q3Report 3D",
            &["http", "server", "httpserver", "gpt4", "q3", "report", "q3report", "3d"],
        );
        check("[[entities/jane_doe.md|Jane]]", &["entities", "jane", "doe", "md", "jane"]);
        check("Zoë ZOE\u{308} naïve ÉCOLE Straße ﬁn", &["zoe", "zoe", "naive", "ecole", "strasse", "fin"]);
        check("Ёлка йод", &["елка", "иод"]);
        check("हिन्दी में", &["हिन्दी", "में"]);
        check("", &[]);
        check("-- … \u{301}", &[]);
    }

    #[test]
    fn scripts_without_blanks() {
        check("我住在北京。", &["我住", "住在", "在北", "北京"]);
        check("猫", &["猫"]);
        check("猫 dog 犬が", &["猫", "dog", "犬が"]);
        check("カ\u{3099}ラス", &["ガラ", "ラス"]);
        check("서울에 ไทย", &["서울", "울에", "ไท", "ทย"]);
        check("東京Tower2", &["東京", "tower2"]);
    }

    #[test]
    fn names_fold() {
        assert_eq!((fold("ÄRGER"), fold("ａｂｃ")), ("arger".to_owned(), "abc".to_owned()));
    }

    proptest! {
        /// The short way for lines of ASCII gives what the long one gives.
        #[test]
        fn ascii_is_no_other_script(text in "[ -~]{0,40}") {
            let (mut short, mut long) = (Vec::new(), Vec::new());
            each(&text, &mut |word, range| short.push((word.to_owned(), range)));
            let mut found = |word: &str, range| long.push((word.to_owned(), range));
            Words { buffer: String::new(), found: &mut found }.mixed(&text, 0);
            prop_assert_eq!(short, long);
        }

        #[test]
        fn ranges_stay_inside(text in any::<String>()) {
            each(&text, &mut |word, range| {
                assert!(!word.is_empty() && text.get(range.clone()).is_some_and(|part| !part.is_empty()), "{word} {range:?}");
            });
        }
    }
}
