//! The everyday names of what a filter can be about. Rows are no logic.

use super::Matcher;
use crate::policy::detect;

/// What people call something, and how it is told in a text.
pub(super) struct Topic {
    /// Its names, in the singular and without hyphens.
    names: &'static [&'static str],
    /// The detectors, or classes of them, that find it.
    detectors: &'static [&'static str],
    /// What facts about it are called.
    facts: &'static [&'static str],
    /// Whether more than was named is found, which is too much where only the named may be told.
    is_wide: bool,
}

const fn topic(
    names: &'static [&'static str],
    detectors: &'static [&'static str],
    facts: &'static [&'static str],
) -> Topic {
    Topic { names, detectors, facts, is_wide: false }
}

const fn wide(
    names: &'static [&'static str],
    detectors: &'static [&'static str],
    facts: &'static [&'static str],
) -> Topic {
    Topic { names, detectors, facts, is_wide: true }
}

/// The name by which [`Matcher::Age`] is among the detectors here.
const AGE: &str = "age";

const PHONE: &[&str] = &["phone", "telephone", "mobile", "tel"];
const BIRTH: &[&str] = &["birthday", "birth date", "birthdate", "date of birth", "born", "dob"];
const HEALTH: &[&str] = &[
    "health",
    "medical",
    "diagnosis",
    "medication",
    "medicine",
    "allergy",
    "illness",
    "disease",
    "disability",
    "blood type",
];
const CONTACT: &[&str] = &["email", "e mail", "mail", "phone", "telephone", "mobile", "tel", "address"];
const MONEY: &[&str] = &["income", "salary", "wage", "iban", "bank", "debt", "net worth"];

pub(super) const TOPICS: &[Topic] = &[
    topic(
        &["email", "email address", "e mail", "e mail address", "mail address"],
        &["email"],
        &["email", "e mail", "mail"],
    ),
    topic(
        &[
            "phone",
            "phone number",
            "telephone",
            "telephone number",
            "mobile number",
            "mobile phone",
            "mobile phone number",
            "cell number",
            "cell phone",
            "cell phone number",
        ],
        &["phone"],
        PHONE,
    ),
    topic(
        &["address", "home address", "street address", "postal address", "mailing address", "residential address"],
        &["address"],
        &["address"],
    ),
    topic(
        &["birth date", "birthdate", "birthday", "birth day", "date of birth", "day of birth", "dob"],
        &["birth_date"],
        BIRTH,
    ),
    topic(&["age"], &[AGE], &["age"]),
    topic(
        &[
            "health",
            "health condition",
            "medical",
            "medical condition",
            "medical history",
            "medical record",
            "health record",
        ],
        &["health"],
        HEALTH,
    ),
    wide(
        &["diagnosis", "medication", "medicine", "illness", "disease", "allergy", "disability", "symptom"],
        &["health"],
        HEALTH,
    ),
    topic(
        &["contact", "contact detail", "contact information", "contact info", "contact data"],
        &["email", "phone", "address"],
        CONTACT,
    ),
    wide(
        &["location", "whereabout", "place of residence", "residence"],
        &["address", "coordinates"],
        &["location", "address", "residence", "coordinate"],
    ),
    topic(
        &["coordinate", "gps", "gps coordinate", "gps position", "exact place"],
        &["coordinates"],
        &["coordinate", "gps"],
    ),
    topic(
        &["sexuality", "sexual orientation", "gender identity"],
        &["sexuality"],
        &["sexuality", "sexual orientation", "gender"],
    ),
    wide(&["gender"], &["sexuality"], &["gender"]),
    topic(&["religion", "religious belief", "faith"], &["religion"], &["religion", "faith"]),
    topic(&["politic", "political view", "political opinion", "political belief"], &["politics"], &["politic"]),
    topic(&["ethnicity", "ethnic origin", "race"], &["ethnicity"], &["ethnicity"]),
    topic(
        &["national id", "social security number", "ssn", "id number", "identity number", "tax id", "tax number"],
        &["national_id"],
        &["national id", "ssn", "social security number", "tax id", "id number"],
    ),
    topic(&["passport", "passport number"], &["passport"], &["passport"]),
    topic(&["iban"], &["iban"], &["iban"]),
    topic(
        &["bank account", "bank account number", "account number", "bank detail", "bank data", "banking detail"],
        &["iban", "bank_account"],
        &["iban", "bank", "account number"],
    ),
    topic(&["income", "salary", "earning", "wage", "pay"], &["income"], &["income", "salary", "wage"]),
    wide(
        &["financial", "finance", "money", "financial situation"],
        &["income", "iban", "bank_account", "card_number"],
        MONEY,
    ),
    topic(
        &["card number", "credit card", "credit card number", "debit card", "debit card number"],
        &["card_number"],
        &["card number", "credit card"],
    ),
    topic(&["password", "passphrase"], &["password"], &["password", "passphrase"]),
    topic(&["pin", "pin code"], &["pin"], &["pin"]),
    topic(&["seed phrase", "recovery phrase"], &["seed_phrase"], &["seed phrase"]),
    topic(&["secret", "credential"], &["secret"], &["secret", "credential", "password", "pin"]),
    topic(
        &[
            "personal information",
            "personal info",
            "personal data",
            "personal detail",
            "personal fact",
            "personal stuff",
            "personal thing",
            "pii",
        ],
        &["personal", AGE],
        &["age"],
    ),
    wide(
        &[
            "private information",
            "private info",
            "private data",
            "private detail",
            "sensitive information",
            "sensitive info",
            "sensitive data",
            "sensitive detail",
            "confidential information",
        ],
        &["personal", "secret", AGE],
        &["age"],
    ),
    topic(&["active content"], &["active_content"], &[]),
];

impl Topic {
    /// The topic whose name these words start with, and how many words its longest name has; each word is a stem.
    pub(super) fn at(words: &[&str]) -> Option<(Said, usize)> {
        let mut best: Option<(Said, usize)> = None;
        let mut keep = |said: &dyn Fn() -> Said, count: usize| {
            if best.as_ref().is_none_or(|(_, most)| count > *most) {
                best = Some((said(), count));
            }
        };
        for topic in TOPICS {
            for name in topic.names {
                if let Some(count) = starts_with(words, name) {
                    keep(&|| topic.said(), count);
                }
            }
        }
        for name in detect::names() {
            if let Some(count) = starts_with(words, &name.replace('_', " ")) {
                keep(&|| Said { matchers: vec![Matcher::Detector(name)], is_wide: false }, count);
            }
        }
        best
    }

    /// The names of all topics, each with whether it is wide.
    #[cfg(test)]
    pub(super) fn names() -> impl Iterator<Item = (&'static str, bool)> {
        TOPICS.iter().flat_map(|topic| topic.names.iter().map(|name| (*name, topic.is_wide)))
    }

    fn said(&self) -> Said {
        let detectors = self.detectors.iter().map(|name| match *name {
            AGE => Matcher::Age,
            name => Matcher::Detector(name),
        });
        let facts = self.facts.iter().map(|fact| Matcher::Fact(super::line::words(fact)));
        Said { matchers: detectors.chain(facts).collect(), is_wide: self.is_wide }
    }
}

/// What the topic is told by that these words are a name of.
pub(super) fn matchers(name: &[String]) -> Vec<Matcher> {
    let name: Vec<&str> = name.iter().map(String::as_str).collect();
    let said = Topic::at(&name).filter(|(_, count)| *count == name.len());
    said.map_or_else(Vec::new, |(said, _)| said.matchers)
}

/// What a name stands for.
pub(super) struct Said {
    pub(super) matchers: Vec<Matcher>,
    pub(super) is_wide: bool,
}

/// How many words `name` has, if `words` start with it.
fn starts_with(words: &[&str], name: &str) -> Option<usize> {
    let mut count = 0;
    for word in name.split(' ') {
        if words.get(count).is_none_or(|found| *found != super::line::stem(word)) {
            return None;
        }
        count += 1;
    }
    Some(count)
}
