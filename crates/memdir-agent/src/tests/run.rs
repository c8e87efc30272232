//! The run as a table: what is said by the model, the engine and the person, and what comes of it.

use serde_json::json;

use super::super::{Decided, Finish, Limits, Manners, Notice, Run, Step};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Outcome, Report, Value, Variables};
use memdir_engine::Done;
use memdir_model::script::turn;
use memdir_model::{Answer, End};

const LIMITS: Limits = Limits { turns: 8, tokens: None, result_bytes: 4096 };
const MANNERS: Manners = Manners { dialect: None, is_one_turn: false };
const READ: &str = r#"<actions>[{"action":"read_file","path":"user.md"}]</actions>"#;
const WRITE: &str = r#"<actions>[{"action":"append_file","path":"user.md","content":"- x: y"}]</actions>"#;
const SAVED: &str = "<reply>I have saved that.</reply>";

fn run_with(limits: Limits) -> Run {
    Run::new(limits, MANNERS, Variables::default())
}

fn outcome(index: usize, action: &str, result: Result<Value, Failure>) -> Outcome {
    let (action, path) = (Some(action.to_owned()), Some("user.md".to_owned()));
    Outcome { index, action, path, result, total: None, cursor: None, label: None, shown: None }
}

fn failed(code: Code) -> Result<Value, Failure> {
    Err(Failure::new(code, code.to_string()))
}

fn waits(id: u64) -> Result<Value, Failure> {
    let mut failure = Failure::new(Code::AwaitingApproval, format!("proposal {id} waits for the person"));
    failure.details.proposal = Some(id);
    Err(failure)
}

/// A report on writes, of which at least one was done.
fn done(batch: u64, results: Vec<Result<Value, Failure>>) -> Report {
    let outcomes = results.into_iter().zip(1..).map(|(result, index)| outcome(index, "append_file", result));
    let changed = vec![MemoryPath::parse("user.md").unwrap()];
    Report { changed, batch: Some(batch), receipt: Some(format!("batch {batch}")), ..Report::of(outcomes.collect()) }
}

fn none_done(results: Vec<Result<Value, Failure>>) -> Report {
    let outcomes = results.into_iter().zip(1..).map(|(result, index)| outcome(index, "append_file", result));
    Report::of(outcomes.collect())
}

fn read(text: &str) -> Report {
    Report::of(vec![outcome(1, "read_file", Ok(Value::Text(text.to_owned())))])
}

/// The model is to say something, and says it.
#[track_caller]
fn hears(run: &mut Run, answer: Answer) {
    assert!(matches!(run.next_step(), Step::CallModel), "{:?}", run.next_step());
    run.answered(answer);
}

/// The model has written calls, of which this became.
#[track_caller]
fn acts(run: &mut Run, text: &str, report: Report, asks: bool) {
    hears(run, turn(text));
    let Step::Propose(parsed) = run.next_step() else { panic!("{:?}", run.next_step()) };
    run.concluded(parsed.frame, report, asks);
}

#[track_caller]
fn ends(run: &mut Run, reply: Option<&str>, notice: Option<Notice>) {
    let Step::Done(finish) = run.next_step() else { panic!("{:?}", run.next_step()) };
    assert_eq!(finish, Finish { reply: reply.map(str::to_owned), notice });
}

/// What the model was told last.
fn told(run: &Run) -> &str {
    &run.transcript().last().unwrap().text
}

#[test]
fn a_reply_ends_it() {
    for text in ["<reply>Hello.</reply>", "Hello.", "<think>so</think><reply>Hello.</reply>", "\n Hello.\n"] {
        let mut run = run_with(LIMITS);
        hears(&mut run, turn(text));
        ends(&mut run, Some("Hello."), None);
    }
}

#[test]
fn a_reply_with_calls_is_not_shown_before_their_results_were_seen() {
    let mut run = run_with(LIMITS);
    acts(&mut run, &format!("<reply>You live in London.</reply>{READ}"), read("- city: Paris\n"), false);
    assert!(told(&run).contains("Paris"), "{}", told(&run));
    hears(&mut run, turn("<reply>You live in Paris.</reply>"));
    ends(&mut run, Some("You live in Paris."), None);
}

#[test]
fn turns_are_counted() {
    for turns in 0..5 {
        let mut run = run_with(Limits { turns, ..LIMITS });
        for at in 1..=turns {
            acts(&mut run, &format!("<think>{at}</think>{READ}"), read("x"), false);
        }
        ends(&mut run, None, Some(Notice::Turns(turns)));
        assert_eq!(run.turns().len(), turns as usize);
    }
}

#[test]
fn tokens_are_counted_but_for_those_known_from_before() {
    let mut run = run_with(Limits { tokens: Some(30), ..LIMITS });
    hears(&mut run, Answer { input_tokens: 100, reused_tokens: 90, output_tokens: 5, ..turn(READ) });
    let Step::Propose(parsed) = run.next_step() else { panic!("no calls") };
    run.concluded(parsed.frame, read("x"), false);
    acts(&mut run, READ, read("y"), false);
    // 15 and 12 so far: another turn may begin, and is the last.
    hears(&mut run, turn("<actions>[{\"action\":\"list_files\"}]</actions>"));
    let Step::Propose(parsed) = run.next_step() else { panic!("no calls") };
    run.concluded(parsed.frame, read("z"), false);
    ends(&mut run, None, Some(Notice::Tokens));
    let mut run = run_with(Limits { tokens: Some(0), ..LIMITS });
    ends(&mut run, None, Some(Notice::Tokens));
}

#[test]
fn a_turn_that_was_cut_off_is_never_run() {
    let cut = || Answer { end: End::Cut, ..turn(WRITE) };
    let mut run = run_with(LIMITS);
    hears(&mut run, cut());
    assert!(told(&run).contains("cut off"));
    hears(&mut run, cut());
    hears(&mut run, cut());
    ends(&mut run, None, Some(Notice::Cut));
    let mut run = run_with(LIMITS);
    hears(&mut run, cut());
    hears(&mut run, turn("<reply>Short.</reply>"));
    ends(&mut run, Some("Short."), None);
    let mut run = run_with(Limits { turns: 1, ..LIMITS });
    hears(&mut run, cut());
    ends(&mut run, None, Some(Notice::Cut));
}

#[test]
fn a_turn_that_cannot_be_read_goes_back_twice() {
    for text in ["", "<think>only that</think>", "<result>made up</result>"] {
        let mut run = run_with(LIMITS);
        for _ in 0..3 {
            hears(&mut run, turn(text));
        }
        ends(&mut run, None, Some(Notice::Nothing));
    }
    // A turn with calls between them begins the count anew.
    let mut run = run_with(LIMITS);
    for _ in 0..2 {
        hears(&mut run, turn(""));
        hears(&mut run, turn(""));
        acts(&mut run, WRITE, done(1, vec![Ok(Value::Bool(true))]), false);
    }
    hears(&mut run, turn("<reply>Now.</reply>"));
    ends(&mut run, Some("Now."), None);
}

#[test]
fn a_reply_is_shown_as_it_was_written_whatever_it_says() {
    for report in [none_done(vec![waits(7)]), read("x"), none_done(vec![Ok(Value::Bool(true))])] {
        let mut run = run_with(LIMITS);
        acts(&mut run, WRITE, report.clone(), false);
        hears(&mut run, turn(SAVED));
        let Step::Done(finish) = run.next_step() else { panic!("{:?}", run.next_step()) };
        assert_eq!(finish.reply.as_deref(), Some("I have saved that."), "{report:?}");
    }
    let mut run = run_with(LIMITS);
    hears(&mut run, turn(SAVED));
    ends(&mut run, Some("I have saved that."), None);
}

#[test]
fn changes_that_were_not_made_are_told_beside_the_reply() {
    let mut run = run_with(LIMITS);
    acts(&mut run, WRITE, done(1, vec![Ok(Value::Bool(true)), failed(Code::ContentNotFound)]), false);
    hears(&mut run, turn("<reply>Hello.</reply>"));
    let missed = vec!["`append_file` `user.md`: content_not_found".to_owned()];
    ends(&mut run, Some("Hello."), Some(Notice::Missed(missed)));
    // What was made good by a later turn is no part of it.
    let mut run = run_with(LIMITS);
    acts(&mut run, WRITE, done(1, vec![Ok(Value::Bool(true)), failed(Code::ContentNotFound)]), false);
    acts(&mut run, WRITE, done(2, vec![Ok(Value::Bool(true))]), false);
    hears(&mut run, turn(SAVED));
    ends(&mut run, Some("I have saved that."), None);
}

#[test]
fn the_person_is_asked_about_one_proposal_a_turn() {
    let remembered = outcome(2, "append_file", Ok(Value::Text("a new line".to_owned())));
    let outcomes = vec![remembered, outcome(4, "append_file", Ok(Value::Bool(true)))];
    let carried_out = Done { batch: Some(2), receipt: Some("two".to_owned()), outcomes, ..Done::default() };
    let decisions = [
        (Decided::Done(carried_out), "a new line", vec![1, 2]),
        (Decided::No(None), "does not want it", vec![1]),
        (Decided::No(Some("my old city".to_owned())), "the person says: my old city", vec![1]),
        (Decided::Later, "proposal 7 waits", vec![1]),
        (Decided::Failed(Failure::new(Code::Conflict, "it has changed")), "it has changed", vec![1]),
    ];
    for (decided, words, batches) in decisions {
        let mut run = run_with(LIMITS);
        acts(&mut run, WRITE, done(1, vec![Ok(Value::Bool(true)), waits(7), waits(8), waits(7)]), true);
        assert!(matches!(run.next_step(), Step::AskPerson(7)));
        assert!(matches!(run.next_step(), Step::AskPerson(7)), "asked again, it says the same");
        run.decided(&decided);
        assert!(told(&run).contains(words), "{decided:?}: {}", told(&run));
        assert!(told(&run).contains("proposal 8 waits"), "the other one waits on");
        assert_eq!(run.batches(), batches, "{decided:?}");
        assert!(matches!(run.next_step(), Step::CallModel));
    }
    let mut run = run_with(LIMITS);
    acts(&mut run, WRITE, none_done(vec![waits(7)]), false);
    assert!(matches!(run.next_step(), Step::CallModel), "nobody is there to be asked");
}

#[test]
fn both_batches_of_a_turn_can_be_undone() {
    let mut run = run_with(LIMITS);
    acts(&mut run, WRITE, done(1, vec![Ok(Value::Bool(true)), waits(7)]), true);
    run.decided(&Decided::Done(Done {
        batch: Some(2),
        receipt: Some("batch 2".to_owned()),
        outcomes: vec![outcome(2, "append_file", Ok(Value::Bool(true)))],
        ..Done::default()
    }));
    assert_eq!((run.batches(), run.receipts()), (&[1, 2][..], &["batch 1".to_owned(), "batch 2".to_owned()][..]));
}

#[test]
fn a_model_of_one_turn_replies_in_the_turn_that_acts() {
    let manners = Manners { is_one_turn: true, ..MANNERS };
    let both = format!("{WRITE}<reply>Noted.</reply>");
    let mut run = Run::new(LIMITS, manners, Variables::default());
    acts(&mut run, &both, done(1, vec![Ok(Value::Bool(true))]), false);
    ends(&mut run, Some("Noted."), None);
    let mut run = Run::new(LIMITS, manners, Variables::default());
    acts(&mut run, &both, none_done(vec![failed(Code::NotFound)]), false);
    let missed = vec!["`append_file` `user.md`: not_found".to_owned()];
    ends(&mut run, Some("Noted."), Some(Notice::Missed(missed)));
    let mut run = Run::new(LIMITS, manners, Variables::default());
    hears(&mut run, Answer { end: End::Cut, ..turn("get user.ci") });
    ends(&mut run, None, Some(Notice::Cut));
}

#[test]
fn the_same_failure_three_times_in_a_row_is_the_last() {
    let mut run = run_with(LIMITS);
    for _ in 0..3 {
        acts(&mut run, WRITE, none_done(vec![failed(Code::NotFound)]), false);
    }
    ends(&mut run, None, Some(Notice::Stuck));
    // Reading the same over and over is the same.
    let mut run = run_with(LIMITS);
    for _ in 0..3 {
        acts(&mut run, READ, read("x"), false);
    }
    ends(&mut run, None, Some(Notice::Stuck));
    // Something else between them is another try.
    let mut run = run_with(LIMITS);
    for code in [Code::NotFound, Code::NotFound, Code::Conflict, Code::NotFound, Code::NotFound] {
        acts(&mut run, WRITE, none_done(vec![failed(code)]), false);
    }
    hears(&mut run, turn("<reply>It does not work.</reply>"));
    let missed = vec!["`append_file` `user.md`: not_found".to_owned()];
    ends(&mut run, Some("It does not work."), Some(Notice::Missed(missed)));
}

#[test]
fn a_large_result_does_not_fill_the_context() {
    let mut run = run_with(LIMITS);
    acts(&mut run, READ, read(&"- a line\n".repeat(100_000)), false);
    assert!(told(&run).len() <= LIMITS.result_bytes, "{}", told(&run).len());
    assert!(told(&run).contains("read on with `start_line`"));
    let Ok(Value::Text(whole)) = &run.turns()[0].report.as_ref().unwrap().actions[0].result else { panic!("no text") };
    assert_eq!(whole.len(), 900_000, "who asked for it has all of it");
}

#[test]
fn variables_are_kept_from_turn_to_turn() {
    let value = Value::plain(&json!("Ada")).unwrap();
    let mut run = Run::new(LIMITS, MANNERS, Variables::new([("name".to_owned(), value.clone())]));
    let report = Report { variables: Variables::new([("me".to_owned(), value)]), ..read("x") };
    acts(&mut run, READ, report, false);
    assert_eq!(run.variables().iter().map(|(name, _)| name).collect::<Vec<_>>(), ["name", "me"]);
}
