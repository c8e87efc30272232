use proptest::prelude::*;

use super::{Dump, dump, index, path, swept};
use crate::record::{marked, token};
use crate::{LooksOf, NoteRecord};
use memdir_core::path::MemoryPath;
use memdir_note::stem::{Language, Stem};
use memdir_note::words;
use memdir_rank::{Column, Impact, Source};

#[test]
fn scores_are_those_of_the_formula() {
    // Words of titles and headings count where they stand too.
    let notes =
        [("one.md", "# alpha\n"), ("two.md", "alpha beta beta\n"), ("three.md", "- alpha: gamma\n"), ("x.png", "")];
    let index = index(&notes);
    let scores = |word: &str| {
        let mut found: Vec<_> = index.matching(&Stem::forms(word)).unwrap();
        found.sort_by_key(|(note, _)| index.path(*note).unwrap());
        found.into_iter().map(|(_, score)| score.value()).collect::<Vec<_>>()
    };
    // Words with those of the name, each once: alpha one; alpha gamma three; alpha beta beta two. BM25 by its formula, in a note of so
    // many words where 300 are usual, and 100 the fewest that count.
    let often = |frequency: f64, length: f64| {
        frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * f64::max(length, 100.0) / 300.0))
    };
    #[track_caller]
    fn same(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        let is_same = found.iter().zip(expected).all(|(one, other)| (one - other).abs() <= 2.2 / 16.0 + 1e-9);
        assert!(is_same, "{found:?} {expected:?}");
    }
    let weight = |columns: &[Column]| columns.iter().map(|column| column.weight()).sum::<f64>();
    let (title, key) = (weight(&[Column::Title, Column::Heading, Column::Body]), weight(&[Column::Key, Column::Body]));
    same(&scores("alpha"), &[often(title, 2.0), often(key, 3.0), often(1.0, 4.0)]);
    same(&scores("beta"), &[often(2.0, 4.0)]);
    same(&scores("one"), &[often(Column::Name.weight(), 2.0)]);
    same(&scores("delta"), &[]);
    assert_eq!(["alpha", "beta", "delta"].map(|word| index.holding(&Stem::forms(word)).unwrap()), [3, 1, 0]);
    assert_eq!(index.notes().unwrap(), 3);
}

#[test]
fn every_part_of_a_note_counts_as_its_column() {
    let text = "---\ntitle: First\naliases: [Second]\ntags: [third]\n---\n## Fourth\n\n- fifth: sixth #seventh\n";
    let words = NoteRecord::of(&path("folder/file_name.md"), text, Vec::new()).text.unwrap().words;
    let title = Column::Title.weight() + Column::Body.weight();
    let expected = [
        ("first", title),
        ("second", title),
        ("fourth", Column::Heading.weight() + Column::Body.weight()),
        ("folder", Column::Name.weight()),
        ("file", Column::Name.weight()),
        ("name", Column::Name.weight()),
        ("title", Column::Key.weight() + Column::Body.weight()),
        ("fifth", Column::Key.weight() + Column::Body.weight()),
        ("third", Column::Tag.weight() + Column::Body.weight()),
        ("seventh", Column::Tag.weight() + Column::Body.weight()),
        ("sixth", Column::Body.weight()),
    ];
    for (word, often) in expected {
        // The path has three words and the text ten.
        let term = marked(&english(word), Impact::of(often, 13));
        assert!(words.split(' ').any(|own| own == term), "{word} {words}");
    }
}

#[test]
fn a_key_finds_the_notes_with_a_fact_of_it() {
    let notes =
        [("a.md", "- phone number: 1\n"), ("b.md", "The phone number is 2.\n"), ("c.md", "- number: 3\n\nA phone.\n")];
    let index = index(&notes);
    let of = |key: &str| -> Vec<MemoryPath> {
        index.looks(LooksOf::Key(key), 9).unwrap().into_iter().map(|(path, _)| path).collect()
    };
    assert_eq!(of("phone number"), [path("a.md")]);
    assert_eq!(of("Number"), [path("a.md"), path("c.md")]);
    assert_eq!((of("phone"), of("is"), of("")), (vec![path("a.md")], vec![], vec![]));
}

#[test]
fn a_note_adds_so_many_words_and_no_more() {
    let long: String = (0..100_000).map(|number| format!("word{number} ")).collect();
    let words = NoteRecord::of(&path("a.md"), &long, Vec::new()).text.unwrap().words;
    let bytes: usize = words.split(' ').map(|term| term.len() - '\u{80}'.len_utf8() + 1).sum();
    assert!((200_000..=256 * 1024).contains(&bytes), "{bytes}");
    let (word, other) = ("y".repeat(1_000_000), "y".repeat(999_999));
    let index = index(&[("a.md", &word)]);
    assert_eq!((index.holding(&Stem::forms(&word)).unwrap(), index.holding(&Stem::forms(&other)).unwrap()), (1, 0));
}

#[test]
fn words_that_no_tokenizer_knows() {
    for text in
        ["⒈ one", "⑴", "ﷺ", "\u{37a}x", "½", "İstanbul", "हिन्दी", "x\u{200d}y", "北", "Ⅻ", "🄀", "é", "\u{1d400}", "ǅ"]
    {
        let index = index(&[("n.md", text)]);
        let mut found = Vec::new();
        words::each(text, &mut |word, _| found.push(word.to_owned()));
        for word in found {
            assert_eq!(
                (index.holding(&Stem::forms(&word)).unwrap(), index.matching(&Stem::forms(&word)).unwrap().len()),
                (1, 1),
                "{text} {word}"
            );
        }
    }
    let index = index(&[("n.md", "⒈ one")]);
    assert_eq!(index.holding(&Stem::forms("1")).unwrap(), 0, "`1.` is another word than `1`");
    for hostile in ["", "\"", "a\" OR \"n", "*", "one*", "body : one", "\0", "one\0"] {
        assert_eq!(
            (index.holding(&Stem::forms(hostile)).unwrap(), index.matching(&Stem::forms(hostile)).unwrap().len()),
            (0, 0),
            "{hostile:?}"
        );
    }
}

#[test]
fn a_word_is_spelled_like_another() {
    let notes = [
        (
            "a.md",
            "kitchen garden gardens London 北京 x86 w0rd1234 universities of England, and what is said of them there",
        ),
        ("b.md", "kitchen gardens mitten carts"),
        ("c.md", "cars card carts cartoons"),
    ];
    let index = index(&notes);
    let like = |word: &str| index.spelled_like(word).unwrap().map(|stem| stem.as_str().to_owned());
    assert_eq!(like("kitchne"), Some(english("kitchen")), "neighbours that changed places count once");
    assert_eq!(like("londom"), Some(english("london")));
    assert_eq!(like("gardns"), Some(english("gardens")), "the ending stands on another stem");
    assert_eq!(like("univeristy"), Some(english("university")), "the stem is the beginning of the word");
    assert_eq!(like("carz"), None, "a short word is spelled like too many others");
    assert_eq!((like("lon"), like("x87"), like("word1234"), like("北亰"), like("")), (None, None, None, None, None));
    let long = super::index(&[("a.md", "encyclopedia")]);
    let like = |word: &str| long.spelled_like(word).unwrap();
    assert_eq!(like("enciclopedja"), Some(Stem::of("encyclopedia", Language::English)));
    assert_eq!(like("enciklopedja"), None);
}

/// The token of an English word.
fn english(word: &str) -> String {
    token(&Stem::of(word, Language::English))
}

#[test]
fn no_more_are_told_than_asked_for() {
    let index =
        index(&[("1/a.md", "[[x]]"), ("2/a.md", "[[x]] [[dir/X.md]]"), ("x.md", "# A!"), ("3/b.md", "[a](../x.md)")]);
    assert_eq!((index.called("a", 2).unwrap().len(), index.called("a", 9).unwrap().len()), (2, 3));
    assert_eq!((index.linking("x", 1).unwrap().len(), index.linking("x", 9).unwrap().len()), (1, 3));
    let mut below: Vec<_> =
        index.below(&path("2")).unwrap().into_iter().map(|note| index.path(note).unwrap()).collect();
    below.extend(index.below(&path("x.md")).unwrap().into_iter().map(|note| index.path(note).unwrap()));
    assert_eq!(below, [Some(path("2/a.md")), Some(path("x.md"))]);
    assert_eq!((index.path(99).unwrap(), index.card(99).unwrap()), (None, None));
}

const PATHS: [&str; 8] = ["a.md", "b.md", "c/a.md", "c/b.md", "c/d/e.md", "f.png", "g.md", "G/a.md"];
const TEXTS: [&str; 6] = [
    "# Alpha\n\nbeta gamma [[b]]\n",
    "beta beta [[a]] [[c/b]] [[f.png]]\n",
    "---\naliases: [alpha]\n---\ngamma\n\n- key: value\n",
    "[[g#Head]] [[nowhere]]\n",
    "",
    "# Head\n\nalpha alpha alpha delta\n",
];

#[derive(Clone, Debug)]
enum Change {
    Put { at: usize, text: usize, is_link: bool },
    Bytes { at: usize },
    Remove { at: usize },
    RemoveFolder,
    Rename { from: usize, to: usize },
    Commit,
}

fn change() -> impl Strategy<Value = Change> {
    let (at, text) = (0..PATHS.len(), 0..TEXTS.len());
    prop_oneof![
        6 => (at.clone(), text, prop::bool::weighted(0.2)).prop_map(|(at, text, is_link)| Change::Put { at, text, is_link }),
        1 => at.clone().prop_map(|at| Change::Bytes { at }),
        2 => at.clone().prop_map(|at| Change::Remove { at }),
        1 => Just(Change::RemoveFolder),
        2 => (at.clone(), at).prop_map(|(from, to)| Change::Rename { from, to }),
        1 => Just(Change::Commit),
    ]
}

type State = std::collections::BTreeMap<usize, (Option<usize>, bool)>;

fn put(writing: &mut crate::WriteTransaction<'_>, at: usize, (text, is_link): (Option<usize>, bool)) {
    let file = memdir_plan::Swept { is_link, ..swept(PATHS[at], text.unwrap_or(9) as u64) };
    let of = |text: Option<usize>| match text {
        Some(text) => NoteRecord::of(&file.path, TEXTS[text], Vec::new()),
        None => NoteRecord::of_bytes(b"\xff"),
    };
    writing.put(&file, file.path.is_note().then(|| of(text)).as_ref()).unwrap();
}

fn all(index: &crate::Index) -> Dump {
    let words = ["alpha", "beta", "gamma", "delta", "head", "key", "a", "b", "c", "alphb", "gammma"];
    let paths: Vec<MemoryPath> = PATHS.iter().map(|at| path(at)).collect();
    dump(index, &words, &["a", "b", "alpha", "head", "fpng", "nowhere", "g", "e"], &paths).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// However it came to be, an index says what a new one of the same files says.
    #[test]
    fn an_update_is_a_rebuild(changes in prop::collection::vec(change(), 0..40)) {
        let mut index = super::index(&[]);
        let mut state = State::new();
        let mut writing = index.write().unwrap();
        for change in changes {
            match change {
                Change::Put { at, text, is_link } => {
                    state.insert(at, (Some(text), is_link));
                    put(&mut writing, at, (Some(text), is_link));
                }
                Change::Bytes { at } => {
                    state.insert(at, (None, false));
                    put(&mut writing, at, (None, false));
                }
                Change::Remove { at } => {
                    state.remove(&at);
                    writing.remove(&path(PATHS[at])).unwrap();
                }
                Change::RemoveFolder => {
                    state.retain(|at, _| !PATHS[*at].starts_with("c/"));
                    writing.remove(&path("c")).unwrap();
                }
                Change::Rename { from, to } => {
                    if let Some(kept) = state.remove(&from) {
                        writing.remove(&path(PATHS[from])).unwrap();
                        state.insert(to, kept);
                        put(&mut writing, to, kept);
                    }
                }
                Change::Commit => {
                    writing.commit().unwrap();
                    writing = index.write().unwrap();
                }
            }
        }
        writing.set_complete(true).unwrap();
        let uncommitted = all(&writing);
        writing.commit().unwrap();
        prop_assert_eq!(&uncommitted, &all(&index));
        let mut anew = super::index(&[]);
        let mut writing = anew.write().unwrap();
        for (at, kept) in state {
            put(&mut writing, at, kept);
        }
        writing.commit().unwrap();
        prop_assert_eq!(all(&index), all(&anew));
    }

    #[test]
    fn every_word_is_one_token(text in any::<String>()) {
        let index = super::index(&[("n.md", &text)]);
        let mut found = Vec::new();
        words::each(&text, &mut |word, _| found.push(word.to_owned()));
        for word in found {
            prop_assert_eq!((index.holding(&Stem::forms(&word)).unwrap(), index.matching(&Stem::forms(&word)).unwrap().len()), (1, 1), "{}", word);
        }
    }
}
