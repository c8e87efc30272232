//! What is proposed to make a memory tidier, and that making it leaves nothing of that.

use std::collections::BTreeMap;

use super::path;
use crate::{File, Look, Seen, TidyStep, check, tidy};
use memdir_core::action::{Action, CreateFile, DeleteFile, ReplaceSection, UpdateFile};
use memdir_core::time::Timestamp;
use memdir_note::{self as note, Note, Web};

type Memory = BTreeMap<String, String>;

fn memory(notes: &[(&str, &str)]) -> Memory {
    notes.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

fn steps(memory: &Memory) -> Vec<TidyStep> {
    let (mut files, mut seen) = (Vec::new(), Vec::new());
    for (name, text) in memory {
        let parsed = Note::parse(text);
        files.push(File { path: path(name), is_link: false, look: Some(Look::of(text, &parsed, Vec::new())) });
        seen.push((path(name), Some(note::Seen::of_note(&parsed))));
    }
    let web = Web::new(seen);
    let links = web.links();
    let all = Seen {
        files: &files,
        links: &links,
        targets: web.targets(),
        note_bytes: 1 << 20,
        excluded: &note::Excluded::NONE,
        closed: &[],
        past_status: &[],
    };
    let mut read = |path: &memdir_core::path::MemoryPath| memory.get(path.as_str()).cloned();
    let checked = check(&all, &mut read);
    tidy(&all, &checked, Timestamp::parse("2026-11-24").unwrap(), &mut read)
}

/// Makes a step, as plainly as can be.
#[expect(clippy::wildcard_enum_match_arm, reason = "an action that no step has fails the test")]
fn make(memory: &mut Memory, step: &TidyStep) {
    for action in &step.actions {
        match action {
            Action::UpdateFile(UpdateFile { path, old_content, new_content, .. }) => {
                let text = memory.get_mut(path.as_str()).unwrap();
                assert_eq!(text.matches(old_content.as_str()).count(), 1, "{old_content:?}");
                *text = text.replacen(old_content, new_content, 1);
            }
            Action::DeleteFile(DeleteFile { path }) => assert!(memory.remove(path.as_str()).is_some()),
            Action::CreateFile(CreateFile { path, content }) => {
                assert!(memory.insert(path.to_string(), content.clone()).is_none());
            }
            Action::ReplaceSection(ReplaceSection { path, heading, content }) => {
                let text = memory.get_mut(path.as_str()).unwrap();
                let start = text.find(&format!("## {heading}\n")).unwrap() + heading.len() + 4;
                let end = text.split_at(start).1.find("\n## ").map_or(text.len(), |at| start + at + 1);
                text.replace_range(start..end, &format!("\n{content}\n"));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// The reasons of the steps, in order, once all are made one after the other and nothing is left to do.
#[track_caller]
fn check_steps(notes: &[(&str, &str)], reasons: &[&str]) -> Memory {
    let mut memory = memory(notes);
    let steps = steps(&memory);
    assert_eq!(steps.iter().map(|step| step.why).collect::<Vec<_>>(), reasons);
    steps.iter().for_each(|step| make(&mut memory, step));
    assert_eq!(self::steps(&memory), []);
    memory
}

#[test]
fn a_fact_whose_time_is_over_goes_where_its_key_says_nothing_else() {
    let text = "# Ada\n- permit: A12 (until 2024-05)\n- job: nurse (2010–2014)\n- job: pilot (2015–)\n- pass: B (until 2030)\n";
    let after = check_steps(&[("user.md", text)], &["its time is over"]);
    assert_eq!(after["user.md"], text.replace("- permit: A12 (until 2024-05)\n", ""));
    // What is said behind the period may hold still.
    let text = "# Ada\n\n**Gym:** City club (until 2011)\nThe door code is 1234.\n\n- work: archive (until 2019), now the library\n\
                - permit: A12 (until 2024-05) (renewed as B7)\n- gym: City (until 2011) [new](user.md)\n\
                - doctor: Weber (until 2020)\n  her successor has the papers\n";
    assert_eq!(check_steps(&[("user.md", text)], &[])["user.md"], text);
}

#[test]
fn a_twin_goes_that_says_nothing_of_its_own() {
    let words: String = (0..60).map(|number| format!("word{number} ")).collect();
    let kept = format!("{words}\n\nmore [[user]]\n");
    let twin = format!("{words}\n");
    check_steps(&[("user.md", "x"), ("a.md", &kept), ("old/a.md", &twin)], &["another note says all of it"]);
    // One line of its own, or a link to it, and it stays.
    check_steps(&[("user.md", "x"), ("a.md", &kept), ("old/a.md", &format!("{twin}\nown\n"))], &[]);
    check_steps(&[("user.md", "[[old/a]]"), ("a.md", &kept), ("old/a.md", &twin)], &[]);
}

#[test]
fn days_that_nobody_has_filled_in_are_no_copies() {
    let day = "# Day\n\n## Todo\n\n- [ ] \n";
    let notes = [("d/2026-11-01.md", day), ("d/2026-11-02.md", day), ("d/2026-11-03.md", day)];
    let steps = steps(&memory(&notes));
    assert_eq!(steps, []);
}

#[test]
fn a_note_without_links_is_linked_where_it_is_named() {
    let club = ("places/harbour.md", "# Harbour Club\n\nBy the sea.\n");
    let why = ["it names a note to which no link leads"];
    let linked = check_steps(&[("user.md", "I know the Harbour Club.\n"), club], &why);
    assert_eq!(linked["user.md"], "I know the [[harbour|Harbour Club]].\n");
    let will = ("will.md", "# Will\n\nx\n");
    for (text, count) in [("Will you come?\n", 0), ("- Yes. Will you come?\n", 0), ("I met Will there.\n", 1)] {
        let found = steps(&memory(&[("user.md", text), will]));
        assert_eq!(found.iter().filter(|step| step.why == why[0]).count(), count, "{text:?}");
    }
    for text in ["the Harbour Clubs\n", "`Harbour Club`\n", "# Harbour Club\n", "---\nat: Harbour Club\n---\n"] {
        let found = steps(&memory(&[("user.md", text), club]));
        assert!(found.iter().all(|step| step.why != why[0]), "{text:?} {found:?}");
    }
}

#[test]
fn the_long_sections_of_a_long_note_become_notes() {
    let part = |number: usize| format!("## Part {number}\n\n{}\n", format!("text{number} ").repeat(900));
    let text = format!("# Long\n\n[[user]]\n\n{}{}{}## Short\n\nfew\n", part(1), part(2), part(3));
    let after = check_steps(&[("user.md", "x"), ("long.md", &text)], &["its note has grown too long"]);
    assert!(after["long.md"].len() <= 16_000);
    let moved = after.keys().find(|path| path.starts_with("long ")).unwrap();
    assert!(after["long.md"].contains(&format!("[[{}]]", moved.strip_suffix(".md").unwrap())));
    // The links that stay in it count.
    let lines = |number: usize| format!("## Section {number}\n\n{}\n", "para 1 [[user]] [x](u.md)\n".repeat(122));
    let text = format!("# Big\n\n{}", (1..=7).map(lines).collect::<String>());
    let rest = text.len() - 2 * (lines(1).len() - "## Section 1\n".len());
    assert!((15_960..=16_000).contains(&rest), "{rest}: two sections are enough but for their links");
    check_steps(&[("user.md", "x"), ("u.md", "x"), ("big.md", &text)], &["its note has grown too long"; 3]);
    // No word is lost.
    for number in 1..=3 {
        let word = format!("text{number} ");
        let count =
            |texts: &Memory| texts.values().map(|text| text.replace('\n', " ").matches(&word).count()).sum::<usize>();
        assert_eq!(count(&after), 900, "{word}");
    }
}

#[test]
fn a_step_is_the_same_whatever_stands_around_its_place() {
    let one = steps(&memory(&[("user.md", "# Ada\n- permit: A (until 2024)\n")]));
    let other = steps(&memory(&[("user.md", "# Ada\n\nMore text, and then:\n\n- permit: A (until 2024)\n- x: y\n")]));
    assert_eq!(one[0].identity(), other[0].identity());
    let another = steps(&memory(&[("user.md", "# Ada\n- permit: B (until 2024)\n")]));
    assert_ne!(one[0].identity(), another[0].identity());
}

/// As somebody found it who had not seen the code: each of these was made a link once, and what it stood in was destroyed.
#[test]
fn only_words_of_a_sentence_become_links() {
    for line in [
        "see https://en.wikipedia.org/wiki/Green House for more",
        "see https://example.org/Green House",
        "[Green House plan](log.md)",
        "[Green House][r]\n\n[r]: log.md",
        "![Green House pic](log.md)",
        "[t](log.md \"Green House\")",
        "`Green House`",
        "<b title=\"Green House\">",
        "mail Green House@example.org",
        "![[log|Green House]]",
    ] {
        let note = format!("# L\n\n{line}\n");
        check_steps(&[("gh.md", "# Green House\n\nx\n"), ("l.md", &note), ("log.md", "# Log\n\n[[l]]\n")], &[]);
    }
    let note = "# L\n\nsee https://x.org/Green House\nThe Green House's door, [log](log.md).\n";
    let notes = [("gh.md", "# Green House\n\nx\n"), ("l.md", note), ("log.md", "# Log\n\n[l](l.md)\n")];
    let made = check_steps(&notes, &["it names a note to which no link leads"]);
    let linked = "# L\n\nsee https://x.org/Green House\nThe [Green House](gh.md)'s door, [log](log.md).\n";
    assert_eq!(made["l.md"], linked, "written as the other links of the note");
}

#[test]
fn a_section_leaves_only_with_all_that_it_needs() {
    let long = "Lorem ipsum dolor sit amet, consectetur adipiscing elit.\n".repeat(400);
    let split = ["its note has grown too long"];
    let check = |before: &str, in_section: &str, behind: &str, elsewhere: &str, reasons: &[&str]| {
        let note = format!("# H\n\n{before}\n\n## Usage\n\n{long}\n{in_section}\n\n## Tail\n\n{behind}\n");
        check_steps(&[("h.md", &note), ("o.md", &format!("# O\n\n[[h]] {elsewhere}\n"))], reasons)
    };
    let made = check("[Usage](#usage)", "[[o]]", "end", "[[h#Usage]]", &split);
    assert!(made["h.md"].contains("## Usage\n\n[[h Usage]]\n") && made["h Usage.md"].ends_with("\n\n[[o]]\n"));
    let markdown = format!("# H\n\n[Usage](#usage) [o](o.md)\n\n## Usage\n\n{long}\n## Tail\n\nend\n");
    let made = check_steps(&[("h.md", &markdown), ("o.md", "# O\n\n[h](h.md#usage)\n")], &split);
    assert!(made["h.md"].contains("## Usage\n\n[h Usage](h%20Usage.md)\n"), "{}", made["h.md"]);
    check("[Sub](#sub)", "### Sub", "end", "", &[]);
    check("[[#^b1]]", "text ^b1", "end", "", &[]);
    check("x", "See [Tail](#tail).", "end", "", &[]);
    check("x", "### Sub", "end", "[h](h.md#sub)", &[]);
    check("x", "text ^b1", "end", "[[h#^b1]]", &[]);
    check("x", "x", "end", "![[h#Usage]]", &[]);
    check("![[#Usage]]", "x", "end", "", &[]);
    check("[n](#notes-1)", "### Notes\n\na", "### Notes\n\nb\n\n### Notes\n\nc", "", &[]);
    check("x", "See the [manual][m].", "[m]: o.md", "", &[]);
    check("See the [manual][m].", "[m]: o.md", "x", "", &[]);
    check("x", "so[^1]", "[^1]: foot", "", &[]);
    check("x", "<details>\n<summary>old</summary>\n\ntext", "</details>", "", &[]);
    check("x", "<details>\n\ntext<br>\n\n</details>", "end", "", &split);
}

#[test]
fn a_fact_that_is_not_all_of_its_block_stays() {
    for note in [
        "# A\n\n- permit: X (until 2020) ^p\n",
        "# A\n\n- lease: A (until 2020)\n\n  Terms of the lease are here.\n- y\n",
        "# A\n\nI had [lease:: A (until 2020)] then\n",
    ] {
        check_steps(&[("a.md", note), ("b.md", "# B\n\n[[a]]\n")], &[]);
    }
    let made = check_steps(
        &[("a.md", "# A\n\n- [lease:: A (until 2020)]\n- y\n"), ("b.md", "# B\n\n[[a]]\n")],
        &["its time is over"],
    );
    assert_eq!(made["a.md"], "# A\n\n- y\n");
}

#[test]
fn a_note_whose_links_lead_elsewhere_is_no_twin() {
    let text = "# Setup\n\nRead [more](more.md).\n";
    let more = [("a/more.md", "# More\n\n[s](setup.md)\n"), ("b/more.md", "# More, really\n\n[a](../a/more.md)\n")];
    check_steps(&[("a/setup.md", text), ("b/setup.md", text), more[0], more[1]], &[]);
    let text = "# Setup\n\n[r](../../r.md) [c](.hid/c)\n";
    check_steps(&[("a/setup.md", text), ("b/c/setup.md", text)], &[]);
    check_steps(
        &[("a/setup.md", text), ("a/setup 2.md", text), more[0]],
        &["another note says the same, byte for byte"],
    );
}

#[test]
fn each_place_of_a_broken_link_is_mended_in_one_run() {
    let notes = [("a.md", "# A\n\n[[Betaa]]\n\n[[Betaa]]\n[[Betaa]]\n"), ("Beta.md", "# Beta\n\n[a](a.md)\n")];
    let made = check_steps(&notes, &["the link leads nowhere"]);
    assert_eq!(made["a.md"], "# A\n\n[[Beta]]\n\n[[Beta]]\n[[Beta]]\n");
    // Another link is another step, though the same letter is wrong.
    let notes = [("a.md", "[[Betaa]] [[Gammaa]]\n"), ("Beta.md", "[a](a.md)\n"), ("Gamma.md", "see [a](a.md)\n")];
    check_steps(&notes, &["the link leads nowhere"; 2]);
}
