//! The expressions of a block, from what binds loosest to what binds tightest.

use super::LineNumber;
use super::function::{Function, Parameter};
use super::literal::{Part, read_number, read_text};
use super::parser::Parser;
use super::script::{Act, Comparison, Site, Value};
use super::source::{quoted, refuse};
use super::token::TokenKind;
use memdir_core::action::Span;
use memdir_core::report::Failure;

/// What an expression is as a whole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// A call, which is this step.
    Call(usize),
    /// `True`, `False` or `None`.
    Constant,
    Other,
}

impl<'s> Parser<'s> {
    /// Reads an expression into steps that put its value on the stack.
    pub(super) fn expression(&mut self) -> Result<Form, Failure> {
        let form = self.disjunction()?;
        if self.at("if") {
            return self.refuse(self.current.line, "`if` inside an expression is not read; write it as a statement");
        }
        Ok(form)
    }

    fn disjunction(&mut self) -> Result<Form, Failure> {
        self.shortcuts("or", Self::conjunction)
    }

    fn conjunction(&mut self) -> Result<Form, Failure> {
        self.shortcuts("and", Self::inversion)
    }

    /// Reads operands with a word between them that may skip what follows.
    fn shortcuts(&mut self, word: &str, operand: impl Fn(&mut Self) -> Result<Form, Failure>) -> Result<Form, Failure> {
        let line = self.current.line;
        let mut form = operand(self)?;
        let mut jumps = Vec::new();
        while self.eat(word) {
            jumps.push(self.steps.len());
            self.push(line, Act::Shortcut { when: word == "or", to: 0 });
            operand(self)?;
            form = Form::Other;
        }
        jumps.into_iter().for_each(|jump| self.lead(jump));
        Ok(form)
    }

    fn inversion(&mut self) -> Result<Form, Failure> {
        let line = self.current.line;
        if !self.eat("not") {
            return self.comparison();
        }
        self.inversion()?;
        self.push(line, Act::Not);
        Ok(Form::Other)
    }

    fn comparison(&mut self) -> Result<Form, Failure> {
        let line = self.current.line;
        let left = self.sum()?;
        let Some((how, is_negated)) = self.comparator()? else { return Ok(left) };
        let right = self.sum()?;
        if how == Comparison::Is && right != Form::Constant {
            return self.refuse(line, "`is` takes only `True`, `False` or `None`; write `==`");
        }
        self.push(line, Act::Compare { how, is_negated });
        if self.comparator()?.is_some() {
            return self.refuse(line, "more than two values in one comparison are not read");
        }
        Ok(Form::Other)
    }

    /// Takes the sign of a comparison, and whether it is turned around.
    fn comparator(&mut self) -> Result<Option<(Comparison, bool)>, Failure> {
        Ok(Some(if self.eat("==") {
            (Comparison::Equal, false)
        } else if self.eat("!=") {
            (Comparison::Equal, true)
        } else if self.eat("is") {
            (Comparison::Is, self.eat("not"))
        } else if self.eat("in") {
            (Comparison::In, false)
        } else if self.eat("not") {
            self.expect("in")?;
            (Comparison::In, true)
        } else {
            return Ok(None);
        }))
    }

    fn sum(&mut self) -> Result<Form, Failure> {
        let line = self.current.line;
        let mut form = self.operand()?;
        while self.eat("+") {
            self.operand()?;
            self.push(line, Act::Add);
            form = Form::Other;
        }
        Ok(form)
    }

    fn operand(&mut self) -> Result<Form, Failure> {
        let line = self.current.line;
        let form = match (self.current.kind, self.current.text) {
            (TokenKind::Text, _) => self.text()?,
            (TokenKind::Number, _) => {
                let number = read_number(self.take())?;
                self.push(line, Act::Push(Value::Number(number)));
                Form::Other
            }
            (TokenKind::Sign, "(") => self.brackets()?,
            (TokenKind::Word, "True") => self.constant(Value::Bool(true)),
            (TokenKind::Word, "False") => self.constant(Value::Bool(false)),
            (TokenKind::Word, "None") => self.constant(Value::None),
            (TokenKind::Word, _) if self.at_name() => self.name()?,
            (TokenKind::Sign, "+") => return self.refuse(line, "a `+` before a value is not read"),
            _ => return self.unexpected("a value"),
        };
        if self.at("(") {
            return self.refuse(line, "only the ten functions can be called");
        }
        Ok(form)
    }

    fn constant(&mut self, value: Value) -> Form {
        let line = self.take().line;
        self.push(line, Act::Push(value));
        Form::Constant
    }

    fn brackets(&mut self) -> Result<Form, Failure> {
        let line = self.take().line;
        let form = if self.at(")") { None } else { Some(self.expression()?) };
        match form {
            Some(form) if self.eat(")") => Ok(form),
            Some(_) if !self.at(",") => self.unexpected("`)`"),
            _ => self.refuse(line, "lists of values are not read"),
        }
    }

    fn name(&mut self) -> Result<Form, Failure> {
        if self.before("(") {
            return self.call();
        }
        let name = self.take();
        let variable = self.variable(name.text, name.line)?;
        self.push(name.line, Act::Load(variable));
        Ok(Form::Other)
    }

    /// Reads texts that stand beside each other, which are one.
    fn text(&mut self) -> Result<Form, Failure> {
        let line = self.current.line;
        let mut parts = Vec::new();
        while self.current.kind == TokenKind::Text {
            let token = self.take();
            read_text(token, &mut self.room, &mut parts)?;
        }
        let count = parts.len();
        let is_joined = parts.iter().any(|part| matches!(part, Part::Variable(..)));
        for part in parts {
            match part {
                Part::Text(text) => self.push(line, Act::Push(Value::Text(text.into()))),
                Part::Variable(name, line) => {
                    let variable = self.variable(name, line)?;
                    self.push(line, Act::Load(variable));
                }
            }
        }
        if is_joined {
            self.push(line, Act::Join(count));
        }
        Ok(Form::Other)
    }

    fn call(&mut self) -> Result<Form, Failure> {
        let name = self.take();
        let line = name.line;
        let Some(function) = Function::named(name.text) else {
            let failure = refuse(line, format!("{} cannot be called", quoted(name.text)));
            return Err(failure.with_hint(match Function::nearest(name.text) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("the functions are {}", Function::all()),
            }));
        };
        self.count(line)?;
        let parameters = function.parameters();
        let mut given = Vec::new();
        self.arguments(|parser, place, keyword| {
            let named = |name: &str| parameters.iter().position(|parameter| parameter.name == name);
            let number = keyword.map_or(Some(place), named);
            match number {
                Some(number) if number < parameters.len() && !given.contains(&number) => given.push(number),
                _ => return unfit(function, parser.current.line),
            }
            parser.expression().map(drop)
        })?;
        let is_missing = |(number, parameter): (usize, &Parameter)| !parameter.is_optional && !given.contains(&number);
        if parameters.iter().enumerate().any(is_missing) {
            return unfit(function, line);
        }
        // The statement sets place and name once it is read.
        self.push(line, Act::Call(Site { function, given, label: None, span: Span::default() }));
        Ok(Form::Call(self.steps.len() - 1))
    }
}

/// Refuses arguments that a function does not take.
fn unfit<T>(function: Function, line: LineNumber) -> Result<T, Failure> {
    let failure = refuse(line, "the arguments do not fit the function");
    Err(failure.with_hint(format!("write `{}`", function.signature())))
}
