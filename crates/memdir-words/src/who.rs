//! Who did something.

use memdir_core::report::{LogEntry, Writing, WrittenBy};

/// Who made a change: `you` for what was typed or done on the page, else the program by its name and its door, so that none
/// passes for the person.
#[must_use]
pub fn changed(door: &str, client: Option<&str>) -> String {
    match (client, door) {
        (Some(client), door) => format!("{client} ({door})"),
        (None, "cli" | "web") => "you".to_owned(),
        (None, "mcp" | "library") => format!("a program ({door})"),
        (None, door) => format!("a model ({door})"),
    }
}

/// Who made a change, and on behalf of which tool: `you`, `shelf`, `tool web (shelf, mcp)`.
#[must_use]
pub fn made(entry: &LogEntry) -> String {
    match &entry.tool {
        Some(tool) => format!("tool {tool}{}", way(entry.client.as_deref(), Some(&entry.door))),
        None => changed(&entry.door, entry.client.as_deref()),
    }
}

/// What a change undid: `undid 7`, `undid 7, 5 and 2`.
#[must_use]
pub fn undid(entry: &LogEntry) -> Option<String> {
    let also: Vec<String> = entry.also_undoes.iter().map(u64::to_string).collect();
    let newest = entry.undoes?;
    Some(match also.split_last() {
        None => format!("undid {newest}"),
        Some((last, [])) => format!("undid {newest} and {last}"),
        Some((last, between)) => format!("undid {newest}, {} and {last}", between.join(", ")),
    })
}

/// By which program and door, in brackets.
fn way(client: Option<&str>, door: Option<&str>) -> String {
    let way: Vec<&str> = [client, door].into_iter().flatten().collect();
    if way.is_empty() { String::new() } else { format!(" ({})", way.join(", ")) }
}

/// Who wrote a line: `you`, `a model (shelf, mcp)`, `tool web (mcp), approved by you`.
#[must_use]
pub fn wrote(writing: &Writing) -> String {
    let way = way(writing.client.as_deref(), writing.door.as_deref());
    match (writing.by, &writing.tool) {
        (WrittenBy::You, _) => "you".to_owned(),
        (WrittenBy::Outside, _) => source(WrittenBy::Outside).to_owned(),
        (WrittenBy::Approved, Some(tool)) => format!("tool {tool}{way}, approved by you"),
        (WrittenBy::Approved, None) => format!("a model{way}, approved by you"),
        (WrittenBy::Tool, Some(tool)) => format!("tool {tool}{way}"),
        (by, _) => format!("{}{way}", source(by)),
    }
}

/// A kind of source.
#[must_use]
pub fn source(by: WrittenBy) -> &'static str {
    match by {
        WrittenBy::Tool => "a tool",
        WrittenBy::Import => "an import",
        WrittenBy::Program => "a program",
        WrittenBy::Model => "a model",
        WrittenBy::Approved => "a model, with your approval",
        WrittenBy::Outside => "an editor outside memdir",
        WrittenBy::You => "you",
    }
}
