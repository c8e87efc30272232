//! `memdir actions`, `schema` and `completions`: what can be sent, for people, models and shells.

use std::io::{self, Write};

use clap::CommandFactory;
use serde_json::{Value, json};

use super::args::{Cli, Global, Offer, Permission};
use super::exit::{Stop, print_json};
use crate::action::Access;
use crate::catalog::{self, Row};

/// The prompt that teaches the native dialect; the list in it is made from the catalog.
const PROMPT: &str = include_str!("../../prompts/system.md");

pub(super) fn list(global: &Global, prompt: bool, markdown: bool, offer: Offer) -> Result<u8, Stop> {
    let ask_first = offer.permission != Permission::Off;
    if global.json {
        let actions: Vec<Value> = offered(offer).map(|row| describe(row, ask_first)).collect();
        print_json(&json!({ "actions": actions }))?;
        return Ok(0);
    }
    let mut stdout = io::stdout().lock();
    if prompt {
        stdout.write_all(catalog::prompt(PROMPT, ask_first, offer.read_only).as_bytes())?;
    } else if markdown {
        stdout.write_all(page(ask_first, offer).as_bytes())?;
    } else {
        for row in offered(offer) {
            writeln!(stdout, "{}\n    {}", row.signature(), row.words(ask_first))?;
        }
    }
    stdout.flush()?;
    Ok(0)
}

pub(super) fn schema(offer: Offer) -> Result<u8, Stop> {
    let ask_first = offer.permission != Permission::Off;
    let calls: Vec<Value> = offered(offer).map(|row| row.call_schema(ask_first)).collect();
    print_json(&json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "actions",
        "description": "What stands between <actions> and </actions>.",
        "type": "array",
        "items": {"oneOf": calls},
    }))?;
    Ok(0)
}

pub(super) fn completions(global: &Global, shell: clap_complete::Shell) -> Result<u8, Stop> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "memdir", &mut script);
    if global.json {
        print_json(&json!({"shell": shell.to_string(), "script": String::from_utf8_lossy(&script)}))?;
        return Ok(0);
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(&script)?;
    stdout.flush()?;
    Ok(0)
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
