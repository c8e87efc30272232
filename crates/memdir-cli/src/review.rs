//! `memdir review`: the questions whose answers are worth most, one at a time, in the terminal and in a chat.

use serde_json::json;

use super::args::Global;
use super::one;
use super::open::{self, person};
use super::output::{Lines, say};
use super::question::{self, can_ask};
use super::stop::Stop;
use memdir_core::report::Failure;
use memdir_engine::{Caller, Engine, Question, QuestionKind, Reply};

/// How many questions are asked.
pub(super) const MOST: usize = 5;

pub(super) fn run(global: &Global) -> Result<u8, Stop> {
    let is_asking = !global.json && can_ask();
    let opened = if is_asking { open::open(global)? } else { open::open_to_read(global)? };
    if is_asking {
        ask_all(&opened.engine, &person(), &mut Terminal)?;
        return Ok(0);
    }
    let questions = opened.engine.review(opened.engine.now(), MOST)?;
    global.answer(&json!({"questions": questions}), |stdout| {
        for asked in &questions {
            stdout.line(format!("{}:{}  {}", asked.path, asked.line, asked.question))?;
        }
        if questions.is_empty() { Ok(say(NOTHING)?) } else { Ok(()) }
    })?;
    Ok(0)
}

/// What is said where there is nothing to ask.
pub(super) const NOTHING: &str = "nothing to ask: no fact is disputed, unconfirmed, or old for its kind";

/// Where a person is asked.
pub(super) trait Asks {
    type Error: From<Failure>;

    /// Shows a line.
    fn tell(&mut self, line: &str) -> Result<(), Self::Error>;

    /// Asks, and waits for an answer, which is given without blanks around it; `None` where no more answers come.
    fn ask(&mut self, question: &str) -> Result<Option<String>, Self::Error>;
}

struct Terminal;

impl Asks for Terminal {
    type Error = Stop;

    fn tell(&mut self, line: &str) -> Result<(), Stop> {
        Ok(say(line)?)
    }

    fn ask(&mut self, question: &str) -> Result<Option<String>, Stop> {
        question::line(question)
    }
}

/// Asks the questions one after the other and does what is answered. What an answer changes moves lines and settles other
/// questions, so they are found anew after it; none is asked twice.
pub(super) fn ask_all<A: Asks>(engine: &Engine, person: &Caller, asks: &mut A) -> Result<(), A::Error> {
    let mut left = engine.review(engine.now(), MOST)?;
    if left.is_empty() {
        asks.tell(NOTHING)?;
    }
    let mut asked: Vec<Question> = Vec::new();
    while asked.len() < MOST && !left.is_empty() {
        let question = left.remove(0);
        let total = (asked.len() + 1 + left.len()).min(MOST);
        asks.tell(&format!("{} of {total}  {}", asked.len() + 1, title(&question)))?;
        let Some(answer) = hear(&question, asks)? else { break };
        let reply = match &answer {
            Answer::Quit => break,
            Answer::Skip => None,
            Answer::Reply(reply) => Some(*reply),
            Answer::Value(value) => Some(Reply::Value(value)),
        };
        asked.push(question);
        let Some((question, reply)) = asked.last().zip(reply) else { continue };
        match engine.settle(question, reply, person) {
            Ok(None) => asks.tell("confirmed; no note was changed")?,
            Ok(Some(report)) => asks.tell(report.receipt.as_deref().unwrap_or("nothing had to change"))?,
            Err(failure) => {
                let Failure { message, hint, .. } = one::bare(failure);
                asks.tell(&format!("nothing was changed: {message}"))?;
                hint.map_or(Ok(()), |hint| asks.tell(&hint))?;
            }
        }
        left = engine.review(engine.now(), MOST + asked.len())?;
        left.retain(|question| !asked.iter().any(|known| is_same(known, question)));
    }
    Ok(())
}

/// Whether two questions are about the same lines, wherever these stand by now.
fn is_same(one: &Question, other: &Question) -> bool {
    let lines = |of: &Question| {
        let line = of.other.as_ref().map(|line| (line.path.clone(), line.text.clone()));
        [Some((of.path.clone(), of.text.clone())), line]
    };
    lines(one) == lines(other)
}

fn title(question: &Question) -> String {
    match &question.other {
        Some(_) => "these two contradict each other:".to_owned(),
        None => format!("{}:{}  {}", question.path, question.line, question.text),
    }
}

/// Asks one question until the answer is plain; `None` where no more answers come.
fn hear<A: Asks>(question: &Question, asks: &mut A) -> Result<Option<Answer>, A::Error> {
    let is_first = is_told_first(question);
    let prompt = match &question.other {
        Some(other) => {
            let told = format!("{}:{}  {}", question.path, question.line, question.text);
            let other = format!("{}:{}  {}", other.path, other.line, other.text);
            let (first, second) = if is_first { (told, other) } else { (other, told) };
            asks.tell(&format!("  [1] {first}"))?;
            asks.tell(&format!("  [2] {second}"))?;
            "which one is right? [1] or [2], the other line goes; [b]oth may stay, = VALUE, [s]kip, [q]uit:"
        }
        None => {
            asks.tell(&question.question)?;
            "[y]es, = VALUE, [s]kip, [q]uit:"
        }
    };
    loop {
        let Some(typed) = asks.ask(prompt)? else { return Ok(None) };
        match Answer::of(&typed, question.kind, is_first) {
            Ok(answer) => return Ok(Some(answer)),
            Err(Unclear::Which) => asks.tell("which one? type 1 or 2, or b if both may stay")?,
            Err(Unclear::What) => asks.tell("what should it say? type it after `=`, or s to skip")?,
            Err(Unclear::Value) => {
                let Some(sure) = asks.ask(&format!("is `{typed}` the value that it should have? [y/N]"))? else {
                    return Ok(None);
                };
                if matches!(sure.to_lowercase().as_str(), "y" | "yes") {
                    return Ok(Some(Answer::Value(typed)));
                }
            }
        }
    }
}

/// Whether the line that is asked about is shown before the other one: as they stand in their note, or by path.
fn is_told_first(question: &Question) -> bool {
    question.other.as_ref().is_none_or(|other| (&question.path, question.line) < (&other.path, other.line))
}

/// What somebody says to a question.
#[derive(Debug, Eq, PartialEq)]
enum Answer {
    Reply(Reply<'static>),
    /// It says this now.
    Value(String),
    Skip,
    Quit,
}

/// Why an answer is none yet.
#[derive(Debug, Eq, PartialEq)]
enum Unclear {
    /// Yes or no, to two lines.
    Which,
    /// No, to one line.
    What,
    /// It may be the value itself.
    Value,
}

impl Answer {
    /// Reads what was typed; `is_first` says whether the line that is asked about is the first of two.
    fn of(typed: &str, kind: QuestionKind, is_first: bool) -> Result<Self, Unclear> {
        if let Some(value) = typed.strip_prefix('=').map(str::trim) {
            return if value.is_empty() { Err(Unclear::What) } else { Ok(Self::Value(value.to_owned())) };
        }
        let typed = typed.to_lowercase();
        Ok(match (typed.as_str(), kind == QuestionKind::Disputed) {
            ("" | "s" | "skip", _) => Self::Skip,
            ("q" | "quit", _) => Self::Quit,
            ("1" | "2", true) => Self::Reply(if (typed == "1") == is_first { Reply::This } else { Reply::Other }),
            ("b" | "both", true) | ("y" | "yes", false) => Self::Reply(Reply::Stands),
            ("y" | "yes" | "n" | "no", true) => return Err(Unclear::Which),
            ("n" | "no", false) => return Err(Unclear::What),
            _ => return Err(Unclear::Value),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Unclear};
    use memdir_engine::{QuestionKind, Reply};

    #[test]
    fn only_what_is_plain_is_an_answer() {
        let stands = || Ok(Answer::Reply(Reply::Stands));
        let value = |text: &str| Ok(Answer::Value(text.to_owned()));
        // What is typed, to a question about one line, and to one about two of which the second is asked about.
        for (typed, of_one, of_two) in [
            ("y", stands(), Err(Unclear::Which)),
            ("YES", stands(), Err(Unclear::Which)),
            ("n", Err(Unclear::What), Err(Unclear::Which)),
            ("b", Err(Unclear::Value), stands()),
            ("1", Err(Unclear::Value), Ok(Answer::Reply(Reply::Other))),
            ("2", Err(Unclear::Value), Ok(Answer::Reply(Reply::This))),
            ("= Paris ", value("Paris"), value("Paris")),
            ("=1", value("1"), value("1")),
            ("=", Err(Unclear::What), Err(Unclear::What)),
            ("Paris", Err(Unclear::Value), Err(Unclear::Value)),
            ("1986-03-04", Err(Unclear::Value), Err(Unclear::Value)),
            ("", Ok(Answer::Skip), Ok(Answer::Skip)),
            ("s", Ok(Answer::Skip), Ok(Answer::Skip)),
            ("quit", Ok(Answer::Quit), Ok(Answer::Quit)),
        ] {
            assert_eq!(Answer::of(typed, QuestionKind::Old, true), of_one, "{typed:?}");
            assert_eq!(Answer::of(typed, QuestionKind::Disputed, false), of_two, "{typed:?}");
        }
        assert_eq!(Answer::of("1", QuestionKind::Disputed, true), Ok(Answer::Reply(Reply::This)));
    }
}
