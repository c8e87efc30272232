//! `memdir eval retrieval`: how often the note that holds the answer is found, beside plain BM25 from the same index.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::asked::Retrieval;
use crate::cli::args::Global;
use crate::cli::exit::{Stop, print_json, usage};
use crate::cli::model::embedding;
use crate::cli::{open, progress, term};
use crate::engine::Engine;
use crate::path::MemoryPath;

/// One question of a set: a line of JSON.
#[derive(Debug, Deserialize)]
struct Asked {
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

/// What was measured.
#[derive(Debug, Serialize)]
struct Measured {
    sets: Vec<Set>,
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
/// How far down an answer is looked for.
const MOST: usize = 100;

pub(super) fn run(global: &Global, options: &Retrieval) -> Result<u8, Stop> {
    let mut measured = Measured { sets: Vec::new() };
    let mut opened = BTreeMap::new();
    let embeddings = options.embeddings.as_deref().map(embedding::shared).transpose()?;
    let open = |place: &Path| open::in_process(global, place, embeddings.as_ref().map(|embeddings| embeddings()));
    for set in &options.sets {
        let kinds = measure(set, options, &mut opened, &open, global)?;
        measured.sets.push(Set { set: set.display().to_string(), kinds });
    }
    if global.json {
        print_json(&measured)?;
    } else {
        tell(&measured)?;
    }
    Ok(0)
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
    for asked in &questions {
        let place = folder.join(&asked.memory);
        if !opened.contains_key(&place) {
            let engine = open(&place)?;
            engine.refresh(&|_, _| (), &|| false)?;
            engine.embed(&|_, _| (), &|| false)?;
            opened.insert(place.clone(), engine);
        }
        let Some(engine) = opened.get(&place) else { continue };
        let retrieved = engine.retrieve(&asked.question, MOST)?;
        let (ours, plain) = (Scores::of(asked, &retrieved.found), Scores::of(asked, &retrieved.plain));
        // A question that no word of a note could answer has no answer with embeddings either.
        let meant = options.embeddings.as_ref().map(|_| {
            let found = retrieved.meant.as_ref().unwrap_or(&retrieved.found);
            Scores::of(asked, found)
        });
        // A kind that is called so itself is counted once.
        let names = [asked.kind.as_str(), ALL];
        for name in names.into_iter().take(if asked.kind == ALL { 1 } else { 2 }) {
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

#[expect(clippy::disallowed_methods, reason = "the person names this file on the command line")]
fn read(set: &Path) -> Result<Vec<Asked>, Stop> {
    let hint = "a set is one JSON object a line with memory, question, gold and kind: see docs/questions.md";
    let text = std::fs::read_to_string(set)
        .map_err(|error| usage(format!("the set `{}` cannot be read: {}", set.display(), error.kind()), hint))?;
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
    fn of(asked: &Asked, found: &[MemoryPath]) -> Self {
        let first = found.iter().position(|path| asked.gold.contains(path));
        let is_within = |most: usize| f64::from(u8::from(first.is_some_and(|at| at < most)));
        let recalled = asked.gold.iter().filter(|gold| found.iter().take(5).any(|path| path == *gold)).count();
        Self {
            hit_at_1: is_within(1),
            hit_at_3: is_within(3),
            mrr: first.map_or(0.0, |at| 1.0 / (at + 1) as f64),
            recall_at_5: if asked.any { is_within(5) } else { recalled as f64 / asked.gold.len().max(1) as f64 },
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

fn tell(measured: &Measured) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    for set in &measured.sets {
        writeln!(stdout, "{}", term::escape_line(&set.set))?;
        let has_embeddings = set.kinds.iter().any(|kind| kind.embeddings.is_some());
        let with = if has_embeddings { "  | with:  @1     @3     MRR    rec@5" } else { "" };
        writeln!(
            stdout,
            "  {:14} {:>5}  hit@1  hit@3  MRR    rec@5{with}  | BM25:  @1     @3     MRR    rec@5",
            "kind", "n"
        )?;
        for Kind { kind, questions, memdir, embeddings, bm25 } in &set.kinds {
            let kind = term::escape_line(kind);
            let with = embeddings.map_or_else(String::new, |with| format!("  |        {}", with.shown()));
            writeln!(stdout, "  {kind:14} {questions:>5}  {}{with}  |        {}", memdir.shown(), bm25.shown())?;
        }
    }
    Ok(stdout.flush()?)
}
