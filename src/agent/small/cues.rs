//! Words by which people say what they want: to keep something, to have it forgotten, to change it, to know it.
//!
//! Owns a table by language. What no cue says is left to the model; so a language that is not here still works, less surely.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

use crate::note::stem::{self, Stem};
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
    /// Something may be otherwise now.
    pub(super) weak: bool,
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
    /// The person says what they themselves do or did.
    pub(super) i: bool,
}

/// The kinds of cues, with the words for each, all languages together; a word stands alone.
const KEEP: &str = r"(?:please )?(?:remember|bear in mind)(?: that| this)?|note (?:that|this|down)|note:|please note|take a note|(?:save|store|keep|record) (?:this|that|it)(?: in mind)?|keep in mind|add (?:an?|the|this|that|to)|füge?|añade|agrega|ajoute|aggiungi|adiciona|voeg|ekle|(?:write|put|jot) (?:this |that |it )?down|(?:do not|don['’]t) forget(?: that)?|for your notes|merke? dir(?: bitte)?|notiere?|vergiss nicht|behalte|recuerda(?: que)?|anota(?: que)?|no olvides(?: que)?|souviens[- ]toi|retiens(?: que)?|n['’]oublie pas(?: que)?|note que|ricorda(?:ti)?(?: che)?|annota(?: che)?|lembre?(?:-se)?(?: que)?|anote(?: que)?|onthoud(?: dat)?|noteer|unutma|hat[iı]rla|not al";
const FORGET: &str = r"forget(?: about)?|delete|remove|erase|drop|get rid of|take (?:it|that|this|them) (?:out|off)|strike (?:it|that|this)|cross (?:it|that|this) out|nimm (?:es|das) (?:raus|heraus|weg)|vergiss|lösche?|entferne?|streiche?|olvida|borra|elimina|oublie|supprime|efface|dimentica|cancella|esqueça|apague|remova|vergeet|verwijder|wis|unut|sil";
const CHANGE: &str = r"update|correct|change[ds]?|fix|actually|no longer|not any ?more|any ?more|now|instead|moved|turned|switched|became|become|shifted|transitioned|replaced?|used to|from now on|pushed|postponed|delayed|extended|rescheduled|raised|lowered|increased|decreased|gezogen|verschoben|ab sofort|make (?:it|that|this)|set (?:it|that|this)|jetzt|nun|nicht mehr|ändere?|korrigiere?|aktualisiere?|umgezogen|geworden|stattdessen|ahora|ya no|cambia|actualiza|corrige|mud[eé]|maintenant|désormais|ne (?:\S+ )?plus|change|corrige|déménagé|ora|adesso|non (?:\S+ )?più|cambia|aggiorna|agora|não (?:\S+ )?mais|mude|atualize|nu|niet meer|wijzig|artık|şimdi|değiştir|güncelle";
/// Words that come with something that is otherwise now, and with much else: alone they say nothing of a value.
const WEAK: &str =
    r"new|again|since|starting|as of|neue[rsn]?|erneut|nuev[oa]|nouve(?:au|lle)|nuov[oa]|nov[oa]|nieuwe?|yeni";
const CORRECT: &str = r"update|correct|change|fix|no longer|not any ?more|any ?more|korrigiere?|ändere?|aktualisiere?|nicht mehr|corrige|cambia|actualiza|ya no|ne (?:\S+ )?plus|corrige|change|aggiorna|non (?:\S+ )?più|atualize|mude|não (?:\S+ )?mais|wijzig|niet meer|güncelle|değiştir|artık";
const OWN: &str = r"i|my|mine|me|we|our|ours|us|ich|mir|mich|mein(?:e[rnms]?)?|wir|unser(?:e[rnms]?)?|je|j|mon|ma|mes|nous|notre|nos|yo|mis?|nosotr[oa]s|nuestr[oa]s?|io|mi[oae]i?|noi|nostr[oaie]|meus?|minhas?|nós|nosso|ik|mijn|wij|onze?|benim|biz|bizim|vivo|tengo|mudé|abito|moro|tenho|mudei|taşındım|\p{L}+[ıiuü]yorum";
const ASK: &str = r"(?:^|[.!] )\s*(?:what|which|who|whom|whose|when|where|why|how|is|are|am|was|were|do|does|did|can|could|would|has|have|tell me|show me|remind me|let me know|i (?:need|want|would like) to know|i['’]d like to know|look up|find|sag mir|zeig mir|erinnere mich|dime|dis[- ]moi|give me|list|read|was|wer|wen|wem|wessen|wann|wo|woher|wohin|warum|wieso|wie|welche[rsnm]?|qué|quién|cuándo|dónde|cuál|cómo|cuánt[oa]s?|quel(?:le)?s?|qui|quand|où|pourquoi|comment|combien|che|chi|quando|dove|quale|come|quanto|quem|onde|qual|quantos|wat|wie|wanneer|waar|welke?|hoe)\b";
const SURELY: &str = r"[?？؟]\s*$";
const POLITE: &str = r"^[^.!?]{1,80}\bplease[.!]?\s*$";
const SAYS: &str = r"is|are|was|were|be|will be|to|at|on|equals|ist|sind|war|auf|es|son|era|est|sont|é|è|sono|são|zijn";
const WHO: &str =
    r"who|whom|which|wer|wen|wem|welche[rsnm]?|qui|quel(?:le)?s?|quién|cuál|chi|quale|quem|qual|welke?|kim|hangi";
/// What stands before a word for forgetting that nobody wishes for: "do not delete", "I always forget".
const UNWISHED: &str = r"(?:\b(?:not|never|always|nicht|nie|niemals|no|non|não|niet|ne)|n['’]t)\s+(?:\S+\s+){0,2}$|\b(?:i|we|he|she|they|ich|wir|je|yo)\s+$|\bj['’]$";
/// Asking to keep something.
const WISHED: &str = r"\b(?:can|could|would|will) you\b|\b(?:kannst|könntest|würdest) du\b|\b(?:puedes|podrías)\b|\b(?:peux|pourrais)-tu\b";
const I: &str = r"i|we|ich|wir|je|j|nous|yo|nosotr[oa]s|io|noi|nós|ik|wij";
const GREETS: &str = r"thanks|thank you|hello|hi|hey|bye|goodbye|good (?:morning|evening|night)|danke|hallo|tschüss|guten|merci|bonjour|salut|gracias|hola|adiós|grazie|ciao|obrigad[oa]|olá|bedankt|dank je|teşekkür\w*|merhaba";
const ADDS: &str =
    r"also|too|another|as well|second|third|auch|noch ein\w*|también|otr[oa]|aussi|encore une?|anche|também|ook";

/// The regular expressions of the cues.
struct Regexes {
    keep: Option<Regex>,
    forget: Option<Regex>,
    change: Option<Regex>,
    weak: Option<Regex>,
    correct: Option<Regex>,
    ask: Option<Regex>,
    surely: Option<Regex>,
    polite: Option<Regex>,
    own: Option<Regex>,
    i: Option<Regex>,
    says: Option<Regex>,
    adds: Option<Regex>,
    who: Option<Regex>,
    greets: Option<Regex>,
    unwished: Option<Regex>,
    wished: Option<Regex>,
}

fn regexes() -> &'static Regexes {
    static REGEXES: OnceLock<Regexes> = OnceLock::new();
    let any_case = |pattern: &str| Regex::new(&format!("(?i){pattern}")).ok();
    let words = |words: &str| any_case(&format!(r"\b(?:{words})\b"));
    REGEXES.get_or_init(|| Regexes {
        keep: words(KEEP),
        forget: words(FORGET),
        change: words(CHANGE),
        weak: words(WEAK),
        correct: words(CORRECT),
        ask: any_case(ASK),
        surely: any_case(SURELY),
        polite: any_case(POLITE),
        own: words(OWN),
        i: words(I),
        says: words(SAYS),
        adds: words(ADDS),
        who: words(WHO),
        greets: words(GREETS),
        unwished: any_case(UNWISHED),
        wished: any_case(WISHED),
    })
}

/// Finds the cues of a message, and gives the message without them.
pub(super) fn find(message: &str) -> (Cues, String) {
    let regexes = regexes();
    let is_in = |regex: &Option<Regex>| regex.as_ref().is_some_and(|regex| regex.is_match(message));
    let places = |regex: &Option<Regex>| -> Vec<Range<usize>> {
        regex.as_ref().map(|regex| regex.find_iter(message).map(|found| found.range()).collect()).unwrap_or_default()
    };
    let (mut keep, change, weak, ask) =
        (places(&regexes.keep), places(&regexes.change), places(&regexes.weak), places(&regexes.ask));
    // "Do you remember …?" wants nothing kept.
    if is_in(&regexes.surely) && !is_in(&regexes.wished) {
        keep.clear();
    }
    let mut covered = vec![false; message.len()];
    cover(&mut covered, &keep);
    // "Don't forget" is no wish to forget.
    let is_kept = |place: &Range<usize>| covered.get(place.clone()).is_some_and(|bytes| bytes.iter().all(|kept| *kept));
    let forget: Vec<Range<usize>> =
        places(&regexes.forget).into_iter().filter(|place| !is_kept(place) && !is_unwished(message, place)).collect();
    let mut cues = Cues {
        keep: !keep.is_empty(),
        forget: !forget.is_empty(),
        change: !change.is_empty(),
        weak: !weak.is_empty(),
        correct: is_in(&regexes.correct),
        // What is named and asked for politely, with no word of what to do with it, is asked for.
        ask: !ask.is_empty()
            || is_in(&regexes.surely)
            || is_in(&regexes.polite) && keep.is_empty() && change.is_empty() && forget.is_empty(),
        own: false,
        i: is_in(&regexes.i),
        says: is_in(&regexes.says),
        adds: is_in(&regexes.adds),
        who: is_in(&regexes.who),
        greets: is_in(&regexes.greets),
    };
    [forget, change, weak, ask].iter().for_each(|places| cover(&mut covered, places));
    let blank = |(at, one): (usize, char)| if covered.get(at) == Some(&true) { ' ' } else { one };
    let rest: String = message.char_indices().map(blank).collect();
    // "Tell me" is nothing about me.
    cues.own = regexes.own.as_ref().is_some_and(|own| own.is_match(&rest));
    (cues, rest)
}

/// Marks the bytes of some places.
fn cover(covered: &mut [bool], places: &[Range<usize>]) {
    for place in places {
        covered.get_mut(place.clone()).into_iter().for_each(|bytes| bytes.fill(true));
    }
}

/// Whether a word for forgetting is no wish: it is denied, or told of somebody.
fn is_unwished(message: &str, place: &Range<usize>) -> bool {
    /// So many bytes before a word are looked at.
    const MOST: usize = 60;
    let start = message.floor_char_boundary(place.start.saturating_sub(MOST));
    let before = message.get(start..place.start).unwrap_or_default();
    regexes().unwished.as_ref().is_some_and(|unwished| unwished.is_match(before))
}

/// Whether a message is about somebody or something of the person's, or of somebody by name, of which these words are
/// unknown: "my sister moved", "Anna's age".
pub(super) fn speaks_of_another(message: &str, is_unknown: &dyn Fn(&str) -> bool) -> bool {
    static OF: OnceLock<Option<Regex>> = OnceLock::new();
    let of = OF.get_or_init(|| {
        Regex::new(r"(?i)\b(?:my|our|mein(?:e[rnms]?)?|unser(?:e[rnms]?)?|mon|ma|mes|notre|mis?|nuestr[oa]s?|mi[oae]i?|meus?|minhas?|mijn|onze?)\s+(?:(?:new|old|older|younger|best|ex|big|little)\s+)?(\p{L}+)|\b(\p{L}+)['’]s\b").ok()
    });
    let mut found = of.iter().flat_map(|of| of.captures_iter(message));
    found.any(|found| found.get(1).or(found.get(2)).is_some_and(|word| is_unknown(word.as_str())))
}

/// A message without last words that are no part of what it says: "I live in Rua do Sol now."
pub(super) fn without_end(message: &str) -> &str {
    static END: OnceLock<Option<Regex>> = OnceLock::new();
    /// Behind these it is a part: "here and now", "the safe word is please".
    const HELD: [&str; 16] =
        ["and", "und", "y", "et", "e", "en", "ve", "is", "ist", "es", "est", "é", "to", "the", "right", "for"];
    let end = END.get_or_init(|| {
        let words = "now|instead|please|jetzt|bitte|ahora|por favor|maintenant|désormais|adesso|agora|artık";
        Regex::new(&format!(r"(?:[\s,]+(?:{words}))+[.!\s]*$")).ok()
    });
    let start = end.as_ref().and_then(|end| end.find(message)).and_then(|found| message.get(..found.start()));
    let is_apart = |start: &&str| !start.split_whitespace().next_back().is_none_or(|word| HELD.contains(&word));
    // One word is no source of values: see the grammar.
    start.filter(is_apart).filter(|start| start.split_whitespace().nth(1).is_some()).unwrap_or(message)
}

/// The names of files in a message: from the root, the home or another folder on.
pub(super) fn files(message: &str) -> impl Iterator<Item = &str> {
    static FILE: OnceLock<Option<Regex>> = OnceLock::new();
    const QUOTES: &str = "\"'`()“”„«»‘’";
    let file = FILE.get_or_init(|| {
        let start = r"\.\.[/\\]|(?:\./|~|~/|/|file:///)[\w.-]+[/.]|~/\.?\w|[A-Za-z]:\\";
        Regex::new(&format!(r"(?:^|[\s{QUOTES}])((?:{start})[^\s{QUOTES}?!,;]*)")).ok()
    });
    let found = file.iter().flat_map(move |file| file.captures_iter(message));
    found.filter_map(|found| found.get(1)).map(|found| found.as_str().trim_end_matches(['.', ':', '/']))
}

/// Whether a message is a question that takes its verb from the one before.
pub(super) fn goes_on(message: &str) -> bool {
    /// It has so many words at most.
    const MOST: usize = 5;
    let start = ["and ", "what about ", "how about ", "und ", "y ", "et ", "e ", "en ", "ve ", "¿y "];
    let folded = message.trim().to_lowercase();
    let rest = start.iter().find_map(|start| folded.strip_prefix(start));
    // "And where do I live?" has a verb of its own.
    let is_whole = |rest: &str| {
        let is_about = rest.starts_with("what about ") || rest.starts_with("how about ");
        !is_about && regexes().ask.as_ref().is_some_and(|ask| ask.is_match(rest))
    };
    folded.ends_with('?') && message.split_whitespace().count() <= MOST && rest.is_some_and(|rest| !is_whole(rest))
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
            CALLED.iter().filter(|(asked, _)| stem::english(asked) == stem).flat_map(|(_, called)| called.iter());
        Self { stem: stem.to_owned(), others: called.map(|word| stem::english(word)).collect() }
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
    // Of each word its English stem, which is its first.
    let all: Vec<&str> = all.iter().filter_map(|word| word.stems().first()).map(Stem::as_str).collect();
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let says = |word: &&&str| !is_number(word) && !NOISE.contains(word);
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
            let others = called.iter().map(|word| stem::english(word));
            Word { others: others.chain(Word::of(&stem::english(first)).others).collect(), stem: stem::english(first) }
        })
    })
    .collect()
}
