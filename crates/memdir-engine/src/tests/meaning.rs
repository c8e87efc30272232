//! Notes are found by what they mean, and as well as before where nothing tells that.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::*;
use crate::Embeddings;
use memdir_core::report::{Failure, Hit, Value, Why};
use memdir_model::embed::Embedder;
use memdir_model::{ModelError, Place};
use memdir_policy::Grant;

/// An embedder that knows two things: animals, and all else.
struct Fake {
    id: &'static str,
    told: Arc<Told>,
}

#[derive(Default)]
struct Told {
    texts: Mutex<Vec<String>>,
    opened: AtomicUsize,
    fails: AtomicUsize,
    /// How many numbers its points have more than two.
    more: AtomicUsize,
    /// The index that is damaged while it is asked.
    breaks: Mutex<Option<std::path::PathBuf>>,
}

impl Embedder for Fake {
    fn id(&self) -> &str {
        self.id
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let is_refused = texts.iter().any(|text| text.contains("refused"));
        if is_refused || self.told.fails.load(Ordering::Relaxed) > 0 {
            return Err(ModelError::Broken { place: "here".to_owned() });
        }
        if let Some(index) = self.told.breaks.lock().unwrap().as_ref().filter(|_| texts.len() > 1) {
            rusqlite::Connection::open(index).unwrap().execute_batch("DROP TABLE point").unwrap();
        }
        self.told.texts.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
        let is_animal = |text: &str| ["feline", "cat", "puppy"].iter().any(|animal| text.contains(animal));
        let more = self.told.more.load(Ordering::Relaxed);
        let point = |text: &&str| {
            let mut point = if is_animal(text) { vec![1.0, 0.1] } else { vec![0.1, 1.0] };
            point.resize(2 + more, 0.0);
            point
        };
        Ok(texts.iter().map(point).collect())
    }
}

const NOTES: &[(&str, &str)] = &[("a.md", "A feline.\n"), ("b.md", "A stone.\n"), ("c.md", "A tree.\n")];

fn meaning(root: &Path, id: &'static str, told: &Arc<Told>) -> Engine {
    let mut engine = engine(root);
    engine.settings.index = IndexPlace::File(root.canonicalize().unwrap().with_extension("cache").join("index.sqlite"));
    let told = Arc::clone(told);
    let open = move || -> Result<Box<dyn Embedder>, Failure> {
        told.opened.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Fake { id, told: Arc::clone(&told) }))
    };
    engine.with_embeddings(Embeddings { name: id.to_owned(), place: Place::Process, open: Box::new(open) })
}

/// A memory beside whose folder there is room for a cache.
fn place() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("memory");
    std::fs::create_dir(&root).unwrap();
    NOTES.iter().for_each(|(name, text)| std::fs::write(root.join(name), text).unwrap());
    (folder, root)
}

fn fill(engine: &Engine) {
    engine.refresh(&|_, _| (), &|| false).unwrap();
    engine.embed(&|_, _| (), &|| false).unwrap();
}

/// What a search finds, and why.
fn search(engine: &Engine, query: &str, caller: Caller) -> Vec<(String, Vec<Why>)> {
    let text = format!("<actions>{}</actions>", json!([{"action": "search_files", "query": query}]));
    let report = run(engine, text, caller);
    let Ok(Value::Search(found)) = &report.actions[0].result else { panic!("{report:?}") };
    let mut hits: Vec<_> = found.hits.iter().map(|Hit { path, why, .. }| (path.to_string(), why.clone())).collect();
    // What is equally alike comes in the order of the index, in which several threads have put it.
    hits.sort_by(|(one, _), (other, _)| one.cmp(other));
    hits
}

fn hit(path: &str, why: &[Why]) -> (String, Vec<Why>) {
    (path.to_owned(), why.to_vec())
}

#[test]
fn a_note_is_found_by_its_meaning_alone() {
    let ((_folder, root), told) = (place(), Arc::default());
    let engine = meaning(&root, "one", &told);
    assert_eq!(search(&engine, "cat", caller()), [], "no note has points yet");
    assert_eq!(told.opened.load(Ordering::Relaxed), 0, "and nothing is asked for any");
    let seen = Mutex::new(Vec::new());
    engine.refresh(&|_, _| (), &|| false).unwrap();
    engine.embed(&|done, all| seen.lock().unwrap().push((done, all)), &|| false).unwrap();
    assert_eq!(*seen.lock().unwrap(), [(0, 3), (3, 3)]);
    assert_eq!(search(&engine, "cat", caller()), [hit("a.md", &[Why::Vector])]);
    assert_eq!(search(&engine, "cat", caller()), [hit("a.md", &[Why::Vector])]);
    assert_eq!(
        *told.texts.lock().unwrap(),
        ["memdir", "a: A feline.", "b: A stone.", "c: A tree.", "cat"],
        "each once"
    );
    let meant = engine.embedding_status().unwrap();
    assert_eq!((meant.notes, meant.all), (3, 3));
    fill(&engine);
    assert_eq!(told.texts.lock().unwrap().len(), 6, "there is no more to do");
    // Who may not see all is answered by words alone.
    let grant = Some(Arc::new(Grant::new(&["a.md".to_owned(), "b.md".to_owned()], &[], None).unwrap()));
    assert_eq!(search(&engine, "cat", Caller { grant, ..caller() }), []);
}

#[test]
fn a_note_that_changes_is_told_anew() {
    let ((_folder, root), told) = (place(), Arc::default());
    let engine = meaning(&root, "one", &told);
    fill(&engine);
    std::fs::write(root.join("b.md"), "My small puppy.\n").unwrap();
    // This question is answered first; the few notes that changed are told with the next one.
    assert_eq!(search(&engine, "a first cat", caller()), [hit("a.md", &[Why::Vector])]);
    let both = [hit("a.md", &[Why::Vector]), hit("b.md", &[Why::Vector])];
    search(&engine, "a second cat", caller());
    assert_eq!(search(&engine, "a third cat", caller()), both);
    // What the batch itself has written has no points; the rest has.
    let text = r#"<actions>[{"action":"write_file","path":"a.md","content":"A stone."},{"action":"search_files","query":"a third cat"}]</actions>"#;
    let report = run(&engine, text, caller());
    let Ok(Value::Search(found)) = &report.actions[1].result else { panic!("{report:?}") };
    assert_eq!(found.hits.iter().map(|hit| hit.path.as_str()).collect::<Vec<_>>(), ["b.md"]);
}

#[test]
fn another_embedder_makes_points_of_its_own() {
    let ((_folder, root), told) = (place(), Arc::default());
    fill(&meaning(&root, "one", &told));
    let other = meaning(&root, "two", &told);
    assert_eq!(search(&other, "cat", caller()), []);
    assert_eq!(other.embedding_status().unwrap().notes, 0);
    fill(&other);
    assert_eq!(search(&other, "cat", caller()), [hit("a.md", &[Why::Vector])]);
}

#[test]
fn where_it_fails_words_find_and_it_is_said_once() {
    let ((_folder, root), told) = (place(), Arc::<Told>::default());
    let engine = meaning(&root, "one", &told);
    fill(&engine);
    assert_eq!(engine.embedding_failure(), None);
    told.fails.store(1, Ordering::Relaxed);
    assert_eq!(search(&engine, "stone", caller()), [hit("b.md", &[Why::Text])]);
    assert!(engine.embedding_failure().unwrap().message.contains("broke off"));
    assert_eq!(search(&engine, "tree", caller()), [hit("c.md", &[Why::Text])]);
    assert_eq!(engine.embedding_failure(), None);
    let error = engine.embed(&|_, _| (), &|| false);
    assert_eq!(error, Ok(()), "there is nothing to make");
    std::fs::write(root.join("b.md"), "Another stone.\n").unwrap();
    engine.refresh(&|_, _| (), &|| false).unwrap();
    assert_eq!(engine.embed(&|_, _| (), &|| false).unwrap_err().code, Code::ModelUnreachable);
}

#[test]
fn what_was_made_before_it_was_stopped_stays() {
    let ((_folder, root), told) = (place(), Arc::<Told>::default());
    for number in 0..40 {
        std::fs::write(root.join(format!("n{number}.md")), "Text.\n").unwrap();
    }
    let engine = meaning(&root, "one", &told);
    engine.refresh(&|_, _| (), &|| false).unwrap();
    let done = AtomicUsize::new(0);
    engine.embed(&|now, _| done.store(now, Ordering::Relaxed), &|| done.load(Ordering::Relaxed) >= 16).unwrap();
    let first = engine.embedding_status().unwrap();
    assert_eq!((first.notes, first.all), (16, 43));
    fill(&engine);
    assert_eq!(engine.embedding_status().unwrap().notes, 43);
    let texts = told.texts.lock().unwrap();
    assert_eq!(texts.iter().filter(|text| *text != "memdir").count(), 43, "none twice");
}

#[test]
fn what_a_rule_hides_is_given_to_no_embedder() {
    let ((_folder, root), told) = (place(), Arc::<Told>::default());
    let mut engine = meaning(&root, "one", &told);
    let rule = serde_json::from_value(json!({"path": "b.md", "verdict": "deny"})).unwrap();
    engine.set_rules(Rules::new(vec![rule]).unwrap());
    fill(&engine);
    assert_eq!(*told.texts.lock().unwrap(), ["memdir", "a: A feline.", "c: A tree."]);
    assert_eq!(search(&engine, "cat", caller()), [], "and nothing is compared for who must not know of it");
}

#[test]
fn who_holds_the_vault_does_not_wait_for_an_embedder() {
    let ((_folder, root), told) = (place(), Arc::<Told>::default());
    let engine = &meaning(&root, "one", &told);
    fill(engine);
    let point = engine.point("a known cat", false);
    assert!(point.is_some());
    assert_eq!(engine.point("a known cat", true), point);
    std::thread::scope(|scope| {
        // As while an embedder is asked; it is let go of before the other thread is waited for.
        let state = engine.embedder.as_ref().unwrap().state();
        let (answer, answered) = std::sync::mpsc::channel();
        scope.spawn(move || answer.send(engine.point("a known cat", true)));
        let within = std::time::Duration::from_secs(60);
        assert_eq!(answered.recv_timeout(within), Ok(None));
        drop(state);
    });
}

#[test]
fn an_embedder_that_does_not_answer_takes_no_points_away() {
    let ((_folder, root), told) = (place(), Arc::<Told>::default());
    let engine = meaning(&root, "one", &told);
    fill(&engine);
    let failing = Arc::<Told>::default();
    failing.fails.store(1, Ordering::Relaxed);
    assert!(meaning(&root, "two", &failing).embed(&|_, _| (), &|| false).is_err());
    assert_eq!(engine.embedding_status().unwrap().notes, 3);
}

#[test]
fn a_note_that_is_refused_keeps_no_other_from_its_points() {
    let ((_folder, root), told) = (place(), Arc::<Told>::default());
    std::fs::write(root.join("b.md"), "This is refused.\n").unwrap();
    let engine = meaning(&root, "one", &told);
    fill(&engine);
    assert_eq!(engine.embedding_status().unwrap().notes, 2);
    assert_eq!(search(&engine, "cat", caller()), [hit("a.md", &[Why::Vector])]);
    assert_eq!(engine.embedding_failure(), None, "the few that were tried then are no news");
}

#[test]
fn points_that_cannot_be_kept_end_it() {
    let ((_folder, root), told) = (place(), Arc::<Told>::default());
    let engine = meaning(&root, "one", &told);
    engine.refresh(&|_, _| (), &|| false).unwrap();
    *told.breaks.lock().unwrap() = Some(root.canonicalize().unwrap().with_extension("cache").join("index.sqlite"));
    assert_eq!(engine.embed(&|_, _| (), &|| false).unwrap_err().code, Code::Io);
    assert_eq!(told.texts.lock().unwrap().len(), 4, "and no note is sent twice");
}

#[test]
fn points_of_another_size_are_made_anew() {
    let ((_folder, root), told) = (place(), Arc::<Told>::default());
    fill(&meaning(&root, "one", &told));
    told.more.store(1, Ordering::Relaxed);
    let engine = meaning(&root, "one", &told);
    assert_eq!(search(&engine, "cat", caller()), []);
    assert_eq!(engine.embedding_status().unwrap().notes, 0);
    fill(&engine);
    assert_eq!(search(&engine, "cat", caller()), [hit("a.md", &[Why::Vector])]);
}

#[test]
fn notes_that_are_hidden_starve_no_other() {
    let ((_folder, root), told) = (place(), Arc::<Told>::default());
    let mut engine = meaning(&root, "one", &told);
    let hidden: Vec<String> = (0..5).map(|number| format!("h{number}.md")).collect();
    hidden.iter().for_each(|name| std::fs::write(root.join(name), "Hidden.\n").unwrap());
    let rule = |name| serde_json::from_value(json!({"path": name, "verdict": "deny"})).unwrap();
    engine.set_rules(Rules::new(hidden.iter().map(rule).collect()).unwrap());
    fill(&engine);
    std::fs::write(root.join("z.md"), "A puppy.\n").unwrap();
    engine.refresh(&|_, _| (), &|| false).unwrap();
    assert!(engine.point("a first cat", false).is_some());
    assert_eq!(engine.embedding_status().unwrap().notes, 3);
    assert!(engine.point("a second cat", false).is_some());
    assert_eq!(engine.embedding_status().unwrap().notes, 4);
    assert!(!told.texts.lock().unwrap().iter().any(|text| text.contains("Hidden")));
}
