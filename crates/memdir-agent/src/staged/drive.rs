//! Driving the stages: each is asked of the model, and told to the edge and the log.

use super::{Matter, Next, Stage, Staged, Stages};
use crate::asked::wishes;
use crate::drive::{Answering, withheld};
use crate::line::Line;
use crate::{Actions, Agent, AgentError, Event, Run, ToolCalled, tools, writes};
use memdir_core::catalog;
use memdir_model::{Answer, Message, Request, Role};
use memdir_policy::Mode;

impl Agent<'_> {
    /// Whether the model works in stages. Without actions there is nothing to decide.
    pub(crate) fn is_staged(&self) -> bool {
        self.settings.staged && self.session.switches.actions != Actions::Off
    }

    /// Asks the stage that is next; `false` where the model goes on without stages.
    pub(crate) fn stage(
        &mut self,
        stages: &mut Stages,
        run: &mut Run,
        Answering { asked, edge, stop, said }: &mut Answering<'_>,
    ) -> Result<bool, AgentError> {
        let stage = stages.stage(run.is_at_last_turn());
        let switches = &self.session.switches;
        let ask_first = asked.caller.mode == Mode::Flag;
        let matter = Matter {
            before: &asked.before.exchanges,
            notes: &asked.notes,
            missing: &asked.missing,
            message: &asked.message,
            transcript: run.transcript(),
            done: &done(run, &said.tool_calls),
            rest: &wishes(&asked.filters),
        };
        let offered = if stage == Stage::Decision { self.offered() } else { Vec::new() };
        let (told, finding, callable) = tools::staged(&offered);
        let rows = catalog::ROWS.iter().filter(|row| switches.lets(row.name)).chain(finding);
        let request = Request {
            system: self.prompts.with_actions(stage.prompt(), switches, ask_first) + &told,
            messages: vec![Message { role: Role::User, text: stages.ask(&matter) }],
            stable: 0,
            shape: Some(stage.shape(rows, &callable, ask_first)),
            max_tokens: self.settings.max_tokens,
            temperature: self.settings.temperature,
            stop: Vec::new(),
        };
        let (answer, ms) = self.ask_model(&request, asked, *edge, stop, &mut said.spent, None)?;
        let next = stages.answered(&answer);
        let Answer { input_tokens, output_tokens, reused_tokens, .. } = answer;
        let is_read = !stages.is_again() && next != Next::Plain;
        self.recorded.add(&answer);
        self.recorder.write(&Line::Stage {
            message: self.session.last,
            time: (self.settings.clock)(),
            stage,
            input_tokens,
            output_tokens,
            reused_tokens,
            ms,
        });
        let over = Staged { stage, input_tokens, output_tokens, ms, is_read };
        tracing::info!(stage = stage.name(), input_tokens, output_tokens, ms, is_read, "a stage is over");
        edge.hear(Event::Staged(&over));
        said.stages.push(over);
        match next {
            Next::Turn(text) => {
                // What it cost is written down with its stages.
                let turn = Answer { text, input_tokens: 0, output_tokens: 0, reused_tokens: 0, ..answer };
                self.record_turn(run, &turn, 0);
                let answer = Answer { input_tokens, output_tokens, reused_tokens, ..turn };
                edge.hear(Event::Turned(&withheld(&answer, &asked.filters)));
                run.answered(answer);
            }
            Next::Stage => run.spent(&answer),
            Next::Plain => {
                run.spent(&answer);
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What became of the calls that wrote, and of those of tools, a line each.
fn done(run: &Run, called: &[ToolCalled]) -> String {
    let reports = run.turns().iter().filter_map(|turn| turn.report.as_ref());
    let outcomes = reports.flat_map(|report| &report.actions);
    let lines = outcomes.filter_map(|outcome| {
        let action = outcome.action.as_deref().filter(|action| writes(action))?;
        let what = outcome.path.as_deref().map_or_else(|| action.to_owned(), |path| format!("{action} in {path}"));
        Some(match &outcome.result {
            Ok(_) => format!("- {what}: done\n"),
            Err(failure) => format!("- {what}: not done, {} ({})\n", failure.message, failure.code),
        })
    });
    let called = called.iter().map(|called| match called.code {
        None => format!("- {}: called\n", called.tool),
        Some(code) => format!("- {}: failed ({code})\n", called.tool),
    });
    lines.chain(called).collect()
}
