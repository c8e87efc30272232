//! Words that hold sentences together and say nothing alone, and those that mean who speaks.
//!
//! Folded, sorted, of the languages that people ask in most. What is a name or says something in another of these
//! languages is left out on purpose: son, die, mia, may, come, hat, war, mine, main, pour, bin, mit, fur, eu, ai.

/// Whether a folded word holds a sentence together in English, German, French, Spanish, Italian, Portuguese or Dutch.
#[must_use]
pub fn is_function_word(word: &str) -> bool {
    FUNCTION.binary_search(&word).is_ok()
}

/// Whether a folded word means who speaks.
pub(super) fn is_first_person(word: &str) -> bool {
    FIRST.binary_search(&word).is_ok()
}

/// English, German, French, Spanish, Italian, Portuguese and Dutch.
#[rustfmt::skip]
const FUNCTION: [&str; 266] = [
    "a", "aber", "about", "al", "all", "am", "an", "and", "any", "are", "as", "at", "au", "auf", "aux", "avec",
    "be", "been", "bei", "being", "both", "but", "by", "can", "ce", "cette", "che", "chi", "com", "comment", "como",
    "con", "cosa", "could", "cual", "cuando", "d", "da", "dans", "das", "de", "del", "della", "dem", "den", "der",
    "des", "di", "did", "do", "does", "doing", "donde", "done", "dove", "down", "du", "e", "each", "een", "ein",
    "eine", "einem", "einen", "einer", "eines", "el", "em", "en", "er", "era", "es", "est", "et", "etait", "every",
    "false", "for", "from", "gli", "habe", "haben", "had", "has", "have", "having", "he", "her", "here", "hers",
    "het", "him", "his", "hoe", "how", "i", "ich", "if", "ihr", "ik", "il", "im", "in", "into", "io", "is", "ist",
    "it", "its", "je", "la", "las", "le", "les", "ll", "lo", "los", "m", "ma", "me", "mein", "meine", "meinem",
    "meinen", "meiner", "mes", "met", "meu", "meus", "mi", "mie", "miei", "might", "mijn", "minha", "minhas", "mio",
    "mis", "mon", "must", "my", "myself", "na", "nel", "nicht", "niet", "no", "nor", "not", "nous", "o", "oder",
    "of", "off", "on", "onde", "ont", "onto", "op", "or", "os", "ou", "our", "ours", "out", "over", "para", "por",
    "pourquoi", "qual", "quale", "quand", "quando", "que", "quel", "quelle", "quelles", "quels", "quem", "qui",
    "quien", "quoi", "re", "s", "shall", "she", "should", "sie", "sind", "so", "some", "sono", "sont", "soy", "su",
    "suis", "sus", "t", "than", "that", "the", "their", "theirs", "them", "then", "there", "these", "they", "this",
    "those", "to", "true", "tu", "um", "uma", "un", "una", "unas", "und", "under", "une", "uno", "unos", "up", "us",
    "van", "ve", "von", "voor", "vous", "waar", "wann", "wanneer", "waren", "warum", "was", "wat", "we", "welche",
    "welcher", "welches", "welke", "wer", "were", "what", "when", "where", "which", "who", "whom", "whose", "why",
    "wie", "will", "wir", "with", "without", "wo", "would", "y", "yo", "you", "your", "yours", "zijn", "zu",
];

/// Of the same languages.
#[rustfmt::skip]
const FIRST: [&str; 44] = [
    "i", "ich", "ik", "io", "je", "ma", "me", "mein", "meine", "meinem", "meinen", "meiner", "mes", "meu", "meus",
    "mi", "mich", "mie", "miei", "mij", "mijn", "minha", "minhas", "mio", "mir", "mis", "moi", "mon", "my",
    "myself", "noi", "nos", "nosotros", "notre", "nous", "ons", "our", "ours", "unser", "unsere", "us", "we", "wir",
    "yo",
];

#[cfg(test)]
mod tests {
    use super::{FIRST, FUNCTION, is_first_person, is_function_word};

    #[test]
    fn tables_are_sorted_and_folded() {
        for table in [&FUNCTION[..], &FIRST[..]] {
            assert!(table.is_sorted_by(|one, other| one < other));
            assert!(table.iter().all(|word| memdir_note::words::fold(word) == **word));
        }
        assert!(
            is_function_word("the") && is_first_person("my") && !is_function_word("wife") && !is_first_person("you")
        );
    }
}
