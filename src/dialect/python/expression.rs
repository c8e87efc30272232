//! The expressions of a block.

use ruff_python_ast::{
    BoolOp, CmpOp, ConversionFlag, Expr, ExprCall, ExprCompare, ExprFString, ExprStringLiteral, FStringPart,
    InterpolatedStringElement as Element, Number, Operator, UnaryOp,
};
use ruff_text_size::{Ranged, TextRange};

use super::function::Function;
use super::read::Reader;
use super::script::{Act, Comparison, Site, Value};
use super::source::quoted;
use crate::report::Failure;

/// Where an expression stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The statement.
    pub(super) statement: TextRange,
    /// The variable that gets its value.
    pub(super) label: Option<usize>,
}

impl Place {
    /// Inside of a statement.
    pub(super) fn inner(statement: TextRange) -> Self {
        Self { statement, label: None }
    }
}

impl Reader<'_> {
    /// Reads an expression into steps that put its value on the stack.
    #[expect(clippy::wildcard_enum_match_arm, reason = "whatever else Python has or gets is refused")]
    pub(super) fn expression(&mut self, expression: &Expr, place: Place) -> Result<(), Failure> {
        let range = expression.range();
        let inner = Place::inner(place.statement);
        match expression {
            Expr::StringLiteral(text) => self.text(text),
            Expr::FString(text) => self.joined(text),
            Expr::BooleanLiteral(flag) => self.value(range, Value::Bool(flag.value)),
            Expr::NoneLiteral(_) => self.value(range, Value::None),
            Expr::NumberLiteral(number) => match &number.value {
                Number::Int(number) if number.as_u64().is_some() => {
                    self.value(range, Value::Number(number.as_u64().unwrap_or_default()))
                }
                Number::Int(_) | Number::Float(_) | Number::Complex { .. } => {
                    self.refuse(range, "this number is too large")
                }
            },
            Expr::Name(_) => {
                let name = self.name(range)?;
                let name = self.variable(name, range)?;
                self.push(range, Act::Load(name));
                Ok(())
            }
            Expr::BinOp(sum) if sum.op == Operator::Add => {
                self.expression(&sum.left, inner)?;
                self.expression(&sum.right, inner)?;
                self.push(range, Act::Add);
                Ok(())
            }
            Expr::UnaryOp(not) if not.op == UnaryOp::Not => {
                self.expression(&not.operand, inner)?;
                self.push(range, Act::Not);
                Ok(())
            }
            Expr::BoolOp(several) => {
                let mut jumps = Vec::new();
                for (number, value) in several.values.iter().enumerate() {
                    if number > 0 {
                        jumps.push(self.steps.len());
                        self.push(range, Act::Shortcut { when: several.op == BoolOp::Or, to: 0 });
                    }
                    self.expression(value, inner)?;
                }
                jumps.into_iter().for_each(|jump| self.lead(Some(jump)));
                Ok(())
            }
            Expr::Compare(compare) => self.compare(compare, inner),
            Expr::Call(call) => self.call(call, place),
            Expr::BytesLiteral(_) => self.refuse(range, "bytes are not read; write a text without `b`"),
            Expr::If(_) => self.refuse(range, "`if` inside an expression is not read; write it as a statement"),
            Expr::Tuple(_) => self.refuse(range, "lists of values are not read"),
            _ => self.refuse(range, "this expression is not read"),
        }
    }

    fn value(&mut self, range: TextRange, value: Value) -> Result<(), Failure> {
        self.push(range, Act::Push(value));
        Ok(())
    }

    fn text(&mut self, text: &ExprStringLiteral) -> Result<(), Failure> {
        let mut whole = String::new();
        for part in &text.value {
            self.literal(part.range, &part.value)?;
            whole.push_str(&part.value);
        }
        self.value(text.range, Value::Text(whole.into()))
    }

    /// Checks a literal. Half a character of UTF-16 is a text in Python, and in no note.
    fn literal(&self, range: TextRange, value: &str) -> Result<(), Failure> {
        let damaged = |text: &str| text.matches(char::REPLACEMENT_CHARACTER).count();
        if damaged(value) == damaged(self.source.text(range)) {
            Ok(())
        } else {
            self.refuse(range, "an escape in this text is no character")
        }
    }

    fn joined(&mut self, text: &ExprFString) -> Result<(), Failure> {
        let mut parts = 0;
        for part in &text.value {
            match part {
                FStringPart::Literal(literal) => {
                    self.literal(literal.range, &literal.value)?;
                    self.value(literal.range, Value::Text(literal.value.as_ref().into()))?;
                    parts += 1;
                }
                FStringPart::FString(text) => {
                    for element in &text.elements {
                        self.element(element)?;
                        parts += 1;
                    }
                }
            }
        }
        self.push(text.range, Act::Join(parts));
        Ok(())
    }

    fn element(&mut self, element: &Element) -> Result<(), Failure> {
        match element {
            Element::Literal(literal) => {
                self.literal(literal.range, &literal.value)?;
                self.value(literal.range, Value::Text(literal.value.as_ref().into()))
            }
            Element::Interpolation(field) => {
                let is_plain = field.debug_text.is_none()
                    && field.format_spec.is_none()
                    && field.conversion == ConversionFlag::None
                    && matches!(field.expression.as_ref(), Expr::Name(_));
                if !is_plain {
                    return self.refuse(field.range, "in an f-string only a variable may stand, as in `{name}`");
                }
                self.expression(&field.expression, Place::inner(field.range))
            }
        }
    }

    fn compare(&mut self, compare: &ExprCompare, place: Place) -> Result<(), Failure> {
        let ([op], [right]) = (compare.ops.as_ref(), compare.comparators.as_ref()) else {
            return self.refuse(compare.range, "more than two values in one comparison are not read");
        };
        let (how, is_negated) = match op {
            CmpOp::Eq => (Comparison::Equal, false),
            CmpOp::NotEq => (Comparison::Equal, true),
            CmpOp::Is => (Comparison::Is, false),
            CmpOp::IsNot => (Comparison::Is, true),
            CmpOp::In => (Comparison::In, false),
            CmpOp::NotIn => (Comparison::In, true),
            CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE => {
                return self.refuse(compare.range, "this comparison is not read");
            }
        };
        if how == Comparison::Is && !matches!(right, Expr::BooleanLiteral(_) | Expr::NoneLiteral(_)) {
            return self.refuse(compare.range, "`is` takes only `True`, `False` or `None`; write `==`");
        }
        self.expression(&compare.left, place)?;
        self.expression(right, place)?;
        self.push(compare.range, Act::Compare { how, is_negated });
        Ok(())
    }

    fn call(&mut self, call: &ExprCall, place: Place) -> Result<(), Failure> {
        let Expr::Name(_) = call.func.as_ref() else {
            return self.refuse(call.range(), "only the ten functions can be called");
        };
        let name = self.name(call.func.range())?;
        let Some(function) = Function::named(name) else {
            let mut failure = match self.refuse::<()>(call.range(), format!("{} cannot be called", quoted(name))) {
                Err(failure) => failure,
                Ok(()) => return Ok(()),
            };
            failure.hint = Some(match Function::nearest(name) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("the functions are {}", Function::all()),
            });
            return Err(failure);
        };
        self.count(call.range())?;
        let mut given = Vec::new();
        for (number, argument) in call.arguments.args.iter().enumerate() {
            self.argument(function, Some(number), argument, &mut given, place)?;
        }
        for keyword in &call.arguments.keywords {
            let named = match &keyword.arg {
                Some(name) => {
                    let name = self.name(name.range)?;
                    function.parameters().iter().position(|parameter| parameter.name == name)
                }
                None => None,
            };
            self.argument(function, named, &keyword.value, &mut given, place)?;
        }
        let is_missing = |(number, parameter): (usize, &super::function::Parameter)| {
            !parameter.is_optional && !given.contains(&number)
        };
        if function.parameters().iter().enumerate().any(is_missing) {
            return self.unfit(function, call.range());
        }
        let span = self.source.span(place.statement);
        self.push(call.range(), Act::Call(Site { function, given, label: place.label, span }));
        Ok(())
    }

    fn argument(
        &mut self,
        function: Function,
        number: Option<usize>,
        value: &Expr,
        given: &mut Vec<usize>,
        place: Place,
    ) -> Result<(), Failure> {
        match number {
            Some(number) if number < function.parameters().len() && !given.contains(&number) => {
                given.push(number);
                self.expression(value, Place::inner(place.statement))
            }
            _ => self.unfit(function, value.range()),
        }
    }

    /// Refuses arguments that a function does not take.
    fn unfit<T>(&self, function: Function, range: TextRange) -> Result<T, Failure> {
        let refused = self.refuse(range, "the arguments do not fit the function");
        refused.map_err(|failure: Failure| failure.with_hint(format!("write `{}`", function.signature())))
    }
}
