//! What a transport may hold: names, addresses, references to variables, and no key in plain.

use super::{ServerProblem, Transport};

/// A key that is written out where only `${VARIABLE}` may stand.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PlainSecret {
    /// The value of this variable of the program's environment.
    Env(String),
    /// The value of this header.
    Header(String),
    /// What stands behind this name in the query of the address.
    Query(String),
    /// This one of the arguments, from 0.
    Argument(usize),
    /// The command line.
    Command,
    /// The address.
    Address,
}

/// A value this long, of letters and digits alone and of both, is taken for a key.
const KEY_LENGTH: usize = 20;

impl Transport {
    /// The kind, as the registry names it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Http { .. } => "http",
            Self::Sse { .. } => "sse",
        }
    }

    /// Says what is wrong with it, if anything is.
    pub(crate) fn check(&self) -> Result<(), ServerProblem> {
        match self {
            Self::Stdio { command, args, env, cwd } => {
                if command.trim().is_empty() {
                    return Err(ServerProblem::NoCommand);
                }
                let words = args.iter().chain(cwd).map(|word| ("command", word.as_str()));
                std::iter::once(("command", command.as_str()))
                    .chain(words)
                    .try_for_each(|(name, text)| value(name, text, true))?;
                env.iter().try_for_each(|(name, text)| {
                    if name.is_empty() || name.contains(['=', '\0']) {
                        return Err(ServerProblem::Name(name.clone()));
                    }
                    value(name, text, true)
                })
            }
            Self::Http { url, headers } | Self::Sse { url, headers } => {
                let rest = ["https://", "http://"].iter().find_map(|scheme| url.strip_prefix(scheme));
                let is_address = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
                if !is_address || url.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
                    return Err(ServerProblem::Address(url.clone()));
                }
                value("url", url, false)?;
                headers.iter().try_for_each(|(name, text)| {
                    if name.is_empty() || !name.bytes().all(is_token) {
                        return Err(ServerProblem::Name(name.clone()));
                    }
                    value(name, text, false)
                })
            }
        }
    }

    /// Where it holds a key in plain. `holds_secret` tells whether a detector of secrets finds something in a text; beside that, what
    /// stands behind a name that programs give to keys counts as one, wherever that pair is written, and so does a long value of letters
    /// and digits of a variable, a header or a query.
    pub fn plain_secrets(&self, holds_secret: &dyn Fn(&str) -> bool) -> Vec<PlainSecret> {
        let is_value = |name: &str, value: &str| {
            let plain = without_references(value);
            is_secret(name, value, holds_secret) || is_key(plain.split_whitespace().last().unwrap_or_default())
        };
        match self {
            Self::Stdio { command, args, env, .. } => {
                let env = env.iter().filter(|(name, value)| is_value(name, value));
                command_line(command, args, holds_secret)
                    .into_iter()
                    .chain(env.map(|(name, _)| PlainSecret::Env(name.clone())))
                    .collect()
            }
            Self::Http { url, headers } | Self::Sse { url, headers } => {
                let query = query(url).filter(|(name, value)| is_value(name, &without_escapes(value)));
                let headers = headers.iter().filter(|(name, value)| is_value(name, value));
                query
                    .map(|(name, _)| PlainSecret::Query(name.to_owned()))
                    .chain(holds_secret(&without_references(url)).then_some(PlainSecret::Address))
                    .chain(headers.map(|(name, _)| PlainSecret::Header(name.clone())))
                    .collect()
            }
        }
    }
}

/// Where a command line holds a key in plain.
fn command_line(command: &str, args: &[String], holds_secret: &dyn Fn(&str) -> bool) -> Vec<PlainSecret> {
    let mut found = Vec::new();
    let mut before = String::new();
    for (at, arg) in args.iter().enumerate() {
        let plain = without_references(arg);
        let completes = || !holds_secret(&before) && holds_secret(&format!("{before} {plain}"));
        if is_argument_secret(&before, arg, holds_secret) || completes() {
            found.push(PlainSecret::Argument(at));
        }
        before = plain;
    }
    // Some write the whole line in the place of the program.
    let words: Vec<&str> = command.split_whitespace().collect();
    let pairs = std::iter::once("").chain(words.iter().copied()).zip(&words);
    let has = pairs.into_iter().any(|(before, word)| is_argument_secret(before, word, holds_secret));
    // What stands for a key is between its option and what follows, which is no value of that option.
    let shown =
        |word: &str| Some(without_references(word)).filter(|plain| !plain.is_empty()).unwrap_or("****".to_owned());
    let line =
        || std::iter::once(command).chain(args.iter().map(String::as_str)).map(shown).collect::<Vec<_>>().join(" ");
    if has || (found.is_empty() && holds_secret(&line())) {
        found.push(PlainSecret::Command);
    }
    found
}

/// Whether an argument is a key, or says one: `--token=KEY`, `NAME: KEY`, an address with a query, or `KEY` behind the option `before`.
fn is_argument_secret(before: &str, arg: &str, holds_secret: &dyn Fn(&str) -> bool) -> bool {
    // The dashes of an option, and the brackets and quotes of JSON.
    let is = |(name, value): (&str, &str)| {
        let name = name.trim_matches(|sign: char| !sign.is_ascii_alphanumeric());
        !name.contains(char::is_whitespace) && is_secret(name, value, holds_secret)
    };
    let option = (before.starts_with('-') && !arg.starts_with('-')).then_some((before, arg));
    let own = [arg.split_once('='), named_by_colon(arg)];
    // The option itself may say which header or variable follows: `--header=Authorization: KEY`, `--env=TOKEN=KEY`.
    let inner = arg.split_once('=').and_then(|(_, rest)| named_by_colon(rest).or_else(|| rest.split_once('=')));
    holds_secret(&without_references(arg))
        || [option, inner].into_iter().chain(own).flatten().any(is)
        || (arg.contains("://") && query(arg).any(is))
}

/// What stands before a colon that is not that of an address, and what stands behind it.
fn named_by_colon(text: &str) -> Option<(&str, &str)> {
    text.split_once(':').filter(|(_, value)| !value.starts_with("//"))
}

/// Whether a value, by its name or by itself, is a key that is written out.
fn is_secret(name: &str, value: &str, holds_secret: &dyn Fn(&str) -> bool) -> bool {
    let plain = without_references(value);
    (names_key(name) && plain == value && !plain.trim().is_empty())
        || holds_secret(&plain)
        || holds_secret(&format!("{name}: {plain}"))
}

/// Whether programs call keys so: how the names of their options, variables, headers and parameters end.
fn names_key(name: &str) -> bool {
    const ENDS: [&str; 10] = [
        "key",
        "token",
        "secret",
        "password",
        "passwd",
        "passphrase",
        "credential",
        "credentials",
        "authorization",
        "cookie",
    ];
    let name = name.to_ascii_lowercase();
    ENDS.iter().any(|end| name.ends_with(end))
}

/// The names and the values in the query of an address, as they stand there.
fn query(url: &str) -> impl Iterator<Item = (&str, &str)> {
    let query = url.split('#').next().and_then(|url| url.split_once('?')).map_or("", |(_, query)| query);
    query.split('&').map(|pair| pair.split_once('=').unwrap_or(("", pair)))
}

/// A text of a query without the signs that are written as `%` and two digits; a blank stands in their place.
fn without_escapes(text: &str) -> String {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.get(2..).unwrap_or_default());
    std::iter::once(first).chain(rest).collect::<Vec<_>>().join(" ")
}

/// Whether a byte may stand in the name of a header (RFC 9110).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn value(name: &str, text: &str, may_have_lines: bool) -> Result<(), ServerProblem> {
    let is_wrong = |letter: char| letter == '\0' || (letter.is_control() && !may_have_lines);
    if text.contains(is_wrong) {
        return Err(ServerProblem::Value(name.to_owned()));
    }
    references(text).map(drop).ok_or_else(|| ServerProblem::Reference(name.to_owned()))
}

/// The variables that a text names as `${VARIABLE}`; `None` where a `${` names none.
#[must_use]
pub fn references(text: &str) -> Option<Vec<&str>> {
    text.split("${")
        .skip(1)
        .map(|rest| rest.split_once('}').map(|(name, _)| name).filter(|name| is_variable(name)))
        .collect()
}

fn is_variable(name: &str) -> bool {
    let is_first = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    name.as_bytes().first().is_some_and(is_first) && name.bytes().all(|byte| is_first(&byte) || byte.is_ascii_digit())
}

/// A text without its `${VARIABLE}`.
fn without_references(text: &str) -> String {
    let (first, rest) = text.split_once("${").unwrap_or((text, ""));
    let rest = rest.split("${").map(|part| part.split_once('}').map_or(part, |(_, behind)| behind));
    std::iter::once(first).chain(rest).collect()
}

/// Whether a word is so long and so mixed that it is likely to be a key.
fn is_key(word: &str) -> bool {
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    word.len() >= KEY_LENGTH
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'='))
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_alone_tells_a_key_wherever_it_is_written() {
        // As the detector of passwords does, which takes a dash for an arrow.
        let found = |transport: Transport| transport.plain_secrets(&|text| text.contains("password  --"));
        let line = |words: &[&str]| found(stdio(words, &[]));
        let at = |at: usize| [PlainSecret::Argument(at)];
        assert_eq!(line(&["--password", "hunter2"]), at(1));
        assert_eq!(line(&["x", "--token=abc"]), at(1));
        assert_eq!(line(&["-e", "MY_SECRET=abc"]), at(1));
        assert_eq!(line(&["--env=MY_SECRET=abc"]), at(0));
        assert_eq!(line(&["-H", "Authorization: Bearer abc"]), at(1));
        assert_eq!(line(&["--header=X-Api-Key: abc"]), at(0));
        assert_eq!(line(&["https://x.example/mcp?a=1&apiKey=abc"]), at(0));
        let Transport::Stdio { args, env, cwd, .. } = stdio(&[], &[]) else { panic!("it is a program") };
        let command = "npx -y foo --token=abc".to_owned();
        assert_eq!(found(Transport::Stdio { command, args, env, cwd }), [PlainSecret::Command]);
        for name in ["TOKEN", "MY_SECRET", "api_key", "dbPassword"] {
            assert_eq!(found(stdio(&[], &[(name, "abc")])), [PlainSecret::Env(name.to_owned())]);
            assert_eq!(found(http("https://a", &[(name, "abc")])), [PlainSecret::Header(name.to_owned())]);
            let url = format!("https://a/mcp?x=1&{name}=abc");
            assert_eq!(found(http(&url, &[])), [PlainSecret::Query(name.to_owned())]);
        }
        for fine in [
            stdio(
                &["--password", "${A}", "--token", "${A}", "--key=${B}", "-H", "Authorization: Bearer ${C}"],
                &[("KEY", "${D}")],
            ),
            stdio(&["--use-token", "--max-tokens", "500", "key"], &[("TOKEN_FILE", "/run/x"), ("KEY", "")]),
            http("https://a/token?key=${A}&tokens=5&token=", &[("X-Api-Key", "${B}")]),
        ] {
            assert_eq!(found(fine.clone()), [], "{fine:?}");
        }
    }

    #[test]
    fn references_are_read_and_taken_out() {
        assert_eq!(references("a ${B_1} and ${C}"), Some(vec!["B_1", "C"]));
        assert_eq!(references("$HOME and {x}"), Some(vec![]));
        for wrong in ["${", "${}", "${A", "${1A}", "${A B}", "${A:-x}", "ok ${A} ${"] {
            assert_eq!(references(wrong), None, "{wrong}");
        }
        assert_eq!(without_references("a ${B} c${D}"), "a  c");
        assert_eq!(without_references("plain"), "plain");
    }

    fn stdio(args: &[&str], env: &[(&str, &str)]) -> Transport {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Transport::Stdio {
            command: "npx".to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: env.iter().map(owned).collect(),
            cwd: None,
        }
    }

    fn http(url: &str, headers: &[(&str, &str)]) -> Transport {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Transport::Http { url: url.to_owned(), headers: headers.iter().map(owned).collect() }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (transport, problem) in [
            (stdio(&[], &[("A=B", "x")]), ServerProblem::Name("A=B".to_owned())),
            (stdio(&[], &[("", "x")]), ServerProblem::Name(String::new())),
            (stdio(&["a\0b"], &[]), ServerProblem::Value("command".to_owned())),
            (stdio(&["${A"], &[]), ServerProblem::Reference("command".to_owned())),
            (http("ftp://example.com", &[]), ServerProblem::Address("ftp://example.com".to_owned())),
            (http("https://", &[]), ServerProblem::Address("https://".to_owned())),
            (http("http:///etc", &[]), ServerProblem::Address("http:///etc".to_owned())),
            (http("file:///etc/passwd", &[]), ServerProblem::Address("file:///etc/passwd".to_owned())),
            (http("https://a b", &[]), ServerProblem::Address("https://a b".to_owned())),
            (http("https://a", &[("X Y", "z")]), ServerProblem::Name("X Y".to_owned())),
            (http("https://a", &[("X", "a\r\nHost: b")]), ServerProblem::Value("X".to_owned())),
        ] {
            assert_eq!(transport.check(), Err(problem), "{transport:?}");
        }
        assert_eq!(stdio(&["-c", "line\nline"], &[("A", "${B}")]).check(), Ok(()));
        assert_eq!(http("http://127.0.0.1:1/mcp?a=${B}", &[("X-Y", "${Z}")]).check(), Ok(()));
    }

    /// The detector itself is another's; here it knows one word.
    #[test]
    fn keys_in_plain_are_found() {
        let detector = |text: &str| text.contains("s3cret");
        let found = |transport: Transport| transport.plain_secrets(&detector);
        assert_eq!(found(stdio(&["-x", "s3cret"], &[])), [PlainSecret::Argument(1)]);
        for key in ["X-Api-Key:abc", "--header=X-Api-Key:abc", r#"{"Authorization": "abc"}"#, "--env=GITHUB_TOKEN=abc"]
        {
            assert_eq!(found(stdio(&[key], &[])), [PlainSecret::Argument(0)], "{key}");
        }
        assert_eq!(found(stdio(&[], &[("A", "s3cret"), ("B", "info")])), [PlainSecret::Env("A".to_owned())]);
        let key = "MTA4Njg3NDk2NTQ0MzQ1NjAx";
        assert_eq!(found(stdio(&[], &[("TOKEN", key)])), [PlainSecret::Env("TOKEN".to_owned())]);
        assert_eq!(
            found(http("https://a", &[("Authorization", "Bearer x")])),
            [PlainSecret::Header("Authorization".to_owned())]
        );
        assert_eq!(found(http("https://a/s3cret", &[])), [PlainSecret::Address]);
        let query = |name: &str| [PlainSecret::Query(name.to_owned())];
        for (url, name) in [
            (format!("https://a/mcp?mode=fast&token={key}"), "token"),
            (format!("https://a/mcp?token={key}%3D#part"), "token"),
            (format!("https://a/mcp?auth=Bearer%20{key}&x=1"), "auth"),
            (format!("https://a/mcp?{key}"), ""),
            ("https://a?authorization=x".to_owned(), "authorization"),
        ] {
            assert_eq!(found(http(&url, &[])), query(name), "{url}");
        }
        let both = http("https://a?k=s3cret", &[]);
        assert_eq!(found(both), [PlainSecret::Query("k".to_owned()), PlainSecret::Address]);
        let header = format!("token {key}");
        assert_eq!(found(http("https://a", &[("X", &header)])), [PlainSecret::Header("X".to_owned())]);
        for fine in [
            stdio(
                &["@scope/server-everything@2026.8.31"],
                &[("A", "${B}"), ("PATH_TO", "/home/ada/notes/2026-11-24-long.json")],
            ),
            stdio(
                &[],
                &[("LEVEL", "debug"), ("REGION", "eu-central-1"), ("URL", "https://host.example/path/1234567890")],
            ),
            http("https://a/mcp?token=${TOKEN_OF_MINE_123456789}&region=eu-central-1&day=2026-11-24#x1", &[]),
            http("https://a/mcp/MTA4Njg3NDk2NTQ0MzQ1NjAx?", &[]),
            http("https://a", &[("Authorization", "Bearer ${TOKEN_OF_MINE_123456789}"), ("Accept-Language", "en")]),
        ] {
            assert_eq!(found(fine.clone()), [], "{fine:?}");
        }
    }
}
