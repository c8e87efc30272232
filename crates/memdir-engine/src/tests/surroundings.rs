//! What stands around a note, told by an index and by reading: the links are written by a generator that knows where they lead.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// So many notes, of which number `n` links to `n * 7 + 1`, `n * 3 + 2` and a note that is not there.
const NOTES: usize = 60;

fn targets(number: usize) -> [usize; 2] {
    [(number * 7 + 1) % NOTES, (number * 3 + 2) % NOTES]
}

fn name(number: usize) -> String {
    format!("n{number:02}.md")
}

/// Notes by number that are linked with each, whichever way.
fn linked() -> BTreeMap<usize, BTreeSet<usize>> {
    let mut linked: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for number in 0..NOTES {
        for target in targets(number).into_iter().filter(|target| *target != number) {
            linked.entry(number).or_default().insert(target);
            linked.entry(target).or_default().insert(number);
        }
    }
    linked
}

#[test]
fn links_both_ways_and_two_away_are_those_that_were_written() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..NOTES {
        let [one, other] = targets(number);
        let text = format!("[[n{one:02}]] and [x](n{other:02}.md)\n\n[[nobody {number}]]\n");
        std::fs::write(folder.path().join(name(number)), text).unwrap();
    }
    let read = engine(folder.path());
    let mut indexed = engine(folder.path());
    indexed.settings.index = IndexPlace::Process;
    let linked = linked();
    for number in 0..NOTES {
        let path = MemoryPath::parse(&name(number)).unwrap();
        let near = &linked[&number];
        let names = |numbers: &BTreeSet<usize>| numbers.iter().copied().map(name).collect::<BTreeSet<_>>();
        let told = |paths: &[MemoryPath]| paths.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        let (by_reading, by_index) = (read.surroundings(&path, 50).unwrap(), indexed.surroundings(&path, 50).unwrap());
        for found in [&by_reading, &by_index] {
            assert_eq!(told(&found.near), names(near));
            let leads: Vec<_> = found.links.iter().map(|link| link.resolved.clone().map(|to| to.to_string())).collect();
            let [one, other] = targets(number);
            assert_eq!(leads, [Some(name(one)), Some(name(other)), None]);
            let sources: BTreeSet<_> = found.backlinks.iter().map(|link| link.source.to_string()).collect();
            let expected = (0..NOTES).filter(|from| *from != number && targets(*from).contains(&number)).map(name);
            assert_eq!(sources, expected.collect());
        }
        let far: BTreeSet<usize> = near.iter().flat_map(|near| &linked[near]).copied().collect();
        let far = far.into_iter().filter(|far| *far != number && !near.contains(far)).collect();
        assert_eq!(told(&by_index.far), names(&far));
        assert!(!by_index.is_cut);
        for (one, other) in &by_index.pairs {
            let number = |path: &MemoryPath| path.stem().trim_start_matches('n').parse::<usize>().unwrap();
            assert!(linked[&number(one)].contains(&number(other)), "{one} {other}");
        }
        let cut = indexed.surroundings(&path, 5).unwrap();
        assert!(cut.near.len() + cut.far.len() <= 5 && cut.is_cut);
    }
}

/// One note that hundreds link to, and that links to hundreds.
#[test]
fn beside_a_note_that_everything_links_to_only_some_are_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let to_all: String = (0..300).map(|number| format!("[[out{number}]]\n")).collect();
    write("hub.md", &to_all);
    for number in 0..300 {
        write(&format!("in{number}.md"), "[[hub]]\n");
        write(&format!("out{number}.md"), "x\n");
    }
    let mut engine = engine(folder.path());
    engine.settings.index = IndexPlace::Process;
    let found = engine.surroundings(&MemoryPath::parse("in7.md").unwrap(), 20).unwrap();
    assert_eq!(found.near.iter().map(MemoryPath::as_str).collect::<Vec<_>>(), ["hub.md"]);
    assert!(found.is_cut && found.far.len() == 19, "{:?}", found.far);
    let is_linked = |far: &MemoryPath| far.stem() != "hub" && far.stem() != "in7";
    assert!(found.far.iter().all(is_linked), "{:?}", found.far);
    let own = engine.surroundings(&MemoryPath::parse("hub.md").unwrap(), 20).unwrap();
    assert_eq!((own.links.len(), own.backlinks.len()), (300, 300), "of the note itself all are");
    assert!(own.links.iter().all(|link| link.resolved.is_some()));
}

/// A note whose name many have, and which few of the links that ask for this name lead to.
#[test]
fn beside_a_note_whose_name_many_share_it_is_told_that_some_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("a/index.md", "x\n");
    write("b/index.md", "x\n");
    for number in 0..30 {
        write(&format!("b/in{number}.md"), "[[b/index]]\n");
        write(&format!("z/in{number}.md"), if number < 3 { "[[a/index]]\n" } else { "x\n" });
    }
    let mut engine = engine(folder.path());
    engine.settings.index = IndexPlace::Process;
    let around = |most| engine.surroundings(&MemoryPath::parse("z/in1.md").unwrap(), most).unwrap();
    for most in [5, 10, 20] {
        let found = around(most);
        assert_eq!(found.near.iter().map(MemoryPath::as_str).collect::<Vec<_>>(), ["a/index.md"]);
        let all = ["z/in0.md", "z/in2.md"].iter().all(|far| found.far.iter().any(|path| path.as_str() == *far));
        // Of 33 links that ask for this name so many are followed as twice the notes that are wanted.
        assert_eq!((all, found.is_cut), (most == 20, most < 20), "{most}: {:?}", found.far);
    }
}
