use super::table::LANGUAGES;
use super::{Kind, find, plain, remove, sets, without_quotes};
use crate::agent::sentence;

#[test]
fn each_row_knows_its_examples() {
    let sets = sets().expect("the rows compile");
    let mut wrong = Vec::new();
    let mut at = 0;
    for language in LANGUAGES {
        for row in language.rows {
            let is_found = |text: &str| {
                let shown = without_quotes(text);
                sentence::of(&shown).any(|range| {
                    let plain = plain(shown.get(range).unwrap());
                    sets.claims.matches(&plain).matched(at) && !sets.against.matches(&plain).matched(at)
                })
            };
            assert!(!row.must_match.is_empty() && !row.must_not.is_empty(), "{}", row.pattern);
            wrong.extend(
                row.must_match.iter().filter(|text| !is_found(text)).map(|text| (language.name, "misses", *text)),
            );
            wrong.extend(
                row.must_match
                    .iter()
                    .filter(|text| find(text).is_empty())
                    .map(|text| (language.name, "no claim", *text)),
            );
            wrong.extend(
                row.must_not.iter().filter(|text| !find(text).is_empty()).map(|text| (language.name, "takes", *text)),
            );
            at += 1;
        }
    }
    assert_eq!(wrong, []);
}

/// What an assistant says all the time, and is no claim.
const INNOCENT: &[&str] = &[
    "You live in Berlin, and your sister Ada lives in London.",
    "Shall I save that to your notes?",
    "I can save that if you like.",
    "I could not save it: the note is read-only.",
    "That is personal, so it waits until you say yes. May I keep it?",
    "The note says it was updated in May.",
    "Your notes say that the contract was deleted.",
    "You told me last year that you had saved 500 euros.",
    "I don't have that in my notes.",
    "Nothing was saved.",
    "It was not saved.",
    "Would you like me to remember that?",
    "Should I have saved it?",
    "To save a file, press Ctrl+S; it is then stored on the disk.",
    "The file is stored in the cloud.",
    "Remember that you have a meeting at noon.",
    "I remember that you like tea.",
    "She has been remembered as a great scientist.",
    "Water was added to the mix.",
    "He updated his profile.",
    "Here's what I have saved about Ada: she lives in London.",
    "Everything I've noted about Ada is in entities/ada.md.",
    "I found two notes: one was created by Bob.",
    "I'm not sure whether I've saved that.",
    "Before I've saved anything, I need your yes.",
    "As a language model I have no memory.",
    "You asked whether I had deleted it: I had not.",
    "I will remember nothing of this.",
    "I've looked at your notes.",
    "I have read the note, and it says nothing of that.",
    "Once I've saved it, I'll tell you.",
    "Added sugar, saved energy and stored heat are three things.",
    "Wann habe ich das gespeichert?",
    "Soll ich das speichern?",
    "In deiner Notiz steht, dass du umgezogen bist.",
    "¿Quieres que lo guarde?",
    "Veux-tu que je le note ?",
];

#[test]
fn innocent_words_stay() {
    let taken: Vec<_> = INNOCENT.iter().filter(|text| !find(text).is_empty()).collect();
    assert_eq!(taken, [] as [&&str; 0]);
}

#[track_caller]
fn check(reply: &str, kinds: &[Kind], left: Option<&str>) {
    let claims = find(reply);
    assert_eq!(claims.iter().map(|claim| claim.kind).collect::<Vec<_>>(), kinds);
    let rest = remove(reply, &claims);
    assert_eq!(rest.as_deref(), left);
    assert_eq!(find(&rest.unwrap_or_default()), []);
}

#[test]
fn sentences_that_claim_are_taken_out() {
    use Kind::{Deleted, Saved};
    check("Berlin is nice. I've saved it to user.md. Anything else?", &[Saved], Some("Berlin is nice. Anything else?"));
    check("I've saved that!", &[Saved], None);
    check("Hi.\nI deleted it.\nBye.", &[Deleted], Some("Hi.\nBye."));
    check("Saved. 👍", &[Saved], None);
    check("She said \"I've saved it\" and left.", &[], Some("She said \"I've saved it\" and left."));
    check("```\nI've saved it.\n```", &[], Some("```\nI've saved it.\n```"));
    check("I've deleted the note and I've saved the other.", &[Saved], None);
}

#[test]
fn any_text_is_read_in_time() {
    for piece in ["«", "\"", "` ", "i've saved ", "your a ", "if ", "ich habe a b c ", "<", "\n", ". ", "?,"] {
        let text = piece.repeat((1 << 19) / piece.len());
        remove(&text, &find(&text));
    }
}
