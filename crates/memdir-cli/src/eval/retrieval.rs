//! `memdir eval retrieval`: how often the note that holds the answer is found, beside plain BM25 from the same index.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::args::Retrieval;
use crate::args::Global;
use crate::model::embedding;
use crate::output::Lines;
use crate::stop::{Stop, usage};
use crate::{file, open, progress};
use memdir_core::path::MemoryPath;
use memdir_engine::Engine;

/// One question of a set: a line of JSON.
#[derive(Debug, Deserialize)]
struct Question {
    /// The folder of the memory, below that of all memories.
    memory: String,
    question: String,
    /// The notes that hold the answer.
    gold: Vec<MemoryPath>,
    /// Whether one of them is as good as another; else recall counts all of them.
    #[serde(default)]
    any: bool,
    kind: String,
}

/// A set of questions.
#[derive(Debug, Serialize)]
struct Set {
    set: String,
    kinds: Vec<Kind>,
}

/// The questions of one kind.
#[derive(Debug, Serialize)]
struct Kind {
    kind: String,
    questions: usize,
    memdir: Scores,
    /// With embeddings, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    embeddings: Option<Scores>,
    bm25: Scores,
}

/// How well the questions were answered: shares of 1.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Scores {
    hit_at_1: f64,
    hit_at_3: f64,
    mrr: f64,
    recall_at_5: f64,
}

/// All questions of a set together.
const ALL: &str = "all";
/// A larger file is no set of questions.
const MOST_BYTES: u64 = 1 << 30;
/// How far down an answer is looked for.
const MOST: usize = 100;

pub(super) fn run(global: &Global, options: &Retrieval) -> Result<u8, Stop> {
    let mut sets = Vec::new();
    let mut opened = BTreeMap::new();
    let embeddings = options.embeddings.as_deref().map(embedding::shared).transpose()?;
    let open = |place: &Path| open::in_process(global, place, embeddings.as_ref().map(|embeddings| embeddings()));
    for set in &options.sets {
        let kinds = measure(set, options, &mut opened, &open, global)?;
        sets.push(Set { set: set.display().to_string(), kinds });
    }
    global.answer(&json!({ "sets": sets }), |stdout| sets.iter().try_for_each(|set| show(set, stdout)))
}

/// Asks all questions of a set.
fn measure(
    set: &Path,
    options: &Retrieval,
    opened: &mut BTreeMap<PathBuf, Engine>,
    open: &dyn Fn(&Path) -> Result<Engine, Stop>,
    global: &Global,
) -> Result<Vec<Kind>, Stop> {
    let questions = read(set)?;
    // The memories stand beside the folder of the sets, unless somebody says where.
    let beside = set.parent().unwrap_or(Path::new("")).join("..");
    let folder = options.memories.as_ref().unwrap_or(&beside);
    let bar = progress::bar(global, questions.len(), "questions");
    let mut kinds: Vec<Kind> = Vec::new();
    for question in &questions {
        let place = folder.join(&question.memory);
        if !opened.contains_key(&place) {
            let engine = open(&place)?;
            engine.refresh(&|_, _| (), &|| false)?;
            engine.embed(&|_, _| (), &|| false)?;
            opened.insert(place.clone(), engine);
        }
        let Some(engine) = opened.get(&place) else { continue };
        let retrieved = engine.retrieve(&question.question, MOST)?;
        let (ours, plain) = (Scores::of(question, &retrieved.found), Scores::of(question, &retrieved.plain));
        // A question that no word of a note could answer has no answer with embeddings either.
        let meant = options.embeddings.as_ref().map(|_| {
            let found = retrieved.meant.as_ref().unwrap_or(&retrieved.found);
            Scores::of(question, found)
        });
        // A kind that is called so itself is counted once.
        let names = [question.kind.as_str(), ALL];
        for name in names.into_iter().take(if question.kind == ALL { 1 } else { 2 }) {
            let at = kinds.iter().position(|kind| kind.kind == name).unwrap_or_else(|| {
                kinds.push(Kind {
                    kind: name.to_owned(),
                    questions: 0,
                    memdir: Scores::default(),
                    embeddings: meant.map(|_| Scores::default()),
                    bm25: Scores::default(),
                });
                kinds.len() - 1
            });
            if let Some(kind) = kinds.get_mut(at) {
                kind.questions += 1;
                kind.memdir.add(ours);
                kind.bm25.add(plain);
                kind.embeddings.iter_mut().zip(meant).for_each(|(all, meant)| all.add(meant));
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    for kind in &mut kinds {
        kind.memdir.divide(kind.questions);
        kind.bm25.divide(kind.questions);
        kind.embeddings.iter_mut().for_each(|all| all.divide(kind.questions));
    }
    // Alone, it would say the same twice.
    kinds.sort_by_key(|kind| kind.kind == ALL);
    if kinds.len() == 2 {
        kinds.pop();
    }
    Ok(kinds)
}

fn read(set: &Path) -> Result<Vec<Question>, Stop> {
    let hint = "a set is one JSON object a line with memory, question, gold and kind: see docs/questions.md";
    let text = file::read_named("set", set, MOST_BYTES, hint)?;
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let parsed = lines.map(|(line, number)| {
        serde_json::from_str(line).map_err(|error| {
            usage(format!("line {number} of `{}` is no question: {error}", set.display()), hint).into()
        })
    });
    parsed.collect()
}

impl Scores {
    #[expect(clippy::cast_precision_loss, reason = "a handful of notes")]
    fn of(question: &Question, found: &[MemoryPath]) -> Self {
        let first = found.iter().position(|path| question.gold.contains(path));
        let is_within = |most: usize| f64::from(u8::from(first.is_some_and(|at| at < most)));
        let recalled = question.gold.iter().filter(|gold| found.iter().take(5).any(|path| path == *gold)).count();
        Self {
            hit_at_1: is_within(1),
            hit_at_3: is_within(3),
            mrr: first.map_or(0.0, |at| 1.0 / (at + 1) as f64),
            recall_at_5: if question.any { is_within(5) } else { recalled as f64 / question.gold.len().max(1) as f64 },
        }
    }

    fn add(&mut self, one: Self) {
        self.hit_at_1 += one.hit_at_1;
        self.hit_at_3 += one.hit_at_3;
        self.mrr += one.mrr;
        self.recall_at_5 += one.recall_at_5;
    }

    #[expect(clippy::cast_precision_loss, reason = "there are fewer questions than 2^52")]
    fn divide(&mut self, count: usize) {
        for score in [&mut self.hit_at_1, &mut self.hit_at_3, &mut self.mrr, &mut self.recall_at_5] {
            *score /= count.max(1) as f64;
        }
    }

    fn shown(&self) -> String {
        format!("{:.3}  {:.3}  {:.3}  {:.3}", self.hit_at_1, self.hit_at_3, self.mrr, self.recall_at_5)
    }
}

fn show(set: &Set, stdout: &mut impl Write) -> Result<(), Stop> {
    stdout.line(&set.set)?;
    let has_embeddings = set.kinds.iter().any(|kind| kind.embeddings.is_some());
    let with = if has_embeddings { "  | with:  @1     @3     MRR    rec@5" } else { "" };
    let plain = "  | BM25:  @1     @3     MRR    rec@5";
    writeln!(stdout, "  {:14} {:>5}  hit@1  hit@3  MRR    rec@5{with}{plain}", "kind", "n")?;
    for Kind { kind, questions, memdir, embeddings, bm25 } in &set.kinds {
        let with = embeddings.map_or_else(String::new, |with| format!("  |        {}", with.shown()));
        let (ours, plain) = (memdir.shown(), bm25.shown());
        stdout.line(format!("  {kind:14} {questions:>5}  {ours}{with}  |        {plain}"))?;
    }
    Ok(())
}
