//! `memdir review`: the questions whose answers are worth most, one at a time.

use serde_json::json;

use super::args::Global;
use super::exit::Stop;
use super::one;
use super::open::{self, Opened, person};
use super::output::{Lines, say};
use super::question::{self, agrees, can_ask};
use memdir_core::action::Action;
use memdir_core::report::Failure;
use memdir_engine::{Caller, Engine, Question};

/// How many questions are asked.
pub(super) const MOST: usize = 5;

pub(super) fn run(global: &Global) -> Result<u8, Stop> {
    let is_asking = !global.json && can_ask();
    let opened = if is_asking { open::open(global)? } else { open::open_to_read(global)? };
    let questions = opened.engine.review(opened.engine.now(), MOST)?;
    if is_asking {
        return ask_all(&opened, &questions);
    }
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

fn ask_all(opened: &Opened, questions: &[Question]) -> Result<u8, Stop> {
    if questions.is_empty() {
        say(NOTHING)?;
    }
    for (asked, number) in questions.iter().zip(1..) {
        say(format!("{number} of {}  {}:{}  {}", questions.len(), asked.path, asked.line, asked.text))?;
        say(&asked.question)?;
        let Some(answer) = question::line("[y]es, a new value after `=`, [s]kip, [q]uit:")? else { break };
        match Answer::of(&answer) {
            Answer::Yes => {
                opened.engine.confirm(&asked.path, &asked.text, &person())?;
                say("confirmed; the note is as it was")?;
                let others = opened.engine.answer_actions(asked, None)?;
                if !others.is_empty() && agrees("take the other line out of its note?")? {
                    say(change(&opened.engine, person(), others)?)?;
                }
            }
            Answer::Value(value) => {
                let actions = opened.engine.answer_actions(asked, Some(value))?;
                say(change(&opened.engine, person(), actions)?)?;
            }
            Answer::Skip => {}
            Answer::Quit => break,
        }
    }
    Ok(0)
}

/// What somebody says to a question.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Answer<'t> {
    Yes,
    /// It says this now.
    Value(&'t str),
    Skip,
    Quit,
}

impl<'t> Answer<'t> {
    /// Reads what was typed; what is none of the words is skipped, so that nothing is written by mistake.
    pub(super) fn of(typed: &'t str) -> Self {
        if let Some(value) = typed.strip_prefix('=').map(str::trim).filter(|value| !value.is_empty()) {
            return Self::Value(value);
        }
        match typed.to_lowercase().as_str() {
            "y" | "yes" => Self::Yes,
            "q" | "quit" => Self::Quit,
            _ => Self::Skip,
        }
    }
}

/// Makes a change as every change of the person's is made; gives its receipt.
pub(super) fn change(engine: &Engine, person: Caller, actions: Vec<Action>) -> Result<String, Failure> {
    let report = one::carry_out(engine, person, actions);
    if let Some(failed) = report.actions.into_iter().find_map(|outcome| outcome.result.err()) {
        return Err(one::bare(failed));
    }
    Ok(report.receipt.unwrap_or_else(|| "nothing had to change".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::Answer;

    #[test]
    fn only_what_is_plain_is_an_answer() {
        for (typed, answer) in [
            ("y", Answer::Yes),
            ("YES", Answer::Yes),
            ("= Paris ", Answer::Value("Paris")),
            ("=", Answer::Skip),
            ("Paris", Answer::Skip),
            ("", Answer::Skip),
            ("s", Answer::Skip),
            ("quit", Answer::Quit),
        ] {
            assert_eq!(Answer::of(typed), answer, "{typed:?}");
        }
    }
}
