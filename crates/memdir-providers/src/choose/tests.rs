use std::path::PathBuf;

use super::{Choice, Offer, Server, Wanted, choose};
use memdir_model::ModelError;

/// What there is: an engine or none, names on the shelf, servers with their models.
struct There<'a>(bool, &'a [&'a str], &'a [(&'a str, &'a str, &'a [&'a str])]);

fn chosen(name: Option<&str>, address: Option<&str>, there: &There<'_>) -> Result<Choice, ModelError> {
    let owned = |text: &str| text.to_owned();
    let shelf: Vec<String> = there.1.iter().map(|name| owned(name)).collect();
    let mut servers = || {
        let server = |(provider, address, models): &(&str, &str, &[&str])| Server {
            provider: owned(provider),
            address: owned(address),
            models: models.iter().map(|name| owned(name)).collect(),
        };
        there.2.iter().map(server).collect()
    };
    let wanted = Wanted { name: name.map(owned), address: address.map(owned) };
    choose(&wanted, &mut Offer { has_engine: there.0, shelf: &shelf, servers: &mut servers })
}

fn remote(provider: &str, name: &str, address: Option<&str>) -> Choice {
    Choice::Remote { provider: provider.into(), name: name.into(), address: address.map(str::to_owned) }
}

fn shelf(name: &str) -> Choice {
    Choice::Shelf { name: name.into() }
}

const OLLAMA: (&str, &str, &[&str]) = ("ollama", "http://127.0.0.1:11434", &["qwen3:latest"]);
const VLLM: (&str, &str, &[&str]) = ("vllm", "http://127.0.0.1:8000", &["a", "b"]);
const EMPTY: (&str, &str, &[&str]) = ("lmstudio", "http://127.0.0.1:1234", &[]);
const LARGE: &str = "qwen2.5-coder-1.5b";
const LIGHT: &str = "qwen2.5-coder-0.5b";

#[test]
fn a_name_says_what_is_meant() {
    let there = There(true, &["mine", LIGHT], &[OLLAMA, VLLM]);
    for (name, address, expected) in [
        ("ollama::qwen3:4b", None, remote("ollama", "qwen3:4b", None)),
        ("openrouter::qwen/qwen3-8b", None, remote("openrouter", "qwen/qwen3-8b", None)),
        ("vllm::x", Some("http://127.0.0.1:9"), remote("vllm", "x", Some("http://127.0.0.1:9"))),
        ("mine", Some("http://127.0.0.1:9"), remote("openai-compatible", "mine", Some("http://127.0.0.1:9"))),
        ("mine", None, shelf("mine")),
        (" mine ", None, shelf("mine")),
        (LIGHT, None, shelf(LIGHT)),
        ("/models/x.gguf", None, Choice::File { path: PathBuf::from("/models/x.gguf") }),
        ("X.GGUF", None, Choice::File { path: PathBuf::from("X.GGUF") }),
        ("b", None, remote("vllm", "b", Some("http://127.0.0.1:8000"))),
        ("qwen3", None, remote("ollama", "qwen3:latest", Some("http://127.0.0.1:11434"))),
    ] {
        assert_eq!(chosen(Some(name), address, &there), Ok(expected), "{name}");
    }
}

#[test]
fn a_name_that_means_nothing_is_told_with_the_nearest() {
    let there = There(true, &["mine"], &[OLLAMA]);
    let unknown = chosen(Some("qwen2.5-coder-1.5"), None, &there).unwrap_err();
    let ModelError::Unknown { place, name, known } = unknown else { panic!("{unknown:?}") };
    assert_eq!((place.as_str(), name.as_str()), ("this machine", "qwen2.5-coder-1.5"));
    assert_eq!(known[..2], [LARGE, LIGHT]);
    let absent = chosen(Some(LARGE), None, &there).unwrap_err();
    let ModelError::Unloadable { hint, .. } = absent else { panic!("{absent:?}") };
    assert_eq!(hint, "`memdir model fetch qwen2.5-coder-1.5b` gets it: 1118 MB");
}

#[test]
fn without_an_engine_no_file_is_chosen() {
    let there = There(false, &["mine", LARGE], &[OLLAMA]);
    for name in ["mine", LARGE, LIGHT, "x.gguf"] {
        assert_eq!(chosen(Some(name), None, &there), Err(ModelError::NoEngine), "{name}");
    }
    assert_eq!(chosen(None, None, &there), Ok(remote("ollama", "qwen3:latest", Some("http://127.0.0.1:11434"))));
}

#[test]
fn where_none_is_named() {
    #[track_caller]
    fn check(there: &There<'_>, expected: Result<Choice, ModelError>) {
        assert_eq!(chosen(None, None, there), expected);
    }
    let ollama = || remote("ollama", "qwen3:latest", Some("http://127.0.0.1:11434"));
    let several = |place: &str, known: &[&str]| {
        Err(ModelError::Several { place: place.into(), known: known.iter().map(|name| (*name).to_owned()).collect() })
    };
    check(&There(true, &["mine", LIGHT, LARGE], &[OLLAMA]), Ok(shelf(LARGE)));
    check(&There(true, &["mine", LIGHT], &[OLLAMA]), Ok(shelf(LIGHT)));
    check(&There(true, &["mine"], &[OLLAMA]), Ok(shelf("mine")));
    check(&There(true, &["mine", "other"], &[OLLAMA]), several("the shelf", &["mine", "other"]));
    check(&There(true, &[], &[OLLAMA]), Ok(ollama()));
    check(&There(true, &[], &[EMPTY, OLLAMA, VLLM]), Ok(ollama()));
    check(&There(false, &[], &[VLLM, OLLAMA]), several("http://127.0.0.1:8000", &["vllm::a", "vllm::b"]));
    check(&There(true, &[], &[EMPTY]), Err(ModelError::NoModel));
    check(&There(true, &[], &[]), Err(ModelError::NoModel));
    check(&There(false, &[], &[]), Err(ModelError::NoModel));
    check(&There(false, &["mine"], &[EMPTY]), Err(ModelError::NoEngine));
    assert_eq!(chosen(Some("  "), None, &There(true, &["mine"], &[])), Ok(shelf("mine")));
    let at = chosen(None, Some("http://127.0.0.1:11434"), &There(true, &["mine"], &[VLLM, OLLAMA]));
    assert_eq!(at, Ok(ollama()));
}

#[test]
fn servers_are_only_asked_where_it_matters() {
    for name in ["ollama::x", "mine", "x.gguf", LARGE] {
        let shelf = ["mine".to_owned()];
        let mut servers = || panic!("{name}");
        let wanted = Wanted { name: Some(name.to_owned()), address: None };
        let _ = choose(&wanted, &mut Offer { has_engine: true, shelf: &shelf, servers: &mut servers });
    }
}
