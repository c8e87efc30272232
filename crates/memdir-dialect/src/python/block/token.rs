//! From the text of a block to its words and signs, as Python's tokenizer finds them.
//!
//! Owns what is refused by a single word or sign, how long and how deep a block may be, and the rules for indents. What
//! stands in no block at all never reaches the parser.

use super::source::{quoted, refuse};
use super::{LineNumber, invalid};
use memdir_core::report::{Code, Failure};

/// The most bytes of a block.
const MAX_BYTES: usize = 16 << 20;
/// The most words and signs of a block; a text counts as one, and each field of an f-string as another.
pub(super) const MAX_TOKENS: usize = 200_000;
/// The most brackets and operators of a statement, and the most levels of `if`. It bounds how deep the parser calls itself.
const MAX_DEPTH: usize = 200;

/// What Python skips like a blank.
const FORM_FEED: u8 = 0x0c;

/// Words and signs after which the parser may go a level deeper.
const DEEPENING: [&str; 13] = ["(", "+", "+=", "=", "not", "and", "or", "if", "else", "in", "is", "==", "!="];

/// What a token is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum TokenKind {
    /// A name or a keyword, in ASCII.
    Word,
    /// Digits, and the letters behind them.
    Number,
    /// A text with its prefix and its quotes.
    Text,
    /// One of the few signs that a block may hold.
    Sign,
    /// The end of a statement's last line.
    Newline,
    Indent,
    Dedent,
    End,
}

/// A word or a sign of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'c> {
    pub(super) kind: TokenKind,
    pub(super) text: &'c str,
    pub(super) start: usize,
    pub(super) line: LineNumber,
}

/// Finds the tokens of a block, in one pass. The last is [`TokenKind::End`].
///
/// # Errors
///
/// `too_large`, or `invalid_action` with the line.
pub(super) fn tokens(code: &str) -> Result<Vec<Token<'_>>, Failure> {
    if code.len() > MAX_BYTES {
        let message = format!("the block has {} bytes, more than {MAX_BYTES}", code.len());
        return Err(Failure::new(Code::TooLarge, message).with_hint("send it in several turns"));
    }
    if let Some((before, _)) = code.split_once('\0') {
        let line = LineNumber(memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1);
        return Err(refuse(line, "a null character is no part of Python"));
    }
    let mut lexer =
        Lexer { code, at: 0, line: LineNumber(1), tokens: Vec::new(), indents: Vec::new(), open: Vec::new(), depth: 0 };
    lexer.read()?;
    Ok(lexer.tokens)
}

/// Refuses a block for its size.
pub(super) fn too_many(line: LineNumber) -> Failure {
    invalid(format!("line {line}: the block has more than {MAX_TOKENS} words and signs"))
        .with_hint("send it in several turns")
}

struct Lexer<'c> {
    code: &'c str,
    at: usize,
    line: LineNumber,
    tokens: Vec<Token<'c>>,
    /// The indents of the blocks around the line, each of which starts with the one before.
    indents: Vec<&'c str>,
    /// The lines of the brackets that are open.
    open: Vec<LineNumber>,
    /// How many tokens of the statement may have led a level deeper.
    depth: usize,
}

impl<'c> Lexer<'c> {
    fn read(&mut self) -> Result<(), Failure> {
        self.indent()?;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | FORM_FEED => self.at += 1,
                b'#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                b'\n' => self.end_line()?,
                b'\\' => self.join_lines()?,
                b'"' | b'\'' => self.text(self.at)?,
                b'0'..=b'9' => self.number()?,
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => self.word()?,
                _ => self.sign()?,
            }
        }
        if let Some(line) = self.open.last() {
            return Err(refuse(*line, "this is not Python: `(` is not closed"));
        }
        self.end_statement()?;
        for _ in 0..self.indents.len() {
            self.push(TokenKind::Dedent, self.at)?;
        }
        self.push(TokenKind::End, self.at)
    }

    fn rest(&self) -> &'c str {
        self.code.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.code.as_bytes().get(self.at).copied()
    }

    fn refuse<T>(&self, message: impl AsRef<str>) -> Result<T, Failure> {
        Err(refuse(self.line, message))
    }

    fn is_at_start(&self) -> bool {
        use TokenKind as Kind;
        self.tokens.last().is_none_or(|token| matches!(token.kind, Kind::Newline | Kind::Indent | Kind::Dedent))
    }

    /// Adds the token that goes from `start` to here.
    fn push(&mut self, kind: TokenKind, start: usize) -> Result<(), Failure> {
        let (line, text) = (self.line, self.code.get(start..self.at).unwrap_or_default());
        if self.tokens.len() == MAX_TOKENS {
            return Err(too_many(line));
        }
        self.depth += usize::from(kind != TokenKind::Text && DEEPENING.contains(&text));
        if self.depth > MAX_DEPTH || self.indents.len() > MAX_DEPTH {
            let message = format!("line {line}: more than {MAX_DEPTH} brackets, operators or levels in one statement");
            return Err(invalid(message).with_hint("write a long text as one literal in triple quotes"));
        }
        self.tokens.push(Token { kind, text, start, line });
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        if self.open.is_empty() {
            self.end_statement()?;
        }
        self.next_line();
        if self.open.is_empty() { self.indent() } else { Ok(()) }
    }

    fn end_statement(&mut self) -> Result<(), Failure> {
        if self.is_at_start() {
            return Ok(());
        }
        self.depth = 0;
        self.push(TokenKind::Newline, self.at)
    }

    fn next_line(&mut self) {
        self.at += 1;
        self.line.0 += 1;
    }

    /// Reads the indent of a line, unless nothing or only a comment stands in the line.
    ///
    /// An indent goes on with the characters of the one around it, so tabs and blanks cannot be taken for each other.
    fn indent(&mut self) -> Result<(), Failure> {
        let start = self.at;
        self.at += self.rest_bytes().iter().take_while(|byte| matches!(**byte, b' ' | b'\t' | FORM_FEED)).count();
        let blank = self.code.get(start..self.at).unwrap_or_default();
        // The line starts again behind a form feed.
        let indent = blank.rsplit(char::from(FORM_FEED)).next().unwrap_or_default();
        match self.peek() {
            None | Some(b'\n' | b'#') => return Ok(()),
            Some(b'\\') => return self.refuse("a line that starts with `\\` is not read"),
            Some(_) => {}
        }
        let around = |indents: &[&'c str]| indents.last().copied().unwrap_or("");
        while around(&self.indents).len() > indent.len() {
            self.indents.pop();
            self.push(TokenKind::Dedent, self.at)?;
        }
        let is_dedent = self.tokens.last().is_some_and(|token| token.kind == TokenKind::Dedent);
        let outer = around(&self.indents);
        if indent == outer {
            return Ok(());
        }
        if is_dedent || !indent.starts_with(outer) {
            return self.refuse("this is not Python: the indent is not that of a line before");
        }
        self.indents.push(indent);
        self.push(TokenKind::Indent, self.at)
    }

    /// Goes on in the next line after a `\`.
    fn join_lines(&mut self) -> Result<(), Failure> {
        self.at += 1;
        if self.peek() != Some(b'\n') || self.rest().len() == 1 {
            return self.refuse("this is not Python: a line has to end after `\\`, and another has to follow");
        }
        self.next_line();
        Ok(())
    }

    /// Reads a text whose prefix starts at `start` and whose quote stands here.
    fn text(&mut self, start: usize) -> Result<(), Failure> {
        let quote = self.peek().unwrap_or_default();
        let is_triple = self.rest().as_bytes().starts_with(&[quote; 3]);
        self.at += if is_triple { 3 } else { 1 };
        let mut lines = 0;
        loop {
            let rest = self.rest_bytes();
            let skipped = memchr::memchr3(quote, b'\\', b'\n', rest);
            let Some(skipped) = skipped else { return self.refuse("this is not Python: a text does not end") };
            let found = rest.get(skipped..).unwrap_or_default();
            self.at += skipped;
            match found {
                [b'\\', next, ..] => {
                    lines += usize::from(*next == b'\n');
                    self.at += 2;
                }
                [b'\n', ..] if is_triple => {
                    lines += 1;
                    self.at += 1;
                }
                [b'\\' | b'\n', ..] => return self.refuse("this is not Python: a text does not end in its line"),
                _ if !is_triple => {
                    self.at += 1;
                    break;
                }
                _ if found.starts_with(&[quote; 3]) => {
                    self.at += 3;
                    break;
                }
                _ => self.at += 1,
            }
        }
        self.push(TokenKind::Text, start)?;
        self.line.0 += lines;
        Ok(())
    }

    fn rest_bytes(&self) -> &'c [u8] {
        self.code.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn number(&mut self) -> Result<(), Failure> {
        let start = self.at;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        self.at += self.rest_bytes().iter().take_while(|byte| is_part(byte)).count();
        self.push(TokenKind::Number, start)
    }

    fn word(&mut self) -> Result<(), Failure> {
        let start = self.at;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
        self.at += self.rest_bytes().iter().take_while(|byte| is_part(byte)).count();
        let word = self.code.get(start..self.at).unwrap_or_default();
        if matches!(self.peek(), Some(b'"' | b'\'')) && is_prefix(word) {
            return self.text(start);
        }
        // Python takes `ｘ` for `x`, and nobody sees a blank of no width.
        if !word.is_ascii() {
            return self.refuse(format!("{} is no name of ASCII letters, digits and `_`", quoted(word)));
        }
        match refused_word(word) {
            Some(words) => self.refuse(format!("{words} not read")),
            None => self.push(TokenKind::Word, start),
        }
    }

    fn sign(&mut self) -> Result<(), Failure> {
        let rest = self.rest();
        if let Some(words) = refused_sign(rest) {
            return self.refuse(format!("{words} not read"));
        }
        let known = ["==", "!=", "+=", "(", ")", ",", ";", ":", "=", "+"];
        let Some(sign) = known.iter().find(|sign| rest.starts_with(**sign)) else {
            let sign = rest.chars().next().map(String::from).unwrap_or_default();
            return self.refuse(format!("this is not Python: it has no sign {}", quoted(&sign)));
        };
        match *sign {
            "(" => self.open.push(self.line),
            ")" if self.open.pop().is_none() => return self.refuse("this is not Python: `)` closes nothing"),
            _ => {}
        }
        let start = self.at;
        self.at += sign.len();
        self.push(TokenKind::Sign, start)
    }
}

/// Whether a word before a quote is part of the text.
fn is_prefix(word: &str) -> bool {
    let known = ["r", "u", "f", "t", "b", "br", "rb", "fr", "rf", "tr", "rt"];
    known.iter().any(|prefix| prefix.eq_ignore_ascii_case(word))
}

/// What a word is called that no block may hold, with its verb.
pub(super) fn refused_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "for" | "while" | "break" | "continue" => "loops are",
        "import" | "from" | "as" => "imports are",
        "def" | "class" | "lambda" | "return" | "yield" => "functions and classes of your own are",
        "async" | "await" => "coroutines are",
        "try" | "except" | "finally" | "raise" | "assert" => {
            "`try`, `raise` and `assert` (a call that fails answers a text that starts with `Error: `) are"
        }
        "with" => "`with` is",
        "del" | "global" | "nonlocal" => "`del`, `global` and `nonlocal` are",
        _ => return None,
    })
}

/// What the sign is called that `rest` starts with, with its verb, if no block may hold it.
fn refused_sign(rest: &str) -> Option<&'static str> {
    Some(match rest.as_bytes() {
        [b'.', ..] => "attributes and methods are",
        [b'[' | b']', ..] => "lists, indexes and slices are",
        [b'{' | b'}', ..] => "dictionaries and sets are",
        [b':', b'=', ..] => "`:=` is",
        [b'-', b'>', ..] => "functions and classes of your own are",
        [b'@', ..] => "decorators are",
        [b'<', b'<', ..] | [b'>', b'>', ..] => "operators other than `+` are",
        [b'<' | b'>', ..] => "comparisons other than `==`, `!=`, `in` and `is` are",
        [b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'~', ..] => "operators other than `+` are",
        _ => return None,
    })
}
