//! Where the lines of a note come from, also where contents are no longer kept.

use std::time::Duration;

use super::{DAY, Env, author, commit, commit_on, entry, open_with, path, put, rename};
use crate::{Author, Batch, Durability, Options, Vault};
use memdir_core::report::{Kind, Line, WrittenBy};
use memdir_core::time::Timestamp;
use memdir_plan::{Forms, Sought, Step, Tree};

fn lines(vault: &Vault, name: &str) -> Vec<Line> {
    let now = vault.read(&path(name), 9_999).unwrap().content;
    vault.lines(&path(name), &now).unwrap()
}

/// The batch of each line of `a.md`; 0 where nobody knows.
fn batches(env: &Env) -> Vec<u64> {
    lines(&env.vault(), "a.md").into_iter().map(|line| line.batch.unwrap_or(0)).collect()
}

#[test]
fn lines_of_pruned_contents_keep_their_author() {
    let env = Env::new(&[]);
    let texts = ["1\n", "1\n2\n", "1\n2\n3\n", "1\n2\n3\n4\n"];
    let mut before = None;
    for text in texts {
        commit(&env.vault(), &[put("a.md", before, Some(text))], None).unwrap();
        before = Some(text);
    }
    assert_eq!(batches(&env), [1, 2, 3, 4]);
    let vault = env.vault();
    let young = [91, 92].map(|day| commit_on(&vault, day, &format!("{day}.md")));
    vault.lock().unwrap().prune(Timestamp::from_micros(92 * DAY)).unwrap();
    assert!(vault.steps(4).is_err(), "the contents are gone");
    drop(vault);
    assert_eq!((batches(&env), young), (vec![1, 2, 3, 4], [5, 6]));
    env.write("a.md", "1\n2\nx\n4\n");
    assert_eq!(batches(&env), [1, 2, 0, 4], "an editor wrote the third line");
    env.write("a.md", texts[3]);
    commit(&env.vault(), &[put("a.md", before, None)], None).unwrap();
    commit(&env.vault(), &[put("a.md", None, before)], None).unwrap();
    assert_eq!(batches(&env), [8, 8, 8, 8], "a note that was deleted is made anew");
}

#[test]
fn what_is_forgotten_leaves_no_marks() {
    let env = Env::new(&[]);
    commit(&env.vault(), &[put("a.md", None, Some("1\n"))], None).unwrap();
    let vault = env.vault();
    for day in [91, 92] {
        commit_on(&vault, day, &format!("{day}.md"));
    }
    vault.lock().unwrap().prune(Timestamp::from_micros(92 * DAY)).unwrap();
    let kept = || {
        let database = rusqlite::Connection::open(env.path().join(".memdir/local/history.sqlite")).unwrap();
        let sql = "SELECT count(*) FROM meta WHERE key GLOB 'lines:*'";
        database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(kept(), 1);
    let names = vault.names_of(&path("a.md"), true).unwrap();
    let time = Timestamp::from_micros(93 * DAY);
    vault.lock().unwrap().forget_history(&Sought::Note(names.all), &author(), time).unwrap();
    assert_eq!(kept(), 0);
}

/// Puts `a.md` and moves on behalf of somebody, on a day of its own.
fn write_as(env: &Env, day: i64, origin: &str, steps: &[Step]) {
    let author = Author { origin: origin.into(), ..author() };
    let entries = [entry("update_file")];
    let time = Timestamp::from_micros(day * DAY);
    let batch = Batch { steps, entries: &entries, author: &author, time, undoes: &[], approval: None };
    env.vault().lock().unwrap().commit(&batch).unwrap();
}

/// How far each line of a note is trusted; and the lines that need a confirmation.
fn trust(env: &Env, name: &str) -> (Vec<Option<WrittenBy>>, Vec<usize>) {
    let vault = env.vault();
    let now = vault.read(&path(name), 9_999).unwrap().content;
    let unconfirmed = vault.unconfirmed(&path(name), &now).unwrap();
    let trust = lines(&vault, name).into_iter().map(|line| line.provenance.trust).collect();
    (trust, unconfirmed.into_iter().map(|(line, _)| line).collect())
}

#[test]
fn a_rename_confirms_no_line_that_links_to_the_note() {
    let env = Env::new(&[("acme.md", "# Acme\n")]);
    let (old, new) = ("- at: [[acme]] as chief\n", "- at: [[globex]] as chief\n");
    write_as(&env, 1, "import", &[put("a.md", None, Some(old))]);
    write_as(&env, 2, "person", &[rename("acme.md", "globex.md", Kind::File), put("a.md", Some(old), Some(new))]);
    assert_eq!(trust(&env, "a.md"), (vec![Some(WrittenBy::Import)], vec![1]));
    // The same text without a rename is what the person says.
    let newer = "- at: [[initech]] as chief\n";
    write_as(&env, 3, "person", &[put("a.md", Some(new), Some(newer))]);
    assert_eq!(trust(&env, "a.md"), (vec![Some(WrittenBy::You)], vec![]));
}

#[test]
fn to_forget_one_line_confirms_no_other() {
    let env = Env::new(&[]);
    let bank = "- bank: 12345\n";
    let both = "- bank: 12345\n- zebra-one: x\n";
    write_as(&env, 1, "import", &[put("a.md", None, Some(bank))]);
    write_as(&env, 2, "person", &[put("a.md", Some(bank), Some(both))]);
    write_as(&env, 3, "person", &[put("a.md", Some(both), Some(bank))]);
    write_as(&env, 4, "import", &[put("b.md", None, Some("- x: y\n"))]);
    write_as(&env, 5, "person", &[put("c.md", None, Some("- zebra-one: x\n- own: y\n"))]);
    let text = Sought::Text(Forms::new("zebra-one").unwrap());
    env.vault().lock().unwrap().forget_history(&text, &author(), Timestamp::from_micros(6 * DAY)).unwrap();
    assert_eq!(trust(&env, "a.md"), (vec![Some(WrittenBy::Import)], vec![1]));
    let c = "- own: y\n";
    env.write("c.md", c);
    assert_eq!(trust(&env, "c.md"), (vec![None], vec![]), "no import has written there");
    // What a model makes of it, or a person moves, is trusted as little.
    let more = "x\n- bank: 12345 at Acme\n";
    write_as(&env, 7, "model", &[put("a.md", Some(bank), Some(more))]);
    let moved = "- bank: 12345 at Acme\nx\n";
    write_as(&env, 8, "person", &[put("a.md", Some(more), Some(moved))]);
    assert_eq!(trust(&env, "a.md").0[0], Some(WrittenBy::Import));
}

/// A line of the note, by what made the history: its text, and the batch that wrote it first and last; `None` for an editor.
#[derive(Clone, Debug, PartialEq)]
struct Told {
    text: String,
    first: Option<u64>,
    last: Option<u64>,
    by: WrittenBy,
    least: WrittenBy,
}

/// A history that is made up, and what is true of it.
struct Story {
    env: Env,
    seed: u64,
    name: String,
    told: Vec<Told>,
    /// What was true before the last batch, while that can be undone.
    before: Option<(Vec<Told>, u64)>,
    day: i64,
    words: u32,
    has_pruned: bool,
}

impl Story {
    fn new(seed: u64) -> Self {
        let env = Env::new(&[("0.md", "- k0: outside\n")]);
        let outside = Told {
            text: "- k0: outside".into(),
            first: None,
            last: None,
            by: WrittenBy::Outside,
            least: WrittenBy::Outside,
        };
        Self { env, seed, name: "0.md".into(), told: vec![outside], before: None, day: 1, words: 0, has_pruned: false }
    }

    fn random(&mut self, below: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.seed >> 33).unwrap() % below
    }

    fn word(&mut self) -> String {
        self.words += 1;
        format!("value{}", self.words)
    }

    fn vault(&self) -> Vault {
        let durability = Durability::Atomic;
        open_with(self.env.path(), Options { keep_for: Duration::ZERO, durability, ..Options::default() }).unwrap()
    }

    fn text(told: &[Told]) -> String {
        told.iter().map(|line| format!("{}\n", line.text)).collect()
    }

    fn commit(&mut self, steps: &[Step], origin: &str, undoes: Option<u64>) -> u64 {
        self.day += 1;
        let author = Author { origin: origin.into(), ..author() };
        let time = Timestamp::from_micros(self.day * DAY);
        let entries = [entry("update_file")];
        let batch =
            Batch { steps, entries: &entries, author: &author, time, undoes: undoes.as_slice(), approval: None };
        self.vault().lock().unwrap().commit(&batch).unwrap().batch
    }

    /// Changes a line, adds one or takes one away; `batch` is `None` for an editor.
    fn edit(&mut self, batch: Option<u64>, by: WrittenBy) -> Vec<Told> {
        let mut told = self.told.clone();
        let (value, number) = (self.word(), self.words);
        match self.random(3) {
            0 if !told.is_empty() => {
                let at = self.random(told.len());
                let line = &mut told[at];
                let key = line.text.split(':').next().unwrap().to_owned();
                // Half of the new values say what the old one said, and more.
                let made_from = number.is_multiple_of(2);
                let old = line.text.split(": ").nth(1).unwrap().to_owned();
                line.text = if made_from { format!("{key}: {old} {value}") } else { format!("{key}: {value}") };
                line.least = match by {
                    WrittenBy::You => by,
                    _ if made_from => by.min(line.least),
                    _ => by,
                };
                (line.last, line.by) = (batch, by);
            }
            1 if told.len() > 1 => {
                let at = self.random(told.len());
                told.remove(at);
            }
            _ => {
                let at = self.random(told.len() + 1);
                let text = format!("- k{number}: {value}");
                told.insert(at, Told { text, first: batch, last: batch, by, least: by });
            }
        }
        told
    }

    fn step(&mut self) {
        let next = self.vault().newest().unwrap().unwrap_or(0) + 1;
        let now = Self::text(&self.told);
        match self.random(8) {
            0 => {
                let told = self.edit(None, WrittenBy::Outside);
                self.env.write(&self.name, &Self::text(&told));
                (self.told, self.before) = (told, None);
            }
            1 => {
                let name = format!("{next}.md");
                self.commit(&[rename(&self.name, &name, Kind::File)], "model", None);
                (self.name, self.before) = (name, None);
            }
            2 => {
                let time = Timestamp::from_micros(self.day * DAY);
                self.vault().lock().unwrap().prune(time).unwrap();
                self.has_pruned = true;
            }
            3 => {
                if let Some((told, batch)) = self.before.take() {
                    let step = put(&self.name, Some(&now), Some(&Self::text(&told)));
                    self.commit(&[step], "person", Some(batch));
                    self.told = told;
                }
            }
            number => {
                let (origin, by) = [
                    ("model", WrittenBy::Model),
                    ("import", WrittenBy::Import),
                    ("tool:web", WrittenBy::Tool),
                    ("person", WrittenBy::You),
                ][number - 4];
                let told = self.edit(Some(next), by);
                let step = put(&self.name, Some(&now), Some(&Self::text(&told)));
                assert_eq!(self.commit(&[step], origin, None), next);
                self.before = Some((std::mem::replace(&mut self.told, told), next));
            }
        }
    }

    fn check(&self, step: usize) {
        let found = lines(&self.vault(), &self.name);
        let has_history = self.vault().newest().unwrap().is_some();
        let found: Vec<Option<Told>> = found
            .into_iter()
            .zip(&self.told)
            .map(|(line, told)| {
                let (first, last) = (line.provenance.first_written?, line.provenance.last_written?);
                let (text, mut least) = (told.text.clone(), line.provenance.trust.unwrap());
                // Whether a new value was made from one whose text is gone nobody knows; it is trusted as if it was.
                if self.has_pruned && least < told.least {
                    least = told.least;
                }
                assert_eq!(line.batch, last.batch);
                Some(Told { text, first: first.batch, last: last.batch, by: last.by, least })
            })
            .collect();
        // Nothing is known of a note before memdir has changed it.
        let is_known = has_history && found.iter().any(Option::is_some);
        let expected: Vec<Option<Told>> = self.told.iter().cloned().map(Some).collect();
        assert!(!is_known || found == expected, "step {step}: {found:#?} is not {expected:#?}");
        let changed = self.told.iter().any(|line| line.first.is_some());
        assert!(is_known || !changed, "step {step}: something is known of {:?}", self.told);
    }
}

#[test]
fn whoever_made_up_a_history_is_told_the_same() {
    for seed in 0..16 {
        let mut story = Story::new(seed);
        for step in 0..40 {
            story.step();
            story.check(step);
        }
    }
}

#[test]
fn a_query_is_planned_once_for_all_batches() {
    let env = Env::new(&[]);
    let vault = env.vault();
    let batches = ["a.md", "b.md"].map(|name| commit(&vault, &[put(name, None, Some("1\n"))], None).unwrap());
    let core = vault.known_core().unwrap();
    let db = &core.as_ref().unwrap().journal.db;
    let mut query = db.prepare("SELECT count(*) FROM entry WHERE batch = ?1").unwrap();
    for batch in batches {
        assert_eq!(query.query_row([batch], |row| row.get::<_, i64>(0)).unwrap(), 1);
    }
    assert_eq!(query.get_status(rusqlite::StatementStatus::RePrepare), 0);
}
