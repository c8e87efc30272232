//! Words by which people say what they want: to keep something, to have it forgotten, to change it, to know it.
//!
//! Owns a table by language. What no cue says is left to the model; so a language that is not here still works, less surely.

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

/// What a message says it is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Cues {
    /// Something is to be kept.
    pub(super) keep: bool,
    /// Something is to be forgotten.
    pub(super) forget: bool,
    /// Something is otherwise now.
    pub(super) change: bool,
    /// It is said outright that a line is to be changed.
    pub(super) correct: bool,
    /// Something is asked.
    pub(super) ask: bool,
    /// The person speaks of themselves.
    pub(super) own: bool,
}

/// The kinds of cues, with the words for each, all languages together; a word stands alone.
const KEEP: &str = r"(?:please )?(?:remember|bear in mind)(?: that| this)?|(?:please )?note(?: that| this)?:?|take a note|(?:save|store|keep|record) (?:this|that|it)(?: in mind)?|keep in mind|(?:write|put|jot) (?:this |that |it )?down|(?:do not|don['’]t) forget(?: that)?|for your notes|merke? dir(?: bitte)?|notiere?|vergiss nicht|behalte|recuerda(?: que)?|anota(?: que)?|no olvides(?: que)?|souviens[- ]toi|retiens(?: que)?|n['’]oublie pas(?: que)?|note que|ricorda(?:ti)?(?: che)?|annota(?: che)?|lembre?(?:-se)?(?: que)?|anote(?: que)?|onthoud(?: dat)?|noteer|unutma|hat[iı]rla|not al";
const FORGET: &str = r"forget(?: about)?|delete|remove|erase|drop|get rid of|vergiss|lösche?|entferne?|streiche?|olvida|borra|elimina|oublie|supprime|efface|dimentica|cancella|esqueça|apague|remova|vergeet|verwijder|wis|unut|sil";
const CHANGE: &str = r"update|correct|change[ds]?|fix|actually|no longer|not any ?more|any ?more|now|instead|moved|turned|switched|became|become|shifted|transitioned|replaced?|used to|new|make (?:it|that|this)|set (?:it|that|this)|jetzt|nun|nicht mehr|ändere?|korrigiere?|aktualisiere?|umgezogen|geworden|neue[rsn]?|stattdessen|ahora|ya no|cambia|actualiza|corrige|mud[eé]|nuev[oa]|maintenant|désormais|ne (?:\S+ )?plus|change|corrige|déménagé|nouve(?:au|lle)|ora|adesso|non (?:\S+ )?più|cambia|aggiorna|nuov[oa]|agora|não (?:\S+ )?mais|mude|atualize|nov[oa]|nu|niet meer|wijzig|nieuwe?|artık|şimdi|değiştir|güncelle|yeni";
const CORRECT: &str = r"update|correct|change|fix|no longer|not any ?more|any ?more|korrigiere?|ändere?|aktualisiere?|nicht mehr|corrige|cambia|actualiza|ya no|ne (?:\S+ )?plus|corrige|change|aggiorna|non (?:\S+ )?più|atualize|mude|não (?:\S+ )?mais|wijzig|niet meer|güncelle|değiştir|artık";
const OWN: &str = r"i|my|mine|we|our|ours|ich|mein(?:e[rnms]?)?|wir|unser(?:e[rnms]?)?|je|j|mon|ma|mes|nous|notre|nos|yo|mis?|nosotr[oa]s|nuestr[oa]s?|io|mi[oae]i?|noi|nostr[oaie]|eu|meus?|minhas?|nós|nosso|ik|mijn|wij|onze?|ben|benim|biz|bizim";
const ASK: &str = r"(?:^|[.!] )\s*(?:what|which|who|whom|whose|when|where|why|how|is|are|am|was|were|do|does|did|can|could|would|has|have|tell me|show me|give me|list|read|was|wer|wen|wem|wessen|wann|wo|woher|wohin|warum|wieso|wie|welche[rsnm]?|qué|quién|cuándo|dónde|cuál|cómo|cuánt[oa]s?|quel(?:le)?s?|qui|quand|où|pourquoi|comment|combien|che|chi|quando|dove|quale|come|quanto|quem|onde|qual|quantos|wat|wie|wanneer|waar|welke?|hoe)\b";
const SURELY: &str = r"[?？؟]\s*$";

fn regexes() -> &'static [Option<Regex>; 7] {
    static REGEXES: OnceLock<[Option<Regex>; 7]> = OnceLock::new();
    let words = |words: &str| Regex::new(&format!(r"(?i)\b(?:{words})\b")).ok();
    REGEXES.get_or_init(|| {
        let ask = Regex::new(&format!("(?i){ASK}")).ok();
        [words(KEEP), words(FORGET), words(CHANGE), ask, Regex::new(SURELY).ok(), words(CORRECT), words(OWN)]
    })
}

/// Finds the cues of a message, and gives the message without them.
pub(super) fn find(message: &str) -> (Cues, String) {
    let [keep, forget, change, ask, surely, correct, own] = regexes();
    let is_in = |regex: &Option<Regex>| regex.as_ref().is_some_and(|regex| regex.is_match(message));
    let places = |regex: &Option<Regex>| -> Vec<Range<usize>> {
        regex.as_ref().map(|regex| regex.find_iter(message).map(|found| found.range()).collect()).unwrap_or_default()
    };
    let (keep, change, ask, surely) = (places(keep), places(change), places(ask), places(surely));
    // "Don't forget" is no wish to forget.
    let is_kept = |place: &Range<usize>| keep.iter().any(|kept| kept.start <= place.start && place.end <= kept.end);
    let forget: Vec<Range<usize>> = places(forget).into_iter().filter(|place| !is_kept(place)).collect();
    let cues = Cues {
        keep: !keep.is_empty(),
        forget: !forget.is_empty(),
        change: !change.is_empty(),
        correct: is_in(correct),
        ask: !ask.is_empty() || !surely.is_empty(),
        own: is_in(own),
    };
    let all: Vec<Range<usize>> = keep.into_iter().chain(forget).chain(change).chain(ask).collect();
    let rest = message.char_indices().map(
        |(at, character)| {
            if all.iter().any(|place| place.contains(&at)) { ' ' } else { character }
        },
    );
    (cues, rest.collect())
}

/// What notes call what people ask for in other words; English. Each pair of words, the first as it is asked.
const CALLED: [(&str, &[&str]); 22] = [
    ("old", &["age"]),
    ("turned", &["age"]),
    ("years", &["age"]),
    ("live", &["city", "hometown", "address", "location", "residence", "home"]),
    ("living", &["city", "hometown", "address", "location", "residence", "home"]),
    ("moved", &["city", "hometown", "address", "location", "residence", "home"]),
    ("born", &["birthday", "birth", "birthplace"]),
    ("work", &["job", "company", "employer", "occupation", "position", "employment", "works"]),
    ("working", &["job", "company", "employer", "occupation", "position", "employment", "works"]),
    ("job", &["occupation", "employment", "work", "position", "profession"]),
    ("reach", &["phone", "email", "mail", "address", "contact"]),
    ("call", &["phone", "contact"]),
    ("number", &["phone"]),
    ("manages", &["manager", "managed"]),
    ("wife", &["spouse", "partner"]),
    ("husband", &["spouse", "partner"]),
    ("married", &["spouse", "wife", "husband", "wedding"]),
    ("mother", &["mum", "mom"]),
    ("father", &["dad"]),
    ("cost", &["price"]),
    ("tall", &["height"]),
    ("owns", &["owner"]),
];

/// The stems under which a word may stand in a note, its own first.
pub(super) fn stems_of(stem: &str) -> Vec<String> {
    use crate::note::words;
    let others = CALLED.iter().filter(|(asked, _)| words::stem(asked) == stem).flat_map(|(_, called)| called.iter());
    std::iter::once(stem.to_owned()).chain(others.map(|word| words::stem(word).into_owned())).collect()
}
