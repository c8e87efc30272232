//! What a pattern cannot say: sums, and whether a value is one.
//!
//! Owns the checks that rows of [`super::table`] name. Each looks at one match and what stands around it.

use std::collections::HashSet;

use super::finding::Finding;

/// A card number: grouped as on a card, of a known issuer, with a right Luhn sum.
pub(super) fn card(found: &Finding<'_>) -> bool {
    if found.before.ends_with(['.', ',', '+', '-']) {
        return false;
    }
    let groups: Vec<&str> = found.text.split([' ', '-', '.', '/']).filter(|group| !group.is_empty()).collect();
    (0..groups.len()).any(|start| {
        (start + 1..=groups.len()).filter_map(|end| groups.get(start..end)).any(|groups| {
            let sizes: Vec<usize> = groups.iter().map(|group| group.len()).collect();
            let is_shaped = match sizes.as_slice() {
                [size] => (13..=19).contains(size),
                [4, 6, 4 | 5] => true,
                [4, 4, 4, last] => (1..=4).contains(last),
                [4, 4, 4, 4, last] => (1..=3).contains(last),
                _ => false,
            };
            is_shaped && is_card(&groups.concat())
        })
    })
}

fn is_card(digits: &str) -> bool {
    let lead = |count: usize| digits.get(..count).and_then(|lead| lead.parse::<u32>().ok()).unwrap_or_default();
    let is_issued = match digits.len() {
        13 | 19 => lead(1) == 4 || (digits.len() == 19 && lead(2) == 62),
        14 => matches!(lead(2), 36 | 38 | 39) || (300..=305).contains(&lead(3)),
        15 => matches!(lead(2), 34 | 37),
        16 => {
            lead(1) == 4
                || (51..=55).contains(&lead(2))
                || (2221..=2720).contains(&lead(4))
                || matches!(lead(2), 62 | 65)
                || (3528..=3589).contains(&lead(4))
                || lead(4) == 6011
        }
        _ => false,
    };
    is_issued && luhn(digits)
}

fn luhn(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .map(|byte| u32::from(byte.wrapping_sub(b'0')))
        .enumerate()
        .map(|(at, digit)| match (at % 2, digit * 2) {
            (0, _) => digit,
            (_, double @ 0..=9) => double,
            (_, double) => double.saturating_sub(9),
        })
        .sum();
    sum.is_multiple_of(10)
}

/// An IBAN as its country writes them, with a right sum; words that follow it may have been matched too.
pub(super) fn iban(found: &Finding<'_>) -> bool {
    let ends = found.text.match_indices([' ', '-']).map(|(at, _)| at).chain([found.text.len()]);
    ends.filter_map(|end| found.text.get(..end)).any(|text| {
        let account: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
        account.to_ascii_uppercase().parse::<iban::Iban>().is_ok()
    })
}

/// A phone number where a label says that it is one.
pub(super) fn labelled_phone(found: &Finding<'_>) -> bool {
    let value = value(found.text);
    let least = if found.text.contains([':', '=', '：', '|']) { 5 } else { 7 };
    (least..=15).contains(&digits(value)) && !is_iso_date(value)
}

/// An address of a mailbox, not the user of a connection string, a host to log in to, or a file for a fine screen.
pub(super) fn email(found: &Finding<'_>) -> bool {
    let word = found.before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let is_file = ["png", "jpg", "jpeg", "gif", "svg", "webp"].iter().any(|end| found.text.ends_with(end));
    let is_host = found.text.starts_with("git@") && found.after.starts_with(':');
    !(word.contains("://") || is_file || is_host)
}

/// A street address, where the number before the street is not a year.
pub(super) fn street(found: &Finding<'_>) -> bool {
    let number = found.text.split(|character: char| !character.is_ascii_digit()).next().unwrap_or_default();
    number.len() != 4 || !(number.starts_with("19") || number.starts_with("20"))
}

/// A labelled address of a place, not of a machine.
pub(super) fn address(found: &Finding<'_>) -> bool {
    let words = found.text.trim_start_matches(|character: char| !character.is_alphanumeric());
    let before = found.before.trim_end_matches(|character: char| !character.is_alphanumeric());
    let machine = ["ip", "mac", "wallet", "memory", "web", "bitcoin", "email", "e-mail", "mail", "server", "network"];
    let is_machine = found.text.contains("://")
        || machine.iter().any(|word| before.rsplit([' ', '_', '*', '-']).next() == Some(word));
    let value = value(words);
    let is_number = value.split(' ').next().unwrap_or_default().matches(['.', ':']).count() > 1;
    !is_machine && !is_number && value.trim().contains([' ', '，', '号']) && value.contains(char::is_alphabetic)
}

/// A labelled value that is there: not a blank, a dash, or a word for nothing.
pub(super) fn has_value(found: &Finding<'_>) -> bool {
    is_something(value(found.text))
}

fn is_something(value: &str) -> bool {
    let value = bare(value.trim_start_matches(['-', '*', '+', ' ', '\t']));
    const NOTHING: &str = "none no n/a na nil null unknown tbd todo - -- keine aucune ninguna";
    !value.is_empty() && !is_one_of(value, NOTHING) && value.contains(char::is_alphanumeric)
}

/// An illness that somebody has, not one that somebody works on.
pub(super) fn condition(found: &Finding<'_>) -> bool {
    const BESIDE: &str = "great economic tropical world anti tropic sign zodiac sternzeichen";
    const BEFORE: &str =
        "against fight cure curing studies study studying research researches researching prevent preventing";
    const AFTER: &str = "research researcher clinic center centre care nurse specialist charity foundation awareness study \
        studies prevention cell cells ward society association drug drugs screening vaccine era educator \
        data detection walk";
    let line = found.before.rsplit(['\n', '\r']).next().unwrap_or_default();
    let before: Vec<&str> = words(line).rev().take(3).collect();
    let after = words(found.after.split(['\n', '\r']).next().unwrap_or_default()).next().unwrap_or_default();
    let is_beside = before.first().is_some_and(|word| is_one_of(word, BESIDE));
    !is_beside && !before.iter().any(|word| is_one_of(word, BEFORE)) && !is_one_of(after, AFTER)
}

/// A word of medicine about a person, not a form that is prescribed.
pub(super) fn health(found: &Finding<'_>) -> bool {
    const PERSON: &str = "was were been is am are got doctor he she they has have";
    let before = words(found.before).next_back().unwrap_or_default();
    !found.text.starts_with("prescribed") || is_one_of(before, PERSON)
}

/// A US social security number of a group that is given out.
pub(super) fn social_security(found: &Finding<'_>) -> bool {
    let is_given = !["000", "666", "9"].iter().any(|lead| found.text.starts_with(lead));
    is_given && !found.text.ends_with("0000") && !found.before.ends_with('-') && !found.after.starts_with('-')
}

/// A labelled number of a document: enough digits to be one.
pub(super) fn document(found: &Finding<'_>) -> bool {
    digits(value(found.text)) >= 5
}

/// A British insurance number with a prefix that is given out.
pub(super) fn national_insurance(found: &Finding<'_>) -> bool {
    !["BG", "GB", "KN", "NK", "NT", "TN", "ZZ"].iter().any(|prefix| found.text.starts_with(prefix))
}

/// A sum of money, not a count of one or two things.
pub(super) fn money(found: &Finding<'_>) -> bool {
    digits(value(found.text)) >= 3 || ["k", "million", "mio"].iter().any(|end| found.text.ends_with(end))
}

/// A place on earth, not two numbers of a longer list.
pub(super) fn place(found: &Finding<'_>) -> bool {
    let mut numbers = found
        .text
        .split([',', ' '])
        .map(|number| number.trim_end_matches(|character: char| !character.is_ascii_digit()))
        .filter_map(|number| number.parse::<f64>().ok());
    let (Some(latitude), Some(longitude)) = (numbers.next(), numbers.next()) else { return false };
    let before = found.before.trim_end();
    let after = found.after.trim_start();
    let is_list = before.ends_with([',', '[']) || after.starts_with([',', ']', '.']) && after.len() > 1;
    latitude.abs() <= 90.0 && longitude.abs() <= 180.0 && !is_list && latitude.abs().max(longitude.abs()) >= 10.0
}

/// What stands behind `password:` in prose and in forms.
const NO_PASSWORDS: &str = "changed unknown none reset set unset required forgotten lost expired hidden redacted removed see same \
    ask n/a tbd todo yes true false null optional missing managed stored saved kept 1password bitwarden \
    keepass keepassxc lastpass dashlane string text not never username user email login notes updated shared \
    password secret here there the this that my our written only authentication protected protection \
    incorrect wrong invalid geändert unbekannt keins oublié ninguna encrypted hash hashed leer empty blank \
    weak strong needed default your_password";

/// A password that is one: not a link, a mask, a placeholder or prose about passwords.
pub(super) fn password(found: &Finding<'_>) -> bool {
    let token = bare(value(found.text).split_whitespace().next().unwrap_or_default());
    let rest = found.after.lines().next().unwrap_or_default().trim_start();
    let is_word = is_prose(rest) || found.text.contains('|') || !found.text.contains([':', '=', '：']);
    is_password(token) && (is_mixed(token) || !is_word) || is_passphrase(found, token, rest)
}

/// The same where an arrow or a dash stands between the label and the value, as in prose.
pub(super) fn password_arrow(found: &Finding<'_>) -> bool {
    let rest = found.after.lines().next().unwrap_or_default();
    let value = found.text.rsplit([' ', '\t', '>', '→', '⇒']).next().unwrap_or_default();
    // What a hyphen joins to the label is one word with it.
    let is_apart = found.text.ends_with(value) && value.len() < found.text.len();
    let value = bare(value);
    is_apart && is_password(value) && is_mixed(value) && !is_prose(rest.trim_start()) && !value.contains("passw")
}

/// The same where the value stands alone on a line below a heading or label.
pub(super) fn password_below(found: &Finding<'_>) -> bool {
    let text = found.text.trim_matches(['\n', '\r']);
    let label = text.lines().next().unwrap_or_default();
    let line = text.trim_end().rsplit(['\n', '\r']).next().unwrap_or_default();
    let value = bare(line.trim_start_matches(['-', '*', '+', ' ', '\t']));
    // The item below an empty field may be the next field; a word on a line of its own may begin a sentence.
    let is_item = line.trim_start().starts_with(['-', '*', '+'])
        && (line.starts_with([' ', '\t']) || !label.trim_start().starts_with(['-', '*', '+']));
    let is_sure = label.starts_with('#') || is_item;
    let is_elsewhere = value.contains("://") || value.split_once('@').is_some_and(|(_, host)| host.contains('.'));
    is_password(value) && !is_elsewhere && !value.ends_with(':') && (is_mixed(value) || is_sure)
}

/// Words in a row behind the label of a passphrase, none of which is needed to make a sentence.
fn is_passphrase(found: &Finding<'_>, first: &str, rest: &str) -> bool {
    const SENTENCE: &str = "ask and are for from has long use uses used was with who words";
    let is_word = |word: &str| {
        (3..=12).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
            && !is_one_of(word, SENTENCE)
            && !is_one_of(word, NO_PASSWORDS)
    };
    let words: Vec<&str> = bare(rest).split([' ', '-']).take(12).collect();
    let has_label = found.text.trim_start_matches('_').starts_with("passphrase");
    has_label && (2..12).contains(&words.len()) && is_word(first) && words.iter().all(|word| is_word(word))
}

fn is_password(token: &str) -> bool {
    let is_mask =
        token.chars().all(|character| matches!(character, '*' | '•' | '.' | '-' | '_' | '?' | 'x' | '…' | '#'));
    let is_variable = token.starts_with('$') && digits(token) == 0;
    let is_code = token.starts_with(['[', '<', '{', '%', '(', '/', '&', ':']);
    token.chars().count() >= 4 && !is_mask && !is_variable && !is_code && !is_one_of(token, NO_PASSWORDS)
}

fn is_prose(rest: &str) -> bool {
    !rest.starts_with(['(', '|', ',', ';', '<', '"']) && rest.contains(char::is_alphabetic)
}

/// A labelled key: long, without blanks, and of letters and digits.
pub(super) fn key(found: &Finding<'_>) -> bool {
    let value = bare(value(found.text));
    !value.contains("://") && is_mixed(value) && digits(value) >= 2
}

/// A key that is not the name of a style sheet's class: it has upper case and digits.
pub(super) fn random(found: &Finding<'_>) -> bool {
    digits(found.text) > 0 && found.text.contains(|character: char| character.is_ascii_uppercase())
}

/// A PIN, not a postal code, which some countries call one.
pub(super) fn pin(found: &Finding<'_>) -> bool {
    let count = digits(value(found.text));
    let is_code = found.text.contains("pin") && found.text.contains("code") && count == 6;
    let goes_on =
        found.after.starts_with(['-', '/', '.', ':']) && found.after.chars().nth(1).is_some_and(char::is_numeric);
    !is_code && !goes_on
}

/// Twelve words or more, as wallets give them: short, in small letters, perhaps numbered.
pub(super) fn seed_phrase(found: &Finding<'_>) -> bool {
    let words = found.after.split(|character: char| character.is_whitespace() || matches!(character, ',' | '`' | '"'));
    let is_number = |word: &str| word.trim_end_matches(['.', ')']).bytes().all(|byte| byte.is_ascii_digit());
    let is_word = |word: &str| (3..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase());
    words
        .filter(|word| !is_number(word) && !matches!(*word, "-" | "*"))
        .take_while(|word| is_word(word))
        .nth(11)
        .is_some()
}

/// A connection string whose password is no placeholder.
pub(super) fn connection(found: &Finding<'_>) -> bool {
    let password = found.text.trim_end_matches('@').rsplit(':').next().unwrap_or_default();
    let is_mask = password.chars().all(|character| matches!(character, '*' | 'x' | '.'));
    !is_mask && !password.starts_with(['<', '$', '{', '[', '%']) && !matches!(password, "password" | "pass" | "pw")
}

/// The definition of a link elsewhere, where an image of the text goes by its label.
pub(super) fn image_definition(found: &Finding<'_>) -> bool {
    let label = found.text.split_once('[').and_then(|(_, rest)| rest.rsplit_once("]:"));
    let images = found.images.get_or_init(|| image_labels(found.whole));
    label.is_some_and(|(label, _)| images.contains(&plain_label(label)))
}

/// The labels that images give, in one pass: no label holds brackets, so none is read twice.
fn image_labels(text: &str) -> HashSet<String> {
    let mut labels = HashSet::new();
    let mut open = Vec::new();
    let (mut latest, mut image_end) = (None, None);
    let (mut before, mut is_escaped) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'[' => {
                open.push((at, before == b'!' || image_end == Some(at)));
                latest = Some(at);
            }
            b']' => {
                if let Some((start, true)) = open.pop() {
                    if latest == Some(start) {
                        labels.insert(plain_label(text.get(start + 1..at).unwrap_or_default()));
                    }
                    image_end = Some(at + 1);
                }
            }
            _ => {}
        }
        before = byte;
    }
    labels
}

/// A label as labels are compared; the text is in lower case by now.
fn plain_label(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What stands behind the sign or verb that parts a label from its value, without what Markdown puts before it.
fn value(text: &str) -> &str {
    const VERBS: &[&str] = &[" is ", " was ", " ist ", " lautet ", " est ", " es ", " è ", " é "];
    let text = text.trim_start_matches(|character: char| !character.is_alphanumeric());
    let value = match text.split_once([':', '=', '：', '|']) {
        Some((_, value)) => value,
        None => match VERBS.iter().find_map(|verb| text.split_once(verb)) {
            Some((_, value)) => value,
            None => {
                text.find(|character: char| character.is_ascii_digit()).and_then(|at| text.get(at..)).unwrap_or(text)
            }
        },
    };
    value.trim().trim_start_matches(['*', '_', '`', '"', '\'', ' ', '\t'])
}

/// Without the signs that Markdown and code put around a value.
fn bare(text: &str) -> &str {
    text.trim_matches(|character: char| {
        character.is_whitespace() || matches!(character, '"' | '\'' | '`' | '*' | '_' | ',' | ';' | '|')
    })
}

/// Whether a word is one of a list, which is written with blanks between.
fn is_one_of(word: &str, list: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// Letters beside digits or signs: no word of a language.
fn is_mixed(token: &str) -> bool {
    let token = token.trim_end_matches(['.', ',', ';', '!', '?', ')']);
    let other = |character: char| character.is_ascii_digit() || "!@#$%^&*+=?~|<>".contains(character);
    token.chars().count() >= 4 && token.contains(char::is_alphabetic) && token.contains(other)
}

fn is_iso_date(text: &str) -> bool {
    let mut parts = text.trim().splitn(3, '-').map(|part| part.trim().len());
    (parts.next(), parts.next()) == (Some(4), Some(2)) && parts.next().is_some_and(|day| day == 2)
}

/// A key with a digit in it, where its letters alone could be a word.
pub(super) fn digit(found: &Finding<'_>) -> bool {
    digits(found.text) > 0
}
