//! What is sent, and what is heard of the answer.

use super::*;
use crate::support::standin::{Asked, chunk};

const PIECES: &[&str] = &["<reply>You live", " in Paris, é", "h?", "</reply>"];
const TEXT: &str = "<reply>You live in Paris, éh?</reply>";

fn text_of(noted: &[Noted]) -> String {
    noted.iter().filter_map(|noted| if let Noted::Text(text) = noted { Some(text.as_str()) } else { None }).collect()
}

#[test]
fn every_provider_answers_piece_by_piece() {
    for (provider, speak) in SPEAKERS {
        let standin = Standin::says([speak(&Turn { thought: "Where?", ..Turn::of(PIECES) })]);
        let (answer, noted) = ask_with(options(provider, &standin), &request());
        let answer = answer.unwrap_or_else(|error| panic!("{provider}: {error}"));
        assert_eq!((answer.text.as_str(), answer.end), (TEXT, memdir_model::End::Done), "{provider}");
        assert_eq!(answer.thought.as_deref(), Some("Where?"), "{provider}");
        let pieces = PIECES.iter().map(|piece| Noted::Text((*piece).to_owned()));
        let all: Vec<Noted> = [Noted::Thought("Where?".to_owned())].into_iter().chain(pieces).collect();
        assert_eq!(noted, all, "{provider}");
        check_sent(provider, &standin.requests());
    }
}

/// The one request that was made says all that was asked, to where it was meant for, under the server's own name.
fn check_sent(provider: &str, requests: &[Asked]) {
    let [asked] = requests else { panic!("{provider}: {requests:?}") };
    let body = &asked.body;
    let turns = [("user", "Hello."), ("assistant", "<reply>Hi.</reply>"), ("user", "Where do I live?")];
    let (path, key, system, messages): (&str, (&str, String), Value, Value) = match provider {
        "anthropic" => {
            let messages = turns.map(|(role, text)| json!({"role": role, "content": text}));
            ("/v1/messages", ("x-api-key", KEY.to_owned()), body["system"].clone(), json!(messages))
        }
        "gemini" => {
            let role = |role| if role == "assistant" { "model" } else { role };
            let messages = turns.map(|(of, text)| json!({"role": role(of), "parts": [{"text": text}]}));
            let path = "/v1beta/models/some%3A%3Amodel-max:streamGenerateContent?alt=sse";
            (
                path,
                ("x-goog-api-key", KEY.to_owned()),
                body["systemInstruction"]["parts"][0]["text"].clone(),
                json!(messages),
            )
        }
        _ => {
            let path = if provider == "openrouter" { "/api/v1/chat/completions" } else { "/v1/chat/completions" };
            let messages = turns.map(|(role, text)| json!({"role": role, "content": text}));
            (path, ("authorization", format!("Bearer {KEY}")), body["messages"][0]["content"].clone(), json!(messages))
        }
    };
    assert_eq!(asked.path, path, "{provider}");
    assert_eq!(asked.header(key.0), Some(key.1.as_str()), "{provider}");
    assert_eq!(asked.head.iter().filter(|line| line.contains(KEY)).count(), 1, "{provider}: {:?}", asked.head);
    assert_eq!(system, "Be brief.", "{provider}: {body}");
    let expected = |at: usize| messages[at].clone();
    let sent = if provider == "gemini" { &body["contents"] } else { &body["messages"] };
    let sent: Vec<&Value> = sent.as_array().unwrap().iter().filter(|message| message["role"] != "system").collect();
    assert_eq!(sent, [&expected(0), &expected(1), &expected(2)], "{provider}");
    let (temperature, limit, stop) = match provider {
        "anthropic" => (&body["temperature"], &body["max_tokens"], &body["stop_sequences"]),
        "gemini" => {
            let config = &body["generationConfig"];
            (&config["temperature"], &config["maxOutputTokens"], &config["stopSequences"])
        }
        _ => (&body["temperature"], &body["max_tokens"], &body["stop"]),
    };
    assert_eq!((temperature, limit), (&json!(0.7), &json!(300)), "{provider}: {body}");
    assert_eq!(stop, &json!(["</reply>", "</actions>"]), "{provider}: {body}");
    if provider != "gemini" {
        assert_eq!(body["model"], NAME, "{provider}");
        assert_eq!(body["stream"], true, "{provider}");
    }
    for field in ["reasoning_effort", "thinking", "tools"] {
        assert_eq!(body.get(field), None, "{provider}: {body}");
    }
}

#[test]
fn tokens_are_those_of_the_server() {
    for (provider, speak) in SPEAKERS {
        let answer = ask(provider, &Standin::says([speak(&Turn::of(PIECES))]), &request()).unwrap();
        assert_eq!((answer.input_tokens, answer.output_tokens, answer.thought), (21, 7, None), "{provider}");
    }
    let silent = Answered::events([
        format!("data: {}", chunk(&json!({"content": "<reply>12345678</reply>"}), Some("stop"))),
        "data: [DONE]".to_owned(),
    ]);
    let answer = ask("vllm", &Standin::says([silent]), &request()).unwrap();
    let asked = "Be brief.Hello.<reply>Hi.</reply>Where do I live?".len();
    assert_eq!((answer.input_tokens, answer.output_tokens), (asked.div_ceil(4) as u64, 6));
}

#[test]
fn a_stop_text_is_part_of_the_answer_whether_or_not_the_server_looks_for_it() {
    for (provider, speak) in SPEAKERS {
        let left_out = Standin::says([speak(&Turn::of(&["<reply>Par", "is."]))]);
        let (answer, noted) = ask_with(options(provider, &left_out), &request());
        assert_eq!(answer.unwrap().text, "<reply>Paris.</reply>", "{provider}");
        assert_eq!(text_of(&noted), "<reply>Paris.</reply>", "{provider}");

        let ignored = Standin::says([speak(&Turn::of(&["<reply>Paris.</re", "ply> <actions>[", "]</actions>"]))]);
        let (answer, noted) = ask_with(options(provider, &ignored), &request());
        assert_eq!(answer.unwrap().text, "<reply>Paris.</reply>", "{provider}");
        assert_eq!(text_of(&noted), "<reply>Paris.</reply>", "{provider}");
    }
}

#[test]
fn an_answer_that_a_limit_cut_off_says_so() {
    for (provider, speak) in SPEAKERS {
        let standin = Standin::says([speak(&Turn { end: End::Length, ..Turn::of(&["<actions>[{\"action\":"]) })]);
        let answer = ask(provider, &standin, &request()).unwrap();
        assert_eq!(
            (answer.end, answer.text.as_str()),
            (memdir_model::End::Cut, "<actions>[{\"action\":"),
            "{provider}"
        );
    }
}

#[test]
fn calls_that_nobody_asked_for_are_not_heard() {
    for (provider, speak) in SPEAKERS {
        let beside = Turn { call: true, end: End::Tool, ..Turn::of(PIECES) };
        let (answer, noted) = ask_with(options(provider, &Standin::says([speak(&beside)])), &request());
        assert_eq!(answer.unwrap().text, TEXT, "{provider}");
        assert_eq!(text_of(&noted), TEXT, "{provider}");

        let alone = Turn { call: true, end: End::Tool, ..Turn::of(&[]) };
        let error = ask(provider, &Standin::says([speak(&alone)]), &request()).unwrap_err();
        assert!(matches!(&error, ModelError::Garbled { why, .. } if why.contains("tools")), "{provider}: {error:?}");
    }
}

#[test]
fn an_answer_that_is_held_back_is_an_error() {
    for (provider, speak) in SPEAKERS {
        let standin = Standin::says([speak(&Turn { end: End::Filter, ..Turn::of(&["<reply>I"]) })]);
        let error = ask(provider, &standin, &request()).unwrap_err();
        assert!(
            matches!(&error, ModelError::Rejected { why, .. } if why.contains("held back")),
            "{provider}: {error:?}"
        );
    }
    let refusals = [
        ("openai", chunk(&json!({"refusal": "I will not."}), Some("stop"))),
        ("gemini", json!({"promptFeedback": {"blockReason": "I will not."}}).to_string()),
    ];
    for (provider, refusal) in refusals {
        let standin = Standin::says([Answered::events([format!("data: {refusal}"), "data: [DONE]".to_owned()])]);
        let error = ask(provider, &standin, &request()).unwrap_err();
        assert!(
            matches!(&error, ModelError::Rejected { why, .. } if why.contains("I will not.")),
            "{provider}: {error:?}"
        );
    }
}

#[test]
fn a_shape_is_asked_for_in_the_way_of_the_provider() {
    let schema = shaped().shape.unwrap().schema;
    for (provider, speak) in SPEAKERS {
        let is_grammar = *provider == "llamacpp";
        let pieces: &[&str] = if is_grammar { PIECES } else { &["{\"reply\":\"You live in", " Paris, éh?\"}"] };
        let standin = Standin::says([speak(&Turn::of(pieces))]);
        let (answer, noted) = ask_with(options(provider, &standin), &shaped());
        assert_eq!(answer.unwrap().text, TEXT, "{provider}");
        assert_eq!(text_of(&noted), TEXT, "{provider}");
        let body = &standin.asked()[0];
        let (asked, stop) = match *provider {
            "anthropic" => (&body["output_config"]["format"]["schema"]["properties"], body.get("stop_sequences")),
            "gemini" => {
                assert_eq!(body["generationConfig"]["responseMimeType"], "application/json");
                (
                    &body["generationConfig"]["responseJsonSchema"]["properties"],
                    body["generationConfig"].get("stopSequences"),
                )
            }
            "llamacpp" => {
                let grammar = body["grammar"].as_str().unwrap();
                assert!(grammar.contains("root ::= "), "{grammar}");
                assert!(body.get("stop").is_some());
                continue;
            }
            _ => {
                let format = &body["response_format"];
                assert_eq!((&format["type"], &format["json_schema"]["strict"]), (&json!("json_schema"), &json!(false)));
                (&format["json_schema"]["schema"]["properties"], body.get("stop"))
            }
        };
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(asked), names(&schema["properties"]), "{provider}: {body}");
        // `</reply>` may stand in a text of JSON.
        assert_eq!(stop, None, "{provider}: {body}");
    }
}

#[test]
fn actions_that_came_as_json_are_a_turn() {
    let json = r#"{"actions":[{"action":"create_file","path":"a.md","content":"</actions>"}],"reply":""}"#;
    let standin = Standin::answers([json]);
    let answer = ask("lmstudio", &standin, &shaped()).unwrap();
    let expected = r#"<actions>[{"action":"create_file","path":"a.md","content":"\u003c/actions>"}]</actions>"#;
    assert_eq!(answer.text, expected);
    // A server that does not look at the schema.
    let standin = Standin::answers([TEXT]);
    assert_eq!(ask("lmstudio", &standin, &shaped()).unwrap().text, TEXT);
}

#[test]
fn a_reply_that_comes_as_json_is_heard_while_it_comes() {
    let json = r#"{"reply":"You live in Paris, \u00e9h?"}"#;
    for (provider, speak) in SPEAKERS.iter().filter(|(provider, _)| *provider != "llamacpp") {
        let pieces: Vec<&str> = [json.split_at(14).0, json.split_at(14).1.split_at(18).0, json.split_at(32).1].to_vec();
        let (answer, noted) = ask_with(options(provider, &Standin::says([speak(&Turn::of(&pieces))])), &shaped());
        assert_eq!(answer.unwrap().text, TEXT, "{provider}");
        assert_eq!((text_of(&noted).as_str(), noted.len() > 2), (TEXT, true), "{provider}: {noted:?}");

        let cut = Turn { end: End::Length, ..Turn::of(&pieces[..2]) };
        let (answer, noted) = ask_with(options(provider, &Standin::says([speak(&cut)])), &shaped());
        let answer = answer.unwrap();
        assert_eq!((&answer.text, answer.end), (&text_of(&noted), memdir_model::End::Cut), "{provider}");
        assert!(answer.text.starts_with("<reply>You live"), "{provider}: {answer:?}");
    }
}

#[test]
fn what_a_server_does_not_take_is_left_out() {
    let cases: &[(&str, &str, &str)] = &[
        ("openai", "Unsupported value: 'temperature' does not support 0.7 with this model.", "temperature"),
        ("openai", "Unsupported parameter: 'stop' is not supported with this model.", "stop"),
        ("openai", "Use 'max_completion_tokens' instead.", "max_tokens"),
        ("openai-compatible", "stream_options: Extra inputs are not permitted", "stream_options"),
        ("vllm", "response_format is not supported", "response_format"),
        ("llamacpp", "failed to parse grammar", "grammar"),
        ("anthropic", "output_config: this model does not take schemas", "output_config"),
        ("anthropic", "`temperature` is deprecated for this model", "temperature"),
    ];
    for (provider, message, field) in cases {
        let speak = if *provider == "anthropic" { wire::anthropic } else { wire::openai };
        let refused = Answered::json(400, &worded(provider, 400, "invalid_request_error", message));
        let request = if *field == "stop" { request() } else { shaped() };
        let standin = Standin::says([refused, speak(&Turn::of(PIECES)), speak(&Turn::of(PIECES))]);
        let mut model = Remote::open(options(provider, &standin)).unwrap();
        for _ in 0..2 {
            let answer = model.answer(&request, &mut |_| {}, &CancellationToken::new());
            assert_eq!(answer.unwrap().text, TEXT, "{provider}: {message}");
        }
        let has: Vec<bool> = standin.asked().iter().map(|body| body.get(*field).is_some()).collect();
        assert_eq!(has, [true, false, false], "{provider}: {message}");
        let gives_up_shape = ["response_format", "grammar", "output_config"].contains(field);
        assert_eq!(model.card().is_constrained, !gives_up_shape, "{provider}: {message}");
    }
}

/// The words are those of the server of llama-cpp-python 0.3.36.
#[test]
fn a_request_that_a_server_finds_invalid_is_not_its_failure() {
    let message = r#"1 validation error:
  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': "Input should be 'text' or 'json_object'", 'input': 'json_schema', 'ctx': {'expected': "'text' or 'json_object'"}}

  File "llama_cpp/server/app.py", line 376, in create_chat_completion
    POST /v1/chat/completions"#;
    let refused = Answered::json(500, &worded("vllm", 500, "internal_server_error", message));
    let standin = Standin::says([refused.clone(), wire::openai(&Turn::of(PIECES)), refused]);
    let mut model = Remote::open(options("vllm", &standin)).unwrap();
    let mut ask = |request: &Request| model.answer(request, &mut |_| {}, &CancellationToken::new());
    assert_eq!(ask(&shaped()).unwrap().text, TEXT);
    let again = ask(&shaped());
    assert!(matches!(again, Err(ModelError::Rejected { .. })), "{again:?}");
    let has: Vec<bool> = standin.asked().iter().map(|body| body.get("response_format").is_some()).collect();
    assert_eq!(has, [true, false, false], "what is invalid is not sent again");
}

#[test]
fn a_server_that_takes_less_and_less_is_not_asked_for_ever() {
    let message = "temperature stream_options max_completion_tokens response_format 'stop' schema grammar";
    let standin = Standin::start(move |_| Answered::error(400, message));
    assert!(matches!(ask("vllm", &standin, &shaped()), Err(ModelError::Rejected { .. })));
    assert!(standin.asked().len() <= 6, "{}", standin.asked().len());
}

#[test]
fn nothing_is_said_of_a_key_where_there_is_none() {
    let standin = Standin::answers([TEXT]);
    let answer = ask_with(RemoteOptions { key: None, ..options("ollama", &standin) }, &request()).0;
    assert_eq!(answer.unwrap().text, TEXT);
    let requests = standin.requests();
    assert!(requests.iter().all(|asked| asked.header("authorization").is_none()), "{requests:?}");

    let error = Remote::open(RemoteOptions { key: None, ..options("openai", &standin) }).unwrap_err();
    assert!(matches!(&error, ModelError::NoKey { variable, .. } if variable == "OPENAI_API_KEY"), "{error:?}");
}
