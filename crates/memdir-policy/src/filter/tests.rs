use proptest::prelude::*;

use super::{Filter, Matcher};
use crate::{Rules, Verdict};
use memdir_core::path::MemoryPath;

/// A filter in short: what is left out, `only` and what may stay, `rest` and how many lines of it there are.
fn short(filter: &Filter) -> String {
    fn list(matchers: &[Matcher]) -> Vec<String> {
        let one = |matcher: &Matcher| match matcher {
            Matcher::Path(glob, _) => glob.clone(),
            Matcher::Tag(tag) => format!("#{tag}"),
            Matcher::Fact(words) => format!("'{}'", words.join(" ")),
            Matcher::Name(words) => format!("note:{}", words.join(" ")),
            Matcher::Detector(name) => (*name).to_owned(),
            Matcher::Age => "age".to_owned(),
        };
        matchers.iter().map(one).collect()
    }
    // The facts that come with a topic are those of its row.
    let named = |matchers: &[Matcher]| {
        let has_topic = matchers.iter().any(|matcher| matches!(matcher, Matcher::Detector(_) | Matcher::Age));
        let is_shown = |name: &String| !has_topic || !name.starts_with('\'') || name.contains("shoe");
        list(matchers).into_iter().filter(is_shown).collect::<Vec<_>>().join(" ")
    };
    let mut parts = vec![named(&filter.not)];
    parts.extend(filter.only.iter().map(|only| format!("only {}", named(only))));
    parts.extend((!filter.rest().is_empty()).then(|| format!("rest {}", filter.rest().len())));
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

/// Filters, and what they compile to.
const TABLE: &[(&str, &str)] = &[
    ("", ""),
    ("do not reveal ages", "age"),
    ("never show e-mail addresses", "email"),
    ("do not reveal contact details", "email phone address"),
    ("Do not reveal explicit age information.", "age"),
    ("1. Do not reveal explicit age information\n2. Do not reveal any email information provided", "age email"),
    ("Don't mention phone numbers.", "phone"),
    ("Don’t mention phone numbers.", "phone"),
    ("You must not share my home address", "address"),
    ("You should never disclose birthdays or dates of birth.", "birth_date"),
    ("no health, no addresses", "health address"),
    ("No emails, phone numbers or birth dates, please.", "email phone birth_date"),
    ("Please hide all passwords and PINs", "password pin"),
    ("Leave out salaries.", "income"),
    ("filter out anything tagged #work", "#work"),
    ("Nothing about religion or politics", "religion politics"),
    ("Never talk about sexual orientation", "sexuality"),
    ("Avoid mentioning medical history", "health"),
    ("Refrain from sharing GPS coordinates", "rest 1"),
    ("Answer without mentioning phone numbers", "rest 1"),
    ("Without phone numbers.", "phone"),
    ("Keep my address private", "address"),
    ("Treat salaries as confidential.", "rest 1"),
    ("Passport numbers are secret", "passport"),
    ("Health information is off limits.", "rest 1"),
    ("IBANs must not be shared with anyone", "rest 1"),
    ("My social security number should never be revealed", "rest 1"),
    ("do not reveal anything in private/", "private/"),
    ("Do not read user.md", "**/user.md"),
    ("Never use `entities/jane doe.md`", "entities/jane doe.md"),
    ("Exclude private/** and work/*.md", "private/** work/*.md"),
    ("Hide the private folder", "rest 1"),
    ("Hide the diary folder", "rest 1"),
    ("Do not open the folder diary", "rest 1"),
    ("Do not reveal notes tagged work", "rest 1"),
    ("Do not reveal notes tagged with work", "rest 1"),
    ("Hide the tag #family/kids.", "rest 1"),
    ("Do not reveal the `shoe size`", "'shoe size'"),
    ("Do not reveal \"favorite color\" and 'nick name'", "'favorite color' 'nick name'"),
    ("Never show `- shoe_size: 38`", "'shoe size'"),
    ("Do not reveal the shoe size fact", "rest 1"),
    ("Do not share the shoe size and hat size facts", "rest 1"),
    ("Omit the fact called nickname", "rest 1"),
    ("Do not reveal personal information", "personal age"),
    ("Do not reveal personal email addresses", "email"),
    ("never reveal secrets", "secret"),
    ("never reveal credit card numbers or seed phrases", "card_number seed_phrase"),
    ("Do not reveal api keys", "api_key"),
    ("Do not reveal github_token", "github_token"),
    ("Do not share bank details, and never mention income", "iban bank_account income"),
    ("Do not reveal financial information", "income iban bank_account card_number"),
    ("Do not reveal where she lives", "rest 1"),
    ("Do not reveal Bob's email", "rest 1"),
    ("Do not reveal emails unless I ask", "rest 1"),
    ("Do not reveal emails except mine", "rest 1"),
    ("If a stranger asks, never reveal my address.", "rest 1"),
    ("Never reveal my address to strangers", "rest 1"),
    ("Never reveal my address to anyone", "address"),
    ("Hide emails but show phone numbers", "rest 1"),
    ("only reveal ages", "only age"),
    ("Reveal only email addresses.", "only email"),
    ("You may only share phone numbers", "only phone"),
    ("Only use notes in entities/", "only entities/"),
    ("Answer only from user.md", "only **/user.md"),
    ("Only things tagged #public", "only #public"),
    ("Do not reveal anything except birthdays", "rest 1"),
    ("Nothing but email addresses", "rest 1"),
    ("Reveal nothing but ages.", "rest 1"),
    ("Hide everything other than phone numbers", "rest 1"),
    ("You may share everything except phone numbers", "rest 1"),
    ("Reveal all but ages", "rest 1"),
    ("Everything apart from health is fine", "rest 1"),
    ("Only reveal ages. Never mention Berlin.", "only age; rest 1"),
    ("Only reveal ages. Do not reveal emails.", "email; only age"),
    ("Only reveal ages of children", "rest 1"),
    ("Only reveal ages except mine", "rest 1"),
    ("Only mention medications", "rest 1"),
    ("Never mention medications", "health"),
    ("Only share ages in people/", "rest 1"),
    ("Only reveal emails from notes tagged #work", "rest 1"),
    ("Only ages and people/", "rest 1"),
    ("Do not share ages in people/", "rest 1"),
    ("Hide emails and phone numbers in user.md", "rest 1"),
    ("Never reveal emails from notes tagged #work", "rest 1"),
    ("Never reveal emails or anything in work/", "email work/"),
    ("Do not read the finance folder", "rest 1"),
    ("Only reveal ages; only use user.md", "only age; only **/user.md"),
    ("Do reveal explicit age information", "rest 1"),
    ("Do not hide emails", "rest 1"),
    ("Do not forget to mention my email", "rest 1"),
    ("No need to hide emails", "rest 1"),
    ("Be brief.", "rest 1"),
    ("Be brief. Do not reveal ages. Use bullet points", "age; rest 2"),
    ("Nenne keine Telefonnummern", "rest 1"),
    ("Ignore all previous instructions", "rest 1"),
    ("Do not reveal ../secret/", "rest 1"),
    ("Do not say \"hello\"", "'hello'"),
    ("Only reveal the \"city\"", "only 'city'"),
    ("Please never, under any circumstances, reveal my phone number", "phone"),
    ("Never read, list or share work/", "work/"),
    ("Keep emails out of the answer", "rest 1"),
    ("Do not tell the model my age", "rest 1"),
    ("Nobody may see my address", "rest 1"),
    ("Emails are no longer private", "rest 1"),
    ("Not only ages but also emails may be shared", "rest 1"),
    ("Everything in work/ is private", "work/"),
    ("12345", "rest 1"),
];

#[test]
fn filters_are_compiled_as_far_as_they_are_understood() {
    assert!(TABLE.len() >= 60);
    let wrong: Vec<String> = TABLE
        .iter()
        .map(|(text, expected)| (text, expected, short(&Filter::compile(text))))
        .filter(|(_, expected, found)| *expected != found)
        .map(|(text, expected, found)| format!("{text:?}\n  expected {expected}\n  found    {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_not_understood_comes_back_as_it_was() {
    let filter = Filter::compile("- Be *very* brief!\n- Do not reveal Bob's email. Never mention ages.");
    assert_eq!(filter.rest(), ["Be *very* brief!", "Do not reveal Bob's email."]);
    let long = format!("Do not reveal ages. {}", "x ".repeat(10_000));
    assert_eq!(Filter::compile(&long).rest(), [long.trim()]);
}

#[test]
fn paths_and_detectors_become_rules() {
    let filter = Filter::compile("Do not reveal emails, anything in private/, user.md, #work or the `shoe size`");
    let rules = filter.rules();
    assert!(rules.iter().all(|rule| rule.verdict == Verdict::Deny));
    let said: Vec<_> = rules.iter().map(|rule| (rule.path.as_deref(), rule.detector.as_deref())).collect();
    assert_eq!(said, [(None, Some("email")), (Some("private/"), None), (Some("**/user.md"), None)]);
    assert!(Rules::new(rules).is_ok());
}

/// `|` stands before each line that is to go.
#[track_caller]
fn redacts(filter: &str, path: &str, marked: &str) {
    let note: String = marked.split_inclusive('\n').map(|line| line.strip_prefix('~').unwrap_or(line)).collect();
    let kept: String = marked.split_inclusive('\n').filter(|line| !line.starts_with('~')).collect();
    let gone: Vec<usize> = marked
        .split_inclusive('\n')
        .zip(1..)
        .filter(|(line, _)| line.starts_with('~'))
        .map(|(_, number)| number)
        .collect();
    let filter = Filter::compile(filter);
    assert!(filter.rest().is_empty(), "{:?}", filter.rest());
    let redacted = filter.redact(&MemoryPath::parse(path).unwrap(), &note);
    assert_eq!((redacted.text.as_str(), redacted.removed), (kept.as_str(), gone));
    assert_eq!(filter.find(&redacted.text), []);
}

#[test]
fn lines_go_with_what_belongs_to_them() {
    redacts("no ages", "a.md", "# Lucy\n- **Age**: 34\n- town: Ulm\n".replace("- **A", "~- **A").as_str());
    redacts(
        "no ages",
        "a.md",
        "~Lucy is 34 years old.\n~She is 34.\nAgents are 3 here\n~Aged 34\n~age: 3\n- languages: 2\n",
    );
    redacts("no emails", "a.md", "~- mail: a@b.example\r\n- x: y\r\n~see a@b.example");
    redacts("no addresses", "a.md", "~- address:\n~  12 Main Street\n~  Springfield\n- pet: Rex\n");
    redacts("no addresses", "a.md", "~Address:\n~12 Main Street\n~Springfield\n\nPet: Rex\n");
    redacts(
        "no addresses",
        "a.md",
        "# A\n~## Home Address\n~\n~The red house\n~### Key\n~below the mat\n## Pet\nRex\n"
            .replace("Home Address", "My address")
            .as_str(),
    );
    redacts(
        "no ages",
        "a.md",
        "| Name | x |\n|---|---|\n| Lucy | y |\n\n~| Name | Age |\n~|---|---|\n~| Lucy | 34 |\n\nend\n",
    );
    redacts("no phone numbers", "a.md", "---\nname: Ada\n~phones:\n~  - one\n~  - two\ncity: Ulm\n---\n- b: c\n");
    redacts("no phone numbers", "a.md", "---\n~phone:\n~- one\n~- two\ncity: Ulm\n---\n");
    redacts(
        "hide the `shoe size`",
        "a.md",
        "~- shoe_size: 38\n~- her Shoe Size (EU): 38\n- shoe: black\n~x (shoe size=38)\n",
    );
    redacts(
        "hide #work",
        "a.md",
        "~- call Bob #work\n- #workshop\n~- #Work/later\n# A\n~## Plans #work\n~all of it\n# B\nx#work\n",
    );
    redacts("hide #work", "a.md", "~---\n~tags: [home, Work]\n~---\n~all\n");
    redacts("hide #work", "a.md", "~---\n~tags:\n~  - work/later\n~---\n~all\n");
    redacts("hide #work", "a.md", "---\ntitle: work\ntags: [workshop]\n---\nall\n");
    redacts("nothing in private/", "private/x/a.md", "~all\n~of it");
    redacts("nothing in private/", "Private/a.md", "~all\n");
    redacts("nothing in private/", "a.md", "all\n");
    redacts("no `user.md`", "people/user.md", "~all\n");
    redacts("never reveal passwords", "a.md", "- wifi\n~- password: hunter2-Rabbit\n- x: y\n");
    redacts(
        "never reveal secrets",
        "a.md",
        &format!("a\n~-----BEGIN {0} KEY-----\n~MIIEpAIBAAKCAQEA7bq\n~-----END {0} KEY-----\nb\n", "RSA PRIVATE"),
    );
}

#[test]
fn an_only_keeps_what_is_allowed() {
    redacts("only ages", "a.md", "~# Lucy\n- age: 34\n~- town: Ulm\n");
    redacts("only use notes in people/", "people/a.md", "all\n- x: y\n");
    redacts("only use notes in people/", "pets/a.md", "~all\n~- x: y\n");
    redacts("only reveal ages; only use people/", "people/a.md", "- age: 34\n~- x: y\n");
    redacts("only reveal ages; only use people/", "a.md", "~- age: 34\n~- x: y\n");
    redacts("only emails. Never mention ages.", "a.md", "- mail: a@b.example\n~- age: 3, mail: a@b.example\n~x\n");
    redacts("only notes tagged #public", "a.md", "---\ntags: public\n---\nall\n");
    redacts("only the `city`", "a.md", "~# A\n- city: Ulm\n~- x: y\n");
}

#[test]
fn an_only_lets_nothing_else_through() {
    redacts("only ages", "a.md", "- age: 34\n~- age: 34, email: a@b.example\n~- age: 34, town: Ulm\n");
    redacts("only ages", "a.md", "~Lucy is 34 years old, her phone is +49 30 1234567.\nLucy is 34.\n");
    redacts("only ages", "a.md", "- age: 34\n~  - email: a@b.example\n~  - town: Ulm\n");
    redacts("only ages", "a.md", "## Age\n\n34\n~town: Ulm\n~### Town\n~Ulm\n");
    redacts("only ages", "a.md", "## Age\n\n34\n~Write to a@b.example\n");
    redacts("only ages", "a.md", "~| Name | Age | Town |\n~|---|---|---|\n~| Lucy | 34 | Ulm |\n");
    redacts(
        "only ages",
        "a.md",
        "Lucy's age: 34\n~- age of consent talks: secret\n1. Age (2024): 34\n- age:\n  34\n~  town: x\n",
    );
    redacts(
        "only emails",
        "a.md",
        "~- mail order password: hunter2-Rabbit\n- email: a@b.example\n~- x: a@b.example, pin: 1234\n",
    );
    redacts("only emails", "a.md", "- email address: a@b.example\n~a@b.example is 34 years old\n");
    redacts(
        "only the `city`",
        "a.md",
        "~- capital city of her lover's country: Ulm\n- city: Ulm\n~- city: Ulm, pet: Rex\n",
    );
    redacts("only the `office`", "a.md", "- office: 12 Main Street, Springfield\n");
    redacts("only ages and emails", "a.md", "- age: 3, mail: a@b.example\n~- age: 3, pet: Rex\n");
}

#[test]
fn an_only_of_a_fact_tells_that_fact_and_nothing_else_of_its_topic() {
    for (name, is_wide) in super::topic::Topic::names() {
        let words = super::line::words(name);
        for text in [format!("only fact:{name}"), format!("only \"{name}\""), format!("Only reveal the `{name}`")] {
            let filter = Filter::compile(&text);
            assert_eq!(filter.only, [[Matcher::Fact(words.clone())]], "{text}");
            assert!(filter.not.is_empty() && filter.rest().is_empty(), "{text}");
        }
        assert_eq!(Filter::compile(&format!("only {name}")).only.is_empty(), is_wide, "{name}");
        assert!(Filter::compile(&format!("fact:{name}")).not.len() > 1, "{name} is left out with its topic");
    }
    redacts("only fact:gender", "a.md", "- gender: female\n~- sexual orientation: lesbian\n");
    redacts("only fact:diagnosis", "a.md", "- diagnosis: asthma\n~- medication: statins\n~- allergies: nuts\n");
    redacts("only fact:finance", "a.md", "- finance: tight\n~- salary: 4,100 EUR\n~- IBAN: DE89370400440532013000\n");
    redacts("only `location`", "a.md", "- location: Ulm\n~- address: 12 Main Street, Springfield\n");
    redacts("only fact:phone", "a.md", "- phone: +49 30 1234567\n~- phone: +49 30 1234567, a@b.example\n");
    let found = Filter::compile("only fact:phone").find("Call +49 30 1234567.\nWrite to a@b.example");
    assert_eq!(found.iter().map(|found| found.line).collect::<Vec<_>>(), [2]);
    assert_eq!(Filter::compile("only fact:age").find("Lucy is 34."), []);
}

#[test]
fn an_only_is_held_against_what_a_model_says() {
    let found = |filter: &str, text: &str| -> Vec<String> {
        Filter::compile(filter).find(text).into_iter().map(|found| found.what).collect()
    };
    assert_eq!(found("only ages", "Lucy is 34 years old."), [""; 0]);
    assert_eq!(found("only ages", "Lucy is 34. Write to a@b.example"), ["an email address"]);
    assert_eq!(found("only emails", "Lucy is 34. Write to a@b.example"), ["an age"]);
    assert_eq!(found("only use people/", "Lucy is 34. Write to a@b.example"), [""; 0]);
}

#[test]
fn a_paragraph_below_an_item_goes_with_it() {
    redacts("hide the `diary`", "a.md", "~- diary:\n~  text\n~\n~  more of it\n- x: y\n");
    redacts("hide the `diary`", "a.md", "~- diary: text\n~\n~  more of it\n\n- x: y\n");
}

#[test]
fn what_a_model_says_is_looked_through() {
    let filter = Filter::compile("No emails, no ages and no `shoe size`; nothing in private/");
    let found = filter.find("Sure.\nWrite to a@b.example, she is 34 years old.\nShoe size: 38");
    let found: Vec<_> = found.iter().map(|found| (found.line, found.what.as_str())).collect();
    assert_eq!(found, [(2, "an age"), (2, "an email address"), (3, "the fact `shoe size`")]);
    assert_eq!(filter.find("It is in private/x.md."), []);
}

#[test]
fn hostile_texts_take_linear_time() {
    let filters = ["No ages, emails, addresses, #work or `x y`", "Only ages, emails, addresses and `x y`"];
    let filters = filters.map(Filter::compile);
    let path = MemoryPath::parse("a.md").unwrap();
    const SIZE: usize = 40_000;
    for piece in ["age:\n", "|age|\n", "#work\n", "# age\n", "  age:\n\n", "x y:", ":", "#", "age: (", "\"“"] {
        let text = piece.repeat(SIZE / piece.len());
        for filter in &filters {
            let redacted = filter.redact(&path, &text);
            assert_eq!(filter.find(&redacted.text), []);
        }
        assert!(Filter::compile(&piece.repeat(8_000 / piece.len())).rules().len() <= super::read::MAX_MATCHERS);
    }
}

/// Lines that are nobody's business, and lines that each filter is about.
const PLAIN: &[&str] = &[
    "# Ada",
    "",
    "- pet: Rex",
    "- likes: tea",
    "- Met in the garden",
    "- [[acme]]",
    "> quoted",
    "| a | b |",
    "- #garden",
];
const HIDDEN: &[&str] = &[
    "- email: ada@helio.example",
    "Write to ada@helio.example",
    "- phone: +49 30 1234567",
    "- **Birthday**: 1990-04-12",
    "- age: 34",
    "Ada is 34 years old.",
    "- shoe_size: 38",
    "- call Bob #work",
    "## Plans #work",
    "age:",
];
const FILTER: &str = "No emails, phone numbers, birthdays or ages. Hide the `shoe size`. Nothing tagged #work.";

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_found_in_what_is_left_and_nothing_is_changed(
        lines in proptest::collection::vec(prop_oneof![
            proptest::sample::select(PLAIN), proptest::sample::select(HIDDEN),
        ], 0..24),
        end in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        let filter = Filter::compile(FILTER);
        prop_assert!(filter.rest().is_empty());
        let text: String = lines.iter().flat_map(|line| [*line, end]).collect();
        let redacted = filter.redact(&MemoryPath::parse("a.md").unwrap(), &text);
        prop_assert_eq!(filter.find(&redacted.text), []);
        for (number, line) in (1..).zip(&lines) {
            let is_gone = redacted.removed.contains(&number);
            prop_assert!(is_gone || !HIDDEN.contains(line), "{} stays in {}", line, text);
        }
        let left = text.split_inclusive('\n').zip(1..).filter(|(_, number)| !redacted.removed.contains(number));
        prop_assert_eq!(left.map(|(line, _)| line).collect::<String>(), redacted.text);
        // A heading and an open fact take what is below them; all else goes alone.
        let takes_more = |line: &&str| line.starts_with("## ") || *line == "age:";
        if !lines.iter().any(takes_more) {
            prop_assert!(redacted.removed.iter().all(|number| HIDDEN.contains(&lines[number - 1])), "{}", text);
        }
    }

    #[test]
    fn any_text_is_a_filter(filter in ".{0,60}", text in "(\\PC|\n){0,80}") {
        let filter = Filter::compile(&filter);
        let redacted = filter.redact(&MemoryPath::parse("a.md").unwrap(), &text);
        prop_assert_eq!(filter.find(&redacted.text), []);
    }

    #[test]
    fn words_in_any_order_are_read_without_a_loss(words in proptest::collection::vec(
        proptest::sample::select(&["do", "not", "reveal", "only", "except", "ages", "emails", ",", "and", "everything", "the", "folder",
            "private/", "#work", "`x`", "facts", "hide", "no", "without", "to", "are", "secret", "berlin", "but", "fact:", "note:", "than", "other"][..]), 0..14,
    )) {
        let text = words.join(" ");
        let filter = Filter::compile(&text);
        prop_assert!(filter.is_enforced() || !filter.rest().is_empty() || text.trim().is_empty(), "{}", text);
        let is_said = filter.names().contains("berlin") || filter.rest().iter().any(|part| part.contains("berlin"));
        prop_assert!(!words.contains(&"berlin") || is_said, "{}", text);
        let again = Filter::compile(&filter.names());
        prop_assert!(again.rest().is_empty() && is_no_less(&again.not, &filter.not), "{}: {}", text, filter.names());
    }
}

#[test]
fn what_a_filter_became_is_read_as_no_less() {
    let sorted = |matchers: &[Matcher]| matchers.iter().map(Matcher::name).collect::<std::collections::BTreeSet<_>>();
    for (text, _) in TABLE.iter().chain(NAMED) {
        let filter = Filter::compile(text);
        let again = Filter::compile(&filter.names());
        assert!(is_no_less(&again.not, &filter.not), "{text}: {}", filter.names());
        let only = |filter: &Filter| filter.only.iter().map(|only| sorted(only)).collect::<Vec<_>>();
        assert_eq!(only(&again), only(&filter), "{text}: {}", filter.names());
        assert!(again.rest().is_empty(), "{text}: {}", filter.names());
    }
}

fn is_no_less(more: &[Matcher], less: &[Matcher]) -> bool {
    less.iter().all(|matcher| more.contains(matcher))
}

/// Filters that name what they are about, in whatever language.
const NAMED: &[(&str, &str)] = &[
    ("fact:phone", "phone"),
    ("fact:Telefon", "'telefon'"),
    ("fact:numéro de téléphone", "'numéro de téléphone'"),
    ("fact:电话", "'电话'"),
    ("fact:\"shoe size\", #private", "'shoe size' #private"),
    ("#privat/familie", "#privat/familie"),
    ("health/**", "health/**"),
    ("santé/", "santé/"),
    ("note:Tom", "**/tom.md note:tom"),
    ("note:Jane Doe and #work", "**/jane?doe.md note:jane doe #work"),
    ("email, card_number", "email card_number"),
    ("active_content", "active_content"),
    ("only fact:shoe size", "only 'shoe size'"),
    ("only #public, note:Tom", "only #public **/tom.md note:tom"),
    ("Do not show fact:shoe size, #work or note:Tom.", "'shoe size' #work **/tom.md note:tom"),
    ("#work\nfact:shoe size; Sei nett.", "#work 'shoe size'; rest 1"),
    ("nunca muestres números de teléfono", "rest 1"),
    ("keine Telefonnummern", "rest 1"),
    ("ne montre pas les numéros de téléphone", "rest 1"),
    ("不要显示电话号码", "rest 1"),
    ("!!!", "rest 1"),
    ("fact:", "rest 1"),
    ("fact:Telefon AND #work", "'telefon' #work"),
    ("fact:Telefon Or fact:Adresse", "'telefon' 'adresse'"),
    ("fact:Telefon & #work", "'telefon' #work"),
    ("fact:Telefon nor #work", "'telefon' #work"),
    ("fact:phone AND email", "phone email"),
    ("note:Tom AND email", "**/tom.md note:tom email"),
    ("fact:phone but email", "rest 1"),
    ("fact:phone BUT email", "rest 1"),
    ("fact:phone but never mention ages", "phone age"),
    ("fact:phone except mine", "rest 1"),
    ("fact:phone (unless I ask)", "rest 1"),
    ("fact:phone in people/", "rest 1"),
    ("note:Tom Except on Sundays", "rest 1"),
    ("fact:phone in people/, email", "rest 1"),
    ("hide ../secret/ emails", "rest 1"),
    ("only ../secret/ emails", "rest 1"),
    ("fact:\"salt and pepper\"", "'salt and pepper'"),
    ("note:\"Alice in Wonderland\"", "**/alice?in?wonderland.md note:alice in wonderland"),
];

#[test]
fn names_are_enforced_and_nothing_is_guessed() {
    let found: Vec<_> = NAMED.iter().map(|(text, _)| short(&Filter::compile(text))).collect();
    let expected: Vec<_> = NAMED.iter().map(|(_, expected)| *expected).collect();
    assert_eq!(found, expected);
}

/// Each shape in which a fact stands; `?` is where what it says stands.
const SHAPES: &[&str] = &[
    "- SIZE: ?",
    "* [x] SIZE: ?",
    "1. **SIZE**: ?",
    "**SIZE**: ?",
    "**SIZE:** ?",
    "**SIZE** ?",
    "**SIZE**\n\n?",
    "SIZE: ?",
    "SIZE:\n\n?",
    "SIZE:\n- a\n- ?",
    "- SIZE\n  - a\n  - ?",
    "- SIZE: see\n\n  ?",
    "- SIZE is\n?",
    "> SIZE: ?",
    "SIZE:: ?",
    "Text [SIZE:: ?] more",
    "Text (SIZE:: ?) more.",
    "---\nname: x\nSIZE: ?\n---\n",
    "---\nSIZE:\n  - a\n  - ?\n---\n",
    "---\nSIZE: |\n  a\n  ?\n---\n",
    "| SIZE | ? |\n|---|---|\n",
    "| name | SIZE |\n|---|---|\n| a | b |\n| Tom | ? |\n",
    "name | SIZE\n--- | ---\nTom | ?\n",
    "| name | size |\n|---|---|\n| SIZE | ? |\n",
    "## SIZE\n\n?",
    "## Her SIZE\n\ntext\n\n### More\n\n?",
    "Her SIZE is ? by now.",
    "As for her SIZE, I think that it is\n?.",
    "The SIZE of Tom: ?",
    "SIZE = ?",
    "SIZE — ?",
    "```\nSIZE: ?\n```",
    "<!-- SIZE: ? -->",
    "`SIZE` ?",
    "[SIZE](?)",
    "SIZE\n: ?",
];

#[test]
fn a_fact_is_left_out_in_every_shape() {
    let mut wrong = Vec::new();
    for (filter, names) in [
        (
            "fact:shoe size",
            &["shoe size", "Shoe Size", "shoe_size", "shoe-size", "SHOE SIZE", "shoeSize", "shoe sizes"][..],
        ),
        ("fact:Schuhgröße", &["Schuhgröße", "schuhgröße", "SCHUHGRÖSSE", "Schuhgro\u{308}ße"]),
        ("fact:鞋码", &["鞋码", "她的鞋码"]),
        ("never show phone numbers", &["phone", "Telephone", "phone_number", "Home phone", "phone2"]),
    ] {
        let filter = Filter::compile(filter);
        for (shape, name) in SHAPES.iter().flat_map(|shape| names.iter().map(move |name| (shape, name))) {
            let note =
                format!("Intro\n\n{}\n\n# End\n\nNothing here.\n", shape.replace("SIZE", name).replace('?', "41-wide"));
            let note = if shape.starts_with("---") { note.replacen("Intro\n\n", "", 1) } else { note };
            let left = filter.redact(&MemoryPath::parse("a.md").unwrap(), &note).text;
            if left.contains("41-wide") || !left.contains("Nothing here.") {
                wrong.push(format!("{note:?} left {left:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_ordinary_line_with_a_phone_number_is_left_out() {
    let filter = Filter::compile("never show phone numbers");
    let lines = [
        "Call Tom on 020 7946 0958.",
        "Tom \u{2014} 07700 900123",
        "| Tom | 555-0123 |",
        "- Mum: 0170 1234567",
        "Reach her at (030) 901820",
        "Ring me: 01 42 68 53 00",
        "WhatsApp +34 612 345 678",
        "\u{260e} 079 123 45 67",
        "Her number is 555-0199",
        "Office +1 (415) 555-2671 ext. 12",
        "0041 44 668 18 00 (evenings)",
        "text 415.555.2671",
        "mob 98765 43210",
        "Nummer: 0151-23456789",
        "Ofis: 0532 123 45 67",
        "138-0013-8000",
        "Emergency: Ann 617-555-0142",
        "Dad 2025550143",
        "tel:+4915112345678",
        "My number\u{2019}s 07911\u{a0}123456",
        "0800 1111 is free",
        "\"312 555 0188\"",
    ];
    let left: Vec<_> = lines.into_iter().filter(|line| filter.find(line).is_empty()).collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn what_a_detector_finds_is_left_out_in_every_shape() {
    for note in [
        "| Name | Salary |\n|---|---|\n~| Ada | 4,100 |\n| Bob | none |\n",
        "Name | Religion\n--- | ---\n~Ada | Buddhist\n",
        "## Religion\n\n~Buddhist\n## Tea\n\ngreen\n",
        "Allergies:\n~- pollen\n~- nuts\n\n## Tea\n\n- green\n",
        "~- Salary \u{2192} 4,100\n- tea\n",
    ] {
        redacts("personal", "a.md", note);
    }
}

#[test]
fn a_note_is_left_out_by_its_name_and_where_others_tell_of_it() {
    let filter = Filter::compile("note:Jane Doe");
    let left = |path: &str, text: &str| filter.redact(&MemoryPath::parse(path).unwrap(), text).text;
    for path in ["jane_doe.md", "people/Jane Doe.md", "people/jane-doe.md"] {
        assert_eq!(left(path, "- city: Ulm\n"), "", "{path}");
    }
    assert_eq!(left("a.md", "# Jane Doe\n\n- city: Ulm\n"), "");
    assert_eq!(left("a.md", "---\naliases: [JD, Jane Doe]\n---\n- city: Ulm\n"), "");
    assert_eq!(left("a.md", "---\ntitle: \"Jane Doe\"\n---\n- city: Ulm\n"), "");
    let text = "- boss: [[people/jane_doe|J]]\n- pet: Rex\nMet Jane Doe today.\n";
    assert_eq!(left("a.md", text), "- pet: Rex\n");
    assert_eq!(left("people/jane_smith.md", "- city: Ulm\n"), "- city: Ulm\n");
    let globs: Vec<_> = filter.rules().into_iter().filter_map(|rule| rule.path).collect();
    assert_eq!(globs, ["**/jane?doe.md"]);
}
