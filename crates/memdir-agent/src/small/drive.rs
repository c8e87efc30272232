//! Driving a small model: the sentences of a message are sorted, then it is asked what changes, and then for its answer.

use super::sort::{sentences, sort};
use super::view::View;
use super::{
    Correction, Kind, SURE, Sorted, Texts, Turn, Wrote, about, answer, correct, date, expand, line, questioned,
    said_before,
};
use crate::asked::{Asked, wishes};
use crate::drive::Answering;
use crate::run::Run;
use crate::stream::Stream;
use crate::tools::Hands;
use crate::{Actions, Agent, AgentError, Family, tools};
use memdir_core::path::MemoryPath;
use memdir_model::{Answer, End, Request};

/// What the requests of one turn have taken together.
#[derive(Default)]
struct Cost {
    input_tokens: u64,
    output_tokens: u64,
    reused_tokens: u64,
    ms: u64,
    /// Whether the engine tells how likely it was to write what it wrote.
    tells_chances: bool,
}

impl Agent<'_> {
    /// Whether the sentences of a message are sorted before anything is written: a small model is asked, and no session is told once more.
    pub(crate) fn is_sorted(&self) -> bool {
        let is_replay = matches!(self.tools.hands, Hands::Replay(_));
        self.settings.family == Family::Small && !self.is_staged() && !is_replay
    }

    /// Has a small model write its turn, in the native dialect; and the milliseconds that it took.
    pub(crate) fn small_turn(
        &mut self,
        run: &Run,
        at: &mut Answering<'_>,
        stream: &mut Stream<'_>,
    ) -> Result<(Answer, u64), AgentError> {
        let asked = at.asked;
        let (rest, results) = (wishes(&asked.filters), tools::results(run));
        let mut cost = Cost::default();
        let said = format!("{} {}", asked.message, said_before(&asked.before, &asked.message));
        let notes = about(&asked.notes, &said);
        let mut sorted = self.sorted(at, &mut cost)?;
        let corrected = self.corrected(at, &mut cost)?;
        let written = corrected.as_ref().map(|_| self.written(asked, &notes)).unwrap_or_default();
        let view = View::of(&notes);
        let places = corrected.as_ref().map(|it| it.lines(&view, &written)).unwrap_or_default();
        let stands = !places.is_empty();
        let mut beside = corrected.as_ref().map(|it| sorted.beside(it)).unwrap_or_default();
        // What stands nowhere is told once more.
        sorted.0.extend(corrected.iter().filter(|_| !stands).map(|it| (it.told.clone(), Kind::Tell)));
        let [mut noted, mut dropped, mut answered] = [None, None, None];
        let mut renewed = Vec::new();
        if sorted.has(Kind::Tell) {
            let request = super::noted(&self.turn_of(asked, &notes, &sorted, &rest, &results));
            let answer = self.paid(request, at, None, &mut cost)?;
            for again in super::again(&self.turn_of(asked, &notes, &sorted, &rest, &results), &answer) {
                let request = super::rewritten(&self.turn_of(asked, &notes, &sorted, &rest, &results), &again);
                let written = self.paid(request, at, None, &mut cost)?;
                // Half a line stands for none.
                if written.end == End::Done {
                    renewed.extend(again.renewals(&written.text));
                }
            }
            noted = Some(answer);
        }
        let has_noted = noted.as_ref().is_some_and(|noted| !line::lines(noted).is_empty());
        let told = sorted.each(Kind::Tell).filter(|_| has_noted).map(str::to_owned);
        let put_right = places.iter().filter(|place| place.has_day()).map(|place| place.right.clone());
        let days = self.days(told.chain(put_right).collect(), at, &mut cost)?;
        if sorted.has(Kind::Remove) {
            let request = super::dropped(&self.turn_of(asked, &notes, &sorted, &rest, &results));
            dropped = Some(self.paid(request, at, None, &mut cost)?);
        }
        if sorted.asks() || !sorted.changes() && !stands {
            let request = answer(&self.turn_of(asked, &notes, &sorted, &rest, &results));
            // Where the reply is not what the model writes, nothing of that is heard.
            let stream = (!self.quotes(asked)).then_some(stream);
            let mut answer = self.paid(request, at, stream, &mut cost)?;
            // What there is of it is shown, and what was told is kept.
            if answer.end == End::Cut {
                answer.text.push_str(" …");
            }
            answered = Some(answer);
        }
        let may_know = |path: &MemoryPath| self.client.is_none() || self.engine.may_hear_of(&asked.caller, path);
        let exists = |path: &MemoryPath| may_know(path) && self.engine.text_of(path).is_some();
        let corrected = corrected.as_ref().filter(|_| stands).map(|it| (it, written.as_slice()));
        let (noted, dropped, answer) = (noted.as_ref(), dropped.as_ref(), answered.as_ref());
        let wrote = Wrote { noted, renewed: &renewed, days: &days, corrected, dropped, answer };
        let turn = self.turn_of(asked, &notes, &sorted, &rest, &results);
        let mut expanded = expand(&turn, wrote, (self.settings.clock)(), &exists);
        expanded.unkept.append(&mut beside);
        at.said.grounds.append(&mut expanded.grounds);
        let text = std::mem::take(&mut expanded.text);
        self.expanded = expanded;
        let Cost { input_tokens, output_tokens, reused_tokens, ms, .. } = cost;
        let is_cut = [noted, dropped].into_iter().flatten().any(|wrote| wrote.end == End::Cut);
        let end = if is_cut { End::Cut } else { End::Done };
        let line_chances = Vec::new();
        Ok((Answer { text, thought: None, line_chances, end, input_tokens, output_tokens, reused_tokens }, ms))
    }

    /// What the sentences of a message are; where nothing may be written that is not asked.
    fn sorted(&mut self, at: &mut Answering<'_>, cost: &mut Cost) -> Result<Sorted, AgentError> {
        let message = at.asked.message.as_str();
        let only = |kind| Ok(Sorted(vec![(message.to_owned(), kind)]));
        match self.session.switches.actions {
            Actions::Off => return only(Kind::Chat),
            Actions::Read => return only(Kind::Ask),
            Actions::All => {}
        }
        let sorted = self.kinds(message, at, cost)?;
        let Some(before) = questioned(&at.asked.before).filter(|_| !sorted.asks()) else { return Ok(sorted) };
        let before = self.kinds(&before.message, at, cost)?;
        Ok(if before.changes() { before.completed(sorted) } else { sorted })
    }

    /// What the message puts right of the one before it, of which something was stored.
    fn corrected(&mut self, at: &mut Answering<'_>, cost: &mut Cost) -> Result<Option<Correction>, AgentError> {
        let asked = at.asked;
        let Some(before) = asked.before.exchanges.last().filter(|before| !before.batches.is_empty()) else {
            return Ok(None);
        };
        let prompt = self.prompts.text("small_correct");
        let is_asked =
            cost.tells_chances && self.session.switches.actions == Actions::All && questioned(&asked.before).is_none();
        let Some(words) = correct::words(prompt, before, &asked.message).filter(|_| is_asked) else { return Ok(None) };
        let is_new = correct::is_new(prompt, before, &asked.message);
        if correct::says_new(&self.paid(is_new, at, None, cost)?) {
            return Ok(None);
        }
        Ok(Correction::read(&self.paid(words, at, None, cost)?, before))
    }

    /// The lines of these notes that the batches of the message before wrote, by number, as the history tells. Of what a filter withholds none is known.
    fn written(&self, asked: &Asked, notes: &[(MemoryPath, String)]) -> Vec<(MemoryPath, usize)> {
        let batches = asked.before.exchanges.last().map(|before| before.batches.as_slice()).unwrap_or_default();
        let mut written = Vec::new();
        for (path, shown) in notes {
            let Ok((text, lines)) = self.engine.lines(path) else { continue };
            let lines = lines.iter().filter(|line| line.batch.is_some_and(|batch| batches.contains(&batch)));
            written.extend(lines.filter(|_| text == *shown).map(|line| (path.clone(), line.line)));
        }
        written
    }

    /// Asks which day each of these sentences tells of.
    fn days(
        &mut self,
        sentences: Vec<String>,
        at: &mut Answering<'_>,
        cost: &mut Cost,
    ) -> Result<Vec<(String, Answer)>, AgentError> {
        let mut days = Vec::new();
        for sentence in sentences {
            let request = date::day(self.prompts.text("small_day"), &sentence);
            days.push((sentence, self.paid(request, at, None, cost)?));
        }
        Ok(days)
    }

    /// Asks what each sentence of a message is.
    fn kinds(&mut self, message: &str, at: &mut Answering<'_>, cost: &mut Cost) -> Result<Sorted, AgentError> {
        let mut kinds = Vec::new();
        for sentence in sentences(message) {
            let request = sort(self.prompts.text("small_sort"), &sentence);
            let Answer { text, line_chances, .. } = self.paid(request, at, None, cost)?;
            kinds.push((sentence, Kind::read(&text), line_chances.first().copied().unwrap_or(SURE)));
        }
        Ok(Sorted::by(kinds))
    }

    /// Asks the model, and counts what that took.
    fn paid(
        &mut self,
        request: Request,
        Answering { asked, edge, stop, said }: &mut Answering<'_>,
        stream: Option<&mut Stream<'_>>,
        cost: &mut Cost,
    ) -> Result<Answer, AgentError> {
        let request = Request { temperature: self.settings.temperature, ..request };
        let (answer, ms) = self.ask_model(&request, asked, *edge, stop, &mut said.spent, stream)?;
        cost.input_tokens += answer.input_tokens;
        cost.output_tokens += answer.output_tokens;
        cost.reused_tokens += answer.reused_tokens;
        cost.ms += ms;
        cost.tells_chances |= !answer.line_chances.is_empty();
        Ok(answer)
    }

    /// What a small model is asked about.
    pub(crate) fn turn_of<'a>(
        &'a self,
        asked: &'a Asked,
        notes: &'a [(MemoryPath, String)],
        sorted: &'a Sorted,
        rest: &'a [String],
        results: &'a [(String, String)],
    ) -> Turn<'a> {
        Turn {
            prompts: Texts {
                note: self.prompts.text("small"),
                again: self.prompts.text("small_again"),
                drop: self.prompts.text("small_drop"),
                answer: self.prompts.text("small_answer"),
            },
            notes,
            message: &asked.message,
            sorted,
            session: &asked.before,
            rest,
            results,
            quotes: self.quotes(asked),
        }
    }
}
