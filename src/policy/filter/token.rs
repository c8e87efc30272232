//! A person's words, cut into sentences and those into tokens.

use super::line::is_of_tag;

/// A piece of a sentence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Token {
    /// A word in lower case.
    Word(String),
    /// `,`.
    Comma,
    /// What stands in backticks: a name.
    Named(String),
    /// What stands in quotes: a name, or words.
    Quoted(String),
    /// A path or glob.
    Path(String),
    /// A tag, without `#`.
    Tag(String),
}

/// The sentences of a text: they end at a line, a semicolon, or a mark with a blank behind it.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut cuts = vec![0];
    let mut quote = None;
    let mut marks = text.char_indices().peekable();
    while let Some((at, mark)) = marks.next() {
        let is_last = marks.peek().is_none_or(|(_, next)| next.is_whitespace());
        match mark {
            '\n' => {
                quote = None;
                cuts.push(at);
            }
            '"' | '`' if quote == Some(mark) => quote = None,
            '"' | '`' if quote.is_none() => quote = Some(mark),
            ';' | '.' | '!' | '?' if quote.is_none() && (is_last || mark == ';') => cuts.push(at + 1),
            _ => {}
        }
    }
    cuts.push(text.len());
    let ends: Vec<usize> = cuts.iter().skip(1).copied().collect();
    let parts = cuts.into_iter().zip(ends).map(move |(start, end)| text.get(start..end).unwrap_or_default().trim());
    parts.map(without_bullet).filter(|part| part.chars().any(char::is_alphanumeric) && !is_number(part))
}

/// A sentence without the mark of a list before it.
fn without_bullet(sentence: &str) -> &str {
    sentence.trim_start_matches(|mark: char| matches!(mark, '-' | '*' | '•' | '–') || mark.is_whitespace())
}

fn is_number(part: &str) -> bool {
    part.trim_end_matches(['.', ')', ':']).bytes().all(|byte| byte.is_ascii_digit())
}

pub(super) fn tokens(sentence: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = sentence;
    while let Some(first) = rest.chars().next() {
        let closer = match first {
            '"' | '`' => Some(first),
            '“' => Some('”'),
            '‘' => Some('’'),
            '\'' => Some('\''),
            _ => None,
        };
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        if let Some((quoted, behind)) = closer.and_then(|closer| after.split_once(closer))
            && !quoted.trim().is_empty()
        {
            let quoted = quoted.trim().to_owned();
            tokens.push(if first == '`' { Token::Named(quoted) } else { Token::Quoted(quoted) });
            rest = behind;
            continue;
        }
        let ends = |mark: char| mark.is_whitespace() || matches!(mark, ',' | '"' | '`' | '“' | '”' | '(' | ')');
        let end = rest.find(ends).unwrap_or(rest.len());
        if end == 0 {
            if first == ',' {
                tokens.push(Token::Comma);
            }
            rest = after;
            continue;
        }
        let (piece, behind) = rest.split_at(end);
        add_word(piece, &mut tokens);
        rest = behind;
    }
    tokens
}

/// Adds what stands between two blanks: a path, a tag, or words.
fn add_word(piece: &str, tokens: &mut Vec<Token>) {
    let piece = piece.trim_matches(['.', ':', ';', '!', '?', '\'']);
    if let Some(tag) = piece.strip_prefix('#').filter(|tag| !tag.is_empty() && tag.chars().all(is_of_tag)) {
        tokens.push(Token::Tag(tag.to_owned()));
    } else if is_path(piece) {
        tokens.push(Token::Path(piece.to_owned()));
    } else {
        let plain = piece.to_lowercase().replace('\u{2019}', "'");
        let plain = plain.strip_suffix("'s").unwrap_or(&plain).replace("n't", "nt").replace('\'', "");
        let parts = plain.split(['-', '_', '/', '&']).filter(|part| !part.is_empty());
        tokens.extend(parts.map(|part| Token::Word(part.to_owned())));
    }
}

/// Whether a piece of text can only be a path: with a folder at its start, a name of a note at its end, or a star.
pub(super) fn is_path(piece: &str) -> bool {
    let ends_in_note = piece.len() > 3 && piece.to_ascii_lowercase().ends_with(".md");
    let slashes = piece.bytes().filter(|byte| *byte == b'/').count();
    ends_in_note
        || piece.contains('*') && piece.len() > 1
        || piece.ends_with('/') && slashes < piece.len()
        || slashes > 1
}

pub(super) fn is_one_of(token: &Token, known: &str) -> bool {
    matches!(token, Token::Word(word) if is_in(known, word))
}

pub(super) fn is_in(known: &str, word: &str) -> bool {
    known.split(' ').any(|known| known == word)
}
