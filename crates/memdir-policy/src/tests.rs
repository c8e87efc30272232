use proptest::prelude::*;

use super::detect;
use super::finding::Finding;
use super::table::{Case, Class, Row, rows};
use super::*;
use memdir_core::action::*;
use memdir_core::path::MemoryPath;

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

fn call(action: Action) -> Call {
    Call::plain(3, action)
}

fn claimed(action: Action) -> Call {
    Call { claimed: true, ..call(action) }
}

fn create(at: &str, content: &str) -> Action {
    Action::CreateFile(CreateFile { path: path(at), content: content.to_owned() })
}

fn update(old: &str, new: &str) -> Action {
    let (old_content, new_content) = (old.to_owned(), new.to_owned());
    Action::UpdateFile(UpdateFile { path: path("user.md"), old_content, new_content, occurrence: None })
}

fn delete(at: &str) -> Action {
    Action::DeleteFile(DeleteFile { path: path(at) })
}

fn rename(at: &str, to: &str) -> Action {
    Action::RenameFile(RenameFile { path: path(at), new_path: path(to) })
}

fn delete_dir(at: &str) -> Action {
    Action::DeleteDir(DeleteDir { path: path(at), recursive: None })
}

fn read(at: &str) -> Action {
    Action::ReadFile(ReadFile { path: path(at), start_line: None, end_line: None, as_of: None })
}

const ANY: Rule = Rule { action: None, path: None, client: None, detector: None, verdict: Verdict::Ask };

fn rule(verdict: Verdict) -> Rule {
    Rule { verdict, ..ANY }
}

fn named(names: &str) -> Option<String> {
    Some(names.to_owned())
}

type Answer = (Result<String, Failure>, Vec<(&'static str, String)>);

fn answer(call: Call, mode: Mode, read_only: bool, rules: &[Rule]) -> Answer {
    let rules = Rules::new(rules.to_vec()).unwrap();
    let context = Context { mode, approved: false, read_only, client: Some("shelf"), grant: None, rules: &rules };
    let mut issues = Vec::new();
    let result = match review(call.clone(), &context, &mut issues) {
        Ok(cleared) => {
            assert_eq!(cleared.call(), &call);
            Ok(cleared.permission().to_string())
        }
        Err(refused) => {
            assert_eq!(refused.call, call);
            Err(refused.failure)
        }
    };
    assert!(issues.iter().all(|issue| issue.index == Some(3)));
    (result, issues.into_iter().map(|issue| (issue.code, issue.message)).collect())
}

#[track_caller]
fn check(call: Call, mode: Mode, rules: &[Rule], expected: Result<&str, Failure>, issues: &[(&'static str, &str)]) {
    let issues = issues.iter().map(|(code, message)| (*code, (*message).to_owned())).collect();
    assert_eq!(answer(call, mode, false, rules), (expected.map(str::to_owned), issues));
}

fn denied(message: &str, hint: &str) -> Failure {
    Failure::new(Code::Denied, message).with_hint(hint)
}

fn secret(kind: &str) -> Failure {
    denied(&format!("this is a secret: {kind}"), "leave it out; secrets are not kept in notes")
}

fn by_rule(message: &str) -> Failure {
    denied(message, "the settings decide this; leave it out")
}

fn ask_first(message: &str) -> Failure {
    Failure::new(Code::PermissionRequired, message)
        .with_hint("ask the user first, then repeat with \"has_explicit_permission\":true")
}

const PASSWORD: &str = concat!("- password: hun", "ter2");

mod rows {
    use super::*;

    fn finds(row: &Row, text: &str) -> bool {
        detect::find_in_row(row, text)
    }

    #[test]
    fn each_pattern_compiles() {
        for (at, row) in rows().iter().enumerate() {
            assert!(regex::Regex::new(row.pattern).is_ok(), "{at}: {}: {:?}", row.name, regex::Regex::new(row.pattern));
        }
    }

    #[test]
    fn each_row_finds_its_examples_and_nothing_else() {
        let mut wrong = Vec::new();
        for row in rows() {
            assert!(row.must_match.len() + row.must_not.len() > 1, "{}", row.name);
            wrong
                .extend(row.must_match.iter().filter(|text| !finds(row, text)).map(|text| (row.name, "misses", *text)));
            wrong.extend(row.must_not.iter().filter(|text| finds(row, text)).map(|text| (row.name, "finds", *text)));
        }
        assert_eq!(wrong, []);
    }

    #[test]
    fn no_counterexample_is_a_secret() {
        let texts = rows().iter().flat_map(|row| row.must_not);
        let wrong: Vec<_> = texts
            .flat_map(|text| {
                detect::find(text, "", |class| class == Class::Secret).into_iter().map(move |row| (row.name, *text))
            })
            .collect();
        assert_eq!(wrong, []);
    }

    #[test]
    fn examples_are_found_within_a_note() {
        for row in rows() {
            for text in row.must_match {
                let note = format!("# Ada\n\n- city: Paris\n{text}\n\n## More\n- tea: green\n");
                let names: Vec<_> = detect::find(&note, "", |_| true).iter().map(|row| row.name).collect();
                assert!(names.contains(&row.name), "{}: {text}: {names:?}", row.name);
            }
        }
    }

    #[test]
    fn what_a_row_needs_is_in_lower_case() {
        for row in rows() {
            if let super::super::table::Needs::OneOf(words) = row.needs {
                assert!(!words.is_empty() && words.iter().all(|word| **word == word.to_lowercase()), "{}", row.name);
            }
            if row.case != Case::Exact {
                let letters = row.pattern.replace("(?-u:\\b)", "");
                assert_eq!(letters, letters.to_lowercase(), "{}", row.name);
            }
        }
    }

    #[test]
    fn rows_of_one_name_are_of_one_class() {
        for row in rows() {
            assert!(rows().iter().all(|other| other.name != row.name || other.class == row.class), "{}", row.name);
            assert!(Class::ALL.iter().all(|class| class.name() != row.name), "{}", row.name);
        }
    }

    #[test]
    fn ordinary_facts_are_nobodys_business_but_the_notes() {
        let ordinary = "---\ntags: [person, friend]\ncreated: 2024-03-09\nversion: 1.12.3\n---\n# Ada Fake\n\n- age: 42\n- city: Paris\n\
            - height: 1.72 m, weight unknown\n- works at: [[entities/fake_tool.md]]\n- likes: green tea, 200 g of dark chocolate\n\
            - born in: Ulm\n- languages: German, Spanish\n- founded: 1998\n- sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n\
            - id: 123e4567-e89b-12d3-a456-426614174000\n- commit d576e3e, 4f61f40f99\n- at 2024-01-02T03:04:05Z, 10:30\n- 12/24 done\n\
            - ISBN 978-3-16-148410-0\n- https://example.com/a/b?c=1#d\n![[photo.png]] ![x](images/a.png)\n- 3.14159, 2.71828\n\
            ```dataview\nTABLE a FROM #b\n```\n- phone: prefers texts\n- pass: Alpine\n- gender: female\n- 1,000,000 fans\n\
            - budget: 12000\n- score 100-90-80\n> He earned 12 badges.\n| a | b |\n|---|---|\n| 1 | 2 |\n- ratio 16:9\n$x = y$\n";
        assert_eq!(names(ordinary), Vec::<&str>::new());
    }

    #[test]
    fn planted_secrets_are_all_found() {
        let planted = [
            concat!("-----BEGIN EC PRIVATE", " KEY-----\nfake\n-----END EC PRIVATE", " KEY-----"),
            concat!("-----BEGIN ENCRYPTED PRIVATE", " KEY-----"),
            concat!("id AKIA", "0000FAKE0000FAKE and more"),
            concat!("AWS_SECRET_ACCESS_KEY=Fake/", "FakeFakeFakeFakeFakeFakeFakeFake+234"),
            concat!("`ghp", "_000000000000000000000000000000000000`"),
            concat!("https://ghs", "_000000000000000000000000000000000000@github.com/fake/fake"),
            concat!("github", "_pat_0000000000000000000000_FAKEFAKEFAKEFAKE"),
            concat!("(glpat", "-00000000000000000000)"),
            concat!("SLACK=xoxe", "-0-FAKEFAKEFAKE"),
            concat!("sk", "_live_0000000000FAKE"),
            concat!("OPENAI_API_KEY=sk", "-proj-FAKEfake0000FAKEfake0000"),
            concat!("sk", "-ant-sid01-FAKEfakeFAKEfakeFAKE"),
            concat!("key=AIza", "00000000000000000000000000000000000"),
            concat!("//packages.example.org/:_authToken=npm", "_000000000000000000000000000000000000"),
            concat!("pypi", "-AgEIcHlwaS5vcmcFAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKE"),
            concat!("HF: hf", "_FAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKE"),
            concat!("bot 0000000000", ":AA00000000000000000000000000000000-"),
            concat!("eyJ0eXAiOiJmYWtlIn0", ".eyJmYWtlIjp0cnVlfQ.c2lnbmVk"),
            concat!("- **Password:** FAKE", "!fake"),
            concat!("Password (bank): `Fake", "fake1`"),
            concat!("The passphrase is Fake", "-99-fake"),
            concat!("root password = to", "or"),
            concat!("Kennwort: Fake", "Fake"),
            concat!("contraseña = perro", "falso1"),
            concat!("- PIN: 00", "00"),
            concat!("4242 4242", " 4242 4242"),
            concat!("Amex 3714-496353", "-98431"),
            concat!("mongodb+srv://fake:fake", "fake@cluster0.example.net"),
            concat!("amqp://guest:fake", "1@queue"),
            "seed phrase:\n\nfake fake fake fake fake fake\nfake fake fake fake fake fake",
            concat!("api_key: \"fake0000fake", "0000fake0000\""),
        ];
        for text in planted {
            let found = detect::find(text, "", |class| class == Class::Secret);
            assert!(!found.is_empty(), "{text}");
        }
    }

    fn names(text: &str) -> Vec<&'static str> {
        detect::find(text, "", |_| true).iter().map(|row| row.name).collect()
    }

    #[test]
    fn one_detector_is_told_once() {
        assert_eq!(names("- phone: 555-0100\n- mobile: +1 202 555 0100\n- SSN: 123-45-6789"), ["national_id", "phone"]);
    }

    #[test]
    fn what_stood_there_before_is_no_news() {
        let news = |new, old| detect::find(new, old, |_| true).iter().map(|row| row.name).collect::<Vec<_>>();
        assert_eq!(news("- mail: ada@example.com\n- tea: green", "- mail: ada@example.com"), Vec::<&str>::new());
        assert_eq!(news("- mail: ADA@example.com", "- mail: ada@example.com"), Vec::<&str>::new());
        assert_eq!(news("- mail: ada@example.com, lin@example.com", "- mail: ada@example.com"), ["email"]);
        assert_eq!(news("- allergies: nuts, milk", "- allergies: nuts"), ["health"]);
    }

    #[test]
    fn a_check_sees_what_stands_around() {
        let images = std::cell::OnceCell::new();
        let found = Finding { before: "the great ", text: "depression", after: "", images: &images, whole: "" };
        assert!(!super::super::check::condition(&found));
        assert!(super::super::check::condition(&Finding { before: "her ", ..found }));
    }

    #[test]
    fn a_check_sees_no_more_than_its_window() {
        // Each family has a place at every few bytes whose check once looked at all that stands before or behind it.
        for unit in [
            "cancer research ",
            "a@2x.png,",
            "url(//",
            "4111 1111 1111 1112,",
            "seed: ",
            "- allergies: - ",
            "password: see the ",
            "depression é",
            "postgres://user:pw@",
            "12.12345, 13.12345, ",
            "ada@example.com ",
            "![](https://e.com) [a]: https://e.com\n",
            "<img alt='>' onerror=x \" <a ",
            "<img src=\"",
            "<meta http-equiv=' ",
            "<% <%1 ",
            "![a][",
            "[![a",
            "href=a&#1",
            "password:\n\n",
            "# password\n",
            "password -> ab - ",
            "passphrase: correct horse battery ",
            "ab12-cdef-",
            "4111.",
        ] {
            let text = unit.repeat(256 * 1024 / unit.len()) + " style= x";
            drop(detect::find(&text, "", |_| true));
            assert_eq!(detect::find(&text, &text, |_| true).len(), 0, "{unit}");
        }
    }

    #[test]
    fn what_is_shortened_is_no_news() {
        let news = |new: &str, old: &str| detect::find(new, old, |_| true).len();
        assert_eq!(news("- allergies: nuts", "- allergies: nuts, milk"), 0);
        assert_eq!(news("- allergies: nuts, milk", "- allergies: nuts"), 1);
        let many: String = (0..2000).map(|at| format!("ada{at}@example.com\n")).collect();
        assert_eq!(news(&many, &many), 0);
        assert_eq!(news(&format!("{many}lin@example.com"), &many), 1);
    }

    #[test]
    fn a_long_text_takes_linear_time() {
        for unit in [
            "a@",
            "<a ",
            "4111 ",
            "![",
            "password: ",
            "eyJa.",
            "1234567890",
            "- allergies: ",
            "+1 ",
            "AB12 ",
            "12 A ",
            "x://y:",
        ] {
            let text = unit.repeat(60_000 / unit.len());
            drop(detect::find(&text, "", |_| true));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_judged_without_a_panic(new in ".{0,200}", old in ".{0,40}") {
            drop(detect::find(&new, &old, |_| true));
        }

        #[test]
        fn any_mix_of_examples_is_judged_without_a_panic(parts in prop::collection::vec((0..rows().len(), 0..20_usize, ".{0,4}"), 0..8)) {
            let text: String = parts.iter().map(|(row, example, between)| {
                let row = &rows()[*row];
                let texts: Vec<_> = row.must_match.iter().chain(row.must_not).collect();
                format!("{}{between}", texts[example % texts.len()])
            }).collect();
            drop(detect::find(&text, "", |_| true));
            prop_assert_eq!(detect::find(&text, &text, |_| true).len(), 0);
        }
    }
}

mod reviews {
    use super::*;

    const EMAIL: &str = "this is personal: an email address";
    const HEALTH: &str = "this is personal: a health fact";

    #[test]
    fn ordinary_calls_are_done_in_every_mode() {
        for mode in [Mode::Off, Mode::Flag] {
            check(call(create("user.md", "- city: Paris")), mode, &[], Ok("off"), &[]);
            check(claimed(create("user.md", "- city: Paris")), mode, &[], Ok("off"), &[]);
            check(call(read("user.md")), mode, &[], Ok("off"), &[]);
            check(call(delete("user.md")), mode, &[], Ok("off"), &[]);
        }
    }

    #[test]
    fn off_does_what_is_personal_and_notes_it() {
        check(call(create("user.md", "- mail: ada@example.com")), Mode::Off, &[], Ok("off"), &[("personal", EMAIL)]);
        let text = "ada@example.com\n- allergies: nuts\n<script>x</script>";
        let issues =
            [("personal", HEALTH), ("personal", EMAIL), ("active_content", "this is active content: a script")];
        check(claimed(create("user.md", text)), Mode::Off, &[], Ok("off"), &issues);
    }

    #[test]
    fn flag_wants_a_claim() {
        let health = create("user.md", "- allergies: nuts\n- mail: ada@example.com");
        check(call(health.clone()), Mode::Flag, &[], Err(ask_first(HEALTH)), &[]);
        let block = Call { meaning: Meaning::MemAgent, ..call(health.clone()) };
        let cannot_say = Failure::new(Code::PermissionRequired, HEALTH)
            .with_hint("leave it out: a block cannot say that the user has agreed");
        check(block, Mode::Flag, &[], Err(cannot_say), &[]);
        check(claimed(health), Mode::Flag, &[], Ok("claimed"), &[]);
        let active = create("a.md", "```dataviewjs\n```");
        check(call(active), Mode::Flag, &[], Err(ask_first("this is active content: a dataviewjs block")), &[]);
    }

    #[test]
    fn secrets_are_denied_in_every_mode() {
        for mode in [Mode::Off, Mode::Flag] {
            let text = format!("- allergies: nuts\n{PASSWORD}");
            check(claimed(create("user.md", &text)), mode, &[], Err(secret("a password")), &[]);
        }
    }

    #[test]
    fn a_denial_does_not_repeat_the_secret() {
        let (result, _) = answer(call(create("user.md", PASSWORD)), Mode::Off, false, &[]);
        let failure = result.unwrap_err();
        assert!(!format!("{failure:?}").contains(concat!("hun", "ter2")));
    }

    #[test]
    fn an_edit_beside_a_personal_fact_is_fine() {
        check(call(update("a: ada@example.com, 1", "a: ada@example.com, 2")), Mode::Flag, &[], Ok("off"), &[]);
        check(call(update("a: 1", "a: ada@example.com")), Mode::Flag, &[], Err(ask_first(EMAIL)), &[]);
        check(call(update(PASSWORD, "- no more of it")), Mode::Flag, &[], Ok("off"), &[]);
    }

    #[test]
    fn names_that_would_be_new_are_judged_for_secrets() {
        let key = concat!("ghp", "_FakeFakeFakeFakeFakeFakeFakeFake1234.md");
        check(call(create(key, "x")), Mode::Off, &[], Err(secret("a GitHub token")), &[]);
        check(call(rename("a.md", key)), Mode::Off, &[], Err(secret("a GitHub token")), &[]);
        check(call(rename(key, "a.md")), Mode::Off, &[], Ok("off"), &[]);
        check(call(rename(key, &format!("b/{key}"))), Mode::Off, &[], Ok("off"), &[]);
        check(call(delete(key)), Mode::Off, &[], Ok("off"), &[]);
        check(call(read(key)), Mode::Off, &[], Ok("off"), &[]);
        check(call(create("ada@example.com.md", "x")), Mode::Flag, &[], Err(ask_first(EMAIL)), &[]);
        for name in
            ["people/ada_was_diagnosed_with_asthma.md", "ada-is-pregnant/x.md", "notes/call +44 20 7946 0958.md"]
        {
            let result = answer(call(create(name, "x")), Mode::Flag, false, &[]).0;
            assert_eq!(result.unwrap_err().code, Code::PermissionRequired, "{name}");
            assert!(answer(call(rename("a.md", name)), Mode::Flag, false, &[]).0.is_err(), "{name}");
            assert!(answer(call(rename(name, &format!("old/{name}"))), Mode::Flag, false, &[]).0.is_ok(), "{name}");
        }
        for name in ["daily/2024-01-02.md", "people/jane_doe.md", "v1.2.3/release-notes.md", "20240102153000.md"] {
            check(call(create(name, "x")), Mode::Flag, &[], Ok("off"), &[]);
        }
    }

    #[test]
    fn all_asks_about_whatever_changes_something() {
        let waits = |message: &str| {
            Err(Failure::new(Code::AwaitingApproval, message).with_hint("go on without it; the person decides"))
        };
        let every = || waits("every change is asked about here");
        for row in catalog::ROWS {
            let example: serde_json::Value = serde_json::from_str(row.example).unwrap();
            let mut arguments = example.as_object().cloned().unwrap();
            arguments.retain(|key, _| !["action", "assign_to", "has_explicit_permission"].contains(&key.as_str()));
            let action = catalog::decode(3, row.name, arguments).unwrap();
            let expected = if access(&action) == Access::Read { Ok("off") } else { every() };
            check(call(action.clone()), Mode::All, &[], expected.clone(), &[]);
            check(claimed(action), Mode::All, &[], expected, &[]);
        }
        for text in ["- city: Paris", "Sie trägt gern Grün.", "彼女は紅茶が好きです", ""] {
            check(call(create("user.md", text)), Mode::All, &[], every(), &[]);
        }
        check(call(rename("a.md", "b.md")), Mode::All, &[], every(), &[]);
        check(call(delete("a.md")), Mode::All, &[], every(), &[]);
        check(call(create("a.md", "ada@example.com")), Mode::All, &[], waits(EMAIL), &[]);
        check(call(create("a.md", PASSWORD)), Mode::All, &[], Err(secret("a password")), &[]);
    }

    #[test]
    fn all_lets_through_what_a_rule_allows() {
        let allow = rule(Verdict::Allow);
        let every = || -> Result<&str, Failure> {
            let failure = Failure::new(Code::AwaitingApproval, "every change is asked about here");
            Err(failure.with_hint("go on without it; the person decides"))
        };
        let there = Rule { path: named("inbox/**"), ..allow.clone() };
        check(call(create("inbox/a.md", "- city: Paris")), Mode::All, std::slice::from_ref(&there), Ok("rule:1"), &[]);
        check(call(create("a.md", "- city: Paris")), Mode::All, std::slice::from_ref(&there), every(), &[]);
        check(call(rename("inbox/a.md", "a.md")), Mode::All, std::slice::from_ref(&there), every(), &[]);
        let mails = Rule { detector: named("email"), ..allow.clone() };
        check(call(create("a.md", "ada@example.com, likes tea")), Mode::All, &[mails], every(), &[]);
        let change = Rule { detector: named("change"), ..there.clone() };
        let changes = std::slice::from_ref(&change);
        check(call(create("inbox/a.md", "- city: Paris")), Mode::All, changes, Ok("rule:1"), &[]);
        check(call(create("inbox/a.md", "- city: Paris")), Mode::Ask, changes, Ok("off"), &[]);
        check(call(create("a.md", "- city: Paris")), Mode::All, changes, every(), &[]);
        for verdict in [Verdict::Ask, Verdict::Deny] {
            assert!(
                Rules::new(vec![Rule { verdict, ..change.clone() }]).is_err(),
                "{verdict}: no finding is called so"
            );
        }
        let denies = Rule { path: named("inbox/b.md"), ..rule(Verdict::Deny) };
        let rules = [there.clone(), denies];
        check(call(create("inbox/b.md", "x")), Mode::All, &rules, Err(by_rule("rule 2 denies `create_file`")), &[]);

        let rules = Rules::new(vec![there]).unwrap();
        let context =
            Context { mode: Mode::All, approved: false, read_only: false, client: None, grant: None, rules: &rules };
        let at = |call: Call, place: &str| review_target(&call, &path(place), &context).map_err(|it| it.failure);
        assert_eq!(at(call(create("inbox/a.md", "x")), "inbox/a.md"), Ok(()));
        assert_eq!(at(call(create("inbox/a.md", "x")), "user.md"), every().map(|_| ()));
        assert_eq!(at(call(read("inbox/a.md")), "user.md"), Ok(()));
    }

    #[test]
    fn rules_that_nobody_can_read_refuse_everything() {
        let rules = Rules::unreadable(Failure::new(Code::Config, "the settings file, line 1: no"));
        let context =
            Context { mode: Mode::Off, approved: true, read_only: false, client: None, grant: None, rules: &rules };
        let read = call(read("a.md"));
        let refused = review(read.clone(), &context, &mut Vec::new()).unwrap_err();
        assert_eq!(refused.failure.code, Code::Config);
        assert!(review_place(&read, &path("b.md"), &context).is_err());
        assert!(review_target(&read, &path("b.md"), &context).is_err());
        assert!(may_hide(&read, &context) && !rules.is_empty());
    }

    #[test]
    fn who_has_agreed_is_asked_no_more() {
        let rules = Rules::default();
        let context =
            Context { mode: Mode::All, approved: true, read_only: false, client: None, grant: None, rules: &rules };
        let cleared = review(call(create("a.md", "- city: Paris")), &context, &mut Vec::new()).unwrap();
        assert_eq!(*cleared.permission(), Permission::Approved);
        assert!(review_target(&call(create("a.md", "x")), &path("b.md"), &context).is_ok());
    }

    #[test]
    fn what_a_shape_says_is_found() {
        let found = |action: Action| answer(call(action), Mode::Flag, false, &[]).0.map_err(|failure| failure.message);
        for (text, what) in [
            ("| Name | Phone |\n|---|---|\n| Tom | 555 0100 |", "personal: a phone number"),
            ("Name | Phone\n--- | ---\nTom | 555 0100", "personal: a phone number"),
            ("| Name | Allergies |\n|---|---|\n| Tom | pollen |", "personal: a health fact"),
            ("| what | it is |\n|---|---|\n| Salary | 4,100 |", "personal: an income"),
            ("| Service | Password |\n|---|---|\n| Post | hun\u{74}er2 |", "a secret: a password"),
            ("## Salary\n\n4,100", "personal: an income"),
            ("## Salary\n\nSince May:\n- 4,100 a month", "personal: an income"),
            ("## Religion\nBuddhist", "personal: a religious belief"),
            ("**Salary**\n4,100", "personal: an income"),
            ("**Salary** 4,100", "personal: an income"),
            ("Salary:\n- 4,100", "personal: an income"),
            ("- Salary\n", ""),
            ("- Salary - 4,100", "personal: an income"),
            ("Salary → 4,100", "personal: an income"),
            ("Phones:\n  - 555 0100", "personal: a phone number"),
            ("| Name | Colour |\n|---|---|\n| Tom | 555 |", ""),
            ("## Work\n\n4,100 files", ""),
            ("# Ada\n\n- city: Paris\n\n## Tea\n\n- green", ""),
        ] {
            let expected = if what.is_empty() { Ok("off".to_owned()) } else { Err(format!("this is {what}")) };
            assert_eq!(found(create("a.md", text)), expected, "{text}");
        }
        let (path, heading) = (path("a.md"), "Salary".to_owned());
        let append = AppendToSection { path, heading, content: "4,100".to_owned() };
        assert_eq!(found(Action::AppendToSection(append)), Err("this is personal: an income".to_owned()));
        let set = SetFact { path: super::path("a.md"), key: "salary".to_owned(), value: "4,100".to_owned() };
        assert_eq!(found(Action::SetFact(set)), Err("this is personal: an income".to_owned()));
        let table = |cell: &str| format!("| Name | Phone |\n|---|---|\n| Tom | {cell} |");
        assert_eq!(found(update(&table("555 0100"), &table("555 0100"))), Ok("off".to_owned()));
        assert!(found(update(&table("555 0100"), &table("555 0199"))).is_err());
    }

    #[test]
    fn read_only_lets_only_reading_through() {
        for (action, access) in [(create("a.md", "x"), "create_file"), (delete("a.md"), "delete_file")] {
            let message = format!("this memory is read-only here, and `{access}` writes");
            let failure = Failure::new(Code::ReadOnly, message).with_hint("only actions that read are allowed");
            assert_eq!(answer(claimed(action), Mode::Off, true, &[rule(Verdict::Allow)]), (Err(failure), Vec::new()));
        }
        assert_eq!(answer(call(read("a.md")), Mode::Off, true, &[]), (Ok("off".to_owned()), Vec::new()));
    }

    #[test]
    fn each_action_has_an_access() {
        for row in catalog::ROWS {
            assert!(NAMES.contains(&row.name));
        }
        assert_eq!(access(&delete("a.md")), Access::Remove);
        assert_eq!(access(&read("a.md")), Access::Read);
    }

    #[test]
    fn permission_has_the_words_of_the_audit() {
        let words = [Permission::Off, Permission::Claimed, Permission::Rule("2".into()), Permission::Refused];
        assert_eq!(words.map(|permission| permission.to_string()), ["off", "claimed", "rule:2", "refused"]);
    }

    #[test]
    fn settings_say_modes_verdicts_and_rules_in_their_words() {
        assert_eq!(serde_json::from_str::<Mode>("\"flag\"").unwrap(), Mode::Flag);
        assert_eq!(serde_json::to_string(&Verdict::Deny).unwrap(), "\"deny\"");
        assert!(Verdict::Allow < Verdict::Ask && Verdict::Ask < Verdict::Deny);
        let read: Rule = serde_json::from_str(r#"{"path":"private/**","verdict":"deny"}"#).unwrap();
        assert_eq!(read, Rule { path: named("private/**"), ..rule(Verdict::Deny) });
        assert!(serde_json::from_str::<Rule>(r#"{"paths":"x","verdict":"deny"}"#).is_err());
        assert!(serde_json::from_str::<Rule>(r#"{"path":"x"}"#).is_err());
    }

    proptest! {
        #[test]
        fn any_call_is_reviewed_without_a_panic(content in ".{0,80}", old in ".{0,20}", glob in "[a-c*?/.]{1,12}", flag: bool) {
            let rules = Rules::new(vec![Rule { path: Some(glob), ..ANY }]).unwrap_or_default();
            let mode = if flag { Mode::Flag } else { Mode::Off };
            let context = Context { mode, approved: false, read_only: false, client: None, grant: None, rules: &rules };
            for action in [create("a/b.md", &content), update(&old, &content), delete_dir("a"), rename("a", "b/c")] {
                let _ = review(Call { claimed: flag, ..call(action) }, &context, &mut Vec::new());
            }
        }
    }
}

mod rules {
    use super::*;

    const DENY: Rule = Rule { verdict: Verdict::Deny, ..ANY };
    const ALLOW: Rule = Rule { verdict: Verdict::Allow, ..ANY };

    #[track_caller]
    fn is_about(rule: Rule, action: Action, expected: bool) {
        let (result, _) = answer(call(action), Mode::Off, false, &[rule]);
        assert_eq!(result.is_err(), expected, "{result:?}");
    }

    #[test]
    fn each_part_has_to_match() {
        is_about(DENY, read("a.md"), true);
        is_about(Rule { action: named("read_file"), ..DENY }, read("a.md"), true);
        is_about(Rule { action: named("read_file"), ..DENY }, delete("a.md"), false);
        is_about(Rule { path: named("a*"), ..DENY }, read("a.md"), true);
        is_about(Rule { path: named("b*"), ..DENY }, read("a.md"), false);
        is_about(Rule { client: named("shelf"), ..DENY }, read("a.md"), true);
        is_about(Rule { client: named("other"), ..DENY }, read("a.md"), false);
        is_about(Rule { detector: named("email"), ..DENY }, create("a.md", "ada@example.com"), true);
        is_about(Rule { detector: named("personal"), ..DENY }, create("a.md", "ada@example.com"), true);
        is_about(Rule { detector: named("phone"), ..DENY }, create("a.md", "ada@example.com"), false);
        is_about(Rule { path: named("b*"), action: named("read_file"), ..DENY }, read("a.md"), false);
    }

    #[test]
    fn a_denial_names_its_rule() {
        let rules = [rule(Verdict::Allow), Rule { action: named("delete_file"), ..DENY }];
        let expected = Err(by_rule("rule 2 denies `delete_file`"));
        check(claimed(delete("a.md")), Mode::Flag, &rules, expected, &[]);
    }

    #[test]
    fn the_strictest_rule_wins() {
        let rules = [rule(Verdict::Ask), rule(Verdict::Allow), rule(Verdict::Deny), rule(Verdict::Deny)];
        check(call(read("a.md")), Mode::Off, &rules, Err(by_rule("rule 3 denies `read_file`")), &[]);
        let asks = "rule 1 asks about `read_file`";
        check(call(read("a.md")), Mode::Off, &rules[..2], Ok("off"), &[("rule", asks)]);
        check(call(read("a.md")), Mode::Flag, &rules[..2], Err(ask_first(asks)), &[]);
        check(claimed(read("a.md")), Mode::Flag, &rules[..2], Ok("claimed"), &[]);
    }

    #[test]
    fn a_rule_is_named_before_a_detector_of_the_same_verdict() {
        let failure = by_rule("rule 1 denies `create_file`");
        check(call(create("a.md", PASSWORD)), Mode::Off, &[DENY], Err(failure), &[]);
        check(call(create("a.md", PASSWORD)), Mode::Off, &[ANY], Err(secret("a password")), &[]);
    }

    #[test]
    fn allow_lifts_what_would_be_asked_but_no_secret() {
        let personal = create("private/a.md", "ada@example.com");
        let there = Rule { path: named("private/**"), ..ALLOW };
        check(call(personal.clone()), Mode::Flag, std::slice::from_ref(&there), Ok("rule:1"), &[]);
        check(call(personal), Mode::Off, std::slice::from_ref(&there), Ok("rule:1"), &[]);
        let secrets = create("private/a.md", PASSWORD);
        check(call(secrets), Mode::Flag, std::slice::from_ref(&there), Err(secret("a password")), &[]);
        let elsewhere = create("a.md", "ada@example.com");
        check(call(elsewhere), Mode::Flag, &[there], Err(ask_first("this is personal: an email address")), &[]);
    }

    #[test]
    fn allow_with_a_detector_lifts_only_that_one() {
        let there = |detector| Rule { path: named("private/**"), detector: named(detector), ..ALLOW };
        let both = create("private/a.md", &format!("{PASSWORD}\nada@example.com"));
        let email = "this is personal: an email address";
        check(call(both.clone()), Mode::Flag, &[there("password")], Err(ask_first(email)), &[]);
        check(call(both.clone()), Mode::Flag, &[there("secret"), there("email")], Ok("rule:1"), &[]);
        check(call(both.clone()), Mode::Off, &[there("secret")], Ok("off"), &[("personal", email)]);
        check(call(both.clone()), Mode::Flag, &[there("pin")], Err(secret("a password")), &[]);
        check(call(both), Mode::Flag, &[there("secret"), DENY], Err(by_rule("rule 2 denies `create_file`")), &[]);
    }

    #[test]
    fn a_rule_that_denies_holds_for_both_ends_and_for_folders_around() {
        let private = || Rule { path: named("private/**"), ..DENY };
        is_about(private(), rename("private/a.md", "a.md"), true);
        is_about(private(), rename("a.md", "private/a.md"), true);
        is_about(private(), rename("a.md", "b.md"), false);
        is_about(private(), read("Private/A.md"), true);
        is_about(private(), delete_dir("private"), true);
        let deep = || Rule { path: named("people/*/private.md"), ..DENY };
        is_about(deep(), delete_dir("people"), true);
        is_about(deep(), delete_dir("people/ada"), true);
        is_about(deep(), delete_dir("people/ada/x"), false);
        is_about(deep(), rename("people", "folk"), true);
        is_about(deep(), rename("people.md", "folk.md"), false);
        is_about(deep(), delete_dir("places"), false);
    }

    #[test]
    fn a_rule_that_denies_holds_in_every_form_of_a_name() {
        for glob in ["caf\u{e9}/**", "cafe\u{301}/**", "CAF\u{c9}/**", "caf?/**"] {
            for folder in ["caf\u{e9}", "cafe\u{301}", "CAFE\u{301}", "Caf\u{c9}"] {
                let rule = Rule { path: named(glob), ..DENY };
                is_about(rule.clone(), read(&format!("{folder}/a.md")), true);
                is_about(rule, delete_dir(folder), true);
            }
        }
        is_about(Rule { path: named("stra\u{df}e/**"), ..DENY }, read("STRASSE/a.md"), true);
        is_about(Rule { path: named("stra?e/??"), ..DENY }, read("stra\u{df}e/e\u{301}\u{df}"), true);
        is_about(Rule { path: named("cafe/**"), ..DENY }, read("caf\u{e9}/a.md"), false);
    }

    #[test]
    fn a_folder_named_like_a_note_is_a_folder() {
        let denies = |glob: &str, action| is_about(Rule { path: named(glob), ..DENY }, action, true);
        denies("archive.md/secret.md", rename("archive.md", "z"));
        denies("archive.md/secret.md", rename("z", "Archive.md"));
        denies("archive.md/secret.md", delete_dir("archive.md"));
        denies("a/*/secret.md", rename("a/x.md", "z"));
        denies("a/**/secret.md", rename("a/x.md", "z"));
        denies("**/archive.md/secret.md", rename("b/archive.md", "z"));
        is_about(Rule { path: named("**/secret.md"), ..DENY }, rename("a/x.md", "z.md"), false);
        is_about(Rule { path: named("**/secret.md"), ..DENY }, rename("a/secret.md", "z.md"), true);
        is_about(Rule { path: named("people/**"), ..DENY }, rename("a/x.md", "z.md"), false);
    }

    #[test]
    fn a_call_is_judged_for_each_place_it_comes_to() {
        let follow = || Action::GoToLink(GoToLink { link: "[[ada]]".to_owned(), source: None });
        let at = |rule: Rule, call: Call, place: &str, mode| {
            let rules = Rules::new(vec![rule]).unwrap();
            let context =
                Context { mode, approved: false, read_only: false, client: Some("shelf"), grant: None, rules: &rules };
            review_place(&call, &path(place), &context).map_err(|refused| refused.failure)
        };
        let private = |action: &str| Rule { action: named(action), path: named("private/**"), ..DENY };
        let denied = |name: &str| Err(by_rule(&format!("rule 1 denies `{name}`")));
        for name in ["go_to_link", "read_file"] {
            assert_eq!(at(private(name), call(follow()), "private/a.md", Mode::Off), denied("go_to_link"));
            assert_eq!(at(private(name), call(follow()), "a.md", Mode::Off), Ok(()));
        }
        assert_eq!(at(private("get_size"), call(follow()), "private/a.md", Mode::Off), Ok(()));
        assert_eq!(at(private("go_to_link"), call(read("a.md")), "private/a.md", Mode::Off), Ok(()));
        assert_eq!(at(private("read_file"), call(read("a.md")), "private/a.md", Mode::Off), denied("read_file"));
        assert_eq!(at(private("rename_file"), call(rename("a", "b")), "private", Mode::Off), denied("rename_file"));
        let gone = || call(delete_dir("private"));
        assert_eq!(at(private("delete_file"), gone(), "private", Mode::Off), denied("delete_dir"));
        assert_eq!(at(private("delete_file"), gone(), "open", Mode::Off), Ok(()));
        assert_eq!(at(private("read_file"), gone(), "private", Mode::Off), Ok(()));
        let other = Rule { client: named("other"), ..private("read_file") };
        assert_eq!(at(other, call(follow()), "private/a.md", Mode::Off), Ok(()));
        let asks = Rule { verdict: Verdict::Ask, ..private("go_to_link") };
        let asked = Err(ask_first("rule 1 asks about `go_to_link`"));
        assert_eq!(at(asks.clone(), call(follow()), "private/a.md", Mode::Flag), asked);
        assert_eq!(at(asks.clone(), claimed(follow()), "private/a.md", Mode::Flag), Ok(()));
        assert_eq!(at(asks, call(follow()), "private/a.md", Mode::Off), Ok(()));
        let found = Rule { detector: named("email"), path: named("private/**"), ..DENY };
        let mail = call(create("a.md", "ada@example.com"));
        assert_eq!(at(found.clone(), mail, "private/a.md", Mode::Off), denied("create_file"));
        assert_eq!(at(found, call(create("a.md", "tea")), "private/a.md", Mode::Off), Ok(()));
        assert_eq!(at(Rule { path: named("private/**"), ..ALLOW }, call(read("a.md")), "b.md", Mode::Flag), Ok(()));
    }

    #[test]
    fn only_rules_about_a_call_hide_notes_from_its_answer() {
        let hides = |rule: &Rule, call: &Call, mode| {
            let rules = Rules::new(vec![rule.clone()]).unwrap();
            may_hide(
                call,
                &Context { mode, approved: false, read_only: false, client: Some("shelf"), grant: None, rules: &rules },
            )
        };
        let query = || "tea".to_owned();
        let search = || {
            let (mode, path, limit, cursor, budget) = (None, None, None, None, None);
            Action::SearchFiles(SearchFiles {
                query: query(),
                mode,
                path,
                limit,
                cursor,
                budget,
                include_past: None,
                as_of: None,
            })
        };
        let search_call = call(search());
        let context = call(Action::GetContext(GetContext {
            query: Some(query()),
            path: None,
            budget: None,
            include_past: None,
            as_of: None,
        }));
        let private = |action: &str| Rule { action: named(action), path: named("private/**"), ..DENY };
        for (action, from_search, from_context) in [
            ("", true, true),
            ("read_file", true, true),
            ("search_files", true, true),
            ("get_context", false, true),
            ("delete_file", false, false),
        ] {
            let rule = if action.is_empty() { Rule { action: None, ..private("") } } else { private(action) };
            assert_eq!(hides(&rule, &search_call, Mode::Off), from_search, "{action}");
            assert_eq!(hides(&rule, &context, Mode::Off), from_context, "{action}");
            assert!(!hides(&Rule { client: named("other"), ..rule.clone() }, &context, Mode::Off), "{action}");
            assert!(!hides(&Rule { verdict: Verdict::Allow, ..rule }, &context, Mode::Off), "{action}");
        }
        assert!(hides(&Rule { path: None, ..private("read_file") }, &search_call, Mode::Off), "all notes");
        assert!(!hides(&Rule { path: None, detector: named("email"), ..DENY }, &search_call, Mode::Off));
        let asks = Rule { verdict: Verdict::Ask, ..private("read_file") };
        assert!(hides(&asks, &search_call, Mode::Flag));
        assert!(!hides(&asks, &claimed(search()), Mode::Flag), "the person was asked");
        assert!(!hides(&asks, &search_call, Mode::Off), "nobody is asked");
    }

    #[test]
    fn a_rule_that_allows_wants_every_path_and_every_letter() {
        let copy = |at: &str, to: &str| Action::CopyFile(CopyFile { path: path(at), new_path: path(to) });
        let there = Rule { path: named("private/**"), ..ALLOW };
        let rules = [there];
        check(call(copy("private/a.md", "private/b.md")), Mode::Flag, &rules, Ok("rule:1"), &[]);
        check(call(copy("private/a.md", "b.md")), Mode::Flag, &rules, Ok("off"), &[]);
        check(call(read("Private/a.md")), Mode::Flag, &rules, Ok("off"), &[]);
    }

    #[test]
    fn mistakes_are_told_with_the_number_and_the_nearest_name() {
        let mistake = |wrong: Rule| {
            let error = Rules::new(vec![ANY, wrong]).unwrap_err();
            (error.to_string(), error.hint().unwrap_or_default())
        };
        let told = |message: &str, hint: &str| (message.to_owned(), hint.to_owned());
        let action = Rule { action: named("creat_file"), ..ANY };
        assert_eq!(mistake(action), told("rule 2: unknown action `creat_file`", "did you mean `create_file`?"));
        let detector = Rule { detector: named("secrets"), ..ANY };
        assert_eq!(mistake(detector), told("rule 2: unknown detector `secrets`", "did you mean `secret`?"));
        let far = Rule { detector: named("qqq"), ..ANY };
        assert_eq!(mistake(far), told("rule 2: unknown detector `qqq`", ""));
        let hint = "write a path such as `private/**`";
        for (glob, problem) in [
            ("", "is empty"),
            ("//", "can match no path of the memory"),
            ("/a", "can match no path of the memory"),
            ("a/../b", "can match no path of the memory"),
            (".memdir/**", "can match no path of the memory"),
            ("a**", "has `**` beside other characters: it stands alone between slashes"),
            ("{a,b}", "has `{`: only `*`, `**` and `?` are special, and `?` stands for any one character"),
        ] {
            let wrong = Rule { path: named(glob), ..ANY };
            assert_eq!(mistake(wrong), told(&format!("rule 2: path `{glob}` {problem}"), hint));
        }
    }
}

mod globs {
    use super::*;
    use crate::glob::Glob;

    #[track_caller]
    fn check(glob: &str, matching: &[&str], other: &[&str]) {
        let glob = Glob::parse(glob).unwrap();
        for text in matching {
            assert!(glob.matches(&path(text)), "{glob:?} should match {text}");
        }
        for text in other {
            assert!(!glob.matches(&path(text)), "{glob:?} should not match {text}");
        }
    }

    #[test]
    fn stars_and_marks() {
        check("user.md", &["user.md"], &["User.md", "a/user.md", "user.mdx", "xuser.md"]);
        check("*.md", &["a.md", "é.md"], &["a/b.md", "a.txt", "a.md.txt"]);
        check("?.md", &["a.md", "é.md", "日.md"], &["ab.md"]);
        check("a*b*c", &["abc", "axbxc", "abcbc", "aabbcc"], &["ab", "acb", "abcd"]);
        check("private/**", &["private", "private/a.md", "private/a/b/c.md"], &["privates/a.md", "a/private/b.md"]);
        check("private/", &["private/a.md"], &["privates"]);
        check("**/x.md", &["x.md", "a/x.md", "a/b/x.md"], &["x.md/a", "ax.md"]);
        check("a/**/b", &["a/b", "a/x/b", "a/x/y/b", "a/b/b"], &["a/b/c", "b"]);
        check("**", &["a", "a/b"], &[]);
        check("a/*/c", &["a/b/c"], &["a/c", "a/b/b/c"]);
        check("**/**/a", &["a", "b/a"], &["b"]);
    }

    #[test]
    fn folders_that_could_hold_a_match() {
        let reaches = |glob: &str, at: &str| Glob::parse(glob).unwrap().reaches_below(&path(at));
        assert!(reaches("a/b", "a") && reaches("a/b", "A") && reaches("**/x", "q") && reaches("a/**", "a/b/c"));
        assert!(!reaches("a/b", "a/b") && !reaches("a/b", "b") && !reaches("*.md", "a") && !reaches("a/*/c", "b/x"));
    }

    #[test]
    fn many_stars_are_quick() {
        let name = "a".repeat(250);
        let long = [name.as_str(); 4].join("/");
        assert!(
            !Glob::parse(&format!("**/*/{}b", "?*a".repeat(200).replace("**", "*"))).unwrap().matches(&path(&long))
        );
        assert!(!Glob::parse(&format!("{}b", "**/a/".repeat(200))).unwrap().matches(&path(&"a/".repeat(500))));
    }

    /// What a glob means, said plainly and slowly.
    fn plain(glob: &[&str], names: &[&str]) -> bool {
        match (glob.split_first(), names.split_first()) {
            (None, rest) => rest.is_none(),
            (Some((&"**", glob_rest)), None) => plain(glob_rest, names),
            (Some((&"**", glob_rest)), Some((_, rest))) => plain(glob_rest, names) || plain(glob, rest),
            (Some((one, glob_rest)), Some((name, rest))) => {
                plain_name(one.as_bytes(), name.as_bytes()) && plain(glob_rest, rest)
            }
            (Some(_), None) => false,
        }
    }

    fn plain_name(glob: &[u8], name: &[u8]) -> bool {
        match (glob, name) {
            ([], rest) => rest.is_empty(),
            ([b'*', glob_rest @ ..], _) => {
                plain_name(glob_rest, name) || name.split_first().is_some_and(|(_, rest)| plain_name(glob, rest))
            }
            ([b'?', glob_rest @ ..], [_, rest @ ..]) => plain_name(glob_rest, rest),
            ([one, glob_rest @ ..], [other, rest @ ..]) => one == other && plain_name(glob_rest, rest),
            (_, []) => false,
        }
    }

    proptest! {
        #[test]
        fn it_means_what_it_says(glob in "([ab*?]{1,4}/|\\*\\*/){0,3}[ab*?]{1,4}", text in "([ab]{1,3}/){0,3}[ab]{1,3}") {
            if let Ok(parsed) = Glob::parse(&glob) {
                let components: Vec<_> = glob.split('/').collect();
                let names: Vec<_> = text.split('/').collect();
                prop_assert_eq!(parsed.matches(&path(&text)), plain(&components, &names), "{} {}", glob, text);
            }
        }

        #[test]
        fn any_glob_is_read_without_a_panic(glob in ".{0,40}", text in "[a-z/]{1,20}") {
            if let (Ok(glob), Ok(text)) = (Glob::parse(&glob), MemoryPath::parse(&text)) {
                let _ = (glob.matches(&text), glob.matches_any_form(&text), glob.loses_below(&text), glob.reaches_below(&text));
            }
        }
    }
}

#[test]
fn what_is_shown_as_code_is_active_only_where_it_runs() {
    use crate::active_content;
    let text = "```html\n<script>x</script>\n![](https://e.com/a.png)\n```\n`javascript:x` `$= dv.x`\n\n```dataviewjs\nx\n```\n<script>\n";
    let blank = |line: &str| " ".repeat(line.len());
    let shown: Vec<String> =
        text.lines().enumerate().map(|(at, line)| if at == 9 { line.to_owned() } else { blank(line) }).collect();
    let found = active_content(text, || shown.join("\n"));
    assert_eq!(found, [(5, "an inline dataview script"), (7, "a dataviewjs block"), (10, "a script")]);
}

#[test]
fn what_is_hidden_takes_along_what_stands_below_it() {
    let all = ["**".to_owned()];
    let hiding = |glob: &str| crate::Grant::new(&all, &all, None).unwrap().hiding(&[glob.to_owned()]).unwrap();
    for glob in ["health", "health/**", "Health"] {
        let grant = hiding(glob);
        assert!(!grant.shows(&path("health/x/d.md")) && !grant.lets_write(&path("health/d.md")), "{glob}");
        assert!(grant.shows(&path("healthy.md")) && grant.lets_write(&path("work/health.md")), "{glob}");
        assert!(grant.lets_write_all(&path("work")) && !grant.lets_write_all(&path("health")), "{glob}");
    }
    assert!(!hiding("work/x/**").lets_write_all(&path("work")), "it would move what is hidden");
}
