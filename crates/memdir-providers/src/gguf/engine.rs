//! The engine's thread: holds the weights and what was read last, and answers one request after the other.

use std::num::NonZeroU32;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender};
use std::thread::available_parallelism;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::model::{LlamaChatTemplate, LlamaModel};
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::vocab::VocabType;

use super::choose::{self, ChoiceError, Chooser};
use super::kept::{Kept, LEAST_TOKENS};
use super::log::Log;
use super::prompt::{self, Prompt};
use super::written::Written;
use super::{CONTEXT_TOKENS, Job, Loading, Options, Told, weights};
use memdir_model::{Answer, Card, End, ModelError, Place, Request};

/// How many tokens are read at once. More are hardly faster, take more memory, and are a longer time without a look at whether
/// the person has stopped it.
pub(super) const BATCH_TOKENS: usize = 128;
/// A certain token, in thousandths.
const MOST_CHANCE: u16 = 1_000;
/// A token says more than this only in texts that are made to be long.
const MAX_BYTES_PER_TOKEN: usize = 64;

/// llama.cpp is set up once in a process.
static BACKEND: OnceLock<Option<LlamaBackend>> = OnceLock::new();

/// llama.cpp, set up.
pub(super) fn backend() -> Option<&'static LlamaBackend> {
    BACKEND.get_or_init(|| LlamaBackend::init().ok()).as_ref()
}

/// Loads the weights, tells how that went, and answers until nobody can ask any more.
pub(super) fn run(options: &Options, tell: &Sender<Loading>, jobs: &Receiver<Job>) {
    let (log, _guard) = Log::start();
    let fails = |why: &str, hint: &str| {
        let why = said(&log, options).unwrap_or_else(|| why.to_owned());
        let error = ModelError::Unloadable { name: options.name.clone(), why, hint: hint.to_owned() };
        let _ = tell.send(Loading::Ended(Err(error)));
    };
    let Some(backend) = backend() else {
        return fails("llama.cpp is not to be had in this process", "this is a bug of memdir");
    };
    let part = tell.clone();
    let params =
        LlamaModelParams::default().with_progress_callback(move |loaded| part.send(Loading::Part(loaded)).is_ok());
    let Ok(model) = LlamaModel::load_from_file(backend, &options.path, &params) else {
        return fails("llama.cpp does not say why", "get it again with `memdir model fetch`, or try another model");
    };
    if let Some(why) = no_writer(&model) {
        return fails(why, "name a model that writes, as `memdir model list` shows some");
    }
    let Ok(context) = model.new_context(backend, context_params(&model, options)) else {
        return fails("there is not enough memory for it", "set fewer `context_tokens`, or try a smaller model");
    };
    let card = Card {
        name: options.name.clone(),
        place: Place::Process,
        million_parameters: Some((model.n_params() + 500_000) / 1_000_000).filter(|million| *million > 0),
        context_tokens: Some(context.n_ctx()),
        is_constrained: true,
    };
    let mut engine = Engine::new(&model, context, options);
    let _ = said(&log, options);
    if tell.send(Loading::Ended(Ok(card))).is_err() {
        return;
    }
    for job in jobs {
        let answer = engine.answer(&job);
        let _ = said(&log, options);
        let _ = job.told.send(Told::Ended(answer));
    }
}

/// Passes on what llama.cpp said, without the path; gives back its first error.
pub(super) fn said(log: &Log, options: &Options) -> Option<String> {
    let path = options.path.to_string_lossy();
    let mut first = None;
    for (level, line) in log.take() {
        let line = line.replace(path.as_ref(), &options.name);
        tracing::debug!(%level, %line, "llama.cpp");
        let line = line.rsplit("error loading model: ").next().unwrap_or_default().to_owned();
        if level == tracing::Level::ERROR && first.is_none() {
            first = Some(line);
        }
    }
    first
}

/// Why this is no model that writes text.
fn no_writer(model: &LlamaModel) -> Option<&'static str> {
    if makes_points(model) {
        return Some("it makes embeddings, not text: its place is `[search] embeddings` in the settings");
    }
    let kind = model.meta_val_str("general.architecture").unwrap_or_default();
    if kind.starts_with("t5") {
        return Some("it translates texts, and holds no conversation");
    }
    matches!(model.vocab().vocab_type(), VocabType::NONE).then_some("it has no words")
}

/// Whether a model was made to give texts points, and not to write.
pub(super) fn makes_points(model: &LlamaModel) -> bool {
    let has_pooling = said_of(model, "pooling_type").is_some_and(|pooling| pooling != "0");
    has_pooling || said_of(model, "attention.causal").as_deref() == Some("false")
}

/// What a file says of its model under a key of its kind.
pub(super) fn said_of(model: &LlamaModel, key: &str) -> Option<String> {
    let kind = model.meta_val_str("general.architecture").ok()?;
    model.meta_val_str(&format!("{kind}.{key}")).ok()
}

/// How many threads compute.
pub(super) fn threads(options: &Options) -> i32 {
    let cores = available_parallelism().map_or(1, usize::from);
    let threads = options.threads.unwrap_or(cores.saturating_sub(1)).clamp(1, 512);
    i32::try_from(threads).unwrap_or(1)
}

fn context_params(model: &LlamaModel, options: &Options) -> LlamaContextParams {
    let made_for = model.n_ctx_train().max(1);
    let tokens = options.context_tokens.unwrap_or(CONTEXT_TOKENS.min(made_for)).max(1);
    let threads = threads(options);
    let batch = u32::try_from(BATCH_TOKENS).unwrap_or(u32::MAX);
    LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(tokens))
        .with_n_batch(batch)
        .with_n_ubatch(batch)
        .with_n_threads(threads)
        .with_n_threads_batch(threads)
}

/// A model, and what it has read.
struct Engine<'m> {
    name: String,
    model: &'m LlamaModel,
    template: Option<LlamaChatTemplate>,
    context: LlamaContext<'m>,
    /// The tokens that the context holds.
    held: Vec<LlamaToken>,
    kept: Option<Kept>,
    /// How many answers were begun: each is drawn with its own seed, the same in each process.
    answers: u32,
}

impl<'m> Engine<'m> {
    fn new(model: &'m LlamaModel, context: LlamaContext<'m>, options: &Options) -> Self {
        let template = model.chat_template(None).ok();
        if template.is_none() {
            tracing::warn!(model = %options.name, "no chat template: a base model, which was not made for conversations");
        }
        let open = |folder| weights::identity(options).and_then(|weights| Kept::open(folder, weights));
        let kept = options.prefixes.as_deref().map(open).transpose();
        if let Err(error) = &kept {
            tracing::warn!(error = %error.kind(), "beginnings of requests are not kept");
        }
        Self {
            name: options.name.clone(),
            model,
            template,
            context,
            held: Vec::new(),
            kept: kept.ok().flatten(),
            answers: 0,
        }
    }

    fn answer(&mut self, job: &Job) -> Result<Answer, ModelError> {
        let prompt = self.prompt(&job.request)?;
        self.answers = self.answers.wrapping_add(1);
        let grammar = job.request.shape.as_ref().map(|shape| shape.grammar.gbnf());
        let chooser = Chooser::new(self.model, grammar.as_deref(), job.request.temperature, self.answers);
        let chooser = chooser.map_err(|error| self.choice(error))?;
        let reused = self.read_prompt(&prompt, job)?;
        let mut answer = self.write(chooser, job)?;
        answer.input_tokens = prompt.tokens.len() as u64;
        answer.reused_tokens = reused as u64;
        Ok(answer)
    }

    /// The request as tokens, if there is room for them and the answer.
    fn prompt(&self, request: &Request) -> Result<Prompt, ModelError> {
        let most = self.context.n_ctx();
        let room = most as usize;
        let too_long = || ModelError::TooLong { most: Some(most) };
        let bytes: usize = request.messages.iter().map(|message| message.text.len()).sum();
        if bytes + request.system.len() > room.saturating_mul(MAX_BYTES_PER_TOKEN) {
            return Err(too_long());
        }
        let prompt = prompt::tokens(self.model, self.template.as_ref(), request);
        if prompt.tokens.len() + request.max_tokens as usize > room {
            return Err(too_long());
        }
        if prompt.tokens.is_empty() {
            let why = "it is empty".to_owned();
            return Err(ModelError::Rejected { place: self.name.clone(), why });
        }
        Ok(prompt)
    }

    /// Reads what of the prompt is not known yet. Gives back how many tokens were.
    fn read_prompt(&mut self, prompt: &Prompt, job: &Job) -> Result<usize, ModelError> {
        let tokens = prompt.tokens.as_slice();
        // The last one is read in any case: what comes after it is not kept.
        let last = tokens.len() - 1;
        let known = self.held.iter().zip(tokens).take_while(|(one, other)| one == other).count().min(last);
        let (stable, _) = tokens.split_at(prompt.stable.min(last));
        let mut save = false;
        // Where half of it is known it is read on from there: a conversation grows, and is not kept with each turn.
        if self.kept.is_some() && stable.len() >= LEAST_TOKENS && known < stable.len() / 2 {
            self.clear();
            let kept = self.kept.as_ref().is_some_and(|kept| kept.load(&mut self.context, stable));
            if kept {
                self.held.extend_from_slice(stable);
            } else {
                self.clear();
                save = true;
            }
        } else {
            self.forget_from(known);
        }
        let known = self.held.len();
        let all = tokens.len() - known;
        if save {
            self.read(stable, known, all, false, job)?;
            if let Some(Err(error)) = self.kept.as_ref().map(|kept| kept.save(&self.context, stable)) {
                tracing::warn!(error = %error.kind(), "the beginning of the request is not kept");
            }
        }
        let rest = tokens.get(self.held.len()..).unwrap_or_default();
        self.read(rest, known, all, true, job)?;
        Ok(known)
    }

    /// Reads tokens after those that are held, in batches. `known` and `all` are what is told to the person.
    fn read(
        &mut self,
        tokens: &[LlamaToken],
        known: usize,
        all: usize,
        is_end: bool,
        job: &Job,
    ) -> Result<(), ModelError> {
        let mut batches = tokens.chunks(BATCH_TOKENS).peekable();
        while let Some(batch) = batches.next() {
            if job.stop.is_cancelled() {
                return Err(ModelError::Cancelled);
            }
            self.decode(batch, is_end && batches.peek().is_none())?;
            let told = Told::Reading { done: self.held.len() - known, all };
            job.told.send(told).map_err(|_| ModelError::Cancelled)?;
        }
        Ok(())
    }

    /// Reads at most [`BATCH_TOKENS`]. Where a choice follows, the context says how likely each token is then.
    fn decode(&mut self, tokens: &[LlamaToken], is_end: bool) -> Result<(), ModelError> {
        let mut batch = LlamaBatch::new(tokens.len().max(1), 1);
        for (at, token) in tokens.iter().enumerate() {
            let place = i32::try_from(self.held.len() + at).unwrap_or(i32::MAX);
            batch.add(*token, place, &[0], is_end && at + 1 == tokens.len()).map_err(|error| self.failing(&error))?;
        }
        if let Err(error) = self.context.decode(&mut batch) {
            self.clear();
            return Err(self.failing(&error));
        }
        self.held.extend_from_slice(tokens);
        Ok(())
    }

    fn write(&mut self, mut chooser: Chooser<'_>, job: &Job) -> Result<Answer, ModelError> {
        let is_shaped = job.request.shape.is_some();
        let vocab = self.model.vocab();
        let mut written = Written::default();
        let mut end = End::Cut;
        let mut output_tokens = 0;
        let (mut line_chances, mut least) = (Vec::new(), MOST_CHANCE);
        while output_tokens < u64::from(job.request.max_tokens) {
            if job.stop.is_cancelled() {
                return Err(ModelError::Cancelled);
            }
            let token = chooser.next(&self.context).map_err(|error| self.choice(error))?;
            if vocab.is_eog(token) {
                end = End::Done;
                break;
            }
            output_tokens += 1;
            let bytes = vocab.token_to_piece(token, is_shaped, None);
            if is_shaped {
                least = least.min(choose::chance(&self.context, token));
                if bytes.contains(&b'\n') {
                    line_chances.push(std::mem::replace(&mut least, MOST_CHANCE));
                }
            }
            let (text, is_stopped) = written.push(&bytes, &job.request.stop);
            if !text.is_empty() {
                job.told.send(Told::Text(text.to_owned())).map_err(|_| ModelError::Cancelled)?;
            }
            if is_stopped || chooser.is_complete(&self.context) {
                end = End::Done;
                break;
            }
            self.decode(&[token], true)?;
        }
        let text = written.into_text();
        if is_shaped && !text.is_empty() && !text.ends_with('\n') {
            line_chances.push(least);
        }
        Ok(Answer { text, thought: None, line_chances, end, input_tokens: 0, output_tokens, reused_tokens: 0 })
    }

    /// Holds only the first `known` tokens any more; none where the model cannot forget a part.
    fn forget_from(&mut self, known: usize) {
        if known == self.held.len() {
            return;
        }
        let place = u32::try_from(known).unwrap_or(u32::MAX);
        if known > 0 && self.context.kv_cache_seq_rm(0, Some(place), None).is_ok() {
            self.held.truncate(known);
        } else {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.context.clear_kv_cache();
        self.held.clear();
    }

    fn failing(&self, error: &dyn std::error::Error) -> ModelError {
        ModelError::Failing { place: self.name.clone(), why: error.to_string().to_lowercase() }
    }

    fn choice(&self, error: ChoiceError) -> ModelError {
        let (place, why) = (self.name.clone(), error.to_string());
        match error {
            ChoiceError::NoGrammar => ModelError::Rejected { place, why },
            ChoiceError::NoToken => ModelError::Garbled { place, why },
        }
    }
}
