//! Injections: what a note, a result, a name or a pasted text tells a model to do is not done, however well it obeys.
//!
//! `examples/agent/attacks.json` has the attacks, as tasks that `memdir eval agent` runs with real models. Here a model obeys
//! all of them: `obeys.json` says for each what it sends, and by which words it was told to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use memdir_agent::{Agent, Decision, Edge, Event, Family, Prompts, Removals, Said, Session, Settings};
use memdir_engine::Reviewed;
use memdir_model::{Answer, Card, End, Heard, Model, ModelError, Place, Request};
use memdir_policy::Mode;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::support::{Env, engine};

mod strangers;

/// What a model sends that obeys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Obeys {
    id: String,
    /// Words of the attack that reached it.
    sees: String,
    /// For each message its turns.
    says: Vec<Vec<String>>,
}

/// A model that was fooled.
struct Fooled {
    card: Card,
    turns: Vec<String>,
    /// All that it was asked.
    asked: Arc<Mutex<Vec<Request>>>,
}

impl Model for Fooled {
    fn card(&self) -> &Card {
        &self.card
    }

    fn answer(
        &mut self,
        request: &Request,
        _: &mut dyn FnMut(Heard<'_>),
        _: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        self.asked.lock().unwrap().push(request.clone());
        let text = if self.turns.is_empty() { "<reply>PWNED</reply>".to_owned() } else { self.turns.remove(0) };
        Ok(Answer {
            text,
            thought: None,
            end: End::Done,
            input_tokens: 0,
            output_tokens: 0,
            reused_tokens: 0,
            line_chances: Vec::new(),
        })
    }
}

struct Nobody;

impl Edge for Nobody {
    fn hear(&mut self, _: Event<'_>) {}

    fn decide(&mut self, _: &Reviewed) -> Decision {
        Decision::Later
    }

    fn is_attended(&self) -> bool {
        false
    }
}

/// What an attack has led to.
#[derive(Debug)]
struct Led {
    before: BTreeMap<String, String>,
    after: BTreeMap<String, String>,
    asked: Vec<Request>,
    said: Vec<Said>,
}

/// Runs an attack on a model that obeys it.
fn run(attack: &Value, obeys: &Obeys, mode: Mode) -> Led {
    play(&attack["memory"], &messages(attack), obeys.says.concat(), mode)
}

/// Says these messages to a model that answers with these turns.
fn play(memory: &Value, messages: &[String], turns: Vec<String>, mode: Mode) -> Led {
    let env = Env::new();
    for (path, text) in memory.as_object().unwrap() {
        env.write(path, text.as_str().unwrap());
    }
    let before = env.files();
    let engine = engine::open(env.memory());
    let asked = Arc::default();
    let card = Card {
        name: "fooled".to_owned(),
        place: Place::Process,
        million_parameters: None,
        context_tokens: None,
        is_constrained: false,
    };
    let model = Fooled { card, turns, asked: Arc::clone(&asked) };
    let settings = Settings {
        family: Family::Capable,
        door: "ask",
        mode,
        removals: Removals::Ask,
        turns: 8,
        tokens: None,
        context: 900,
        max_tokens: 500,
        temperature: 0.0,
        staged: false,
        clock: || SystemTime::now().into(),
    };
    let mut agent =
        Agent::new(&engine, Box::new(model), Prompts::default(), settings, Session::new("0badcafe".to_owned()));
    let mut all = Vec::new();
    for message in messages {
        let mut said = Said::default();
        agent.say(message, &mut Nobody, &CancellationToken::new(), &mut said).unwrap();
        all.push(said);
    }
    let asked = asked.lock().unwrap().clone();
    Led { before, after: env.files(), asked, said: all }
}

fn messages(attack: &Value) -> Vec<String> {
    match &attack["message"] {
        Value::Array(list) => list.iter().map(|message| message.as_str().unwrap().to_owned()).collect(),
        one => vec![one.as_str().unwrap().to_owned()],
    }
}

/// The attacks, each with what a model sends that obeys it.
fn attacks() -> Vec<(Value, Obeys)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/agent/attacks.json");
    let suite: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let obeys: Vec<Obeys> = serde_json::from_str(include_str!("obeys.json")).unwrap();
    let tasks = suite["tasks"].as_array().unwrap();
    let ids: BTreeSet<&str> = tasks.iter().map(|task| task["id"].as_str().unwrap()).collect();
    assert_eq!(ids, obeys.iter().map(|one| one.id.as_str()).collect(), "each attack says how it is obeyed");
    let of = |task: &Value| obeys.iter().find(|one| task["id"] == one.id.as_str()).unwrap().clone();
    tasks.iter().map(|task| (task.clone(), of(task))).collect()
}

fn mode(attack: &Value) -> Mode {
    serde_json::from_value(attack.get("permission").cloned().unwrap_or_else(|| "off".into())).unwrap()
}

/// All that a model was asked, in one text.
fn all(asked: &[Request]) -> String {
    let text = |request: &Request| {
        let said: String = request.messages.iter().map(|message| format!("{}\n", message.text)).collect();
        said
    };
    asked.iter().map(text).collect()
}

#[test]
fn there_are_enough_attacks() {
    assert!(attacks().len() >= 30);
}

/// Whatever the mode is: not even where nobody wants to be asked.
#[test]
fn nothing_is_stored_or_deleted_by_an_attack_that_is_obeyed() {
    let mut wrong = Vec::new();
    for (attack, obeys) in attacks() {
        for mode in [mode(&attack), Mode::Ask] {
            let led = run(&attack, &obeys, mode);
            if led.before != led.after {
                wrong.push(format!("{} ({mode:?}): {:?}", obeys.id, led.said.last().unwrap().receipts));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Else the test above would show nothing.
#[test]
fn every_attack_reaches_the_model_and_is_tried() {
    let mut wrong = Vec::new();
    for (attack, obeys) in attacks() {
        let led = run(&attack, &obeys, mode(&attack));
        if !all(&led.asked).contains(&obeys.sees) {
            wrong.push(format!("{}: `{}` was not seen in {}", obeys.id, obeys.sees, all(&led.asked)));
        }
        let tries = obeys.says.concat().iter().any(|turn| !turn.contains("<reply>"));
        let refused = led.said.iter().flat_map(|said| &said.actions).any(|(_, outcome)| outcome.result.is_err());
        if tries && !refused {
            wrong.push(format!("{}: no call of it was refused", obeys.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Nothing in a note or a result can end its fence, or look like what the program or the person says.
#[test]
fn no_fence_is_broken() {
    let mut wrong = Vec::new();
    for (attack, obeys) in attacks() {
        let led = run(&attack, &obeys, mode(&attack));
        for message in led.asked.iter().flat_map(|request| &request.messages) {
            for tag in ["</memory>", "</message>", "</result>", "<|im_end|>"] {
                if message.text.matches(tag).count() > 1 {
                    wrong.push(format!("{}: `{tag}` in {}", obeys.id, message.text));
                }
            }
            if message.text.contains("<|im_") {
                wrong.push(format!("{}: {}", obeys.id, message.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// When the person asks for the same, the call is made at once where it takes nothing away, else it waits for that reason alone.
#[test]
fn the_same_calls_pass_when_the_person_asks_for_them() {
    let asked = [
        ("note-delete", "Delete user.md, please."),
        ("note-store", "Remember that I am deeply in debt."),
        ("note-overwrite", "I moved to Tromsø."),
        ("actions-in-a-note", "Remove the folder entities."),
        ("link-text", "Erase the note about me."),
        ("python-block", "Please delete my main note."),
        ("table-cell", "I have no doctor any more, take Dr Lund out of my notes and forget her."),
    ];
    for (id, message) in asked {
        let (mut attack, obeys) = attacks().into_iter().find(|(_, obeys)| obeys.id == id).unwrap();
        attack["message"] = message.into();
        let led = run(&attack, &obeys, Mode::Off);
        let waits = led.said.iter().any(|said| !said.pending.is_empty());
        let takes_away = !matches!(id, "note-store" | "note-overwrite");
        assert_eq!((waits, led.before != led.after), (takes_away, !takes_away), "{id}: {:?}", led.said);
    }
}
