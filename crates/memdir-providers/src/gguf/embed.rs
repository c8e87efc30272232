//! [`GgufEmbedder`]: a file with weights that gives texts points.

use std::num::NonZeroU32;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::{LlamaContextParams, LlamaPoolingType};
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::vocab::LlamaVocab;

use super::log::Log;
use super::{Options, STACK_BYTES, engine, weights};
use memdir_model::ModelError;
use memdir_model::embed::Embedder;

/// The most tokens of a text that count.
const TEXT_TOKENS: usize = 512;
/// How many texts are read at once at most.
const TEXTS: usize = 4;

/// A loaded model that gives texts points. Dropping it ends its thread and frees the weights.
#[derive(Debug)]
pub struct GgufEmbedder {
    name: String,
    id: String,
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

/// Texts on their way to the engine.
struct Job {
    texts: Vec<String>,
    told: Sender<Result<Vec<Vec<f32>>, ModelError>>,
}

impl GgufEmbedder {
    /// Loads a model. Of the options `context_tokens` and `prefixes` mean nothing here: of a text 512 tokens count, or as many
    /// as the model was made for. It is known by what is in its file, whatever that is called.
    ///
    /// # Errors
    ///
    /// [`ModelError::Unloadable`] as with [`super::Gguf::load`], and for a model that writes.
    pub fn load(options: Options) -> Result<Self, ModelError> {
        let name = options.name.clone();
        let fails = |why: String| ModelError::Unloadable {
            name: name.clone(),
            why,
            hint: "see the log (`--log FILE`), and try another model".to_owned(),
        };
        weights::check(&options)?;
        let id =
            weights::identity(&options).map_err(|error| fails(format!("its file cannot be read: {}", error.kind())))?;
        let (jobs, taken) = channel();
        let (tell, told) = channel();
        let thread = thread::Builder::new().name("embed".to_owned()).stack_size(STACK_BYTES);
        let broken = || fails("its engine ended at once".to_owned());
        let thread = thread.spawn(move || run(&options, &tell, &taken)).map_err(|_| broken())?;
        told.recv().map_err(|_| broken())??;
        Ok(Self { name, id: format!("gguf {id}"), jobs: Some(jobs), thread: Some(thread) })
    }
}

impl Embedder for GgufEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let gone = || ModelError::Failing { place: self.name.clone(), why: "its engine has ended".to_owned() };
        let (told, heard) = channel();
        let job = Job { texts: texts.iter().map(|text| (*text).to_owned()).collect(), told };
        self.jobs.as_ref().and_then(|jobs| jobs.send(job).ok()).ok_or_else(gone)?;
        heard.recv().map_err(|_| gone())?
    }
}

impl Drop for GgufEmbedder {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // Its panic, if it had one, was reported where it was.
            let _ = thread.join();
        }
    }
}

/// Loads the weights, tells how that went, and answers until nobody can ask any more.
fn run(options: &Options, tell: &Sender<Result<(), ModelError>>, jobs: &Receiver<Job>) {
    let (log, _guard) = Log::start();
    let fails = |why: &str, hint: &str| {
        let why = engine::said(&log, options).unwrap_or_else(|| why.to_owned());
        let error = ModelError::Unloadable { name: options.name.clone(), why, hint: hint.to_owned() };
        let _ = tell.send(Err(error));
    };
    let Some(backend) = engine::backend() else {
        return fails("llama.cpp is not to be had in this process", "this is a bug of memdir");
    };
    let Ok(model) = LlamaModel::load_from_file(backend, &options.path, &LlamaModelParams::default()) else {
        return fails("llama.cpp does not say why", "get the file again, or try another model");
    };
    if let Some(why) = no_embedder(&model) {
        return fails(
            why,
            "`[search] embeddings` takes a model of embeddings, such as the one of scripts/embedding-model",
        );
    }
    let most = TEXT_TOKENS.min(usize::try_from(model.n_ctx_train()).unwrap_or(TEXT_TOKENS)).max(1);
    let Ok(context) = model.new_context(backend, context_params(&model, options)) else {
        return fails("there is not enough memory for it", "try a smaller model");
    };
    let _ = engine::said(&log, options);
    if tell.send(Ok(())).is_err() {
        return;
    }
    let mut reader = Reader { name: &options.name, vocab: model.vocab(), context, most };
    for job in jobs {
        let points = reader.points(&job.texts);
        let _ = engine::said(&log, options);
        let _ = job.told.send(points);
    }
}

/// Why this is no model that gives texts points.
fn no_embedder(model: &LlamaModel) -> Option<&'static str> {
    if !engine::makes_points(model) {
        return Some("it writes text, and makes no embeddings: its place is `[model] name` in the settings");
    }
    let is_judge = engine::said_of(model, "pooling_type").as_deref() == Some("4");
    is_judge.then_some("it judges pairs of texts, and makes no embeddings")
}

fn context_params(model: &LlamaModel, options: &Options) -> LlamaContextParams {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    // All tokens of a batch are read in one step, which is what makes a point of them.
    let tokens = number(TEXT_TOKENS * TEXTS);
    let threads = engine::threads(options);
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(tokens))
        .with_n_batch(tokens)
        .with_n_ubatch(tokens)
        .with_n_seq_max(number(TEXTS))
        .with_n_threads(threads)
        .with_n_threads_batch(threads)
        .with_embeddings(true);
    // As the file says it; the mean where it says nothing.
    let has_pooling = engine::said_of(model, "pooling_type").is_some_and(|pooling| pooling != "0");
    if has_pooling { params } else { params.with_pooling_type(LlamaPoolingType::Mean) }
}

/// A model that reads texts.
struct Reader<'m> {
    name: &'m str,
    vocab: LlamaVocab<'m>,
    context: LlamaContext<'m>,
    /// The most tokens of a text.
    most: usize,
}

impl Reader<'_> {
    fn points(&mut self, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut points = Vec::with_capacity(texts.len());
        for texts in texts.chunks(TEXTS) {
            let tokens: Vec<_> = texts.iter().map(|text| self.tokens(text)).collect();
            points.append(&mut self.read(&tokens)?);
        }
        Ok(points)
    }

    /// A text as tokens, none of which is a mark but those that the model begins and ends texts with.
    fn tokens(&self, text: &str) -> Vec<LlamaToken> {
        // Nothing else is cut down in time where a text is very long.
        let text = text.get(..text.floor_char_boundary(self.most * 16)).unwrap_or_default();
        let mut tokens = self.vocab.tokenize(text.as_bytes(), true, false);
        if tokens.len() > self.most {
            let last = tokens.last().copied();
            tokens.truncate(self.most - 1);
            tokens.extend(last);
        }
        tokens
    }

    fn read(&mut self, texts: &[Vec<LlamaToken>]) -> Result<Vec<Vec<f32>>, ModelError> {
        let failing = |why: String| ModelError::Failing { place: self.name.to_owned(), why: why.to_lowercase() };
        let mut batch = LlamaBatch::new(TEXT_TOKENS * TEXTS, 1);
        for (tokens, sequence) in texts.iter().zip(0..) {
            if tokens.is_empty() {
                return Err(failing("a text has no tokens".to_owned()));
            }
            batch.add_sequence(tokens, sequence, true).map_err(|error| failing(error.to_string()))?;
        }
        self.context.clear_kv_cache();
        self.context.decode(&mut batch).map_err(|error| failing(error.to_string()))?;
        let point = |(_, sequence)| {
            let point = self.context.embeddings_seq_ith(sequence).map_err(|error| failing(error.to_string()))?;
            let length = point.iter().map(|number| number * number).sum::<f32>().sqrt();
            if length.is_finite() && length > 0.0 {
                Ok(point.iter().map(|number| number / length).collect())
            } else {
                Err(failing("a point is nowhere".to_owned()))
            }
        };
        texts.iter().zip(0..).map(point).collect()
    }
}
