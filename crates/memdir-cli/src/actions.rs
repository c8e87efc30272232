//! `memdir actions`, `schema` and `completions`: what can be sent, for people, models and shells.

use std::io::Write;

use clap::CommandFactory;
use serde_json::{Value, json};

use super::args::{Global, Offer, SchemaFormat};
use super::command::Cli;
use super::open;
use super::output::print_json;
use super::stop::{Stop, usage};
use memdir_core::action::Access;
use memdir_core::catalog::format::definitions;
use memdir_core::catalog::{self, Row};
use memdir_model::grammar::{self, Grammar};
use memdir_policy::Mode;

/// The prompt that teaches the native dialect; the list in it is made from the catalog.
const PROMPT: &str = include_str!("../../../prompts/system.md");

pub(super) fn list(global: &Global, prompt: bool, markdown: bool, offer: Offer) -> Result<u8, Stop> {
    let ask_first = offer.permission != Mode::Off;
    let actions: Vec<Value> = offered(offer).map(|row| describe(row, ask_first)).collect();
    global.answer(&json!({ "actions": actions }), |stdout| {
        let text = if prompt {
            catalog::prompt(PROMPT, ask_first, offer.read_only)
        } else if markdown {
            page(ask_first, offer)
        } else {
            offered(offer).map(|row| format!("{}\n    {}\n", row.signature(), row.words(ask_first))).collect()
        };
        Ok(stdout.write_all(text.as_bytes())?)
    })
}

pub(super) fn schema(global: &Global, format: SchemaFormat, notes: &[String], offer: Offer) -> Result<u8, Stop> {
    let ask_first = offer.permission != Mode::Off;
    let grammar_in = |language: &str, write: fn(&Grammar) -> String| {
        let text = write(&grammar(global, notes, offer)?);
        print_text(global, &json!({"format": language, "grammar": text}), &text)
    };
    match format {
        SchemaFormat::Gbnf => grammar_in("gbnf", Grammar::gbnf),
        SchemaFormat::Lark => grammar_in("lark", Grammar::lark),
        SchemaFormat::JsonSchema | SchemaFormat::Tools(_) if !notes.is_empty() => {
            let hint = "add `--format gbnf`, or `--format lark`";
            Err(usage("only a grammar can be made of the lines of notes", hint).into())
        }
        SchemaFormat::JsonSchema => print_json(&array(offer, ask_first)).map(|()| 0),
        SchemaFormat::Tools(format) => print_json(&definitions(format, offered(offer), ask_first)).map(|()| 0),
    }
}

fn array(offer: Offer, ask_first: bool) -> Value {
    let calls: Vec<Value> = offered(offer).map(|row| row.call_schema(ask_first)).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "actions",
        "description": "What stands between <actions> and </actions>.",
        "type": "array",
        "items": {"oneOf": calls},
    })
}

/// The grammar of turns, or of lines in these notes.
fn grammar(global: &Global, notes: &[String], offer: Offer) -> Result<Grammar, Stop> {
    if notes.is_empty() {
        return Ok(grammar::turns(offered(offer)));
    }
    if offer.read_only {
        let hint = "leave out `--lines` or `--read-only`";
        return Err(usage("the dialect lines has no action that only reads", hint).into());
    }
    let opened = open::open(global)?;
    let mut texts = Vec::new();
    for note in notes {
        let path = opened.engine.note_named(note)?;
        let (text, _) = opened.engine.read(&path, &open::person())?;
        texts.push((path, text));
    }
    let notes: Vec<_> = texts.iter().map(|(path, text)| (path.clone(), text.as_str())).collect();
    grammar::lines(&notes).map_err(|error| usage(error.to_string(), "name fewer notes").into())
}

/// Prints a text for another program as it is; in JSON, behind what kind of text it is.
fn print_text(global: &Global, value: &Value, text: &str) -> Result<u8, Stop> {
    global.answer(value, |stdout| Ok(stdout.write_all(text.as_bytes())?))
}

pub(super) fn completions(global: &Global, shell: clap_complete::Shell) -> Result<u8, Stop> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "memdir", &mut script);
    let script = String::from_utf8_lossy(&script);
    print_text(global, &json!({"shell": shell.to_string(), "script": script}), &script)
}

fn offered(offer: Offer) -> impl Iterator<Item = &'static Row> {
    catalog::ROWS.iter().filter(move |row| !offer.read_only || row.access == Access::Read)
}

fn describe(row: &Row, ask_first: bool) -> Value {
    let example: Value = serde_json::from_str(row.example).unwrap_or_default();
    json!({
        "name": row.name,
        "title": row.title,
        "access": row.access,
        "words": row.words(ask_first),
        "returns": row.returns,
        "schema": row.schema(),
        "example": example,
    })
}

/// The actions as a page of Markdown.
fn page(ask_first: bool, offer: Offer) -> String {
    let mut page = String::from("# Actions\n\nMade by `memdir actions --markdown`; a test keeps it so.\n");
    for row in offered(offer) {
        page.push_str(&format!("\n## {}\n\n{}\n\n", row.name, row.words(ask_first)));
        for field in row.fields {
            let optional = if field.required { "" } else { ", optional" };
            page.push_str(&format!("- `{}`{optional}: {}\n", field.name, field.words));
        }
        page.push_str(&format!("\nAnswers {}.\n\n```json\n{}\n```\n", row.returns, row.example));
    }
    page
}
