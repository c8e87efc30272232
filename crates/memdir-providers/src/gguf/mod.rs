//! The engine inside the process: llama.cpp, on one file with weights in the GGUF format.
//!
//! Owns a thread that holds the weights and what was read last; requests go in over a channel and pieces of answers come out. A file
//! that makes points of texts has a thread of its own ([`GgufEmbedder`]).
//! Nothing leaves the process. Texts of messages are never read as marks of a conversation, whatever stands in them. Touches
//! the file with weights and, if asked, one folder of its own ([`Options::prefixes`]); never the network, never a note.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use tokio_util::sync::CancellationToken;

use memdir_model::{Answer, Card, Heard, Model, ModelError, Request};

mod choose;
mod embed;
mod engine;
mod kept;
mod log;
mod prompt;
#[cfg(test)]
mod tests;
mod weights;
mod written;

pub use embed::GgufEmbedder;

/// The stack of the engine's thread; llama.cpp matches patterns in long texts by calling itself.
const STACK_BYTES: usize = 16 << 20;

/// What is loaded, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name that the person knows it by.
    pub name: String,
    /// The file with the weights.
    pub path: PathBuf,
    /// How many threads compute; all cores but one where none are named, at least one. The threads wait for each other after
    /// every step, thousands of times a second, so one that has to share its core holds up all: on a busy machine fewer are
    /// faster.
    pub threads: Option<usize>,
    /// How many tokens a request and its answer may have together; as many as the model was made for, but no more than
    /// [`CONTEXT_TOKENS`], where none are named. Memory for all of them is taken at once.
    pub context_tokens: Option<u32>,
    /// A folder for what was made of the beginnings of requests, so that the next process need not read them again. The part
    /// that is kept is the system text and the messages that [`Request::stable`] counts: **who names a folder sees to it
    /// that neither notes nor conversations are among them**. It is made if it is missing.
    pub prefixes: Option<PathBuf>,
}

/// How many tokens a request and its answer have together at most, where nothing else is said.
pub const CONTEXT_TOKENS: u32 = 8192;

/// A loaded model. Dropping it ends its thread and frees the weights.
#[derive(Debug)]
pub struct Gguf {
    card: Card,
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

/// A request on its way to the engine.
struct Job {
    request: Request,
    stop: CancellationToken,
    told: Sender<Told>,
}

/// What the engine tells of a request.
enum Told {
    Reading { done: usize, all: usize },
    Text(String),
    Ended(Result<Answer, ModelError>),
}

/// What the engine tells while it loads.
enum Loading {
    Part(f32),
    Ended(Result<Card, ModelError>),
}

impl Gguf {
    /// Loads a model. `heard` is told which part of it is loaded, from 0 to 1.
    ///
    /// The file is mapped, not copied: what the system needs elsewhere it may take back. llama.cpp checks the outline of a
    /// file, not every number in it, so a file of unknown origin is to be compared with its digest first.
    ///
    /// # Errors
    ///
    /// [`ModelError::Unloadable`] when there is no such file, it is no GGUF file, or llama.cpp refuses it.
    pub fn load(options: Options, heard: &mut dyn FnMut(f32)) -> Result<Self, ModelError> {
        let name = options.name.clone();
        let broken = || ModelError::Unloadable {
            name: name.clone(),
            why: "its engine ended at once".to_owned(),
            hint: "see the log (`--log FILE`), and try another model".to_owned(),
        };
        weights::check(&options)?;
        let (jobs, taken) = channel();
        let (tell, told) = channel();
        let thread = thread::Builder::new().name("gguf".to_owned()).stack_size(STACK_BYTES);
        let thread = thread.spawn(move || engine::run(&options, &tell, &taken)).map_err(|_| broken())?;
        loop {
            match told.recv() {
                Ok(Loading::Part(part)) => heard(part),
                Ok(Loading::Ended(Ok(card))) => return Ok(Self { card, jobs: Some(jobs), thread: Some(thread) }),
                Ok(Loading::Ended(Err(error))) => return Err(error),
                Err(_) => return Err(broken()),
            }
        }
    }

    fn gone(&self) -> ModelError {
        ModelError::Failing { place: self.card.name.clone(), why: "its engine has ended".to_owned() }
    }
}

impl Model for Gguf {
    fn card(&self) -> &Card {
        &self.card
    }

    fn answer(
        &mut self,
        request: &Request,
        hear: &mut dyn FnMut(Heard<'_>),
        stop: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        let (told, heard): (Sender<Told>, Receiver<Told>) = channel();
        let job = Job { request: request.clone(), stop: stop.clone(), told };
        self.jobs.as_ref().and_then(|jobs| jobs.send(job).ok()).ok_or_else(|| self.gone())?;
        loop {
            match heard.recv() {
                Ok(Told::Reading { done, all }) => hear(Heard::Reading { done, all }),
                Ok(Told::Text(text)) => hear(Heard::Text(&text)),
                Ok(Told::Ended(answer)) => return answer,
                Err(_) => return Err(self.gone()),
            }
        }
    }
}

impl Drop for Gguf {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // Its panic, if it had one, was reported where it was.
            let _ = thread.join();
        }
    }
}
