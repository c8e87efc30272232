//! Words by which people say what they want: to keep something, to have it forgotten, to change it, to know it.
//!
//! Owns a table by language. What no cue says is left to the model; so a language that is not here still works, less surely.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

use crate::note::words;
use crate::rank::Question;

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
    /// It is said that something is so: there is a verb that holds a key and a value together.
    pub(super) says: bool,
    /// It is one more of what is there.
    pub(super) adds: bool,
    /// Somebody or something is asked for by what it is to another.
    pub(super) who: bool,
    /// It greets, or thanks.
    pub(super) greets: bool,
}

/// The kinds of cues, with the words for each, all languages together; a word stands alone.
const KEEP: &str = r"(?:please )?(?:remember|bear in mind)(?: that| this)?|(?:please )?note(?: that| this)?:?|take a note|(?:save|store|keep|record) (?:this|that|it)(?: in mind)?|keep in mind|add (?:an?|the|this|that|to)|füge?|añade|agrega|ajoute|aggiungi|adiciona|voeg|ekle|(?:write|put|jot) (?:this |that |it )?down|(?:do not|don['’]t) forget(?: that)?|for your notes|merke? dir(?: bitte)?|notiere?|vergiss nicht|behalte|recuerda(?: que)?|anota(?: que)?|no olvides(?: que)?|souviens[- ]toi|retiens(?: que)?|n['’]oublie pas(?: que)?|note que|ricorda(?:ti)?(?: che)?|annota(?: che)?|lembre?(?:-se)?(?: que)?|anote(?: que)?|onthoud(?: dat)?|noteer|unutma|hat[iı]rla|not al";
const FORGET: &str = r"forget(?: about)?|delete|remove|erase|drop|get rid of|take (?:it|that|this|them) (?:out|off)|strike (?:it|that|this)|cross (?:it|that|this) out|nimm (?:es|das) (?:raus|heraus|weg)|vergiss|lösche?|entferne?|streiche?|olvida|borra|elimina|oublie|supprime|efface|dimentica|cancella|esqueça|apague|remova|vergeet|verwijder|wis|unut|sil";
const CHANGE: &str = r"update|correct|change[ds]?|fix|actually|no longer|not any ?more|any ?more|now|instead|moved|turned|switched|became|become|shifted|transitioned|replaced?|used to|new|again|from now on|as of|starting|since|pushed|postponed|delayed|extended|rescheduled|raised|lowered|increased|decreased|gezogen|verschoben|erneut|ab sofort|make (?:it|that|this)|set (?:it|that|this)|jetzt|nun|nicht mehr|ändere?|korrigiere?|aktualisiere?|umgezogen|geworden|neue[rsn]?|stattdessen|ahora|ya no|cambia|actualiza|corrige|mud[eé]|nuev[oa]|maintenant|désormais|ne (?:\S+ )?plus|change|corrige|déménagé|nouve(?:au|lle)|ora|adesso|non (?:\S+ )?più|cambia|aggiorna|nuov[oa]|agora|não (?:\S+ )?mais|mude|atualize|nov[oa]|nu|niet meer|wijzig|nieuwe?|artık|şimdi|değiştir|güncelle|yeni";
const CORRECT: &str = r"update|correct|change|fix|no longer|not any ?more|any ?more|korrigiere?|ändere?|aktualisiere?|nicht mehr|corrige|cambia|actualiza|ya no|ne (?:\S+ )?plus|corrige|change|aggiorna|non (?:\S+ )?più|atualize|mude|não (?:\S+ )?mais|wijzig|niet meer|güncelle|değiştir|artık";
const OWN: &str = r"i|my|mine|me|we|our|ours|us|ich|mir|mich|mein(?:e[rnms]?)?|wir|unser(?:e[rnms]?)?|je|j|mon|ma|mes|nous|notre|nos|yo|mis?|nosotr[oa]s|nuestr[oa]s?|io|mi[oae]i?|noi|nostr[oaie]|eu|meus?|minhas?|nós|nosso|ik|mijn|wij|onze?|ben|benim|biz|bizim";
const ASK: &str = r"(?:^|[.!] )\s*(?:what|which|who|whom|whose|when|where|why|how|is|are|am|was|were|do|does|did|can|could|would|has|have|tell me|show me|remind me|let me know|i (?:need|want|would like) to know|i['’]d like to know|look up|find|sag mir|zeig mir|erinnere mich|dime|dis[- ]moi|give me|list|read|was|wer|wen|wem|wessen|wann|wo|woher|wohin|warum|wieso|wie|welche[rsnm]?|qué|quién|cuándo|dónde|cuál|cómo|cuánt[oa]s?|quel(?:le)?s?|qui|quand|où|pourquoi|comment|combien|che|chi|quando|dove|quale|come|quanto|quem|onde|qual|quantos|wat|wie|wanneer|waar|welke?|hoe)\b";
const SURELY: &str = r"[?？؟]\s*$";
const POLITE: &str = r"^[^.!?]{1,80}\bplease[.!]?\s*$";
const SAYS: &str = r"is|are|was|were|be|will be|to|at|on|equals|ist|sind|war|auf|es|son|era|est|sont|é|è|sono|são|zijn";
const WHO: &str =
    r"who|whom|which|wer|wen|wem|welche[rsnm]?|qui|quel(?:le)?s?|quién|cuál|chi|quale|quem|qual|welke?|kim|hangi";
const GREETS: &str = r"thanks|thank you|hello|hi|hey|bye|goodbye|good (?:morning|evening|night)|danke|hallo|tschüss|guten|merci|bonjour|salut|gracias|hola|adiós|grazie|ciao|obrigad[oa]|olá|bedankt|dank je|teşekkür\w*|merhaba";
const ADDS: &str =
    r"also|too|another|as well|second|third|auch|noch ein\w*|también|otr[oa]|aussi|encore une?|anche|também|ook";

fn regexes() -> &'static [Option<Regex>; 12] {
    static REGEXES: OnceLock<[Option<Regex>; 12]> = OnceLock::new();
    let words = |words: &str| Regex::new(&format!(r"(?i)\b(?:{words})\b")).ok();
    REGEXES.get_or_init(|| {
        let ask = Regex::new(&format!("(?i){ASK}")).ok();
        [
            words(KEEP),
            words(FORGET),
            words(CHANGE),
            ask,
            Regex::new(SURELY).ok(),
            words(CORRECT),
            words(OWN),
            words(SAYS),
            words(ADDS),
            words(WHO),
            Regex::new(&format!("(?i){POLITE}")).ok(),
            words(GREETS),
        ]
    })
}

/// Finds the cues of a message, and gives the message without them.
pub(super) fn find(message: &str) -> (Cues, String) {
    let [keep, forget, change, ask, surely, correct, own, says, adds, who, polite, greets] = regexes();
    let is_in = |regex: &Option<Regex>| regex.as_ref().is_some_and(|regex| regex.is_match(message));
    let places = |regex: &Option<Regex>| -> Vec<Range<usize>> {
        regex.as_ref().map(|regex| regex.find_iter(message).map(|found| found.range()).collect()).unwrap_or_default()
    };
    let (keep, change, ask, surely) = (places(keep), places(change), places(ask), places(surely));
    // "Don't forget" is no wish to forget.
    let is_kept = |place: &Range<usize>| keep.iter().any(|kept| kept.start <= place.start && place.end <= kept.end);
    let forget: Vec<Range<usize>> = places(forget).into_iter().filter(|place| !is_kept(place)).collect();
    let mut cues = Cues {
        keep: !keep.is_empty(),
        forget: !forget.is_empty(),
        change: !change.is_empty(),
        correct: is_in(correct),
        // What is named and asked for politely, with no word of what to do with it, is asked for.
        ask: !ask.is_empty()
            || !surely.is_empty()
            || is_in(polite) && keep.is_empty() && change.is_empty() && forget.is_empty(),
        own: false,
        says: is_in(says),
        adds: is_in(adds),
        who: is_in(who),
        greets: is_in(greets),
    };
    let all: Vec<Range<usize>> = keep.into_iter().chain(forget).chain(change).chain(ask).collect();
    let rest = message.char_indices().map(
        |(at, character)| {
            if all.iter().any(|place| place.contains(&at)) { ' ' } else { character }
        },
    );
    let rest: String = rest.collect();
    // "Tell me" is nothing about me.
    cues.own = own.as_ref().is_some_and(|own| own.is_match(&rest));
    (cues, rest)
}

/// Whether a message is a question that takes its verb from the one before.
pub(super) fn goes_on(message: &str) -> bool {
    /// It has so many words at most.
    const MOST: usize = 5;
    let start = ["and ", "what about ", "how about ", "und ", "y ", "et ", "e ", "en ", "ve ", "¿y "];
    let folded = message.trim().to_lowercase();
    folded.ends_with('?')
        && message.split_whitespace().count() <= MOST
        && start.iter().any(|start| folded.starts_with(start))
}

/// What notes call what people ask for in other words: who asks for the first may mean any of the others.
const CALLED: [(&str, &[&str]); 51] = [
    ("old", &["age"]),
    ("turned", &["age"]),
    ("years", &["age"]),
    ("live", PLACES),
    ("moved", PLACES),
    ("gezogen", PLACES),
    ("umgezogen", PLACES),
    ("wohne", PLACES),
    ("wohnt", PLACES),
    ("lebe", PLACES),
    ("habite", PLACES),
    ("demenage", PLACES),
    ("vivo", PLACES),
    ("vive", PLACES),
    ("mudado", PLACES),
    ("abito", PLACES),
    ("moro", PLACES),
    ("woon", PLACES),
    ("verhuisd", PLACES),
    ("yasıyorum", PLACES),
    ("born", &["birthday", "birth", "birthplace"]),
    ("work", &["job", "company", "employer", "occupation", "position", "employment", "works", "colleague", "coworker"]),
    ("job", &["occupation", "employment", "work", "position", "profession", "role"]),
    ("company", &["employer", "works", "work"]),
    ("employer", &["works", "work", "company", "job"]),
    ("make", &["product", "products", "industry"]),
    ("runs", &["ceo", "head", "director", "owner", "manager", "founder"]),
    ("leads", &["ceo", "head", "director", "manager", "lead"]),
    ("boss", &["manager", "supervisor"]),
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
    ("eat", &["allergies", "allergy", "diet", "food"]),
    ("drive", &["car", "vehicle"]),
    ("study", &["university", "school", "degree", "education"]),
    ("due", &["deadline"]),
    ("frist", &["deadline"]),
    ("arbeite", &["beruf", "job", "arbeit", "arbeitgeber", "firma"]),
    ("trabajo", &["empleo", "puesto", "empresa"]),
    ("travaille", &["metier", "travail", "emploi", "entreprise"]),
    ("alt", &["alter", "age"]),
    ("speak", &["languages", "language"]),
];
const PLACES: &[&str] = &[
    "city",
    "hometown",
    "address",
    "location",
    "residence",
    "home",
    "stadt",
    "wohnort",
    "ort",
    "adresse",
    "ville",
    "ciudad",
    "citta",
    "cidade",
    "stad",
    "woonplaats",
    "sehir",
];

/// A turn of phrase whose words mean nothing alone.
const IDIOM: &str = r"\bfor a living\b";

/// Turns of phrase that ask for what none of their words says, with what notes call it.
const PHRASES: [(&str, &[&str]); 6] = [
    (IDIOM, &["job"]),
    (r"\bwhat (?:do|does) [^?.!]{1,60}\bdo\b\s*\?", &["job"]),
    (r"\b(?:is|am|are|turn(?:s|ed)?|gets|got) \d{1,3}\b(?: now| years| today|[.!]|, |$)", &["age"]),
    (r"\bhow (?:can|could|do|may) (?:i|we) (?:call|reach|contact)\b", &["phone"]),
    (r"\bbis wann\b|\bby when\b|\buntil when\b", &["deadline", "frist"]),
    (r"\bcómo de viej|\bcuántos años\b|\bquel âge\b|\bwie alt\b|\bkaç yaş", &["age", "edad", "alter", "yas"]),
];

/// Stems that say nothing of what a message is about.
const NOISE: [&str; 34] = [
    "pleas", "name", "call", "thank", "hello", "hi", "know", "remind", "still", "just", "exact", "also", "again",
    "bitt", "bitte", "noch", "muss", "kann", "soll", "sein", "bis", "fertig", "heißt", "heisst", "sag", "mir", "se",
    "llama", "favor", "por", "ne", "lutfen", "sunu", "guncelle",
];

/// A word of a message, with what it may stand for in a note.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Word {
    pub(super) stem: String,
    others: Vec<String>,
}

impl Word {
    fn of(stem: &str) -> Self {
        let called =
            CALLED.iter().filter(|(asked, _)| words::stem(asked) == stem).flat_map(|(_, called)| called.iter());
        Self { stem: stem.to_owned(), others: called.map(|word| words::stem(word).into_owned()).collect() }
    }

    /// Whether a word of a note is this one, or a form of it.
    pub(super) fn is(&self, noted: &str) -> bool {
        self.stem == noted || is_alike(&self.stem, noted)
    }

    /// Whether a word of a note may be what is asked for.
    pub(super) fn means(&self, noted: &str) -> bool {
        self.is(noted) || self.others.iter().any(|other| other == noted)
    }
}

/// Whether a word, or what it may stand for, is among those of a note.
pub(super) fn is_in(word: &Word, noted: &HashSet<String>) -> bool {
    noted.contains(&word.stem) || noted.iter().any(|noted| word.means(noted))
}

/// Whether two words begin alike and differ in their ends alone, as in languages that put much there, and in compounds.
fn is_alike(one: &str, other: &str) -> bool {
    /// What begins alike has so many characters at least.
    const LEAST: usize = 5;
    let alike = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    alike >= LEAST && alike + 1 >= one.chars().count().min(other.chars().count())
}

/// The words that say what a message is about; numbers say nothing of that.
pub(super) fn content(message: &str) -> Vec<Word> {
    let question = Question::of(message);
    let all = question.as_ref().map(Question::words).unwrap_or_default();
    let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
    let says = |word: &&String| !is_number(word) && !NOISE.contains(&word.as_str());
    // A question of function words alone is about nothing.
    let is_nothing = all.iter().all(|word| word.len() < 3);
    let mut content: Vec<Word> = all.iter().filter(|_| !is_nothing).filter(says).map(|word| Word::of(word)).collect();
    content.dedup();
    content
}

/// What turns of phrase of a message ask for.
pub(super) fn phrases(message: &str) -> Vec<Word> {
    static REGEXES: OnceLock<Vec<(Option<Regex>, &[&str])>> = OnceLock::new();
    let regexes = REGEXES.get_or_init(|| {
        PHRASES.iter().map(|(phrase, called)| (Regex::new(&format!("(?i){phrase}")).ok(), *called)).collect()
    });
    let is_said = |regex: &Option<Regex>| regex.as_ref().is_some_and(|regex| regex.is_match(message));
    let said = regexes.iter().filter(|(regex, _)| is_said(regex));
    said.flat_map(|(_, called)| {
        called.first().map(|first| {
            let others = called.iter().map(|word| words::stem(word).into_owned());
            Word {
                others: others.chain(Word::of(&words::stem(first)).others).collect(),
                stem: words::stem(first).into_owned(),
            }
        })
    })
    .collect()
}
