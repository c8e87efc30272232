//! What goes wrong on the way, one error each.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use super::*;

/// The kind of an error, without what it says.
fn kind(error: &ModelError) -> &'static str {
    match error {
        ModelError::Unreachable { .. } => "unreachable",
        ModelError::Timeout { .. } => "timeout",
        ModelError::Refused { .. } => "refused",
        ModelError::Unknown { .. } => "unknown",
        ModelError::Limited { .. } => "limited",
        ModelError::Failing { .. } => "failing",
        ModelError::Broken { .. } => "broken",
        ModelError::TooLong { most: None } => "too long",
        ModelError::TooLong { most: Some(_) } => "too long, with the most",
        ModelError::Rejected { .. } => "rejected",
        ModelError::Garbled { .. } => "garbled",
        ModelError::Cancelled => "cancelled",
        _ => "another",
    }
}

/// As providers word them: provider, status, type, message, and what it is.
const ERRORS: &[(&str, u16, &str, &str, &str)] = &[
    ("openai", 401, "invalid_request_error", "Incorrect API key provided.", "refused"),
    ("openai", 404, "model_not_found", "The model `x` does not exist or you do not have access to it.", "unknown"),
    ("openai", 429, "rate_limit_exceeded", "Rate limit reached for requests", "limited"),
    ("openai", 429, "insufficient_quota", "You exceeded your current quota, please check your plan.", "limited"),
    (
        "openai",
        400,
        "context_length_exceeded",
        "This model's maximum context length is 8192 tokens. However, you requested 9000.",
        "too long, with the most",
    ),
    ("openai", 500, "server_error", "The server had an error while processing your request.", "failing"),
    ("openai", 400, "invalid_request_error", "Invalid 'messages': none.", "rejected"),
    ("anthropic", 401, "authentication_error", "invalid x-api-key", "refused"),
    ("anthropic", 403, "permission_error", "Your API key does not have permission.", "refused"),
    ("anthropic", 404, "not_found_error", "model: claude-x not found", "unknown"),
    ("anthropic", 429, "rate_limit_error", "This request would exceed your rate limit.", "limited"),
    ("anthropic", 400, "invalid_request_error", "Your credit balance is too low to access the API.", "limited"),
    (
        "anthropic",
        400,
        "invalid_request_error",
        "prompt is too long: 205000 tokens > 200000 maximum",
        "too long, with the most",
    ),
    ("anthropic", 413, "request_too_large", "Request exceeds the maximum size", "too long"),
    ("anthropic", 529, "overloaded_error", "Overloaded", "failing"),
    ("gemini", 400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "refused"),
    ("gemini", 404, "NOT_FOUND", "models/x is not found for API version v1beta", "unknown"),
    ("gemini", 429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", "limited"),
    (
        "gemini",
        400,
        "INVALID_ARGUMENT",
        "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
        "too long, with the most",
    ),
    ("gemini", 503, "UNAVAILABLE", "The model is overloaded.", "failing"),
    ("openrouter", 402, "402", "Insufficient credits.", "limited"),
    ("openrouter", 400, "400", "x is not a valid model ID", "unknown"),
    ("openrouter", 502, "502", "Provider returned error", "failing"),
    ("ollama", 404, "api_error", "model \"x\" not found, try pulling it first", "unknown"),
    (
        "lmstudio",
        400,
        "",
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
        "too long, with the most",
    ),
    ("lmstudio", 404, "", "Model not found", "unknown"),
    ("vllm", 404, "NotFoundError", "The model `x` does not exist.", "unknown"),
    (
        "vllm",
        400,
        "BadRequestError",
        "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens.",
        "too long, with the most",
    ),
    (
        "llamacpp",
        400,
        "exceed_context_size_error",
        "the request exceeds the available context size (4096 tokens), try increasing it",
        "too long, with the most",
    ),
    ("llamacpp", 503, "unavailable_error", "Loading model", "failing"),
    ("openai-compatible", 404, "", "Not Found", "rejected"),
];

#[test]
fn errors_of_providers_are_told_apart() {
    for (provider, status, code, message, expected) in ERRORS {
        let body = worded(provider, *status, code, message);
        let standin =
            Standin::start(
                move |asked| {
                    if asked.method == "GET" { Answered::new(500) } else { Answered::json(*status, &body) }
                },
            );
        let error = ask(provider, &standin, &request()).unwrap_err();
        assert_eq!(kind(&error), *expected, "{provider} {status} {message}: {error:?}");
        if let ModelError::TooLong { most: Some(most) } = error {
            assert!([4096, 8192, 200_000, 1_048_576].contains(&most), "{provider}: {most}");
        }
    }
}

#[test]
fn an_error_in_the_middle_of_a_stream_is_one() {
    let cases: &[(&str, Value, &str)] = &[
        ("openai", json!({"error": {"type": "server_error", "message": "Error in input stream"}}), "failing"),
        ("openrouter", json!({"error": {"code": 429, "message": "Rate limited"}}), "limited"),
        ("openrouter", json!({"error": {"code": 502, "message": "Provider disconnected"}}), "failing"),
        ("gemini", json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "Overloaded"}}), "failing"),
        ("vllm", json!({"choices": "none"}), "broken"),
    ];
    for (provider, event, expected) in cases {
        let standin = Standin::says([Answered::events([format!("data: {event}")])]);
        let error = ask(provider, &standin, &request()).unwrap_err();
        assert_eq!(kind(&error), *expected, "{provider}: {error:?}");
    }
    let event = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let standin = Standin::says([Answered::events([format!("event: error\ndata: {event}")])]);
    let error = ask("anthropic", &standin, &request()).unwrap_err();
    assert_eq!(kind(&error), "failing", "{error:?}");
}

#[test]
fn a_model_that_is_not_there_names_those_that_are() {
    let standin = Standin::start(|asked| match asked.path.as_str() {
        "/api/tags" => Answered::json(200, &json!({"models": [{"name": "gemma3:4b"}, {"name": "some-model-max"}]})),
        _ => Answered::json(404, &worded("ollama", 404, "api_error", "model \"x\" not found, try pulling it first")),
    });
    let error = ask("ollama", &standin, &request()).unwrap_err();
    let known = vec!["some-model-max".to_owned(), "gemma3:4b".to_owned()];
    let place = format!("{}/v1", standin.root());
    assert_eq!(error, ModelError::Unknown { place, name: NAME.to_owned(), known });
}

#[test]
fn a_busy_server_is_asked_again_and_the_person_told() {
    let busy = || Answered::error(429, "slow down");
    for (provider, speak) in SPEAKERS {
        let standin =
            Standin::says([busy(), Answered::error(503, "starting"), speak(&Turn::of(&["<reply>Hi.</reply>"]))]);
        let (answer, noted) = ask_with(RemoteOptions { tries: 3, ..options(provider, &standin) }, &request());
        assert_eq!(answer.unwrap().text, "<reply>Hi.</reply>", "{provider}");
        assert_eq!(noted, [Noted::Again, Noted::Again, Noted::Text("<reply>Hi.</reply>".to_owned())], "{provider}");
    }
    let standin = Standin::says([busy(), busy(), busy()]);
    let (answer, noted) = ask_with(RemoteOptions { tries: 2, ..options("vllm", &standin) }, &request());
    assert_eq!((kind(&answer.unwrap_err()), noted.len(), standin.asked().len()), ("limited", 1, 2));
}

#[test]
fn a_server_that_says_when_is_asked_then_or_not_at_all() {
    let many =
        |standin: &Standin| RemoteOptions { tries: 9, pause: Duration::from_secs(900), ..options("vllm", standin) };
    let soon = Answered::error(429, "slow down").header("Retry-After", "0");
    let standin = Standin::says([soon, Answered::chat("<reply>Hi.</reply>")]);
    assert_eq!(ask_with(many(&standin), &request()).0.unwrap().text, "<reply>Hi.</reply>");

    let late = Answered::error(429, "slow down").header("retry-after", "3600");
    let standin = Standin::says([late]);
    let error = ask_with(many(&standin), &request()).0.unwrap_err();
    let ModelError::Limited { again, .. } = error else { panic!("{error:?}") };
    assert_eq!((again, standin.asked().len()), (Some(Duration::from_secs(3600)), 1));

    for never in [Answered::error(401, "no"), Answered::error(402, "no"), Answered::error(400, "no")] {
        let standin = Standin::says([never, Answered::chat("<reply>Hi.</reply>")]);
        assert!(ask_with(many(&standin), &request()).0.is_err());
        assert_eq!(standin.asked().len(), 1);
    }
}

/// A turn in more pieces than any of the tests lets through.
const LONG: &[&str] = &["<reply>", "You ", "live ", "in ", "Paris.", "</reply>"];

#[test]
fn a_connection_that_breaks_in_the_middle_is_no_answer() {
    for (provider, speak) in SPEAKERS {
        let whole = speak(&Turn::of(LONG));
        let standin = Standin::says([whole.clone().cut_after(4), whole]);
        let (answer, noted) = ask_with(RemoteOptions { tries: 5, ..options(provider, &standin) }, &request());
        assert_eq!(kind(&answer.unwrap_err()), "broken", "{provider}: {noted:?}");
        // It is not asked again: something was heard already.
        assert_eq!((standin.asked().len(), noted.contains(&Noted::Again)), (1, false), "{provider}");

        let standin = Standin::says([Answered::new(200).cut_after(0), speak(&Turn::of(&["<reply>Hi.</reply>"]))]);
        let (answer, noted) = ask_with(RemoteOptions { tries: 2, ..options(provider, &standin) }, &request());
        assert_eq!((answer.unwrap().text.as_str(), &noted[0]), ("<reply>Hi.</reply>", &Noted::Again), "{provider}");
    }
}

#[test]
fn a_stream_that_ends_without_its_end_is_no_answer() {
    for (provider, speak) in SPEAKERS {
        // The body is whole, the answer is not.
        let standin = Standin::says([speak(&Turn::of(LONG)).keep(4)]);
        let (answer, noted) = ask_with(options(provider, &standin), &request());
        assert_eq!(kind(&answer.unwrap_err()), "broken", "{provider}: {noted:?}");
    }
}

#[test]
fn silence_is_not_waited_for_for_ever() {
    let short = |standin: &Standin| RemoteOptions { timeout: Duration::from_millis(200), ..options("vllm", standin) };
    let started = Answered::events([": soon"]).then_silence();
    let standin = Standin::says([started]);
    assert_eq!(kind(&ask_with(short(&standin), &request()).0.unwrap_err()), "timeout");

    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let options = RemoteOptions { address: Some(address.clone()), ..short(&standin) };
    let error = ask_with(options, &request()).0.unwrap_err();
    assert_eq!(error, ModelError::Timeout { place: format!("{address}/v1"), after: Duration::from_millis(200) });
    drop(listener);

    let options = RemoteOptions { address: Some(address), tries: 9, ..short(&standin) };
    let (answer, noted) = ask_with(options, &request());
    assert_eq!((kind(&answer.unwrap_err()), noted), ("unreachable", vec![]));
}

#[test]
fn nobody_is_sent_on_to_another_host() {
    let other = Standin::answers(["<reply>Mine.</reply>"]);
    for (provider, _) in SPEAKERS {
        for status in [301, 302, 307, 308] {
            let there = format!("{}/v1/chat/completions", other.root());
            let standin = Standin::start(move |_| Answered::new(status).header("Location", &there));
            let error = ask(provider, &standin, &request()).unwrap_err();
            assert!(
                matches!(&error, ModelError::Rejected { why, .. } if why.contains("127.0.0.1")),
                "{provider}: {error:?}"
            );
        }
    }
    assert_eq!(other.requests().len(), 0);
}

#[test]
fn a_key_that_a_server_repeats_is_not_shown() {
    let half = KEY.split_at(14).0;
    let echoes: Vec<Answered> = vec![
        Answered::error(401, &format!("Incorrect API key provided: {KEY}.")),
        Answered::error(500, &format!("with {half} and Bearer {KEY}")),
        Answered::new(400).piece(KEY),
        Answered::new(502).header("Content-Type", "text/html").piece(format!("<html>{KEY}")),
        Answered::new(302).header("Location", &format!("http://127.0.0.1/{KEY}")),
        Answered::events([format!("data: {{\"error\":{{\"message\":\"{KEY}\"}}}}")]),
        Answered::events([format!("data: {KEY}")]),
        Answered::error(429, KEY),
        Answered::json(404, &json!({"error": {"message": format!("model {KEY} not found")}})),
    ];
    for (provider, _) in SPEAKERS {
        for echo in &echoes {
            let echo = echo.clone();
            let standin = Standin::start(move |_| echo.clone());
            let model = Remote::open(options(provider, &standin)).unwrap();
            assert!(!format!("{model:?} {:?}", options(provider, &standin)).contains(half));
            let error = ask(provider, &standin, &request()).unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains(half), "{provider}: {shown}");
        }
    }
}

#[test]
fn what_is_no_answer_at_all_is_garbled() {
    let page = "<!DOCTYPE html>\n<html>\n\n<body>Sign in to the network</body>\n\n</html>";
    let html = |status| Answered::new(status).header("Content-Type", "text/html").piece(page);
    for (provider, _) in SPEAKERS {
        for (answer, expected) in [
            (html(200), "garbled"),
            (html(502), "failing"),
            (html(404), "rejected"),
            (Answered::json(200, &json!({"ok": true})), "garbled"),
            (Answered::new(200), "garbled"),
            (Answered::new(200).piece(vec![0xff, 0xfe, 0, 1, 2, b'\n', b'\n']), "garbled"),
            (Answered::events(["event: content_block_delta\ndata: {\"choices\":[{\"delta\":"]), "garbled"),
        ] {
            let standin = Standin::says([answer.clone()]);
            let error = ask(provider, &standin, &request()).unwrap_err();
            assert_eq!(kind(&error), expected, "{provider}: {answer:?}: {error:?}");
            assert!(!error.to_string().contains("Sign in"), "{error}");
        }
    }
}

#[test]
fn nothing_without_an_end_is_read_to_its_end() {
    let long = "x".repeat(4000);
    let piece = |provider: &str| {
        let turn = match provider {
            "anthropic" => json!({"type": "content_block_delta", "delta": {"text": long}}),
            "gemini" => json!({"candidates": [{"content": {"parts": [{"text": long}]}}]}),
            _ => json!({"choices": [{"delta": {"content": long}}]}),
        };
        format!("event: content_block_delta\ndata: {turn}\n\n")
    };
    // One of each wire: the others read the same.
    for provider in &["ollama", "anthropic", "gemini"] {
        let stream = Answered::new(200).header("Content-Type", "text/event-stream");
        for (what, endless) in [
            ("text", stream.clone().then_forever(piece(provider))),
            ("a line", stream.clone().piece("data: ").then_forever("x".repeat(1 << 20))),
            ("blank lines", stream.clone().then_forever("\n".repeat(4000))),
            (
                "events that say nothing",
                stream.then_forever(format!(
                    "event: ping\ndata: {{\"choices\":[],\"candidates\":[],\"x\":\"{long}\"}}\n\n"
                )),
            ),
            ("an error", Answered::new(500).then_forever("x".repeat(1 << 20))),
        ] {
            // All three are made of the same lines, and the library takes its time with an endless one.
            if what == "a line" && *provider != "ollama" {
                continue;
            }
            let standin = Standin::says([endless]);
            let error = ask(provider, &standin, &request()).unwrap_err();
            assert_eq!(kind(&error), "garbled", "{provider}: {what}: {error:?}");
        }
    }
}

#[test]
fn long_errors_are_cut_and_harmless() {
    let message = format!("\u{1b}[2J\u{7}{}\r\n{}", "é".repeat(5000), "y".repeat(100_000));
    let standin = Standin::start(move |_| Answered::error(400, &message));
    let error = ask("vllm", &standin, &request()).unwrap_err().to_string();
    assert!(error.len() < 1000 && !error.chars().any(char::is_control), "{error:?}");
}

#[test]
fn whoever_asks_can_stop_at_any_time() {
    let stop = |answered: Answered, tries: u32, hear_stops: bool| {
        let token = CancellationToken::new();
        let asked = Arc::new(Mutex::new(0));
        let standin = Standin::start({
            let (token, asked) = (token.clone(), Arc::clone(&asked));
            move |_| {
                *asked.lock().unwrap() += 1;
                if !hear_stops {
                    token.cancel();
                }
                answered.clone()
            }
        });
        let options = RemoteOptions { tries, pause: Duration::from_secs(900), ..options("vllm", &standin) };
        let answer = Remote::open(options).unwrap().answer(&request(), &mut |_| token.cancel(), &token);
        assert_eq!(answer, Err(ModelError::Cancelled));
        *asked.lock().unwrap()
    };
    // Before it is asked, before the answer begins, in its middle, and while it is waited to ask again.
    let token = CancellationToken::new();
    token.cancel();
    let standin = Standin::answers(["<reply>Hi.</reply>"]);
    let answer = Remote::open(options("vllm", &standin)).unwrap().answer(&request(), &mut |_| {}, &token);
    assert_eq!((answer, standin.requests().len()), (Err(ModelError::Cancelled), 0));
    assert_eq!(stop(Answered::events([": soon"]).then_silence(), 1, false), 1);
    assert_eq!(stop(Answered::chat("<reply>Hello to you.</reply>").keep(2).then_silence(), 1, true), 1);
    assert_eq!(stop(Answered::error(503, "starting"), 9, true), 1);
}

#[test]
fn a_server_that_does_not_prove_who_it_is_is_told_nothing() {
    let standin = Standin::answers(["<reply>Hi.</reply>"]);
    let address = standin.root().replace("http://", "https://");
    let options = RemoteOptions { address: Some(address), ..options("openai", &standin) };
    let error = ask_with(options, &request()).0.unwrap_err();
    assert_eq!(kind(&error), "unreachable", "{error:?}");
    assert!(standin.requests().iter().all(|asked| !asked.head.concat().contains(KEY)));
}
