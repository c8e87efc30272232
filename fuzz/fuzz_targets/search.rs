//! Any notes can be asked any question, with an index and without one: nothing panics, the order is one, and what is shown
//! stands in the notes.
//!
//! The input is a question and then notes, parted by lines of `%%`.

#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use memdir_core::action::{Action, Call, GetContext, SearchFiles};
use memdir_index::{Index, NoteRecord};
use memdir_core::path::MemoryPath;
use memdir_plan::{Limits, MapTree, Planner, Stamp, Swept};
use memdir_policy::{Context, Mode, Rules, review};
use memdir_rank::{Asking, Question, Source, answer};
use memdir_core::report::Value;

const PATHS: [&str; 5] = ["user.md", "people/jane_doe.md", "a/b.md", "ä.md", "北京.md"];

fuzz_target!(|text: &str| {
    let mut parts = text.split("\n%%\n");
    let query = parts.next().unwrap_or_default();
    let notes: BTreeMap<&str, &str> = PATHS.iter().copied().zip(parts).collect();
    by_reading(query, &notes);
    by_index(query, &notes);
});

fn by_reading(query: &str, notes: &BTreeMap<&str, &str>) {
    let tree = MapTree::of(notes.iter().map(|(path, text)| (*path, *text)));
    let mut planner = Planner::new(&tree, &Limits::default());
    let search = SearchFiles {
        query: query.to_owned(),
        mode: None,
        path: None,
        limit: None,
        cursor: None,
        budget: None,
        include_past: None,
        as_of: None,
    };
    let context = GetContext { query: Some(query.to_owned()), path: None, budget: Some(200), include_past: None, as_of: None };
    for action in [Action::SearchFiles(search), Action::GetContext(context)] {
        let call = Call::plain(1, action);
        let context = Context { mode: Mode::Off, approved: false, read_only: false, client: None, grant: None, rules: &Rules::default() };
        let Ok(cleared) = review(call, &context, &mut Vec::new()) else { continue };
        match planner.answer(&cleared).result {
            Ok(Value::Search(found)) => {
                assert!(found.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
                assert!(found.hits.iter().all(|hit| 1 <= hit.lines[0] && hit.lines[0] <= hit.lines[1]));
            }
            Ok(Value::Context(context)) => {
                for part in context.parts {
                    assert!(notes[part.path.as_str()].contains(&part.text), "{part:?}");
                }
            }
            _ => {}
        }
    }
}

fn by_index(query: &str, notes: &BTreeMap<&str, &str>) {
    let Some(question) = Question::of(query) else { return };
    let mut index = Index::in_memory().unwrap();
    let mut writing = index.write().unwrap();
    for (path, text) in notes {
        let path = MemoryPath::parse(path).unwrap();
        let record = NoteRecord::of(&path, text, Vec::new());
        writing.put(&Swept { path, is_link: false, stamp: Stamp::default() }, Some(&record)).unwrap();
    }
    writing.set_complete(true).unwrap();
    writing.commit().unwrap();
    let read = |path: &MemoryPath| notes.get(path.as_str()).map(|text| (*text).to_owned());
    let asking = Asking { read: &read, stop: &|| false, within: None, is_past: None, point: None, excluded: &memdir_note::Excluded::NONE };
    let found = answer(&index, &question, &asking).unwrap().found;
    assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score));
    for found in found {
        let path = index.path(found.note).unwrap().unwrap();
        assert!(index.around(&path).unwrap().is_some());
    }
}
