//! [`ChatModel`] and [`Talk`]: a conversation on the page, one message at a time. The model is another crate's concern.

use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::time::Duration;

use maud::Markup;
use memdir_agent::{Decision, Edge, Event, Said, Written};
use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure};
use memdir_engine::{Engine, Reviewed};
use memdir_model::Heard;
use memdir_server::lock;
use serde::Serialize;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

/// How often one who waits for the person looks whether they are gone.
const LOOK: Duration = Duration::from_millis(200);

/// Answers messages of the person with the model of the settings. Any thread may ask; one message is answered at a time.
pub trait ChatModel: Send + Sync {
    /// Says in a line which model answers, and where what it is asked goes.
    ///
    /// # Errors
    ///
    /// `model_unreachable` where none is set and none is found, with what to do about it.
    fn described(&self) -> Result<String, Failure>;

    /// Answers a message in the session of this name, or a new one, and keeps that; gives its name. What was done is in `said`, also
    /// where it fails.
    ///
    /// # Errors
    ///
    /// Those of the model and of the session.
    fn answer(
        &self,
        engine: &Engine,
        session: Option<&str>,
        message: &str,
        edge: &mut dyn Edge,
        stop: &CancellationToken,
        said: &mut Said,
    ) -> Result<String, Failure>;
}

/// What the script is told, a line of JSON each.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Told {
    /// More of the reply.
    Reply(String),
    /// What the model is doing.
    Status(String),
    /// A question to the person, as HTML of ours.
    Question(String),
    /// It is over: the address of the conversation.
    End(String),
    /// It was not answered: why, and what to do.
    Failed(String),
}

/// The conversation that goes on now, if one does.
#[derive(Default)]
pub(crate) struct Talk {
    model: OnceLock<Arc<dyn ChatModel>>,
    open: Mutex<Option<Open>>,
}

/// A message that is being answered.
struct Open {
    stop: CancellationToken,
    /// The question that waits: which proposal, what of it was shown, and where the answer goes.
    question: Option<(u64, Digest, mpsc::Sender<Decision>)>,
}

/// Lets the next message in when it is dropped.
pub(crate) struct Turn<'t>(&'t Talk);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *lock(&self.0.open) = None;
    }
}

impl Talk {
    /// Gives the pages a model; the first one counts.
    pub(crate) fn set_model(&self, model: Arc<dyn ChatModel>) {
        // A second one has nothing to do.
        let _ = self.model.set(model);
    }

    pub(crate) fn model(&self) -> Result<Arc<dyn ChatModel>, Failure> {
        let none = || Failure::new(Code::Unavailable, "this page was started without a model");
        self.model.get().cloned().ok_or_else(none)
    }

    /// Begins to answer a message.
    pub(crate) fn begin(&self, stop: CancellationToken) -> Result<Turn<'_>, Failure> {
        let mut open = lock(&self.open);
        if open.is_some() {
            return Err(Failure::new(Code::Busy, "another message is being answered")
                .with_hint("wait for its answer, or stop it; your text is still in the field"));
        }
        *open = Some(Open { stop, question: None });
        Ok(Turn(self))
    }

    /// Whether an answer is being written.
    pub(crate) fn is_answering(&self) -> bool {
        lock(&self.open).is_some()
    }

    /// Stops the answer that is being written; whether there was one.
    pub(crate) fn stop(&self) -> bool {
        let open = lock(&self.open);
        open.as_ref().inspect(|open| open.stop.cancel()).is_some()
    }

    /// Answers the question that waits, if it is the one about this proposal as it was shown.
    pub(crate) fn decide(&self, proposal: u64, shown: Digest, decision: Decision) -> Result<(), Failure> {
        let mut open = lock(&self.open);
        let question = open.as_mut().and_then(|open| {
            let is_it = |(id, digest, _): &mut (u64, Digest, _)| *id == proposal && *digest == shown;
            open.question.take_if(is_it)
        });
        let gone = || {
            Failure::new(Code::Conflict, "nobody waits for this answer any more")
                .with_hint("what was proposed is in the inbox")
        };
        let (.., answer) = question.ok_or_else(gone)?;
        answer.send(decision).map_err(|_| gone())
    }
}

/// The person in front of the page, or nobody, where it waits for the whole answer.
pub(crate) struct PageEdge<'t> {
    pub(crate) talk: &'t Talk,
    /// Where the script listens.
    pub(crate) out: Option<UnboundedSender<Told>>,
    pub(crate) stop: CancellationToken,
    /// Makes the card of a question.
    pub(crate) card: &'t dyn Fn(&Reviewed) -> Markup,
}

impl PageEdge<'_> {
    fn tell(&self, told: Told) {
        if let Some(out) = &self.out {
            // Somebody who has left the page still finds the conversation.
            let _ = out.send(told);
        }
    }
}

impl Edge for PageEdge<'_> {
    fn hear(&mut self, event: Event<'_>) {
        match event {
            Event::Written(Written::Reply(more)) => self.tell(Told::Reply(more.to_owned())),
            Event::Written(Written::Thought(_)) => self.tell(Told::Status("Thinking …".to_owned())),
            Event::Model(Heard::Reading { done, all }) => {
                self.tell(Told::Status(format!("Reading: {done} of {all} tokens")));
            }
            Event::Model(Heard::Again(after)) => {
                let seconds = after.as_secs_f32().ceil();
                self.tell(Told::Status(format!("No answer; asked again in {seconds} s")));
            }
            Event::Acted(_) => self.tell(Told::Status("Working with the notes …".to_owned())),
            Event::Noticed(issues) => {
                issues.iter().for_each(|issue| self.tell(Told::Status(format!("Note: {}", issue.message))));
            }
            Event::Shown(_)
            | Event::Model(Heard::Text(_) | Heard::Thought(_))
            | Event::Written(Written::Other)
            | Event::Turned(_)
            | Event::Staged(_)
            | Event::ToolProgress(_)
            | Event::ToolCalled(_) => {}
        }
    }

    fn decide(&mut self, proposal: &Reviewed) -> Decision {
        let Some(out) = &self.out else { return Decision::Later };
        if proposal.trouble.is_some() {
            return Decision::Later;
        }
        let (answer, answered) = mpsc::channel();
        let waiting = &proposal.waiting;
        if let Some(open) = &mut *lock(&self.talk.open) {
            open.question = Some((waiting.id, waiting.digest, answer));
        }
        self.tell(Told::Question((self.card)(proposal).into_string()));
        loop {
            match answered.recv_timeout(LOOK) {
                Ok(decision) => return decision,
                Err(mpsc::RecvTimeoutError::Timeout) if !self.stop.is_cancelled() && !out.is_closed() => {}
                Err(_) => return Decision::Later,
            }
        }
    }

    fn is_attended(&self) -> bool {
        self.out.is_some()
    }

    fn is_listening(&self) -> bool {
        self.out.is_some()
    }
}
