#![expect(clippy::disallowed_methods, reason = "tests play the person, who uses paths")]

use tokio_util::sync::CancellationToken;

use super::{ID, Session, engine, settings};
use crate::{Agent, Decision, Edge, Event, Exchange, Family, Notice, Prompts, Said, Settings, Stage};
use memdir_core::report::Value;
use memdir_engine::Reviewed;
use memdir_model::Request;
use memdir_model::script::Scripted;

/// A person who is not there, and all that could have been shown to them.
#[derive(Default)]
struct Away {
    heard: String,
}

impl Edge for Away {
    fn hear(&mut self, event: Event<'_>) {
        self.heard.push_str(&format!("{event:?}\n"));
    }

    fn decide(&mut self, _: &Reviewed) -> Decision {
        Decision::Later
    }

    fn is_attended(&self) -> bool {
        false
    }
}

/// What came of a message.
struct Came {
    said: Said,
    heard: String,
    /// All that the model was asked, as text.
    asked: Vec<String>,
    folder: tempfile::TempDir,
}

impl Came {
    fn note(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }
}

const ADA: &str =
    "# Ada\n- city: London\n\n## Health\n- asthma since 2019\n- pollen\n\n## Home\n- phone: +49 30 1234567\n- tea\n";
const NOTES: &[(&str, &str)] = &[
    ("user.md", "# Bob\n- name: Bob\n- friend: [[entities/ada]]\n"),
    ("entities/ada.md", ADA),
    ("private/diary.md", "# Diary\n- Ada and the elephant\n"),
];

/// Lets a model that says this answer a message.
fn talk(settings: Settings, before: &[Exchange], message: &str, turns: &[&str]) -> Came {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in NOTES {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let engine = engine(folder.path());
    let model = Box::new(Scripted::new(turns));
    let asked = std::sync::Arc::clone(&model.asked);
    let session = Session { exchanges: before.to_vec(), ..Session::new(ID.to_owned()) };
    let mut agent = Agent::new(&engine, model, Prompts::default(), settings, session);
    let (mut edge, mut said) = (Away::default(), Said::default());
    agent.say(message, &mut edge, &CancellationToken::new(), &mut said).unwrap();
    let asked = asked.lock().unwrap();
    let text = |request: &Request| {
        let messages = request.messages.iter().map(|message| message.text.as_str());
        std::iter::once(request.system.as_str()).chain(messages).collect::<Vec<_>>().join("\n")
    };
    Came { said, heard: edge.heard, asked: asked.iter().map(text).collect(), folder }
}

const FILTER: &str =
    "<filter>Do not reveal her health. Do not reveal phone numbers. Do not reveal anything in private/.</filter>";

#[track_caller]
fn holds_nothing(came: &Came) {
    let said = format!("{:?}", came.said);
    for secret in ["asthma", "pollen", "1234567", "elephant", "diary"] {
        for text in came.asked.iter().chain([&came.heard, &said]) {
            // Its own words, of which it hears that no note that it sees has them.
            let own =
                ["asthma hay", "of asthma", "\"asthma\""].iter().fold(text.clone(), |text, own| text.replace(own, ""));
            assert!(!own.to_lowercase().contains(secret), "`{secret}` in {text}");
        }
    }
}

#[test]
fn what_is_filtered_reaches_neither_the_model_nor_the_person() {
    let before = [Exchange {
        number: 1,
        message: "What is her phone?".to_owned(),
        reply: Some("Her phone is +49 30 1234567. She likes tea.".to_owned()),
        ..Exchange::default()
    }];
    let calls = r#"<actions>[
        {"action":"read_file","path":"entities/ada.md","start_line":5,"end_line":6},
        {"action":"read_file","path":"entities/ada.md"},
        {"action":"search_files","query":"asthma hay"},
        {"action":"search_files","query":"Ada"},
        {"action":"get_context","query":"Ada health of asthma"},
        {"action":"list_files"},
        {"action":"list_directory"},
        {"action":"get_links","path":"user.md"},
        {"action":"go_to_link","link":"[[ada#Health]]"},
        {"action":"copy_file","path":"private/x.md","new_path":"b.md"},
        {"action":"update_file","path":"entities/ada.md","old_content":"- pollem","new_content":"x"},
        {"action":"read_file","path":"private/x.md","assign_to":"d"}
    ]</actions>"#;
    let reply = "<reply>Call Ada at +49 30 1234567. She lives in London.</reply>";
    let came = talk(settings(), &before, &format!("Who is Ada? {FILTER}"), &[calls, reply]);
    assert_eq!(came.said.reply.as_deref(), Some("(withheld by a filter) She lives in London."));
    // The model itself sent `pollem`, and no more than that may come back.
    holds_nothing(&came);
    assert!(came.asked[0].contains("- city: London"), "{}", came.asked[0]);
    assert!(came.asked[1].contains("- city: London"), "{}", came.asked[1]);
    let failed = came.said.actions.iter().filter(|(_, outcome)| outcome.result.is_err()).count();
    assert_eq!(failed, 3, "{:#?}", came.said.actions);

    // Without the filter the same is told.
    let came = talk(settings(), &before, "Who is Ada?", &[calls, reply]);
    assert!(came.asked[1].contains("asthma since 2019") && came.asked[1].contains("1234567"));
}

/// What a model is told of searches under a filter: how many notes were found by each, and what is shown of the first.
#[track_caller]
fn check_searches(filter: &str, searches: &[(&str, usize, &str)]) {
    let calls: Vec<String> =
        searches.iter().map(|(search, ..)| format!(r#"{{"action":"search_files",{search}}}"#)).collect();
    let calls = format!("<actions>[{}]</actions>", calls.join(","));
    let came = talk(settings(), &[], &format!("Hi <filter>{filter}</filter>"), &[&calls, "<reply>Hi.</reply>"]);
    assert_eq!(came.said.actions.len(), searches.len());
    for ((_, outcome), (search, total, snippet)) in came.said.actions.iter().zip(searches) {
        let Ok(Value::Search(found)) = &outcome.result else { panic!("{outcome:?}") };
        let shown = found.hits.first().map_or("", |hit| hit.snippet.as_str());
        assert_eq!((found.total, found.hits.len(), shown.trim()), (*total, *total, *snippet), "{filter}: {search}");
    }
}

#[test]
fn no_search_looks_through_what_a_filter_keeps_back() {
    let text = r#""mode":"text","query":"30 123""#;
    let regex = r#""mode":"regex","query":"phone: .4""#;
    let name = r#""mode":"name","query":"ada""#;
    let words = r#""query":"phone""#;
    let tea = r#""query":"tea""#;
    check_searches(
        "fact:phone",
        &[(text, 0, ""), (regex, 0, ""), (words, 0, ""), (tea, 1, "- tea"), (name, 1, "- city: London")],
    );
    let city = (r#""mode":"regex","query":"city: L""#, 1, "- city: London");
    let diary = (r#""mode":"name","query":"diary""#, 0, "");
    check_searches("only fact:city", &[(text, 0, ""), (tea, 0, ""), city, diary, (name, 1, "- city: London")]);
    let elephant = (r#""query":"elephant""#, 0, "");
    check_searches("note:Diary, note:Bob", &[elephant, diary, (r#""mode":"regex","query":"B.b""#, 0, ""), city]);
    // What is gathered for a question is not found by hidden words either.
    let asked = r#"<actions>[{"action":"get_context","query":"What about her asthma and pollen?"}]</actions>"#;
    let came = talk(settings(), &[], &format!("Hi {FILTER}"), &[asked, "<reply>Hi.</reply>"]);
    let Ok(Value::Context(context)) = &came.said.actions[0].1.result else { panic!("{:?}", came.said.actions) };
    assert!(context.nothing_known && context.parts.is_empty(), "{context:?}");
}

#[test]
fn where_only_some_things_may_be_told_no_other_name_is() {
    let calls = r#"<actions>[{"action":"list_files"},{"action":"list_directory"},{"action":"read_file","path":"diary.md"},
        {"action":"list_files","limit":1}]</actions>"#;
    let came = talk(settings(), &[], "Hi <filter>only fact:city</filter>", &[calls, "<reply>Hi.</reply>"]);
    let told = format!("{:?}", came.said.actions);
    assert!(told.contains("ada.md") && !told.contains("private") && !told.contains("user.md"), "{told}");
}

#[test]
fn a_script_makes_no_way_around_a_filter() {
    let block = "<python>\nnote = read_file(\"entities/ada.md\")\nmade = \"All: \" + note\ngone = read_file(\"private/d.md\")\n</python>";
    let settings = Settings { family: Family::MemAgent, ..settings() };
    let came = talk(settings, &[], &format!("Who is Ada? {FILTER}"), &[block, "<reply>She lives in London.</reply>"]);
    holds_nothing(&came);
    let result = &came.asked[1];
    assert!(
        result.contains("'made': '(withheld by a filter)'") || result.contains("\"made\": \"(withheld"),
        "{result}"
    );
    assert!(result.contains("city: London"), "{result}");
}

#[test]
fn what_is_done_under_a_filter_can_be_undone() {
    let save = r#"<actions>[{"action":"append_file","path":"user.md","content":"- likes: coffee\n"}]</actions>"#;
    let came = talk(settings(), &[], &format!("I like coffee. {FILTER}"), &[save, "<reply>I've saved that.</reply>"]);
    assert_eq!((came.said.batches.len(), came.said.receipts.len()), (1, 1));
    assert_eq!(came.said.reply.as_deref(), Some("I've saved that."));
}

#[test]
fn a_filter_without_an_end_takes_the_rest_and_says_so() {
    let came = talk(settings(), &[], "Who is Ada? <filter>No phone numbers.", &["<reply>A friend.</reply>"]);
    assert!(!came.asked[0].contains("1234567"));
    assert_eq!(came.said.issues[0].code, "unclosed_filter");
}

/// A message that asks for all that is tried below.
const ALL_OF_IT: &str = "I like coffee. My phone is +49 30 7654321. Delete the note on Ada.";

#[test]
fn receipts_say_what_was_stored_and_no_reply_is_judged_by_its_words() {
    let save = r#"<actions>[{"action":"append_file","path":"user.md","content":"- likes: coffee\n"}]</actions>"#;
    let personal =
        r#"<actions>[{"action":"append_file","path":"user.md","content":"- phone: +49 30 7654321\n"}]</actions>"#;
    let missing = r#"<actions>[{"action":"append_file","path":"nobody.md","content":"coffee"}]</actions>"#;
    let saved = "<reply>Coffee is fine. I've saved that.</reply>";
    let check = |turns: &[&str], is_stored: bool| {
        let came = talk(settings(), &[], ALL_OF_IT, turns);
        assert_eq!(came.said.reply.as_deref(), Some("Coffee is fine. I've saved that."), "{turns:?}");
        assert_eq!(came.said.receipt().is_some(), is_stored, "{turns:?}");
        came.said
    };
    assert_eq!(check(&[save, saved], true).notice, None);
    assert_eq!(check(&[saved], false).notice, None);
    let said = check(&[missing, saved], false);
    assert!(matches!(said.notice, Some(Notice::Missed(missed)) if missed.len() == 1));
    assert_eq!(check(&[personal, saved], false).pending.len(), 1);
}

const SEEN: &str = r#"{"summary":"Ada lives in London [entities/ada#Ada].","entities":["Ada","London"]}"#;
const FINAL: &str = r#"{"action":"final_answer"}"#;

#[track_caller]
fn check_stages(came: &Came, expected: &[Stage]) {
    let stages: Vec<Stage> = came.said.stages.iter().map(|staged| staged.stage).collect();
    assert_eq!(stages, expected);
}

#[test]
fn a_message_goes_through_its_stages() {
    use Stage::{Decision, Perception, Response};
    let settings = Settings { staged: true, ..settings() };
    let look =
        r#"{"actions":[{"action":"read_file","path":"entities/ada.md"},{"action":"read_file","path":"user.md"}]}"#;
    let save = r#"{"actions":[{"action":"set_fact","path":"entities/ada.md","key":"city","value":"Paris"}]}"#;
    let reply = r#"{"reply":"I've saved that Ada lives in Paris [entities/ada#Ada] [a#b] [c#d]."}"#;
    let came = talk(settings, &[], "Ada lives in Paris now.", &[SEEN, look, SEEN, save, SEEN, FINAL, reply]);
    check_stages(&came, &[Perception, Decision, Perception, Decision, Perception, Decision, Response]);
    assert_eq!(came.said.reply.as_deref(), Some("I've saved that Ada lives in Paris [entities/ada#Ada] [a#b]."));
    assert_eq!((came.said.turns, came.said.notice.clone()), (3, None));
    assert!(came.note("entities/ada.md").contains("- city: Paris\n"));
    assert_eq!((came.said.spent.input_tokens, came.said.spent.output_tokens), (70, 14));
    assert!(
        came.asked[2].contains("asthma since 2019") && came.asked[2].contains("name: Bob"),
        "both were read at once"
    );
    assert!(came.asked[6].contains("- set_fact in entities/ada.md: done"), "{}", came.asked[6]);
    assert!(came.heard.contains("Staged") && !came.heard.contains("Model(Text"));
}

#[test]
fn a_stage_that_cannot_be_read_is_asked_again_and_then_left() {
    use Stage::{Decision, Perception, Response};
    let settings = || Settings { staged: true, ..settings() };
    let came = talk(settings(), &[], "Hi", &["Hm.", SEEN, FINAL, r#"{"reply":"Hi."}"#]);
    check_stages(&came, &[Perception, Perception, Decision, Response]);
    assert_eq!(came.said.stages.iter().map(|stage| stage.is_read).collect::<Vec<_>>(), [false, true, true, true]);
    assert_eq!(came.said.reply.as_deref(), Some("Hi."));

    let came = talk(settings(), &[], "Hi", &[SEEN, "Hm.", "Hm.", "<reply>Hi.</reply>"]);
    check_stages(&came, &[Perception, Decision, Decision]);
    assert_eq!((came.said.reply.as_deref(), came.said.turns), (Some("Hi."), 1));
    assert!(came.asked[3].contains("<reply>"), "the prompt of the plain loop");
}

#[test]
fn filters_and_limits_hold_in_stages() {
    use Stage::{Decision, Perception, Response};
    let settings = || Settings { staged: true, ..settings() };
    let read = r#"{"actions":[{"action":"read_file","path":"entities/ada.md"}]}"#;
    let told = r#"{"reply":"Her phone is +49 30 1234567. She likes tea."}"#;
    let came = talk(settings(), &[], &format!("Who is Ada? {FILTER}"), &[SEEN, read, SEEN, FINAL, told]);
    assert_eq!(came.said.reply.as_deref(), Some("(withheld by a filter) She likes tea."));
    holds_nothing(&came);

    // With one turn left it says what it knows.
    let came = talk(Settings { turns: 2, ..settings() }, &[], "Ada?", &[SEEN, read, r#"{"reply":"London."}"#]);
    check_stages(&came, &[Perception, Decision, Response]);
    assert_eq!(came.said.reply.as_deref(), Some("London."));

    let came = talk(Settings { tokens: Some(20), ..settings() }, &[], "Ada?", &[SEEN, FINAL]);
    assert_eq!((came.said.reply, came.said.notice), (None, Some(Notice::Tokens)));
}
