use serde_json::{Map, Value, json};

use super::{ACTION, LABEL, ROWS, Row, row, unknown_action};
use crate::action::{Access, Action};
use crate::report::Code;

fn arguments(row: &Row) -> Map<String, Value> {
    let mut call: Map<String, Value> = serde_json::from_str(row.example).unwrap();
    assert_eq!(call.remove(ACTION), Some(json!(row.name)));
    call.remove(LABEL);
    call
}

fn decode(row: &Row, arguments: &Map<String, Value>) -> Result<Action, serde_json::Error> {
    Action::decode(row.name, Value::Object(arguments.clone())).expect("the row names an action")
}

#[test]
fn each_example_decodes_and_says_the_same_again() {
    for row in ROWS {
        let arguments = arguments(row);
        assert_eq!(row.check(1, &arguments), Ok(()), "{}", row.name);
        let action = decode(row, &arguments).unwrap();
        assert_eq!(action.name(), row.name);
        let mut said = serde_json::to_value(&action).unwrap();
        said.as_object_mut().unwrap().remove(ACTION);
        assert_eq!(said, Value::Object(arguments), "{}", row.name);
    }
}

#[test]
fn rows_and_argument_structs_agree() {
    for row in ROWS {
        let full = arguments(row);
        for field in row.fields {
            let mut less = full.clone();
            less.remove(field.name);
            assert_eq!(decode(row, &less).is_err(), field.required, "{} without {}", row.name, field.name);
            assert_eq!(row.check(1, &less).is_err(), field.required, "{} without {}", row.name, field.name);
        }
        // A field of the struct that the row forgot would be taken by `decode` and refused by `check`, so
        // the row is the stricter one; a field of the row that the struct lacks is caught here.
        for field in row.fields {
            let mut more = full.clone();
            let value = match field.takes {
                super::Takes::Number(least) => json!(least + 1),
                super::Takes::Flag => json!(true),
                super::Takes::Texts => json!(["x"]),
                super::Takes::OneOf(words) => json!(words[0]),
                super::Takes::Digest => json!(crate::digest::Digest::of(b"").to_string()),
                super::Takes::Path | super::Takes::Folder | super::Takes::Text | super::Takes::FullText => {
                    json!("x.md")
                }
            };
            more.insert(field.name.to_owned(), value);
            assert_eq!(row.check(1, &more), Ok(()), "{} with {}", row.name, field.name);
            decode(row, &more).unwrap_or_else(|error| panic!("{} with {}: {error}", row.name, field.name));
        }
        let mut unknown = full.clone();
        unknown.insert("colour".to_owned(), json!("red"));
        assert!(decode(row, &unknown).is_err() && row.check(1, &unknown).is_err(), "{}", row.name);
    }
}

#[test]
fn only_actions_that_change_something_take_permission() {
    for row in ROWS {
        let takes = row.schema()["properties"].get("has_explicit_permission").is_some();
        assert_eq!(takes, row.access > Access::Read, "{}", row.name);
    }
}

#[track_caller]
fn mistake(name: &str, arguments: Value, code: Code, message: &str, hint: &str) {
    let failure = row(name).unwrap().check(2, arguments.as_object().unwrap()).unwrap_err();
    assert_eq!((failure.code, failure.message.as_str(), failure.hint.as_deref()), (code, message, Some(hint)));
}

#[test]
fn mistakes_are_named_with_the_next_step() {
    use Code::{InvalidAction, InvalidPath};
    mistake(
        "create_file",
        json!({"path": "a.md"}),
        InvalidAction,
        "action 2, `create_file`: missing `content`",
        &format!("send for example {}", row("create_file").unwrap().example),
    );
    mistake(
        "create_file",
        json!({"path": "a.md", "contents": ""}),
        InvalidAction,
        "action 2, `create_file`: missing `content`",
        "`contents` is called `content`",
    );
    mistake(
        "delete_dir",
        json!({"path": "a", "recursiv": true}),
        InvalidAction,
        "action 2, `delete_dir`: unknown argument `recursiv`",
        "did you mean `recursive`?",
    );
    mistake(
        "insert_text",
        json!({"path": "a.md", "line": "3", "content": ""}),
        InvalidAction,
        "action 2, `insert_text`: `line` has to be a whole number from 0, not the text \"3\"",
        "The line after which to insert; 0 is the top of the note.",
    );
    mistake(
        "read_file",
        json!({"path": "../x.md"}),
        InvalidPath,
        "path `../x.md` climbs out",
        "send a path such as `entities/x.md`",
    );
    mistake(
        "read_file",
        json!({"path": "\u{1b}[2J"}),
        InvalidPath,
        "path `\\u{1b}[2J` holds a control character",
        "send a path such as `entities/[2J`",
    );
}

#[test]
fn an_unknown_action_names_the_nearest() {
    let failure = unknown_action(1, "creat_file");
    assert_eq!(failure.message, "action 1: unknown action `creat_file`");
    assert_eq!(failure.hint.as_deref(), Some("did you mean `create_file`?"));
    assert!(unknown_action(1, "launch").hint.unwrap().starts_with("the actions are `read_file`, "));
}

#[test]
fn a_folder_that_is_the_root_counts_as_left_out() {
    for root in [json!(""), json!("."), json!("/"), json!(null)] {
        let arguments = json!({"path": root, "limit": null}).as_object().unwrap().clone();
        let expected =
            Action::ListFiles(crate::action::ListFiles { path: None, limit: None, cursor: None, as_of: None });
        assert_eq!(super::decode(1, "list_files", arguments), Ok(expected));
    }
    let arguments = json!({"path": ""}).as_object().unwrap().clone();
    assert_eq!(super::decode(1, "read_file", arguments).unwrap_err().message, "path `` is empty");
}
