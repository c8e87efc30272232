//! A made-up year of facts that change, told to memdir day by day: what it says now and what it says of any day is what the year
//! says, by files, history and ranking alone; no model is used.

mod world;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use memdir_core::path::MemoryPath;
use memdir_core::time::Timestamp;
use memdir_dialect as dialect;
use memdir_engine::{Caller, Engine, FactsQuery, FoundFact, IndexPlace, Settings};
use memdir_vault::{Durability, Options, Vault};
use serde_json::{Value, json};

use crate::support::said;
use world::{By, DAYS, Event, Fact, Told, World};

const WORLDS: u64 = 10;
/// How many days of each year are asked about.
const ASKED: u32 = 20;

/// The seconds since 1970 of the moment; only this module moves it.
static CLOCK: AtomicI64 = AtomicI64::new(0);
/// The first of January 2025.
const START: i64 = 1_735_689_600;
const DAY: i64 = 86_400;

fn now() -> Timestamp {
    Timestamp::from_seconds(CLOCK.load(Ordering::SeqCst))
}

fn named(day: u32) -> String {
    Timestamp::from_seconds(START + i64::from(day) * DAY).day()
}

fn open(memory: &Path) -> Engine {
    let root = memory.canonicalize().unwrap();
    let dir = cap_std::fs::Dir::open_ambient_dir(&root, cap_std::ambient_authority()).unwrap();
    // The whole year is kept.
    let keep_for = Duration::from_secs(400 * DAY.unsigned_abs());
    let options = Options { durability: Durability::Atomic, keep_for, ..Options::default() };
    let settings = Settings { index: IndexPlace::Nowhere, ..Settings::new(now) };
    Engine::new(Vault::open(dir, root, options).unwrap(), settings)
}

/// Lives through a year: every action has to be done.
fn live(engine: &Engine, world: &World) {
    let mut batches = Vec::new();
    let mut last = (0, 0);
    for Event { day, by, told } in &world.events {
        // A few minutes between what happens on one day.
        last = if last.0 == *day { (*day, last.1 + 1) } else { (*day, 0) };
        CLOCK.store(START + i64::from(*day) * DAY + 8 * 3_600 + last.1 * 300, Ordering::SeqCst);
        let batch = match told {
            Told::Actions(actions) => {
                let report = act(engine, caller(*by), &Value::from(actions.clone()));
                assert!(report["actions"].as_array().unwrap().iter().all(|call| call["ok"] == true), "{report}");
                report["batch"].as_u64()
            }
            Told::Undo(event) => {
                let change = engine.propose_undo(batches[*event]).unwrap();
                engine.conclude_change(change, &Caller::person("cli")).unwrap().batch
            }
        };
        batches.push(Some(batch.expect("a batch")));
    }
    CLOCK.store(START + i64::from(DAYS) * DAY, Ordering::SeqCst);
}

fn caller(by: By) -> Caller {
    let mut caller = match by {
        By::Person => Caller::person("cli"),
        By::Model | By::Tool => Caller::model("exec"),
    };
    if by == By::Tool {
        "tool:web".clone_into(&mut caller.author.origin);
    }
    caller
}

fn act(engine: &Engine, caller: Caller, actions: &Value) -> Value {
    serde_json::to_value(engine.conclude(engine.propose(dialect::parse(said(actions).as_bytes()), caller))).unwrap()
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    right: u32,
    all: u32,
}

impl Score {
    fn count(&mut self, is_right: bool) {
        self.right += u32::from(is_right);
        self.all += 1;
    }

    fn share(self) -> f64 {
        f64::from(self.right) / f64::from(self.all.max(1))
    }
}

/// What a reader takes from the facts of a memory, by note and key: the first that a note says.
fn read(facts: Vec<FoundFact>) -> BTreeMap<(String, String), String> {
    let mut read = BTreeMap::new();
    for fact in facts {
        read.entry((fact.path.to_string(), fact.key)).or_insert(fact.value);
    }
    read
}

/// What `facts` says as of a day, or now.
fn told(engine: &Engine, day: Option<u32>) -> BTreeMap<(String, String), String> {
    let day = day.map(named);
    read(engine.view(day.as_deref(), |view| view.facts(&FactsQuery::current())).unwrap().facts)
}

fn value_in<'t>(told: &'t BTreeMap<(String, String), String>, path: &str, fact: &Fact) -> Option<&'t str> {
    told.get(&(path.to_owned(), fact.key.clone())).map(String::as_str)
}

/// Whether the best part of a context that names the key says what holds.
fn context_is_right(engine: &Engine, world: &World, fact: &Fact, day: Option<u32>) -> bool {
    let mut call = json!({"action": "get_context", "query": format!("What is the {} of {}?", fact.key, fact.subject)});
    if let Some(day) = day {
        call["as_of"] = named(day).into();
    }
    let report = act(engine, Caller::model("exec"), &json!([call]));
    let day = day.unwrap_or(DAYS);
    let path = world.path(fact, day);
    let parts = report["actions"][0]["value"]["parts"].as_array().cloned().unwrap_or_default();
    let says = |part: &Value| {
        let text = part["text"].as_str()?;
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("- {}: ", fact.key)))?;
        Some(line.to_owned()).filter(|_| part["path"] == path)
    };
    parts.iter().find_map(says).as_deref() == fact.on(day)
}

/// The disputed facts that `check` lists: those of which a line of each side is in one finding.
fn disputed_listed(engine: &Engine, world: &World) -> Score {
    let checked = serde_json::to_value(engine.check(&|| ()).unwrap().findings).unwrap();
    let findings: Vec<&Value> =
        checked.as_array().unwrap().iter().filter(|finding| finding["kind"] == "conflicting_fact").collect();
    let mut listed = Score::default();
    for fact in world.facts.iter().filter(|fact| fact.claim.is_some()) {
        let path = world.path(fact, DAYS);
        let is_about = |finding: &&&Value| finding["path"] == path && finding.to_string().contains(&fact.key);
        listed.count(findings.iter().any(|finding| is_about(&finding)));
    }
    listed
}

/// The scores of one year: now by `facts`, now by `get_context`, as of days by `facts`, by `get_context`, by `read`; the disputed.
fn scores(seed: u64) -> [Score; 6] {
    let world = World::of(seed);
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    live(&engine, &world);
    let [mut now, mut context, mut then, mut context_then, mut notes] = [Score::default(); 5];
    let said = told(&engine, None);
    for (number, fact) in world.facts.iter().enumerate() {
        now.count(value_in(&said, world.path(fact, DAYS), fact) == fact.on(DAYS));
        // Each in four of the years: a context takes longer.
        if number as u64 % 4 == seed % 4 {
            context.count(context_is_right(&engine, &world, fact, None));
        }
    }
    for asked in 0..ASKED {
        // Spread over the year, and others in each of the years.
        let day = 20 + (asked * 17 + u32::try_from(seed).unwrap() * 5) % (DAYS - 21);
        let said = told(&engine, Some(day));
        for (number, fact) in world.facts.iter().enumerate() {
            let path = world.path(fact, day);
            then.count(value_in(&said, path, fact) == fact.on(day));
            if number % 40 == (asked as usize) % 40 && fact.on(day).is_some() {
                context_then.count(context_is_right(&engine, &world, fact, Some(day)));
                // By the name that the note has now.
                let path = MemoryPath::parse(world.path(fact, DAYS)).unwrap();
                let caller = Caller::person("cli");
                let text = engine.view(Some(&named(day)), |view| view.read(&path, &caller)).map(|(text, _)| text);
                let line = format!("- {}: {}\n", fact.key, fact.on(day).unwrap());
                notes.count(text.is_ok_and(|text| text.contains(&line)));
            }
        }
    }
    [now, context, then, context_then, notes, disputed_listed(&engine, &world)]
}

#[test]
fn what_holds_now_and_what_held_on_any_day_is_what_the_year_says() {
    const NAMES: [&str; 6] = [
        "value now, facts",
        "value now, get_context",
        "as of a day, facts",
        "as of a day, get_context",
        "as of a day, read",
        "disputed, listed by check",
    ];
    const BARS: [f64; 6] = [0.99, 0.99, 0.98, 0.98, 0.98, 1.0];
    let mut sums = [Score::default(); 6];
    for seed in 0..WORLDS {
        for (sum, score) in sums.iter_mut().zip(scores(seed)) {
            *sum = Score { right: sum.right + score.right, all: sum.all + score.all };
        }
    }
    for (name, score) in NAMES.iter().zip(sums) {
        println!("a made-up year × {WORLDS}: {name}: {:.4} ({} of {})", score.share(), score.right, score.all);
    }
    for (name, (score, bar)) in NAMES.iter().zip(sums.iter().zip(BARS)) {
        assert!(score.share() >= bar, "{name}: {:.4}, and the bar is {bar}", score.share());
    }
}
