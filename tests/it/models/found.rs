//! Which models there are.

use memdir_model::embed::Embedder;
use memdir_providers::remote::{RemoteEmbedder, discover, list};

use super::*;

fn models(names: &[&str], owner: &str) -> Value {
    json!({"data": names.iter().map(|name| json!({"id": name, "owned_by": owner})).collect::<Vec<_>>()})
}

#[test]
fn each_provider_lists_its_models() {
    for (provider, _) in SPEAKERS {
        let standin = Standin::start(|asked| {
            let listed = match asked.path.as_str() {
                "/api/tags" => json!({"models": [{"name": "a:1b"}, {"name": "b"}]}),
                "/v1beta/models" => json!({"models": [{"name": "models/a:1b"}, {"name": "models/b"}]}),
                "/v1/models" | "/api/v1/models" => models(&["a:1b", "b"], "me"),
                path => panic!("{path}"),
            };
            Answered::json(200, &listed)
        });
        let address = standin.root();
        let found = list(
            Provider::named(provider).unwrap(),
            Some(&address),
            Secret::new(KEY).as_ref(),
            Duration::from_secs(20),
        );
        assert_eq!(found.unwrap(), ["a:1b", "b"], "{provider}");
        let asked = &standin.requests()[0];
        assert_eq!(asked.head.iter().filter(|line| line.contains(KEY)).count(), 1, "{provider}");
    }
}

#[test]
fn a_list_that_is_none_is_an_error() {
    let provider = Provider::named("vllm").unwrap();
    for (answer, words) in [
        (Answered::error(401, "no"), "refuses the key"),
        (Answered::new(200).piece("<html>"), "interface"),
        (Answered::new(200).then_forever("[".repeat(4000)), "does not end"),
        (Answered::new(302).header("Location", "http://127.0.0.1:1/"), "sends on"),
    ] {
        let standin = Standin::start(move |_| answer.clone());
        let error = list(provider, Some(&standin.root()), None, Duration::from_secs(20)).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn a_server_of_this_machine_is_found_by_what_it_says() {
    let standin = Standin::start(|asked| match asked.path.as_str() {
        "/api/tags" => Answered::json(200, &json!({"models": [{"name": "qwen3:4b"}]})),
        _ => Answered::new(404),
    });
    let found = discover(Duration::from_secs(5), Some(standin.root().trim_start_matches("http://")));
    let address = format!("{}/v1", standin.root());
    let ours: Vec<_> = found.iter().filter(|found| found.address == address).collect();
    assert_eq!(ours.len(), 1, "{found:?}");
    assert_eq!((ours[0].provider.name, ours[0].models.as_slice()), ("ollama", ["qwen3:4b".to_owned()].as_slice()));
    assert!(standin.requests().iter().all(|asked| asked.method == "GET"));
}

#[test]
fn whoever_does_not_answer_in_time_is_not_there() {
    let standin = Standin::start(|_| Answered::new(200).then_silence());
    let found = discover(Duration::from_millis(200), Some(standin.root().trim_start_matches("http://")));
    assert!(!found.iter().any(|found| found.address.starts_with(&standin.root())), "{found:?}");
}

#[test]
fn points_of_texts_come_in_batches_and_in_order() {
    let mut is_first = true;
    let standin = Standin::start(move |asked| {
        if std::mem::take(&mut is_first) {
            return Answered::error(503, "loading");
        }
        let texts = asked.body["input"].as_array().unwrap();
        let points = texts.iter().enumerate().rev();
        let points = points.map(|(at, text)| json!({"index": at, "embedding": [text.as_str().unwrap().len(), 1]}));
        Answered::json(200, &json!({"data": points.collect::<Vec<_>>()}))
    });
    let texts: Vec<String> = (0..130).map(|length| "x".repeat(length)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut embedder = RemoteEmbedder::open(RemoteOptions { tries: 2, ..options("ollama", &standin) }).unwrap();
    let points = embedder.embed(&texts).unwrap();
    assert_eq!(points, (0..130_u8).map(|length| vec![f32::from(length), 1.0]).collect::<Vec<_>>());
    let sizes: Vec<usize> = standin.asked().iter().map(|asked| asked["input"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [64, 64, 64, 2]);
    assert!(standin.requests().iter().all(|asked| asked.path == "/v1/embeddings"));
    assert!(RemoteEmbedder::open(options("anthropic", &standin)).is_err());
    assert_eq!(embedder.id(), format!("ollama::{NAME} {}/v1", standin.root()));
}
