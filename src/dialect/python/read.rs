//! From the text of a block to a [`Script`].
//!
//! Parsing takes as much stack as a block is deep, and so does dropping the tree; both happen on a thread with a stack
//! for the depth that the guard lets through.

use std::collections::HashMap;
use std::thread;

use ruff_python_ast::{ElifElseClause, Expr, ExprCall, Operator, Stmt, StmtIf};
use ruff_python_parser::parse_module;
use ruff_text_size::{Ranged, TextRange};

use super::expression::Place;
use super::function::Function;
use super::script::{Act, Line, Name, Script, Step, Value};
use super::source::{Source, quoted, refuse};
use super::{guard, invalid, issue};
use crate::catalog::shorten;
use crate::dialect::block::MAX_CALLS;
use crate::report::{self, Code, Failure, Issue, Variables};

/// The most variables of a block.
const MAX_NAMES: usize = 1000;
/// The stack on which a block is parsed.
const STACK_BYTES: usize = 16 << 20;

/// Reads the text of one block, which starts at `start` of the turn, and says what was noticed.
///
/// # Errors
///
/// `invalid_action` or `too_large` for the whole block, with the line.
pub(in crate::dialect) fn read(
    code: &str,
    start: usize,
    variables: &Variables,
) -> Result<(Script, Vec<Issue>), Failure> {
    let source = Source::new(code, start);
    guard::check(&source)?;
    if source.code.trim().is_empty() {
        return Ok((Script::default(), Vec::new()));
    }
    let given: HashMap<&str, &report::Value> = variables.iter().collect();
    thread::scope(|scope| {
        let work = || parse(&source, &given);
        match thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work) {
            Ok(thread) => thread.join().unwrap_or_else(|_| {
                Err(Failure::new(Code::Unavailable, "the block could not be read now").with_hint("send it again"))
            }),
            // Where no thread can be started: the guard has seen to it that the stack of any thread is enough.
            Err(_) => parse(&source, &given),
        }
    })
}

fn parse<'s>(
    source: &'s Source<'s>,
    given: &HashMap<&'s str, &'s report::Value>,
) -> Result<(Script, Vec<Issue>), Failure> {
    let parsed = parse_module(&source.code).map_err(|error| {
        let words = shorten(&error.error.to_string());
        refuse(source.line(error.location.start()), format!("this is not Python: {words}"))
    })?;
    let mut reader = Reader { source, given: given.clone(), ..Reader::new(source) };
    reader.body(parsed.suite())?;
    let issues = match reader.printed {
        Some(line) => vec![issue("ignored_print", format!("line {line}: `print` prints nothing here"))],
        None => Vec::new(),
    };
    Ok((Script { steps: reader.steps, names: reader.names }, issues))
}

/// A block while it is read.
pub(super) struct Reader<'s> {
    pub(super) source: &'s Source<'s>,
    given: HashMap<&'s str, &'s report::Value>,
    pub(super) steps: Vec<Step>,
    names: Vec<Name>,
    numbers: HashMap<String, usize>,
    /// Whether a variable is set on some path to here.
    known: Vec<bool>,
    /// What the branch has set that was not known before.
    fresh: Vec<usize>,
    pub(super) calls: usize,
    /// The first line with a `print`.
    printed: Option<Line>,
}

impl<'s> Reader<'s> {
    fn new(source: &'s Source<'s>) -> Self {
        Self {
            source,
            given: HashMap::new(),
            steps: Vec::new(),
            names: Vec::new(),
            numbers: HashMap::new(),
            known: Vec::new(),
            fresh: Vec::new(),
            calls: 0,
            printed: None,
        }
    }

    pub(super) fn refuse<T>(&self, range: TextRange, message: impl AsRef<str>) -> Result<T, Failure> {
        Err(refuse(self.source.line(range.start()), message))
    }

    pub(super) fn push(&mut self, range: TextRange, act: Act) {
        self.steps.push(Step { line: self.source.line(range.start()), act });
    }

    fn body(&mut self, statements: &[Stmt]) -> Result<(), Failure> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "whatever else Python has or gets is refused")]
    fn statement(&mut self, statement: &Stmt) -> Result<(), Failure> {
        let range = statement.range();
        match statement {
            Stmt::Pass(_) => Ok(()),
            Stmt::If(branch) => self.branch(branch),
            Stmt::Expr(bare) => self.bare(&bare.value, range),
            Stmt::Assign(assign) => match assign.targets.as_slice() {
                [target] => self.assign(target, &assign.value, range),
                _ => self.refuse(range, "one name gets one value"),
            },
            Stmt::AnnAssign(assign) => {
                let is_plain = |name: &str| matches!(name, "str" | "bool" | "int");
                match (assign.annotation.as_ref(), &assign.value) {
                    (Expr::Name(kind), Some(value)) if is_plain(&kind.id) => self.assign(&assign.target, value, range),
                    _ => self.refuse(range, "an annotation is `str`, `bool` or `int`, with a value"),
                }
            }
            Stmt::AugAssign(add) if add.op == Operator::Add => {
                let name = self.target(&add.target)?;
                self.expression(&add.target, Place::inner(range))?;
                self.expression(&add.value, Place::inner(range))?;
                self.push(range, Act::Add);
                self.store(name, range);
                Ok(())
            }
            _ => self.refuse(range, "this statement is not read"),
        }
    }

    /// A statement that is an expression: a call, or something that does nothing.
    fn bare(&mut self, value: &Expr, range: TextRange) -> Result<(), Failure> {
        if let Expr::Call(call) = value
            && matches!(call.func.as_ref(), Expr::Name(name) if name.id == "print")
        {
            return self.print(call, range);
        }
        self.expression(value, Place { statement: range, label: None })?;
        self.push(range, Act::Drop);
        Ok(())
    }

    /// What is printed has to be known as everywhere, and does nothing.
    fn print(&mut self, call: &ExprCall, range: TextRange) -> Result<(), Failure> {
        let (steps, calls) = (self.steps.len(), self.calls);
        for argument in &call.arguments.args {
            self.expression(argument, Place::inner(range))?;
        }
        for keyword in &call.arguments.keywords {
            if !keyword.arg.as_ref().is_some_and(|name| matches!(name.as_str(), "sep" | "end")) {
                return self.refuse(keyword.range(), "`print` prints nothing here");
            }
            self.expression(&keyword.value, Place::inner(range))?;
        }
        if self.calls != calls {
            return self.refuse(range, "`print` prints nothing here, so nothing in it may be called");
        }
        self.steps.truncate(steps);
        self.printed.get_or_insert(self.source.line(range.start()));
        Ok(())
    }

    fn assign(&mut self, target: &Expr, value: &Expr, range: TextRange) -> Result<(), Failure> {
        let name = self.target(target)?;
        self.expression(value, Place { statement: range, label: Some(name) })?;
        self.store(name, range);
        Ok(())
    }

    fn store(&mut self, name: usize, range: TextRange) {
        self.push(range, Act::Store(name));
        self.set(name);
    }

    fn set(&mut self, name: usize) {
        if let Some(known) = self.known.get_mut(name).filter(|known| !**known) {
            *known = true;
            self.fresh.push(name);
        }
    }

    /// The variable that an assignment sets.
    fn target(&mut self, target: &Expr) -> Result<usize, Failure> {
        let Expr::Name(name) = target else { return self.refuse(target.range(), "one name gets one value") };
        let text = self.name(target.range())?;
        if Function::named(text).is_some() || text == "print" || text.starts_with("__") {
            return self.refuse(target.range(), format!("{} cannot be set", quoted(&name.id)));
        }
        self.number(text, target.range())
    }

    /// A name as it is written: one that Python would take for another is refused.
    pub(super) fn name(&self, range: TextRange) -> Result<&'s str, Failure> {
        let text = self.source.text(range);
        if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            Ok(text)
        } else {
            self.refuse(range, format!("{} is no name of ASCII letters, digits and `_`", quoted(text)))
        }
    }

    /// The number of a variable.
    fn number(&mut self, name: &str, range: TextRange) -> Result<usize, Failure> {
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        if self.names.len() == MAX_NAMES {
            return self.refuse(range, format!("more than {MAX_NAMES} variables in one block"));
        }
        let given = self.given.get(name).and_then(|value| Value::of(value));
        let number = self.names.len();
        self.known.push(given.is_some());
        self.names.push(Name { text: name.to_owned(), given });
        self.numbers.insert(name.to_owned(), number);
        Ok(number)
    }

    /// A variable that is set on some path to here.
    pub(super) fn variable(&mut self, name: &str, range: TextRange) -> Result<usize, Failure> {
        if Function::named(name).is_some() || name == "print" {
            return self.refuse(range, format!("{} can only be called", quoted(name)));
        }
        let number = self.number(name, range)?;
        if self.known.get(number).is_some_and(|known| *known) {
            Ok(number)
        } else {
            self.refuse(range, format!("{} is not set before it is used", quoted(name)))
        }
    }

    fn branch(&mut self, branch: &StmtIf) -> Result<(), Failure> {
        let mut ends = Vec::new();
        let mut set = Vec::new();
        let mut next = Some(self.test(&branch.test)?);
        set.extend(self.arm(&branch.body)?);
        for ElifElseClause { range, test, body, .. } in &branch.elif_else_clauses {
            ends.push(self.steps.len());
            self.push(*range, Act::Jump(0));
            self.lead(next.take());
            if let Some(test) = test {
                next = Some(self.test(test)?);
            }
            set.extend(self.arm(body)?);
        }
        self.lead(next);
        ends.into_iter().for_each(|jump| self.lead(Some(jump)));
        set.into_iter().for_each(|name| self.set(name));
        Ok(())
    }

    /// Reads a condition; answers the jump to where it does not hold.
    fn test(&mut self, test: &Expr) -> Result<usize, Failure> {
        self.expression(test, Place::inner(test.range()))?;
        self.push(test.range(), Act::Unless(0));
        Ok(self.steps.len() - 1)
    }

    /// Lets a jump lead to what comes next.
    pub(super) fn lead(&mut self, jump: Option<usize>) {
        let here = self.steps.len();
        let step = jump.and_then(|jump| self.steps.get_mut(jump));
        if let Some(Act::Jump(to) | Act::Unless(to) | Act::Shortcut { to, .. }) = step.map(|step| &mut step.act) {
            *to = here;
        }
    }

    /// Reads one arm of a branch; answers what it sets, which the other arms do not see.
    fn arm(&mut self, body: &[Stmt]) -> Result<Vec<usize>, Failure> {
        let outer = std::mem::take(&mut self.fresh);
        self.body(body)?;
        let set = std::mem::replace(&mut self.fresh, outer);
        for name in &set {
            if let Some(known) = self.known.get_mut(*name) {
                *known = false;
            }
        }
        Ok(set)
    }

    /// Counts a call.
    pub(super) fn count(&mut self, range: TextRange) -> Result<(), Failure> {
        self.calls += 1;
        if self.calls <= MAX_CALLS {
            return Ok(());
        }
        let line = self.source.line(range.start());
        Err(invalid(format!("line {line}: more than {MAX_CALLS} calls in one block"))
            .with_hint("send the rest in the next turn"))
    }
}
