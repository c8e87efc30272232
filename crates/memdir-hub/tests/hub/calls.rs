//! Calls: what comes back, what comes meanwhile, and what goes wrong.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use memdir_tools::{
    CallError, CallEvents, Elicitation, ElicitationAnswer, Permission, Progress, ServerHealth, Toolbox,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::*;

#[test]
fn a_result_comes_as_it_was_sent_member_for_member() {
    let odd = r#"{"zeta":1,"content":[{"type":"hologram","beams":[1.50,2e3],"x":null},{"type":"text","text":"ä","annotations":{"audience":["user"],"own":1}},{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"resource","resource":{"uri":"a://b","text":"t","own":[]}}],"structuredContent":[1,"two",null],"isError":false,"_meta":{"b":{"a":1},"a":2},"own":{"deep":[{}]}}"#;
    for era in ["initialize", "newest"] {
        let fixture = Fixture::new([script("one").env("SCRIPTED_ODD", odd).env("SCRIPTED_ERA", era)]);
        let answer = fixture.call("one__odd", json!({})).unwrap();
        // Numbers keep their value, not their spelling.
        assert_eq!(serde_json::to_string(&answer.result).unwrap(), odd.replace("1.50", "1.5").replace("2e3", "2000.0"));
        assert!(!answer.is_cached && !answer.is_error());
    }
}

#[test]
fn tools_of_the_same_name_are_told_apart() {
    let fixture = Fixture::new([script("a"), script("b")]);
    let mut counted = [0, 0];
    for round in 0..1_000_u32 {
        let which = (round.wrapping_mul(2_654_435_761) >> 31) as usize;
        counted[which] += 1;
        let answer = fixture.call(["a__counter", "b__counter"][which], json!({})).unwrap();
        assert_eq!(text(&answer), counted[which].to_string());
    }
}

#[test]
fn arguments_arrive_as_they_were_given() {
    let fixture = Fixture::new([script("one")]);
    let arguments = json!({"z": 1, "text": "hello", "a": {"y": [null, 1.25, "ü"], "b": {}}});
    let answer = fixture.call("one__echo", arguments.clone()).unwrap();
    assert_eq!(text(&answer), "hello");
    assert_eq!(answer.result["structuredContent"].to_string(), arguments.to_string());
}

#[test]
fn the_wire_the_protocol_and_the_tool_fail_each_in_its_own_way() {
    let fixture = Fixture::new([script("one")]);
    let failed = fixture.call("one__fail", json!({})).unwrap();
    assert!(failed.is_error());
    assert_eq!(text(&failed), "it went wrong");
    let refused = fixture.call("one__refuse", json!({})).unwrap_err();
    let data = Some(Box::new(json!({"until": "tomorrow"})));
    let expected = CallError::Protocol { server: "one".into(), code: -32050, message: "not today".into(), data };
    assert_eq!(refused, expected);
    let began = Instant::now();
    let died = fixture.call("one__die", json!({})).unwrap_err();
    // Long before the server's minute is over.
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let CallError::Unreachable { problem, may_be_done: true, .. } = &died else { panic!("{died:?}") };
    assert!(problem.contains("it exited with status 3"), "{problem}");
    assert_eq!(fixture.times("one", "tools/call die"), 1);
    for unknown in ["one__nothing", "two__echo"] {
        assert!(matches!(fixture.call(unknown, json!({})).unwrap_err(), CallError::UnknownTool(_)));
    }
}

#[test]
fn a_server_that_died_is_started_again_when_it_is_needed() {
    let fixture = Fixture::new([script("one"), script("two")]);
    assert_eq!(text(&fixture.call("one__counter", json!({})).unwrap()), "1");
    assert_eq!(text(&fixture.call("two__counter", json!({})).unwrap()), "1");
    fixture.call("one__die", json!({})).unwrap_err();
    assert_eq!(text(&fixture.call("one__counter", json!({})).unwrap()), "1", "a new process");
    assert_eq!(text(&fixture.call("two__counter", json!({})).unwrap()), "2", "the same process");
}

#[test]
fn a_call_is_sent_twice_only_where_the_tool_reads_and_the_person_trusts_it() {
    let script_of =
        |permission, hint: &str| script("one").env("SCRIPTED_HINT", hint).with(|server| server.permission = permission);
    for (permission, hint, approved, times) in [
        (Permission::Allow, "readOnlyHint", true, 2),
        (Permission::Allow, "idempotentHint", true, 1),
        (Permission::Ask, "readOnlyHint", true, 1),
        (Permission::Allow, "readOnlyHint", false, 1),
    ] {
        let fixture = Fixture::new([script_of(permission, hint)]);
        fixture.tools_of("one");
        if approved {
            fixture.approve(|| script_of(permission, hint));
        }
        let error = fixture.call("one__die", json!({})).unwrap_err();
        assert!(matches!(error, CallError::Unreachable { may_be_done: true, .. }), "{error:?}");
        assert_eq!(fixture.times("one", "tools/call die"), times, "{permission:?} {hint:?} {approved}");
    }
}

#[test]
fn an_answer_that_is_too_long_ends_the_connection_and_nothing_else() {
    let fixture = Fixture::new([script("one")]);
    let fits = fixture.call("one__big", json!({"bytes": 15_000_000})).unwrap();
    assert_eq!(text(&fits).len(), 15_000_000);
    let error = fixture.call("one__big", json!({"bytes": 100_000_000})).unwrap_err();
    assert_eq!(error, CallError::TooLarge { server: "one".into(), most: 16 * 1024 * 1024 });
    assert_eq!(text(&fixture.call("one__echo", json!({"text": "back"})).unwrap()), "back");
}

#[test]
fn an_answer_that_takes_too_long_is_given_up_and_the_server_is_told() {
    let limit = std::num::NonZeroU32::new(1);
    let fixture = Fixture::new([script("one").with(|server| server.timeout_seconds = limit)]);
    let error = fixture.call("one__slow", json!({"seconds": 30})).unwrap_err();
    assert_eq!(error, CallError::Timeout { server: "one".into(), seconds: 1 });
    soon("the cancellation", Duration::from_secs(5), || fixture.times("one", "notifications/cancelled") == 1);
    assert_eq!(text(&fixture.call("one__echo", json!({"text": "still here"})).unwrap()), "still here");
}

#[test]
fn a_call_that_is_stopped_returns_at_once_and_the_server_is_told() {
    let fixture = Fixture::new([script("one")]);
    fixture.call("one__echo", json!({"text": ""})).unwrap();
    let stop = CancellationToken::new();
    std::thread::scope(|scope| {
        let called = scope.spawn(|| fixture.call_with("one__slow", json!({"seconds": 60}), &mut (), &stop));
        soon("the call", Duration::from_secs(5), || fixture.times("one", "tools/call slow") == 1);
        let began = Instant::now();
        stop.cancel();
        assert_eq!(called.join().unwrap().unwrap_err(), CallError::Cancelled);
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    });
    soon("the cancellation", Duration::from_secs(5), || fixture.times("one", "notifications/cancelled") == 1);
    let server = memdir_tools::ServerName::parse("one").unwrap();
    soon("what the server writes of it", Duration::from_secs(5), || {
        fixture.hub().log_lines(&server, 5).iter().any(|line| line.starts_with("cancelled "))
    });
}

/// Keeps what it hears, and answers questions as it is told.
struct Events {
    progress: Vec<Progress>,
    asked: Vec<Elicitation>,
    answer: ElicitationAnswer,
    began: Option<mpsc::Sender<()>>,
}

impl Events {
    fn answering(answer: ElicitationAnswer) -> Self {
        Self { progress: Vec::new(), asked: Vec::new(), answer, began: None }
    }
}

impl CallEvents for Events {
    fn progress(&mut self, progress: &Progress) {
        self.progress.push(progress.clone());
    }

    fn elicit(&mut self, elicitation: &Elicitation) -> ElicitationAnswer {
        self.asked.push(elicitation.clone());
        if let Some(began) = self.began.take() {
            // Longer than the answer may take: the person is not hurried.
            began.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(1_500));
        }
        self.answer.clone()
    }
}

#[test]
fn progress_is_heard_in_order_before_the_answer() {
    for era in ["initialize", "newest"] {
        let fixture = Fixture::new([script("one").env("SCRIPTED_ERA", era)]);
        let mut events = Events::answering(ElicitationAnswer::Decline);
        for _ in 0..20 {
            events.progress.clear();
            fixture.call_with("one__progress", json!({"steps": 5}), &mut events, &CancellationToken::new()).unwrap();
            let expected: Vec<Progress> = (1..=5)
                .map(|step| Progress {
                    progress: f64::from(step),
                    total: Some(5.0),
                    message: Some(format!("step {step}")),
                })
                .collect();
            assert_eq!(events.progress, expected, "{era}");
        }
    }
}

#[test]
fn a_question_of_the_server_is_answered_by_the_one_who_calls() {
    let schema = json!({"type": "object", "properties": {"size": {"type": "string", "x-own": 1}}, "own": true});
    for era in ["initialize", "newest"] {
        for (answer, expected) in [
            (
                ElicitationAnswer::Accept(map(json!({"size": "XL"}))),
                json!({"action": "accept", "content": {"size": "XL"}}),
            ),
            (ElicitationAnswer::Decline, json!({"action": "decline"})),
            (ElicitationAnswer::Cancel, json!({"action": "cancel"})),
        ] {
            let fixture = Fixture::new([script("one").env("SCRIPTED_ERA", era)]);
            let mut events = Events::answering(answer);
            let arguments = json!({"question": "how large?", "schema": schema});
            let answered = fixture.call_with("one__ask", arguments, &mut events, &CancellationToken::new()).unwrap();
            assert_eq!(answered.result["structuredContent"]["answer"], expected, "{era}");
            assert_eq!(events.asked.len(), 1);
            assert_eq!(events.asked[0].message, "how large?");
            assert_eq!(events.asked[0].params["requestedSchema"].to_string(), schema.to_string(), "as it came: {era}");
            if era == "newest" {
                assert_eq!(answered.result["structuredContent"]["state"], Value::from("sealed"));
            }
        }
    }
}

#[test]
fn the_time_of_a_call_stands_still_while_the_person_is_asked() {
    let limit = std::num::NonZeroU32::new(1);
    let fixture = Fixture::new([script("one").with(|server| server.timeout_seconds = limit)]);
    let (began, asked) = mpsc::channel();
    let mut events = Events { began: Some(began), ..Events::answering(ElicitationAnswer::Decline) };
    fixture.call_with("one__ask", json!({}), &mut events, &CancellationToken::new()).unwrap();
    asked.recv().unwrap();
}

#[test]
fn a_question_that_could_be_of_two_calls_is_declined() {
    let fixture = Fixture::new([script("one")]);
    fixture.call("one__echo", json!({"text": ""})).unwrap();
    let stop = CancellationToken::new();
    std::thread::scope(|scope| {
        let accept = ElicitationAnswer::Accept(map(json!({"size": "XL"})));
        let (mut events, mut of_other) = (Events::answering(accept.clone()), Events::answering(accept));
        let (called, wanted) = (&fixture, &stop);
        let other = scope.spawn(move || called.call_with("one__slow", json!({"seconds": 60}), &mut of_other, wanted));
        soon("the other call", Duration::from_secs(5), || fixture.times("one", "tools/call slow") == 1);
        let answered = fixture.call_with("one__ask", json!({}), &mut events, &CancellationToken::new()).unwrap();
        assert_eq!(answered.result["structuredContent"]["answer"], json!({"action": "decline"}));
        assert!(events.asked.is_empty());
        stop.cancel();
        other.join().unwrap().unwrap_err();
    });
}

#[test]
fn a_server_that_is_taken_out_is_not_started_for_a_second_try() {
    let script_of = || script("one").env("SCRIPTED_HINT", "readOnlyHint");
    let fixture = Fixture::new([script_of()]);
    fixture.tools_of("one");
    fixture.approve(script_of);
    std::thread::scope(|scope| {
        let called = scope.spawn(|| fixture.call("one__slow", json!({"seconds": 4})));
        soon("the call", Duration::from_secs(5), || fixture.times("one", "tools/call slow") == 1);
        fixture.put([]);
        let error = called.join().unwrap().unwrap_err();
        assert!(matches!(error, CallError::Unreachable { .. }), "{error:?}");
    });
    assert_eq!(fixture.times("one", "initialize"), 1, "one process");
}

/// Does something when it is asked, and agrees.
struct Meanwhile<'a>(&'a dyn Fn());

impl CallEvents for Meanwhile<'_> {
    fn elicit(&mut self, _elicitation: &Elicitation) -> ElicitationAnswer {
        (self.0)();
        ElicitationAnswer::Accept(map(json!({"size": "XL"})))
    }
}

#[test]
fn what_ends_while_the_person_is_asked_is_not_sent_again() {
    let (mark, stop) = (new_mark(), CancellationToken::new());
    let fixture = Fixture::new([script("one").arg(&mark).env("SCRIPTED_ERA", "newest")]);
    let ask = |meanwhile: &dyn Fn(), stop: &CancellationToken| {
        fixture.call_with("one__ask", json!({}), &mut Meanwhile(meanwhile), stop).unwrap_err()
    };
    assert_eq!(ask(&|| stop.cancel(), &stop), CallError::Cancelled);
    fixture.call("one__echo", json!({"text": ""})).unwrap();
    assert_eq!(fixture.times("one", "tools/call ask"), 1);
    let ends = || {
        kill(processes(&mark)[0]);
        let failed = || matches!(fixture.hub().servers()[0].health, ServerHealth::Failed { .. });
        soon("the end", Duration::from_secs(5), failed);
    };
    let error = ask(&ends, &CancellationToken::new());
    assert!(matches!(error, CallError::Unreachable { may_be_done: true, .. }), "{error:?}");
    assert_eq!(fixture.times("one", "tools/call ask"), 2);
}

#[test]
fn a_question_of_no_call_is_declined() {
    let fixture = Fixture::new([script("one")]);
    let mut events = Events::answering(ElicitationAnswer::Accept(map(json!({}))));
    fixture.call_with("one__ask_late", json!({}), &mut events, &CancellationToken::new()).unwrap();
    let server = memdir_tools::ServerName::parse("one").unwrap();
    soon("the answer", Duration::from_secs(5), || {
        fixture.hub().log_lines(&server, 1) == [r#"{"action":"decline"}"#] && events.asked.is_empty()
    });
}

#[test]
fn results_are_kept_for_those_tools_only_that_were_marked() {
    let cache =
        |seconds| move |rule: &mut memdir_tools::ToolRule| rule.cache_seconds = std::num::NonZeroU32::new(seconds);
    let fixture = Fixture::new([script("one").rule("counter", cache(60)).rule("fail", cache(60))]);
    let counted = |client: Option<&str>, arguments: Value| {
        let call = memdir_tools::ToolCall { client: client.map(str::to_owned), ..call("one__counter", arguments) };
        let answer = memdir_tools::Toolbox::call(fixture.hub(), &call, &mut (), &CancellationToken::new()).unwrap();
        (text(&answer).to_owned(), answer.is_cached)
    };
    assert_eq!(counted(None, json!({"a": 1, "b": 2})), ("1".into(), false));
    assert_eq!(counted(None, json!({"b": 2, "a": 1})), ("1".into(), true));
    assert_eq!(counted(Some("desk"), json!({"a": 1, "b": 2})), ("2".into(), false));
    assert_eq!(counted(Some("desk"), json!({"a": 1, "b": 2})), ("2".into(), true));
    assert_eq!(counted(None, json!({"a": 1})), ("3".into(), false));
    for _ in 0..2 {
        assert!(!fixture.call("one__fail", json!({})).unwrap().is_cached);
        assert!(!fixture.call("one__echo", json!({"text": ""})).unwrap().is_cached);
    }
    assert_eq!(fixture.times("one", "tools/call counter"), 3);
}

#[test]
fn a_client_that_calls_too_often_has_to_wait_and_others_have_not() {
    let fixture = Fixture::new([script("one").with(|server| server.rate = std::num::NonZeroU32::new(2))]);
    let called = |client: &str| {
        let call = memdir_tools::ToolCall { client: Some(client.to_owned()), ..call("one__counter", json!({})) };
        memdir_tools::Toolbox::call(fixture.hub(), &call, &mut (), &CancellationToken::new())
    };
    called("desk").unwrap();
    called("desk").unwrap();
    let error = called("desk").unwrap_err();
    let CallError::TooSoon { wait, .. } = error else { panic!("{error:?}") };
    assert!(wait > Duration::from_secs(50) && wait <= Duration::from_secs(60), "{wait:?}");
    called("phone").unwrap();
    assert_eq!(fixture.times("one", "tools/call counter"), 3);
    let may_call = |client: &str| {
        let call = memdir_tools::ToolCall { client: Some(client.to_owned()), ..call("one__counter", json!({})) };
        fixture.hub().may_call(&call)
    };
    assert!(matches!(may_call("desk"), Err(CallError::TooSoon { .. })));
    assert_eq!((may_call("phone"), may_call("phone")), (Ok(()), Ok(())), "asking counts as nothing");
}
