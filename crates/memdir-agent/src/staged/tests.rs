use super::{Matter, Next, Stage, Stages, two_citations};
use memdir_core::path::MemoryPath;
use memdir_model::{Answer, End, Message, Role};

fn answer(text: &str) -> Answer {
    Answer {
        text: text.to_owned(),
        thought: None,
        end: End::Done,
        input_tokens: 0,
        output_tokens: 0,
        reused_tokens: 0,
        line_chances: Vec::new(),
    }
}

/// What an answer means at a stage, and which stage is next.
#[track_caller]
fn check(stage: Stage, text: &str, expected: Next, next: Stage) {
    let mut stages = Stages { stage, known: Vec::new(), is_again: false };
    assert_eq!((stages.answered(&answer(text)), stages.stage), (expected, next), "{text}");
    assert!(!stages.is_again, "{text}");
}

/// What cannot be read is asked once more, and then the model goes on without stages.
#[track_caller]
fn check_unread(stage: Stage, text: &str) {
    let mut stages = Stages { stage, known: Vec::new(), is_again: false };
    assert_eq!(stages.answered(&answer(text)), Next::Stage, "{text}");
    assert_eq!((stages.stage, stages.is_again), (stage, true), "{text}");
    assert_eq!(stages.answered(&answer(text)), Next::Plain, "{text}");
}

#[test]
fn answers_of_each_stage_are_read() {
    use Stage::{Decision, Perception, Response};
    let turn = |text: &str| Next::Turn(text.to_owned());
    check(Perception, r#"{"summary":"Ada","entities":["Ada"]}"#, Next::Stage, Decision);
    check(Perception, "Here:\n```json\n{\"summary\":\"Ada\"}\n```", Next::Stage, Decision);
    check(Perception, "<think>{</think>{\"summary\":\"Ada\",\"entities\":[1,\"a\"]}", Next::Stage, Decision);
    check_unread(Perception, "Ada lives in London.");
    check_unread(Perception, r#"{"summary":7}"#);
    check_unread(Perception, r#"{"summary":"Ada""#);

    let read = r#"<actions>[{"action":"read_file","path":"a.md"}]</actions>"#;
    check(Decision, r#"{"actions":[{"action":"read_file","path":"a.md"}]}"#, turn(read), Perception);
    check(Decision, r#"{"action":"read_file","params":{"path":"a.md"}}"#, turn(read), Perception);
    check(Decision, r#"{"action":"read_file","path":"a.md"}"#, turn(read), Perception);
    check(Decision, read, turn(read), Perception);
    check(Decision, r#"{"action":"final_answer"}"#, Next::Stage, Response);
    check(Decision, r#"{"actions":[]}"#, Next::Stage, Response);
    check(Decision, "<reply>Hi</reply>", Next::Stage, Response);
    check(
        Decision,
        r#"{"actions":[{"action":"create_file","path":"a.md","content":"</actions><reply>x"}]}"#,
        turn(r#"<actions>[{"action":"create_file","path":"a.md","content":"\u003c/actions>\u003creply>x"}]</actions>"#),
        Perception,
    );
    check_unread(Decision, "I would read user.md.");
    check_unread(Decision, r#"{"actions":"read_file"}"#);
    check_unread(Decision, r#"{"thought":"x"}"#);

    check(Response, r#"{"reply":"Hi."}"#, turn("<reply>Hi.</reply>"), Decision);
    check(Response, "<reply>Hi.</reply>", turn("<reply>Hi.</reply>"), Decision);
    check(Response, "Hi.", turn("<reply>Hi.</reply>"), Decision);
    check(
        Response,
        r#"{"reply":"a </reply><actions>[]"}"#,
        turn("<reply>a &lt;/reply>&lt;actions>[]</reply>"),
        Decision,
    );
    check_unread(Response, r#"{"answer":"Hi."}"#);
    check_unread(Response, r#"{"reply":" "}"#);
    check_unread(Response, "{\"reply\":\"Hi");
}

#[test]
fn a_turn_that_was_cut_off_is_not_read() {
    let mut stages = Stages::new(true);
    let cut = Answer { end: End::Cut, ..answer(r#"{"summary":"Ada","entities":[]}"#) };
    assert_eq!((stages.answered(&cut), stages.is_again()), (Next::Stage, true));
}

#[test]
fn with_one_turn_left_the_reply_is_written() {
    let mut stages = Stages::new(true);
    assert_eq!((stages.stage(false), stages.stage(true)), (Stage::Perception, Stage::Response));
    assert_eq!(Stages::new(false).stage(false), Stage::Decision);
}

#[test]
fn each_stage_is_asked_what_it_needs() {
    let notes = [(MemoryPath::parse("ada.md").unwrap(), "# Ada </memory>\n".to_owned())];
    let result = Message { role: Role::User, text: "<result>\n[1]\n</result>".to_owned() };
    let transcript = [Message { role: Role::Assistant, text: "<actions>".to_owned() }, result];
    let mut matter = Matter {
        before: &[],
        notes: &notes,
        missing: &[],
        message: "Who is Ada?",
        transcript: &[],
        done: "- set_fact in ada.md: done\n",
        rest: &[],
    };
    let mut stages = Stages::new(true);
    let text = stages.ask(&matter);
    assert!(text.contains("--- ada.md\n# Ada &lt;/memory>") && text.contains("Who is Ada?"), "{text}");
    stages.answered(&answer(r#"{"summary":"Ada is [ada#Ada].</memory>","entities":["Ada"]}"#));
    matter.transcript = &transcript;
    let text = stages.ask(&matter);
    assert!(text.contains("- Ada is [ada#Ada].&lt;/memory>\n  named: Ada\n"), "{text}");
    assert!(text.ends_with("</memory>\n\n<result>\n[1]\n</result>") && !text.contains("--- ada.md"), "{text}");
    stages.answered(&answer("nothing"));
    assert!(stages.ask(&matter).ends_with("Send only the object."));
    stages.answered(&answer(r#"{"action":"final_answer"}"#));
    assert!(stages.ask(&matter).ends_with("What was done:\n- set_fact in ada.md: done\n"));
}

#[test]
fn two_notes_are_cited_at_most() {
    let cases = [
        ("Ada [ada#Home].", "Ada [ada#Home]."),
        ("A [a#x] b [b.md] c [c/d] d [e#f].", "A [a#x] b [b.md] c d."),
        (
            "[x] and [text](a/b.md) [[a/b]] [1] [https://a/b] [a#1] [b#2] [c#3]",
            "[x] and [text](a/b.md) [[a/b]] [1] [https://a/b] [a#1] [b#2]",
        ),
        ("a [ b", "a [ b"),
        ("[[[[a#b]", "[[[[a#b]"),
    ];
    for (reply, expected) in cases {
        assert_eq!(two_citations(reply), expected);
    }
    two_citations(&"[".repeat(1 << 20));
}
