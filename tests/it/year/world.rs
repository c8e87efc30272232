//! A made-up year, from a seed: who and what there is, what becomes true on which day, and by which actions memdir hears of it.
//!
//! Knows nothing of memdir but the names of its actions. What is true on a day follows from the plan of the year alone.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// How many people and things there are, and how many facts of each.
const SUBJECTS: usize = 40;
const FACTS: usize = 5;
/// Of a hundred facts, so many change over the year; of a hundred that do, so many change back; of a hundred facts, about so many
/// somebody claims something false.
const CHANGED: usize = 40;
const CHANGED_BACK: usize = 10;
const CLAIMED: usize = 5;
/// How many notes are renamed in the year, and how many changes are undone.
const RENAMED: usize = 5;
const UNDONE: usize = 3;
/// The days of the year.
pub(crate) const DAYS: u32 = 365;

const KEYS: [&str; 20] = [
    "city",
    "employer",
    "phone model",
    "favourite tea",
    "shoe size",
    "dentist",
    "car",
    "boss",
    "gym",
    "birthplace",
    "colour",
    "weight",
    "owner",
    "price",
    "supplier",
    "location",
    "warranty",
    "material",
    "insurance",
    "next service",
];
const SYLLABLES: [&str; 16] =
    ["ka", "lor", "mi", "ven", "tas", "ro", "bel", "un", "dri", "sho", "pe", "gan", "wi", "zel", "ora", "fen"];

/// Who says something.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum By {
    /// The person, or a model for them.
    Person,
    Model,
    /// A tool, whose word nobody confirmed.
    Tool,
}

/// What memdir is told at one moment.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    Actions(Vec<Value>),
    /// Take back the batch that came of the event with this number.
    Undo(usize),
}

/// One moment of the year.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) day: u32,
    pub(crate) by: By,
    pub(crate) told: Told,
}

/// A fact of the year.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    /// The title of the note.
    pub(crate) subject: String,
    pub(crate) key: String,
    /// What holds from which day on.
    pub(crate) values: Vec<(u32, String)>,
    /// Something false that a tool said of it, since some day.
    pub(crate) claim: Option<(u32, String)>,
    note: usize,
}

/// A year.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) facts: Vec<Fact>,
    /// In the order in which they happen.
    pub(crate) events: Vec<Event>,
    /// The names that each note has, from which day on.
    names: Vec<Vec<(u32, String)>>,
}

impl Fact {
    /// What holds at the end of a day; `None` before it was ever said.
    pub(crate) fn on(&self, day: u32) -> Option<&str> {
        self.values.iter().rfind(|(since, _)| *since <= day).map(|(_, value)| value.as_str())
    }
}

/// Numbers from a seed: the generator of Steele, Lea and Flood (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % most as u64).unwrap()
    }

    /// A day within a part of the year.
    fn day(&mut self, from: u32, until: u32) -> u32 {
        from + u32::try_from(self.below((until - from) as usize)).unwrap()
    }

    fn word(&mut self) -> String {
        let count = 2 + self.below(3);
        let word: String = (0..count).map(|_| SYLLABLES[self.below(SYLLABLES.len())]).collect();
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap()
    }

    /// Some of the numbers below `all`, each once.
    fn some(&mut self, count: usize, all: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..all).collect();
        (0..count).map(|_| numbers.swap_remove(self.below(numbers.len()))).collect()
    }
}

/// What memdir is told in one day, before the days are put in order.
type Planned = Vec<(u32, By, Plan)>;

/// What happens to a fact or a note.
enum Plan {
    Begin(usize),
    Change {
        fact: usize,
        old: String,
        new: String,
        is_claimed: bool,
    },
    /// A change that is taken back on a later day.
    Mistake {
        fact: usize,
        until: u32,
        wrong: String,
    },
    Claim {
        fact: usize,
    },
    Rename(usize),
}

impl World {
    pub(crate) fn of(seed: u64) -> Self {
        let random = &mut Random(seed);
        let (mut facts, names, mut planned) = (Vec::new(), names(random), Planned::new());
        for (note, names) in names.iter().enumerate() {
            // Some are known of later in the year.
            let (begin, subject) = (random.day(0, if note % 4 == 0 { 200 } else { 20 }), title(names));
            for key in random.some(FACTS, KEYS.len()) {
                let values = vec![(begin, random.word())];
                facts.push(Fact { subject: subject.clone(), key: KEYS[key].to_owned(), values, claim: None, note });
            }
            planned.push((begin, By::Person, Plan::Begin(note)));
        }
        let chosen = random.some(facts.len(), facts.len());
        let count = |percent: usize| facts.len() * percent / 100;
        let (changed, others) = chosen.split_at(count(CHANGED));
        let back = changed.len() * CHANGED_BACK / 100;
        let claimed: Vec<usize> =
            [&changed[back..back + count(CLAIMED) / 2], &others[..count(CLAIMED).div_ceil(2)]].concat();
        for fact in &claimed {
            let (begin, wrong) = (facts[*fact].values[0].0, random.word());
            let day = random.day(begin + 1, 330);
            facts[*fact].claim = Some((day, wrong));
            planned.push((day, By::Tool, Plan::Claim { fact: *fact }));
        }
        for (at, number) in changed.iter().enumerate() {
            let (fact, day) = (&mut facts[*number], random.day(210, 300));
            let mut news = vec![(day, random.word())];
            if at < back {
                news.push((random.day(day + 1, 350), fact.values[0].1.clone()));
            }
            for (day, new) in news {
                let old = fact.values.last().unwrap().1.clone();
                fact.values.push((day, new.clone()));
                let by = if random.below(2) == 0 { By::Person } else { By::Model };
                let is_claimed = fact.claim.is_some();
                planned.push((day, by, Plan::Change { fact: *number, old, new, is_claimed }));
            }
        }
        // When all else has happened: what stands beside a later change is not taken back by itself.
        let mut mistaken = Vec::new();
        for number in others.iter().rev() {
            if mistaken.len() == UNDONE || mistaken.contains(&facts[*number].note) || facts[*number].claim.is_some() {
                continue;
            }
            mistaken.push(facts[*number].note);
            let (day, wrong) = (random.day(351, 356), random.word());
            let until = random.day(357, 363);
            let right = facts[*number].values[0].1.clone();
            facts[*number].values.extend([(day, wrong.clone()), (until, right)]);
            planned.push((day, By::Model, Plan::Mistake { fact: *number, until, wrong }));
        }
        for (note, names) in names.iter().enumerate().filter(|(_, names)| names.len() > 1) {
            planned.push((names[1].0, By::Person, Plan::Rename(note)));
        }
        let mut world = Self { facts, events: Vec::new(), names };
        world.order(planned, random);
        world
    }

    /// Where the note of a fact is on a day.
    pub(crate) fn path(&self, fact: &Fact, day: u32) -> &str {
        self.name_on(fact.note, day)
    }

    fn name_on(&self, note: usize, day: u32) -> &str {
        let name = self.names[note].iter().rfind(|(since, _)| *since <= day);
        &name.unwrap_or(&self.names[note][0]).1
    }

    /// Puts what is planned in the order of the days, and says it in actions.
    fn order(&mut self, mut planned: Planned, random: &mut Random) {
        // On a day that something is renamed, the rest of the day speaks of the new name.
        planned.sort_by_key(|(day, _, plan)| (*day, u8::from(!matches!(plan, Plan::Rename(_)))));
        let mut undos = BTreeMap::<u32, Vec<usize>>::new();
        for (day, by, plan) in planned {
            self.take_back(&mut undos, day);
            if let Plan::Mistake { until, .. } = &plan {
                undos.entry(*until).or_default().push(self.events.len());
            }
            let told = Told::Actions(self.said(&plan, day, random));
            self.events.push(Event { day, by, told });
        }
        self.take_back(&mut undos, DAYS);
    }

    /// Undoes what is to be undone before a day is over.
    fn take_back(&mut self, undos: &mut BTreeMap<u32, Vec<usize>>, day: u32) {
        while let Some(due) = undos.first_entry().filter(|due| *due.key() <= day) {
            let (day, events) = due.remove_entry();
            self.events.extend(events.into_iter().map(|event| Event { day, by: By::Person, told: Told::Undo(event) }));
        }
    }

    fn said(&self, plan: &Plan, day: u32, random: &mut Random) -> Vec<Value> {
        match plan {
            Plan::Begin(note) => {
                let facts: Vec<&Fact> = self.facts.iter().filter(|fact| fact.note == *note).collect();
                let lines: String =
                    facts.iter().map(|fact| format!("- {}: {}\n", fact.key, fact.values[0].1)).collect();
                let content = format!("# {}\n\n{lines}\n## Notes\n\nMet on day {day}.\n", facts[0].subject);
                vec![json!({"action": "create_file", "path": self.name_on(*note, day), "content": content})]
            }
            Plan::Change { fact, old, new, is_claimed } => {
                let fact = &self.facts[*fact];
                let (path, key) = (self.path(fact, day), &fact.key);
                vec![match random.below(3) {
                    // A note that says two things of one key has to be told which is meant.
                    _ if *is_claimed => replaced(path, key, old, new),
                    0 => json!({"action": "set_fact", "path": path, "key": key, "value": new}),
                    1 => json!({"action": "remember", "note": fact.subject, "key": key, "value": new}),
                    _ => replaced(path, key, old, new),
                }]
            }
            Plan::Mistake { fact, wrong, .. } => {
                let fact = &self.facts[*fact];
                vec![json!({"action": "set_fact", "path": self.path(fact, day), "key": fact.key, "value": wrong})]
            }
            Plan::Claim { fact } => {
                let fact = &self.facts[*fact];
                let (path, (_, value)) = (self.path(fact, day), fact.claim.clone().unwrap());
                vec![
                    json!({"action": "append_file", "path": path, "content": format!("\n## Found on the web\n\n- {}: {value}\n", fact.key)}),
                ]
            }
            Plan::Rename(note) => {
                let [(_, old), (_, new)] = self.names[*note].as_slice() else { unreachable!("a note has two names") };
                vec![json!({"action": "rename_file", "path": old, "new_path": new})]
            }
        }
    }
}

fn replaced(path: &str, key: &str, old: &str, new: &str) -> Value {
    let line = |value: &str| format!("- {key}: {value}\n");
    json!({"action": "update_file", "path": path, "old_content": line(old), "new_content": line(new)})
}

/// The names of all notes, of which a few change once.
fn names(random: &mut Random) -> Vec<Vec<(u32, String)>> {
    let mut names: Vec<Vec<(u32, String)>> = Vec::new();
    while names.len() < SUBJECTS {
        let folder = ["people", "things"][names.len() % 2];
        let path = format!("{folder}/{} {}.md", random.word(), random.word());
        if names.iter().all(|name| name[0].1 != path) {
            names.push(vec![(0, path)]);
        }
    }
    for note in random.some(RENAMED, SUBJECTS) {
        let new = names[note][0].1.replace("people/", "people/archive/").replace("things/", "people/");
        names[note].push((random.day(201, 345), new));
    }
    names
}

/// What a note is called that was made under its first name.
fn title(names: &[(u32, String)]) -> String {
    let (_, path) = &names[0];
    let name = path.rsplit('/').next().unwrap_or_default();
    name.trim_end_matches(".md").to_owned()
}

#[test]
fn a_year_is_what_it_is_said_to_be() {
    for seed in 0..10 {
        let world = World::of(seed);
        let count = |is: &dyn Fn(&Fact) -> bool| world.facts.iter().filter(|fact| is(fact)).count();
        let is_back = |fact: &Fact| fact.values.len() == 3 && fact.values[2].1 == fact.values[0].1;
        assert_eq!((world.facts.len(), world.names.len()), (200, 40));
        assert_eq!(count(&|fact| fact.values.len() > 1), 80 + UNDONE);
        assert_eq!((count(&is_back), count(&|fact| fact.claim.is_some())), (8 + UNDONE, 10));
        assert!(world.events.windows(2).all(|pair| pair[0].day <= pair[1].day));
        assert!(world.facts.iter().all(|fact| fact.values.windows(2).all(|pair| pair[0].0 < pair[1].0)));
    }
}
