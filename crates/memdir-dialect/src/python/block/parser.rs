//! From the text of a block to a [`Script`]: its statements.
//!
//! The parser goes deeper only behind tokens that the tokenizer counts, so the stack of any thread is enough.

use std::collections::HashMap;

use super::expression::Form;
use super::function::Function;
use super::script::{Act, Name, Script, Step, Value};
use super::source::{Source, quoted, refuse};
use super::token::{MAX_TOKENS, Token, TokenKind, tokens};
use super::{LineNumber, invalid, issue};
use crate::block::MAX_CALLS;
use memdir_core::report::{self, Failure, Issue, Variables};

/// The most variables of a block.
const MAX_NAMES: usize = 1000;

/// Words that name no variable.
pub(super) const KEYWORDS: [&str; 12] =
    ["True", "False", "None", "and", "or", "not", "in", "is", "if", "elif", "else", "pass"];

/// Reads the text of one block, which starts at `start` of the turn, and says what was noticed.
///
/// # Errors
///
/// `invalid_action` or `too_large` for the whole block, with the line.
pub(in crate::python) fn parse(
    code: &str,
    start: usize,
    variables: &Variables,
) -> Result<(Script, Vec<Issue>), Failure> {
    let source = Source::new(code, start);
    let tokens = tokens(&source.code)?;
    let [current, rest @ ..] = tokens.as_slice() else { return Ok((Script::default(), Vec::new())) };
    let mut parser = Parser {
        source: &source,
        current: *current,
        rest: rest.iter(),
        end: 0,
        given: variables.iter().collect(),
        steps: Vec::new(),
        names: Vec::new(),
        numbers: HashMap::new(),
        known: Vec::new(),
        fresh: Vec::new(),
        calls: 0,
        room: MAX_TOKENS.saturating_sub(tokens.len()),
        printed: None,
    };
    while parser.current.kind != TokenKind::End {
        parser.statement()?;
    }
    let printed =
        parser.printed.map(|line| issue("ignored_print", format!("line {line}: `print` prints nothing here")));
    Ok((Script { steps: parser.steps, names: parser.names, has_more: false }, printed.into_iter().collect()))
}

/// A block while it is read.
pub(super) struct Parser<'s> {
    source: &'s Source<'s>,
    /// The token that is looked at.
    pub(super) current: Token<'s>,
    /// Those that follow.
    rest: std::slice::Iter<'s, Token<'s>>,
    /// Where the last token that was taken ends.
    end: usize,
    given: HashMap<&'s str, &'s report::Value>,
    pub(super) steps: Vec<Step>,
    names: Vec<Name>,
    numbers: HashMap<&'s str, usize>,
    /// Whether a variable is set on some path to here.
    known: Vec<bool>,
    /// What the branch has set that was not known before.
    fresh: Vec<usize>,
    calls: usize,
    /// How many more fields its f-strings may have.
    pub(super) room: usize,
    /// The first line with a `print`.
    printed: Option<LineNumber>,
}

impl<'s> Parser<'s> {
    /// Takes the current token.
    pub(super) fn take(&mut self) -> Token<'s> {
        let taken = self.current;
        self.end = taken.start + taken.text.len();
        // The last token is the end, which stays.
        self.current = self.rest.next().copied().unwrap_or(taken);
        taken
    }

    /// Whether the current token is this word or sign.
    pub(super) fn at(&self, text: &str) -> bool {
        matches!(self.current.kind, TokenKind::Word | TokenKind::Sign) && self.current.text == text
    }

    /// Whether this sign follows the current token.
    pub(super) fn before(&self, sign: &str) -> bool {
        self.rest.as_slice().first().is_some_and(|next| next.kind == TokenKind::Sign && next.text == sign)
    }

    /// Takes the current token if it is this word or sign.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.take();
        }
        found
    }

    pub(super) fn expect(&mut self, sign: &str) -> Result<(), Failure> {
        if self.eat(sign) { Ok(()) } else { self.unexpected(&format!("`{sign}`")) }
    }

    pub(super) fn unexpected<T>(&self, expected: &str) -> Result<T, Failure> {
        let found = match self.current.kind {
            TokenKind::Newline | TokenKind::End => "the end of the line".to_owned(),
            TokenKind::Indent => "an indent".to_owned(),
            TokenKind::Dedent => "the end of the indent".to_owned(),
            TokenKind::Word | TokenKind::Number | TokenKind::Text | TokenKind::Sign => quoted(self.current.text),
        };
        self.refuse(self.current.line, format!("this is not Python: expected {expected}, found {found}"))
    }

    pub(super) fn refuse<T>(&self, line: LineNumber, message: impl AsRef<str>) -> Result<T, Failure> {
        Err(refuse(line, message))
    }

    pub(super) fn push(&mut self, line: LineNumber, act: Act) {
        self.steps.push(Step { line, act });
    }

    /// Whether the current token names a variable or a function.
    pub(super) fn at_name(&self) -> bool {
        self.current.kind == TokenKind::Word && !KEYWORDS.contains(&self.current.text)
    }

    /// Whether a statement begins here that starts with a word that is a name elsewhere, as in `match x:` and `type X = int`:
    /// another word, a text or a number follows it, and no operator.
    fn at_soft_keyword(&self) -> bool {
        if !["match", "case", "type"].iter().any(|word| self.at(word)) {
            return false;
        }
        let mut rest = self.rest.as_slice().iter();
        rest.next().is_some_and(|next| match (next.kind, next.text) {
            (TokenKind::Text | TokenKind::Number, _) => true,
            (TokenKind::Word, "not") => rest.next().is_none_or(|after| after.text != "in"),
            (TokenKind::Word, word) => !["and", "or", "in", "is", "if", "else"].contains(&word),
            _ => false,
        })
    }

    fn statement(&mut self) -> Result<(), Failure> {
        if self.at("if") { self.branch() } else { self.line() }
    }

    /// Reads a line of statements that hold no other.
    fn line(&mut self) -> Result<(), Failure> {
        loop {
            self.simple_statement()?;
            let goes_on = self.eat(";");
            if self.current.kind == TokenKind::Newline {
                self.take();
                return Ok(());
            }
            if !goes_on {
                return self.unexpected("the end of the statement");
            }
        }
    }

    fn simple_statement(&mut self) -> Result<(), Failure> {
        let (first, start) = (self.steps.len(), self.current.start);
        let is_target = self.at_name() && ["=", ":", "+=", ","].iter().any(|sign| self.before(sign));
        if self.eat("pass") {
            return Ok(());
        }
        if self.at_soft_keyword() {
            return self.refuse(self.current.line, "`match`, `case` and `type` statements are not read");
        }
        if is_target {
            self.assignment()?;
        } else if self.at("print") && self.before("(") {
            self.print()?;
        } else {
            let line = self.current.line;
            self.expression()?;
            self.push(line, Act::Drop);
        }
        if self.at(",") {
            return self.refuse(self.current.line, "lists of values are not read");
        }
        if ["=", ":", "+="].iter().any(|sign| self.at(sign)) {
            return self.refuse(self.current.line, "one name gets one value");
        }
        self.set_spans(first, start);
        Ok(())
    }

    /// Gives the calls since step `first` the place of the statement that has just ended.
    fn set_spans(&mut self, first: usize, start: usize) {
        let span = self.source.span(start, self.end);
        for step in self.steps.iter_mut().skip(first) {
            if let Act::Call(site) = &mut step.act {
                site.span = span;
            }
        }
    }

    /// What is printed has to be known as everywhere, and does nothing.
    fn print(&mut self) -> Result<(), Failure> {
        let Token { line, .. } = self.take();
        let (steps, calls) = (self.steps.len(), self.calls);
        self.arguments(|parser, _, keyword| match keyword {
            None | Some("sep" | "end") => parser.expression().map(drop),
            Some(_) => parser.refuse(line, "`print` prints nothing here"),
        })?;
        if self.calls != calls {
            return self.refuse(line, "`print` prints nothing here, so nothing in it may be called");
        }
        self.steps.truncate(steps);
        self.printed.get_or_insert(line);
        Ok(())
    }

    fn assignment(&mut self) -> Result<(), Failure> {
        let target = self.take();
        let (name, line) = (self.target(target)?, target.line);
        if self.eat("+=") {
            let loaded = self.variable(target.text, line)?;
            self.push(line, Act::Load(loaded));
            self.expression()?;
            self.push(line, Act::Add);
        } else if self.at(",") {
            return self.refuse(line, "one name gets one value");
        } else {
            if self.eat(":") {
                let is_plain = ["str", "bool", "int"].iter().any(|kind| self.eat(kind));
                if !is_plain || !self.at("=") {
                    return self.refuse(line, "an annotation is `str`, `bool` or `int`, with a value");
                }
            }
            self.expect("=")?;
            if self.at_name() && self.before("=") {
                return self.refuse(line, "one name gets one value");
            }
            if let Form::Call(step) = self.expression()?
                && let Some(Step { act: Act::Call(site), .. }) = self.steps.get_mut(step)
            {
                site.label = Some(name);
            }
        }
        self.push(line, Act::Store(name));
        self.set(name);
        Ok(())
    }

    fn set(&mut self, name: usize) {
        if let Some(known) = self.known.get_mut(name).filter(|known| !**known) {
            *known = true;
            self.fresh.push(name);
        }
    }

    /// The variable that an assignment sets.
    fn target(&mut self, name: Token<'s>) -> Result<usize, Failure> {
        if Function::named(name.text).is_some() || name.text == "print" || name.text.starts_with("__") {
            return self.refuse(name.line, format!("{} cannot be set", quoted(name.text)));
        }
        self.number(name.text, name.line)
    }

    /// The number of a variable.
    fn number(&mut self, name: &'s str, line: LineNumber) -> Result<usize, Failure> {
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        if self.names.len() == MAX_NAMES {
            return self.refuse(line, format!("more than {MAX_NAMES} variables in one block"));
        }
        let given = self.given.get(name).and_then(|value| Value::of(value));
        let number = self.names.len();
        self.known.push(given.is_some());
        self.names.push(Name { text: name.to_owned(), given });
        self.numbers.insert(name, number);
        Ok(number)
    }

    /// A variable that is set on some path to here.
    pub(super) fn variable(&mut self, name: &'s str, line: LineNumber) -> Result<usize, Failure> {
        if Function::named(name).is_some() || name == "print" {
            return self.refuse(line, format!("{} can only be called", quoted(name)));
        }
        let number = self.number(name, line)?;
        if self.known.get(number).is_some_and(|known| *known) {
            Ok(number)
        } else {
            self.refuse(line, format!("{} is not set before it is used", quoted(name)))
        }
    }

    fn branch(&mut self) -> Result<(), Failure> {
        let mut ends = Vec::new();
        let mut set = Vec::new();
        loop {
            self.take();
            let skip = self.condition()?;
            set.extend(self.arm()?);
            if !self.at("elif") && !self.at("else") {
                self.lead(skip);
                break;
            }
            ends.push(self.steps.len());
            self.push(self.current.line, Act::Jump(0));
            self.lead(skip);
            if self.eat("else") {
                set.extend(self.arm()?);
                break;
            }
        }
        ends.into_iter().for_each(|jump| self.lead(jump));
        set.into_iter().for_each(|name| self.set(name));
        Ok(())
    }

    /// Reads a condition; answers the jump to where it does not hold.
    fn condition(&mut self) -> Result<usize, Failure> {
        let (first, Token { start, line, .. }) = (self.steps.len(), self.current);
        self.expression()?;
        self.set_spans(first, start);
        self.push(line, Act::Unless(0));
        Ok(self.steps.len() - 1)
    }

    /// Lets a jump lead to what comes next.
    pub(super) fn lead(&mut self, jump: usize) {
        let here = self.steps.len();
        let act = self.steps.get_mut(jump).map(|step| &mut step.act);
        if let Some(Act::Jump(to) | Act::Unless(to) | Act::Shortcut { to, .. }) = act {
            *to = here;
        }
    }

    /// Reads one arm of a branch; answers what it sets, which the other arms do not see.
    fn arm(&mut self) -> Result<Vec<usize>, Failure> {
        let outer = std::mem::take(&mut self.fresh);
        self.body()?;
        let set = std::mem::replace(&mut self.fresh, outer);
        for name in &set {
            if let Some(known) = self.known.get_mut(*name) {
                *known = false;
            }
        }
        Ok(set)
    }

    /// Reads the statements behind a `:`, in the same line or indented below.
    fn body(&mut self) -> Result<(), Failure> {
        self.expect(":")?;
        if self.current.kind != TokenKind::Newline {
            return self.line();
        }
        self.take();
        if self.current.kind != TokenKind::Indent {
            return self.unexpected("an indented statement");
        }
        self.take();
        while self.current.kind != TokenKind::Dedent {
            self.statement()?;
        }
        self.take();
        Ok(())
    }

    /// Reads arguments in brackets; `read` reads the value of one by its place or its keyword.
    pub(super) fn arguments(
        &mut self,
        mut read: impl FnMut(&mut Self, usize, Option<&'s str>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.expect("(")?;
        let mut has_keyword = false;
        for place in 0.. {
            if self.at(")") {
                break;
            }
            let keyword = (self.at_name() && self.before("=")).then_some(self.current.text);
            if keyword.is_some() {
                self.take();
                self.take();
                has_keyword = true;
            } else if has_keyword {
                return self.unexpected("an argument with a name");
            }
            read(self, place, keyword)?;
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")
    }

    /// Counts a call.
    pub(super) fn count(&mut self, line: LineNumber) -> Result<(), Failure> {
        self.calls += 1;
        if self.calls <= MAX_CALLS {
            return Ok(());
        }
        Err(invalid(format!("line {line}: more than {MAX_CALLS} calls in one block"))
            .with_hint("send the rest in the next turn"))
    }
}
