//! What is looked at before the parser: how deep a block goes, and the signs that no block may hold.
//!
//! A tree that is too deep ends the program when it is dropped, so none is made of such a block.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

use super::source::{Source, refuse};
use super::{invalid, script::Line};
use crate::report::{Code, Failure};

/// The most bytes of a block.
const MAX_BYTES: usize = 16 << 20;
/// The most signs and words of a block; a text counts as one.
const MAX_TOKENS: usize = 200_000;
/// The most brackets and operators of a statement, and the most levels of `if`.
const MAX_DEPTH: usize = 200;

/// Checks a block in one pass.
///
/// # Errors
///
/// `too_large`, or `invalid_action` with the line.
pub(super) fn check(source: &Source) -> Result<(), Failure> {
    if source.code.len() > MAX_BYTES {
        let message = format!("the block has {} bytes, more than {MAX_BYTES}", source.code.len());
        return Err(Failure::new(Code::TooLarge, message).with_hint("send it in several turns"));
    }
    if let Some(at) = memchr::memchr(0, source.code.as_bytes()) {
        let line = Line(memchr::memchr_iter(b'\n', source.code.as_bytes()).take_while(|end| *end < at).count() + 1);
        return Err(refuse(line, "a null character is no part of Python"));
    }
    let Err(trouble) = scan(&source.code) else { return Ok(()) };
    // The lexer gives no places; the line is the first with which the block so far is refused.
    let ends: Vec<usize> = source.line_ends().collect();
    let is_fine = |end: &usize| source.code.get(..*end).is_none_or(|code| scan(code).is_ok());
    let line = Line(ends.partition_point(is_fine) + 1);
    Err(match trouble {
        Trouble::Long => invalid(format!("line {line}: the block has more than {MAX_TOKENS} words and signs"))
            .with_hint("send it in several turns"),
        Trouble::Deep => {
            let message = format!("line {line}: more than {MAX_DEPTH} brackets, operators or levels in one statement");
            invalid(message).with_hint("write a long text as one literal in triple quotes")
        }
        Trouble::Nested => refuse(line, "an f-string inside an f-string is not read"),
        Trouble::Sign(words) => refuse(line, format!("{words} not read")),
    })
}

/// Why a block is refused at a sign.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    Long,
    Deep,
    Nested,
    Sign(&'static str),
}

/// Looks at the signs of a block from the start. What it says of a part that ends with a line it says of the whole.
#[expect(clippy::wildcard_enum_match_arm, reason = "most signs change no count")]
fn scan(code: &str) -> Result<(), Trouble> {
    let mut lexer = lexer::lex(code, Mode::Module);
    let (mut depth, mut level, mut texts) = (0, 0, 0);
    for _ in 0..MAX_TOKENS {
        let kind = lexer.next_token();
        match kind {
            TokenKind::EndOfFile => return Ok(()),
            TokenKind::Newline => depth = 0,
            TokenKind::Indent => level += 1,
            TokenKind::Dedent => level = usize::saturating_sub(level, 1),
            TokenKind::FStringStart => texts += 1,
            TokenKind::FStringEnd => texts = usize::saturating_sub(texts, 1),
            _ => {}
        }
        if let Some(words) = refused(kind, texts > 0) {
            return Err(Trouble::Sign(words));
        }
        if is_deepening(kind) {
            depth += 1;
        }
        if depth > MAX_DEPTH || level > MAX_DEPTH {
            return Err(Trouble::Deep);
        }
        if texts > 1 {
            return Err(Trouble::Nested);
        }
    }
    Err(Trouble::Long)
}

/// Whether what follows such a sign may stand a level deeper in the tree.
fn is_deepening(kind: TokenKind) -> bool {
    use TokenKind as Kind;
    matches!(
        kind,
        Kind::Lpar
            | Kind::Plus
            | Kind::PlusEqual
            | Kind::Equal
            | Kind::Not
            | Kind::And
            | Kind::Or
            | Kind::If
            | Kind::Else
            | Kind::In
            | Kind::Is
            | Kind::EqEqual
            | Kind::NotEqual
            | Kind::Colon
    )
}

/// What a sign is called that no block may hold, with its verb.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the parser refuses what is not Python, the reader what it does not know"
)]
fn refused(kind: TokenKind, is_in_text: bool) -> Option<&'static str> {
    use TokenKind as Kind;
    Some(match kind {
        Kind::For | Kind::While | Kind::Break | Kind::Continue => "loops are",
        Kind::Import | Kind::From | Kind::As => "imports are",
        Kind::Def | Kind::Class | Kind::Lambda | Kind::Return | Kind::Yield | Kind::Rarrow => {
            "functions and classes of your own are"
        }
        Kind::At | Kind::AtEqual => "decorators are",
        Kind::Async | Kind::Await => "coroutines are",
        Kind::Try | Kind::Except | Kind::Finally | Kind::Raise | Kind::Assert => {
            "`try`, `raise` and `assert` (a call that fails answers a text that starts with `Error: `) are"
        }
        Kind::With => "`with` is",
        Kind::Del | Kind::Global | Kind::Nonlocal => "`del`, `global` and `nonlocal` are",
        Kind::Match | Kind::Case | Kind::Type | Kind::Lazy => "the words `match`, `case`, `type` and `lazy` are",
        Kind::Dot | Kind::Ellipsis => "attributes and methods are",
        Kind::Lsqb | Kind::Rsqb => "lists, indexes and slices are",
        Kind::Lbrace | Kind::Rbrace if !is_in_text => "dictionaries and sets are",
        Kind::ColonEqual => "`:=` is",
        Kind::Less | Kind::Greater | Kind::LessEqual | Kind::GreaterEqual => {
            "comparisons other than `==`, `!=`, `in` and `is` are"
        }
        Kind::Exclamation => "a conversion such as `!r` is",
        Kind::TStringStart | Kind::TStringMiddle | Kind::TStringEnd => "template strings are",
        Kind::Float | Kind::Complex => "numbers other than whole ones are",
        _ if kind.is_operator() && !is_known(kind) => "operators other than `+` are",
        _ => return None,
    })
}

fn is_known(kind: TokenKind) -> bool {
    use TokenKind as Kind;
    is_deepening(kind) || matches!(kind, Kind::Rpar | Kind::Comma | Kind::Semi | Kind::Lbrace | Kind::Rbrace)
}
