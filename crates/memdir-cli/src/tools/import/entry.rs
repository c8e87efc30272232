//! One server as another program writes it, and what it is here. Values in, values out.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::install::{ServerList, is_enabled, is_memdir};
use memdir_tools::{NameError, PlainSecret, Server, ServerName, Transport, references};

/// The longest name that a server gets, with room for a number.
const MOST_NAME: usize = 20;

/// A server of another program.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    /// What it is called there.
    pub(super) name: String,
    /// Whether it is in use there.
    pub(super) enabled: bool,
    /// How it is reached; else why it cannot be taken over.
    pub(super) transport: Result<Transport, String>,
    /// The variables that stand for what that program asks the person for.
    pub(super) asked: Vec<String>,
}

/// The servers of a list, without memdir itself.
pub(super) fn read(list: &ServerList) -> Vec<Found> {
    let named: Vec<(String, &Value)> = match &list.servers {
        Value::Object(servers) => servers.iter().map(|(name, entry)| (name.clone(), entry)).collect(),
        Value::Array(servers) => {
            let name = |entry: &Value| entry.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            servers.iter().map(|entry| (name(entry), entry)).collect()
        }
        _ => Vec::new(),
    };
    let read = |(name, entry): (String, &Value)| Found {
        enabled: is_enabled(entry),
        transport: transport(entry, list.is_sse_by_default),
        asked: asked(entry),
        name,
    };
    named.into_iter().map(read).filter(|found| !is_own(found)).collect()
}

fn is_own(found: &Found) -> bool {
    matches!(&found.transport, Ok(Transport::Stdio { command, .. }) if is_memdir(command))
}

/// The first of these members that is there.
fn first<'e>(entry: &'e Value, names: &[&str]) -> Option<&'e Value> {
    names.iter().find_map(|name| entry.get(*name)).filter(|value| !value.is_null())
}

fn text<'e>(entry: &'e Value, names: &[&str]) -> Option<&'e str> {
    first(entry, names)?.as_str()
}

fn transport(entry: &Value, is_sse_by_default: bool) -> Result<Transport, String> {
    if !entry.is_object() {
        return Err("its entry is not an object".to_owned());
    }
    let kind = text(entry, &["type", "transport"]).unwrap_or_default().to_lowercase();
    if let Some(url) = text(entry, &["httpUrl", "url", "serverUrl", "uri"]) {
        let is_sse = kind == "sse" || (kind.is_empty() && is_sse_by_default && entry.get("httpUrl").is_none());
        let (url, headers) = (translated(url)?, headers(entry)?);
        return Ok(if is_sse { Transport::Sse { url, headers } } else { Transport::Http { url, headers } });
    }
    // Zed has had the program in an object of its own.
    let program = entry.get("command").filter(|command| command.is_object()).unwrap_or(entry);
    let (command, args) = match first(program, &["command", "cmd", "path"]) {
        Some(Value::String(command)) => (command.clone(), texts(program.get("args"))?),
        Some(joined @ Value::Array(_)) => {
            let mut words = texts(Some(joined))?;
            if words.is_empty() {
                return Err("it names no program".to_owned());
            }
            (words.remove(0), words)
        }
        _ => return Err("it names neither a program nor an address".to_owned()),
    };
    Ok(Transport::Stdio {
        command: translated(&command)?,
        args: args.iter().map(|arg| translated(arg)).collect::<Result<_, _>>()?,
        env: environment(program)?,
        cwd: text(program, &["cwd"]).map(translated).transpose()?,
    })
}

fn texts(list: Option<&Value>) -> Result<Vec<String>, String> {
    let Some(list) = list.filter(|list| !list.is_null()) else { return Ok(Vec::new()) };
    let texts = list.as_array().and_then(|list| list.iter().map(scalar).collect::<Option<_>>());
    texts.ok_or_else(|| "its arguments are no list of texts".to_owned())
}

/// A text, or a number or truth value as it would be written.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The pairs of a member that is an object of texts.
fn pairs(entry: &Value, names: &[&str]) -> Result<BTreeMap<String, String>, String> {
    let empty = Map::new();
    let object = match first(entry, names) {
        None => &empty,
        Some(value) => value.as_object().ok_or_else(|| format!("its `{}` is no object", names.join("` or `")))?,
    };
    let pair = |(name, value): (&String, &Value)| {
        let value = scalar(value).ok_or_else(|| format!("the value of `{name}` is no text"))?;
        Ok((name.clone(), translated(&value)?))
    };
    object.iter().map(pair).collect()
}

fn environment(entry: &Value) -> Result<BTreeMap<String, String>, String> {
    let mut env = pairs(entry, &["env", "environment", "envs"])?;
    // goose keeps these in the system's keyring; Codex hands them on from its own environment.
    for names in ["env_keys", "env_vars"] {
        for name in texts(entry.get(names))? {
            env.entry(name.clone()).or_insert_with(|| format!("${{{name}}}"));
        }
    }
    Ok(env)
}

fn headers(entry: &Value) -> Result<BTreeMap<String, String>, String> {
    let mut headers = pairs(entry, &["headers", "http_headers"])?;
    // Codex names variables for some.
    for (header, variable) in pairs(entry, &["env_http_headers"])? {
        headers.insert(header, format!("${{{variable}}}"));
    }
    if let Some(variable) = text(entry, &["bearer_token_env_var"]) {
        headers.insert("Authorization".to_owned(), format!("Bearer ${{{variable}}}"));
    }
    Ok(headers)
}

/// A value in which each variable is named as memdir names it.
fn translated(value: &str) -> Result<String, String> {
    if value.contains("{file:") {
        return Err("it reads a key from a file: put it into a variable, and add the server by hand".to_owned());
    }
    let mut rest = value;
    let mut text = String::new();
    while let Some(at) = rest.find("${").into_iter().chain(rest.find("{env:")).min() {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let inner = from.strip_prefix('$').unwrap_or(from).strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let (inner, behind) = inner.ok_or_else(|| format!("`{value}` does not end what it begins with `{{`"))?;
        let name = match inner.split_once(':') {
            None => inner.to_owned(),
            Some(("env", name)) => name.to_owned(),
            Some(("input", id)) => variable(id),
            // What stands behind `:-` counts where the variable is not set.
            Some((name, default)) if default.starts_with('-') => name.to_owned(),
            Some(_) => return Err(format!("only that program knows `${{{inner}}}`")),
        };
        let name = if name == "userHome" { "HOME".to_owned() } else { name };
        let reference = format!("${{{name}}}");
        if references(&reference).is_none() || matches!(name.as_str(), "workspaceFolder" | "workspaceFolderBasename") {
            return Err(format!("only that program knows `${{{inner}}}`"));
        }
        text.push_str(&reference);
        rest = behind;
    }
    text.push_str(rest);
    Ok(text)
}

/// The variables that stand for the inputs in all texts of an entry.
fn asked(entry: &Value) -> Vec<String> {
    match entry {
        Value::String(text) => {
            let ids = text.split("${input:").skip(1).filter_map(|rest| rest.split_once('}'));
            ids.map(|(id, _)| variable(id)).collect()
        }
        Value::Array(items) => items.iter().flat_map(asked).collect(),
        Value::Object(members) => members.values().flat_map(asked).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// The name of a variable that is made from words.
fn variable(words: &str) -> String {
    let upper = words.to_uppercase();
    let name: String = upper.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if name.starts_with(|letter: char| letter.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// What a server is called here: the name in the letters that there are, and a number where that is not the first.
pub(super) fn server_name(name: &str, number: usize) -> Result<ServerName, NameError> {
    let lower = name.to_lowercase();
    let plain: String = lower.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    let short: String = words.join("-").chars().take(MOST_NAME).collect();
    let short = short.trim_end_matches('-');
    let short = if short.is_empty() { "server" } else { short };
    let numbered = if number == 1 { short.to_owned() } else { format!("{short}-{number}") };
    ServerName::parse(&numbered)
}

/// Puts a variable in the place of each key that is written out, and gives the names of these.
///
/// # Errors
///
/// Why that cannot be done, in words.
pub(super) fn without_secrets(
    server: &ServerName,
    transport: &mut Transport,
    holds_secret: &dyn Fn(&str) -> bool,
) -> Result<Vec<String>, String> {
    let mut set = Vec::new();
    for found in transport.plain_secrets(holds_secret) {
        match (found, &mut *transport) {
            (PlainSecret::Env(name), Transport::Stdio { env, .. }) => {
                let own = variable(&name);
                env.insert(name, format!("${{{own}}}"));
                set.push(own);
            }
            (PlainSecret::Header(name), Transport::Http { headers, .. } | Transport::Sse { headers, .. }) => {
                let own = variable(&format!("{server}_{name}"));
                if let Some(value) = headers.get_mut(&name) {
                    *value = header_with(value, &own);
                }
                set.push(own);
            }
            (PlainSecret::Query(name), Transport::Http { url, .. } | Transport::Sse { url, .. }) => {
                let own = variable(&format!("{server}_{}", if name.is_empty() { "key" } else { &name }));
                *url = with_query(url, &name, &own);
                set.push(own);
            }
            // Which part of an address, or of JSON, is the key is for the person to say.
            (PlainSecret::Argument(at), Transport::Stdio { args, .. })
                if !args
                    .get(at)
                    .is_some_and(|arg| arg.contains("://") && arg.contains('?') || arg.starts_with(['{', '['])) =>
            {
                let mut own = variable(&format!("{server}_key"));
                if set.contains(&own) {
                    own = format!("{own}_{}", set.len() + 1);
                }
                let before = at.checked_sub(1).and_then(|at| args.get(at)).cloned().unwrap_or_default();
                if let Some(arg) = args.get_mut(at) {
                    *arg = argument_with(&before, arg, &own);
                }
                set.push(own);
            }
            _ => {}
        }
    }
    match transport.plain_secrets(holds_secret).as_slice() {
        [] => Ok(set),
        _ => Err("a key is written out in it: add it by hand, with ${VARIABLE} in the key's place".to_owned()),
    }
}

/// Whether a server is what this transport becomes when the keys in it are taken out under the server's name.
pub(super) fn is_without_keys(server: &Server, transport: &Transport, holds_secret: &dyn Fn(&str) -> bool) -> bool {
    let mut transport = transport.clone();
    without_secrets(&server.name, &mut transport, holds_secret).is_ok() && transport == server.transport
}

/// The address with a variable in the place of what stands behind this name in its query; without a name, of what has none.
fn with_query(url: &str, name: &str, variable: &str) -> String {
    let (address, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
    let (before, query) = address.split_once('?').unwrap_or((address, ""));
    let put = |pair: &str| match pair.split_once('=') {
        Some((named, _)) if named == name => format!("{name}=${{{variable}}}"),
        None if name.is_empty() => format!("${{{variable}}}"),
        _ => pair.to_owned(),
    };
    format!("{before}?{}{fragment}", query.split('&').map(put).collect::<Vec<_>>().join("&"))
}

/// What stands before the key in a header (IANA's schemes of HTTP, and two that are common).
const SCHEMES: [&str; 6] = ["basic", "bearer", "digest", "negotiate", "token", "apikey"];

/// The value of a header with a variable in the place of the key; a scheme before that stays.
fn header_with(value: &str, variable: &str) -> String {
    let is_scheme = |(scheme, _): &(&str, &str)| SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    match value.split_once(' ').filter(is_scheme) {
        Some((scheme, _)) => format!("{scheme} ${{{variable}}}"),
        None => format!("${{{variable}}}"),
    }
}

/// A header as an argument, `Name: KEY`, or `X-Name:KEY` where that `may_be_close`; a key may have a colon of its own.
fn header_line_with(text: &str, may_be_close: bool, variable: &str) -> Option<String> {
    let (name, value) = text.split_once(':')?;
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    let blanks = value.len() - value.trim_start().len();
    let (blank, value) = value.split_at(blanks);
    let is_header = is_name && (blanks > 0 || may_be_close && name.contains('-'));
    is_header.then(|| format!("{name}:{blank}{}", header_with(value, variable)))
}

/// An argument behind another one with a variable in the place of the key: what says which option, header or variable it is stays.
fn argument_with(before: &str, arg: &str, variable: &str) -> String {
    let takes_header = |option: &str| option == "-H" || option.ends_with("header");
    let may_be_close = !before.starts_with('-') || takes_header(before);
    if let Some(header) = header_line_with(arg, may_be_close, variable) {
        return header;
    }
    let Some((option, value)) = arg.split_once('=') else { return format!("${{{variable}}}") };
    if let Some(header) = header_line_with(value, takes_header(option), variable) {
        return format!("{option}={header}");
    }
    // An option may set a variable: `--env=TOKEN=KEY`. A key may end in `=`.
    let is_variable = |(name, value): &(&str, &str)| {
        let is_letter = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
        option.starts_with('-')
            && !name.is_empty()
            && name.chars().all(is_letter)
            && !value.trim_matches('=').is_empty()
    };
    match value.split_once('=').filter(is_variable) {
        Some((name, _)) => format!("{option}={name}=${{{variable}}}"),
        None => format!("{option}=${{{variable}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_named_as_memdir_names_them() {
        for (there, here) in [
            ("plain $HOME and {x}", "plain $HOME and {x}"),
            ("a ${env:KEY} b ${KEY}", "a ${KEY} b ${KEY}"),
            ("{env:KEY}", "${KEY}"),
            ("${KEY:-none}/x", "${KEY}/x"),
            ("Bearer ${input:api-key 2}", "Bearer ${API_KEY_2}"),
            ("${userHome}/notes", "${HOME}/notes"),
        ] {
            assert_eq!(translated(there).as_deref(), Ok(here), "{there}");
        }
        for unknown in ["${workspaceFolder}", "${config:x}", "${KEY", "{env:", "${}", "${1}", "x {file:~/.key}"] {
            assert!(translated(unknown).is_err(), "{unknown}");
        }
    }

    #[test]
    fn nothing_of_a_key_is_left_and_what_names_it_stays() {
        for (before, arg, expected) in [
            ("--token", "abc", "${V}"),
            ("--token", "123456789:AAH", "${V}"),
            ("--token", "ab-cd:ef", "${V}"),
            ("", "--token=abc==", "--token=${V}"),
            ("", "--token=abc:def", "--token=${V}"),
            ("", "--password=correct horse", "--password=${V}"),
            ("", "--env=GITHUB_TOKEN=ghp_x", "--env=GITHUB_TOKEN=${V}"),
            ("--env", "API_TOKEN=head:tail", "API_TOKEN=${V}"),
            ("-H", "Authorization: Bearer abc", "Authorization: Bearer ${V}"),
            ("", "--header=Authorization: Bearer abc", "--header=Authorization: Bearer ${V}"),
            ("--header", "X-Api-Key:abc", "X-Api-Key:${V}"),
            ("", "--header=X-Api-Key:abc", "--header=X-Api-Key:${V}"),
        ] {
            assert_eq!(argument_with(before, arg, "V"), expected, "{before} {arg}");
        }
        assert_eq!(header_with("alphabeta gamma", "V"), "${V}");
        assert_eq!(header_with("Bearer abc", "V"), "Bearer ${V}");
        assert_eq!(header_with("session=s3cr3t; theme=dark", "V"), "${V}");
    }

    #[test]
    fn a_key_in_a_query_is_replaced_and_the_rest_of_the_address_stays() {
        for (url, name, expected) in [
            ("https://a/b?token=x", "token", "https://a/b?token=${V}"),
            (
                "https://a?m=1&token=x&token=y&n=token#token=z",
                "token",
                "https://a?m=1&token=${V}&token=${V}&n=token#token=z",
            ),
            ("https://a?m=1&x", "", "https://a?m=1&${V}"),
        ] {
            assert_eq!(with_query(url, name, "V"), expected);
        }
    }

    #[test]
    fn names_are_made_of_the_letters_that_there_are() {
        for (there, number, here) in [
            ("GitHub", 1, "github"),
            ("My  Files!", 1, "my-files"),
            ("@scope/server_x", 2, "scope-server-x-2"),
            ("日本", 1, "server"),
            ("", 3, "server-3"),
            ("a-very-long-name-that-no-tool-could-carry", 1, "a-very-long-name-tha"),
        ] {
            assert_eq!(server_name(there, number).unwrap().as_str(), here, "{there}");
        }
    }
}
