//! Words: how a text is taken apart for search, the same way for a note and for a query.
//!
//! A word is what Unicode's rules call one, cut where it is no letter and no digit (`snake_case`), where a capital
//! begins another (`camelCase`, which counts as a whole too: people write GitHub and look for github) and at an
//! apostrophe (`l'homme`, a whole too; the endings of English as in `Ada's` are left out). Case and diacritics are
//! folded. Scripts that put nothing between words give each two neighbours, and one that stands alone. A date such as
//! `2023-09-11` gives what people say, `2023`, `september` and `11`; a number has no zeros before it, and one of more digits
//! than those of a time or a day counts as it is written too: `0043`, `01067`. Touches nothing but text.

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
/// memdir_note::words::each("Zoë's to_do: 北京市", &mut |word, _| words.push(word.to_owned()));
/// assert_eq!(words, ["zoe", "to", "do", "北京", "京市"]);
/// ```
pub fn each(text: &str, found: &mut impl FnMut(&str, Range<usize>)) {
    let mut words = Words { buffer: String::new(), found };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        words.line(line, start, line.is_ascii());
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
    caseless::default_case_fold_str(&bare).nfkc().map(without_stroke).collect()
}

/// A name as names are looked up: letters and digits alone, folded, so that `Jane Doe`, `jane_doe` and `jane-doe` are one.
///
/// # Examples
///
/// ```
/// assert_eq!(memdir_note::words::called("Zoë_van-Dijk"), "zoevandijk");
/// ```
#[must_use]
pub fn called(name: &str) -> String {
    fold(name).chars().filter(|character| character.is_alphanumeric()).collect()
}

/// Whether a folded word is one character of a script without blanks, which stands in no pair.
#[must_use]
pub fn is_single(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next().is_some_and(is_unspaced) && characters.next().is_none()
}

/// What stands after an apostrophe and is no word.
const ENDINGS: [&str; 7] = ["s", "t", "d", "m", "ll", "re", "ve"];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The zeros before so few digits, of a time or a day, are nothing to look for.
const MOST_DIGITS_OF_A_DAY: usize = 2;

struct Words<'f, F> {
    buffer: String,
    found: &'f mut F,
}

impl<F: FnMut(&str, Range<usize>)> Words<'_, F> {
    /// A line, or a part of one.
    fn line(&mut self, line: &str, start: usize, is_ascii: bool) {
        let mut done = 0;
        for dash in memchr::memchr_iter(b'-', line.as_bytes()) {
            let Some(date) = Date::around(line, dash).filter(|date| date.start >= done) else { continue };
            self.run(line.get(done..date.start).unwrap_or_default(), start + done, is_ascii);
            done = start_of_rest(&date);
            self.date(line, &date, start);
        }
        self.run(line.get(done..).unwrap_or_default(), start + done, is_ascii);
    }

    /// The year, the name of the month and the day.
    fn date(&mut self, line: &str, date: &Date, start: usize) {
        let (year, month) = (date.start..date.start + 4, date.start + 5..date.start + 7);
        self.word(line.get(year.clone()).unwrap_or_default(), start + year.start);
        (self.found)(date.month, start + month.start..start + month.end);
        if let Some(day) = &date.day {
            self.word(line.get(day.clone()).unwrap_or_default(), start + day.start);
        }
    }

    /// A text without dates.
    fn run(&mut self, text: &str, start: usize, is_ascii: bool) {
        if is_ascii { self.ascii_pieces(text, start) } else { self.mixed(text, start) }
    }

    /// A text of any scripts.
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

    /// As [`Words::pieces`], for most lines of most notes.
    fn ascii_pieces(&mut self, text: &str, start: usize) {
        let bytes = text.as_bytes();
        let is = |at: usize, kind: fn(&u8) -> bool| bytes.get(at).is_some_and(kind);
        let mut at = 0;
        while at < bytes.len() {
            let first = at;
            while is(at, u8::is_ascii_alphanumeric)
                || (at > first
                    && bytes.get(at) == Some(&b'\'')
                    && is(at - 1, u8::is_ascii_alphabetic)
                    && is(at + 1, u8::is_ascii_alphabetic))
            {
                at += 1;
            }
            if at > first {
                self.piece(text.get(first..at).unwrap_or_default(), start + first);
            }
            at += 1;
        }
    }

    /// The runs of letters and digits in a text, with apostrophes between letters.
    fn pieces(&mut self, text: &str, start: usize) {
        let (mut begin, mut before) = (None, None::<char>);
        let mut characters = text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let is_between = || {
                let is_letter = |character: Option<char>| character.is_some_and(char::is_alphabetic);
                is_letter(before)
                    && is_letter(text.get(at + character.len_utf8()..).and_then(|rest| rest.chars().next()))
            };
            let is_part = is_part(character) || (is_apostrophe(character) && is_between());
            if is_part && begin.is_none() {
                begin = Some(at);
            }
            let end = if is_part { at + character.len_utf8() } else { at };
            if let Some(first) = begin.filter(|_| !is_part || characters.peek().is_none()) {
                self.piece(text.get(first..end).unwrap_or_default(), start + first);
                begin = None;
            }
            before = Some(character);
        }
    }

    /// A run of letters and digits, cut at its apostrophes; a whole too, without them.
    fn piece(&mut self, run: &str, start: usize) {
        if !run.contains(is_apostrophe) {
            return self.compound(run, start);
        }
        let bare =
            run.rsplit_once(is_apostrophe).filter(|(_, last)| ENDINGS.iter().any(|end| end.eq_ignore_ascii_case(last)));
        let run = bare.map_or(run, |(bare, _)| bare);
        let mut at = start;
        for part in run.split_inclusive(is_apostrophe) {
            self.compound(part.trim_end_matches(is_apostrophe), at);
            at += part.len();
        }
        if run.contains(is_apostrophe) {
            self.folded(&run.replace(is_apostrophe, ""), start..start + run.len());
        }
    }

    /// A run of letters and digits, cut where a capital begins another word.
    fn compound(&mut self, piece: &str, start: usize) {
        let may_be_two = |byte: &u8| byte.is_ascii_uppercase() || !byte.is_ascii();
        if !piece.as_bytes().iter().skip(1).any(may_be_two) {
            return self.word(piece, start);
        }
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
        self.folded(word, start..start + word.len());
    }

    fn folded(&mut self, word: &str, range: Range<usize>) {
        if word.is_ascii() {
            let zeros = word.len() - word.trim_start_matches('0').len();
            if zeros > 0 && word.bytes().all(|byte| byte.is_ascii_digit()) {
                let bare = word.get(zeros.min(word.len() - 1)..).unwrap_or_default();
                (self.found)(bare, range.clone());
                if bare.len() == word.len() || word.len() <= MOST_DIGITS_OF_A_DAY {
                    return;
                }
            }
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

/// A date in a line, `2023-09-11` or `2023-09`.
struct Date {
    start: usize,
    month: &'static str,
    day: Option<Range<usize>>,
}

impl Date {
    /// The date whose year ends before the dash at a byte of the line.
    fn around(line: &str, dash: usize) -> Option<Self> {
        let start = dash.checked_sub(4)?;
        let is_digits = |range: Range<usize>| {
            let bytes = line.as_bytes().get(range);
            bytes.is_some_and(|bytes| bytes.iter().all(u8::is_ascii_digit))
        };
        let number = |range: Range<usize>| line.get(range)?.parse::<usize>().ok();
        let month_end = dash + 3;
        if !is_digits(start..dash) || !is_digits(dash + 1..month_end) {
            return None;
        }
        let month = *MONTHS.get(number(dash + 1..month_end)?.checked_sub(1)?)?;
        let day = month_end + 1..month_end + 3;
        let has_day = line.as_bytes().get(month_end) == Some(&b'-')
            && is_digits(day.clone())
            && number(day.clone()).is_some_and(|day| (1..=31).contains(&day));
        let day = has_day.then_some(day);
        let rest = line.get(day.as_ref().map_or(month_end, |day| day.end)..)?;
        // A time may stand right behind it.
        let rest = rest
            .strip_prefix('T')
            .filter(|time| time.starts_with(|hour: char| hour.is_ascii_digit()))
            .map_or(rest, |_| "");
        let is_apart = !line.get(..start)?.ends_with(is_part) && !rest.starts_with(is_part);
        let is_longer = day.is_none() && rest.strip_prefix('-').is_some_and(|more| more.starts_with(is_part));
        (is_apart && !is_longer).then_some(Self { start, month, day })
    }
}

/// Where what stands behind a date begins.
fn start_of_rest(date: &Date) -> usize {
    date.day.as_ref().map_or(date.start + 7, |day| day.end)
}

fn is_part(character: char) -> bool {
    character.is_alphanumeric() || is_combining_mark(character)
}

fn is_apostrophe(character: char) -> bool {
    matches!(character, '\'' | '\u{2019}')
}

/// The combining marks of Latin, Greek and Cyrillic. Those of other scripts make other letters.
fn is_diacritic(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}')
}

/// A folded letter as it is typed where no keyboard has it: a stroke is no mark that Unicode takes apart.
fn without_stroke(letter: char) -> char {
    match letter {
        'đ' | 'ð' => 'd',
        'ħ' => 'h',
        'ł' => 'l',
        'ø' => 'o',
        'ŧ' => 't',
        other => other,
    }
}

/// Whether a character is of a script whose words stand side by side without blanks, or of Hangul, whose words take endings.
#[must_use]
pub fn is_unspaced(character: char) -> bool {
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
        check("Ada's city: London (3.14)", &["ada", "city", "london", "3", "14"]);
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
    fn apostrophes() {
        check("Dave’s DAVE'S I'm we'll don't 'quoted'", &["dave", "dave", "i", "we", "don", "quoted"]);
        check(
            "O'Reilly l’été rock'n'roll's",
            &["o", "reilly", "oreilly", "l", "ete", "lete", "rock", "n", "roll", "rocknroll"],
        );
        check("5'6 a' 'b '' dogs' x'", &["5", "6", "a", "b", "dogs", "x"]);
    }

    #[test]
    fn dates_and_numbers() {
        check("2023-09-11", &["2023", "september", "11"]);
        check("on 2023-09-01T10:15, 2023-12:", &["on", "2023", "september", "1", "t10", "15", "2023", "december"]);
        check(
            "log_2024-02-29.md été 2024-01-02",
            &["log", "2024", "february", "29", "md", "ete", "2024", "january", "2"],
        );
        check("2023-13-11 12023-09-11 2023-09-111", &["2023", "13", "11", "12023", "9", "11", "2023", "9", "111"]);
        check("2023-09-11-12 é2023-09-11", &["2023", "september", "11", "12", "e2023", "9", "11"]);
        check("007 0 00 000 0x1 09:05", &["7", "007", "0", "0", "0", "000", "0x1", "9", "5"]);
        check("0043 660, 01067é", &["43", "0043", "660", "01067e"]);
    }

    #[test]
    fn names_fold() {
        assert_eq!((fold("ÄRGER"), fold("ａｂｃ")), ("arger".to_owned(), "abc".to_owned()));
        assert_eq!((fold("Łódź"), fold("Sørby")), ("lodz".to_owned(), "sorby".to_owned()));
    }

    proptest! {
        /// The short way for lines of ASCII gives what the long one gives.
        #[test]
        fn ascii_is_no_other_script(text in "[ -~]{0,40}|([a'1. _-]|2023-09-11){0,20}") {
            let (mut short, mut long) = (Vec::new(), Vec::new());
            each(&text, &mut |word, range| short.push((word.to_owned(), range)));
            let mut found = |word: &str, range| long.push((word.to_owned(), range));
            Words { buffer: String::new(), found: &mut found }.line(&text, 0, false);
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
