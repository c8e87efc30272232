//! The configuration of Codex: a table `[mcp_servers.memdir]`.

use toml_edit::{Document, Item, Table, TableLike};

use super::edit::{Edit, FoundEntry, Starts, Trouble, Written, line_end, line_start, listed, next_line, quoted};
use super::{Entry, NAME};

pub(super) const LIST: &str = "mcp_servers";

/// Whether the value under these names is `true`.
pub(super) fn is_on(text: &str, names: &[&str]) -> bool {
    let Ok(document) = Document::parse(text) else { return false };
    let item = names.iter().try_fold(document.as_item(), |item, name| item.get(name));
    item.and_then(Item::as_bool) == Some(true)
}

/// All that a text holds.
pub(super) fn value(text: &str) -> Result<serde_json::Value, Trouble> {
    read(text)?;
    ::toml::from_str(text).map_err(|error| Trouble::Unread(format!("it is no TOML: {}", error.message())))
}

fn read(text: &str) -> Result<Document<&str>, Trouble> {
    Document::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
        Trouble::Unread(format!("it is no TOML, line {line}: {}", error.message().trim().replace('\n', " ")))
    })
}

pub(super) fn find(text: &str) -> Result<Option<FoundEntry>, Trouble> {
    let document = read(text)?;
    let Some(list) = document.get(LIST) else { return Ok(None) };
    let list = list.as_table_like().ok_or_else(|| Trouble::Unread(format!("its `{LIST}` is no table")))?;
    let Some(item) = list.get(NAME) else { return Ok(None) };
    let cut = item.as_table().and_then(|table| table_lines(text, table));
    Ok(Some(FoundEntry { starts: item.as_table_like().and_then(starts), lacks: Vec::new(), cut }))
}

fn starts(table: &dyn TableLike) -> Option<Starts> {
    let (command, args) = (table.get("command")?.as_value()?, table.get("args")?.as_value()?);
    let texts = args.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    let entry = Entry { command: command.as_str()?.to_owned(), args: texts };
    Some(Starts { entry, written: Written::Apart { command: command.span()?, args: args.span()? } })
}

/// The lines of a table and of those below it; `None` where they are written otherwise than each under its header.
fn table_lines(text: &str, table: &Table) -> Option<Vec<Edit>> {
    if table.is_dotted() || table.is_implicit() {
        return None;
    }
    let header = table.span()?;
    let (mut end, mut edits) = (header.end, Vec::new());
    for (_, item) in table {
        match item {
            Item::Table(below) => edits.extend(table_lines(text, below)?),
            Item::Value(value) => end = end.max(value.span()?.end),
            Item::None => {}
            Item::ArrayOfTables(_) => return None,
        }
    }
    let (mut start, end) = (line_start(text, header.start), next_line(text, end.saturating_sub(1)));
    // The empty line that sets it off goes with it; at the end of a text whose last line is not ended, so does what ended
    // the line before.
    let before = text.get(..start).unwrap_or_default();
    let rest = text.get(end..).unwrap_or_default();
    if rest.is_empty() && !text.ends_with('\n') {
        start = before.trim_end_matches(['\r', '\n']).len();
    } else if rest.is_empty() || rest.starts_with(['\n', '\r']) {
        let blank = ["\r\n\r\n", "\n\n"].into_iter().find(|blank| before.ends_with(blank));
        start -= blank.map_or(0, |blank| blank.len() / 2);
    }
    edits.push((start..end, String::new()));
    Some(edits)
}

/// Adds the table at the end; a last line that is not ended is left so.
pub(super) fn add(text: &str, entry: &Entry) -> String {
    let end = line_end(text);
    let (gap, last) = match text {
        "" => (String::new(), end),
        text if text.ends_with('\n') => (end.to_owned(), end),
        _ => (end.repeat(2), ""),
    };
    let (command, args) = (quoted(&entry.command), listed(&entry.args));
    format!("{text}{gap}[{LIST}.{NAME}]{end}command = {command}{end}args = {args}{last}")
}
