//! What becomes of texts: our entry goes in, everything else stays, and it comes out again.

use std::path::PathBuf;

use super::Entry;
use super::change::{Format, Wanted, change};
use super::disk::Target;
use super::edit::Trouble;
use super::json::hooks::HookForm;
use super::json::server::ServerForm;

const FORM: ServerForm = ServerForm { list: "mcpServers", is_joined: false, before: &[], after: &[] };
const SERVERS: Format = Format::Json(FORM);
const VSCODE: Format = Format::Json(ServerForm { list: "servers", before: &[("type", "\"stdio\"")], ..FORM });

fn entry(memory: &str) -> Entry {
    let args = ["mcp", "--memory", memory].map(str::to_owned).to_vec();
    Entry { command: "/opt/memdir".to_owned(), args }
}

fn target(text: Option<&str>, backups: &[&str]) -> Target {
    let backups = backups.iter().map(|&text| text.to_owned()).collect();
    Target { path: PathBuf::new(), text: text.map(str::to_owned), backups }
}

/// Puts the entry in, once more, with another memory, and takes it out: by what was kept, and without that.
#[track_caller]
fn check(format: Format, before: &str, expected: &str) -> String {
    let with = format.with(before, &entry("/m")).unwrap_or_else(|trouble| panic!("{trouble}: {before}"));
    assert_eq!(with, expected);
    assert_eq!(format.with(&with, &entry("/m")).unwrap(), with, "a second time");
    let other = format.with(&with, &entry("/other \"m\" \\ é")).unwrap();
    assert_eq!(format.with(&other, &entry("/m")).unwrap(), with, "there and back");
    let kept = change(&format, &target(Some(&with), &["something else", before]), &Wanted::Gone).unwrap();
    assert_eq!(kept.as_deref(), Some(before), "taken out");
    let alone = change(&format, &target(Some(&with), &[]), &Wanted::Gone).unwrap();
    let alone = alone.unwrap_or_default();
    assert!(format.with(&alone, &entry("/m")).is_ok(), "{alone}");
    alone
}

#[track_caller]
fn refuses(format: Format, text: &str) -> Trouble {
    format.with(text, &entry("/m")).expect_err(text)
}

#[test]
fn json_from_nothing() {
    let expected = "{\n  \"mcpServers\": {\n    \"memdir\": {\n      \"command\": \"/opt/memdir\",\n      \
                    \"args\": [\"mcp\", \"--memory\", \"/m\"]\n    }\n  }\n}\n";
    assert_eq!(check(SERVERS, "", expected), "");
    assert_eq!(SERVERS.snippet(&entry("/m")), expected);
    // No file before, none afterwards.
    assert_eq!(change(&SERVERS, &target(Some(expected), &[]), &Wanted::Gone).unwrap(), None);
    assert_eq!(change(&SERVERS, &target(None, &[]), &Wanted::Gone).unwrap(), None);
    let bare = "{\n  \"mcpServers\": {\n    \"memdir\": {\n      \"command\": \"/opt/memdir\",\n      \
                \"args\": [\"mcp\", \"--memory\", \"/m\"]\n    }\n  }\n}";
    check(SERVERS, "{}", bare);
    check(SERVERS, "{\n}", bare);
    check(
        SERVERS,
        "{\"mcpServers\":{}}",
        "{\"mcpServers\":{\n  \"memdir\": {\n    \"command\": \"/opt/memdir\",\n    \
                    \"args\": [\"mcp\", \"--memory\", \"/m\"]\n  }\n}}",
    );
}

#[test]
fn json_with_comments_tabs_and_commas() {
    let before = "// mine\r\n{\r\n\t\"inputs\": [], // none\r\n\t\"servers\": {\r\n\t\t/* first */\r\n\t\t\"a\": { \"url\": \"x\" }, // last\r\n\t\t// \"old\": {}\r\n\t}\r\n}\r\n";
    let added = "\r\n\t\t\"memdir\": {\r\n\t\t\t\"type\": \"stdio\",\r\n\t\t\t\"command\": \"/opt/memdir\",\r\n\t\t\t\"args\": [\"mcp\", \"--memory\", \"/m\"]\r\n\t\t},";
    let expected = before.replace("{}\r\n", &format!("{{}}{added}\r\n"));
    assert_eq!(check(VSCODE, before, &expected), before);
    let before = before.replace("}, // last", "} // last");
    let expected = before
        .replace("} // last", "}, // last")
        .replace("{}\r\n", &format!("{{}}{}\r\n", added.trim_end_matches(',')));
    assert_eq!(check(VSCODE, &before, &expected), before);
    let marked = format!("\u{feff}{before}");
    assert_eq!(check(VSCODE, &marked, &format!("\u{feff}{expected}")), marked);
}

#[test]
fn json_on_one_line_and_without_the_list() {
    let before = "{\"a\": 1, \"mcpServers\": {\"x\": {\"command\": \"y\"}}, \"b\": [2]}";
    let expected = "{\"a\": 1, \"mcpServers\": {\"x\": {\"command\": \"y\"}, \"memdir\": { \"command\": \"/opt/memdir\", \
                    \"args\": [\"mcp\", \"--memory\", \"/m\"] }}, \"b\": [2]}";
    assert_eq!(check(SERVERS, before, expected), before);
    let before = "{\n    \"numStartups\": 3,\n    \"projects\": {\n        \"/p\": {\"mcpServers\": {\"memdir\": {}}}\n    }\n}\n";
    let with = SERVERS.with(before, &entry("/m")).unwrap();
    assert!(with.starts_with(before.trim_end().trim_end_matches('}').trim_end()), "{with}");
    assert!(with.contains("    },\n    \"mcpServers\": {\n        \"memdir\": {\n            \"command\""), "{with}");
    check(SERVERS, before, &with);
}

#[test]
fn json_entries_between_others_and_of_others() {
    let ours = "\"memdir\": {\"command\": \"C:\\\\bin\\\\memdir.exe\", \"args\": [\"mcp\"], \"env\": {\"A\": \"b\"}}";
    let text = format!("{{\n  \"mcpServers\": {{\n    \"a\": {{}},\n    {ours}, // here\n    \"b\": {{}}\n  }}\n}}\n");
    let gone = change(&SERVERS, &target(Some(&text), &[]), &Wanted::Gone).unwrap().unwrap();
    assert_eq!(gone, "{\n  \"mcpServers\": {\n    \"a\": {},\n    // here\n    \"b\": {}\n  }\n}\n");
    // What follows on the line does not get behind the comment before it.
    let crowded = format!("{{\n\"mcpServers\": {{\n// c\n{ours}, \"b\": {{}}\n}}}}");
    let gone = change(&SERVERS, &target(Some(&crowded), &[]), &Wanted::Gone).unwrap().unwrap();
    assert_eq!(gone, "{\n\"mcpServers\": {\n// c\n\"b\": {}\n}}");
    let with = SERVERS.with(&text, &entry("/m")).unwrap();
    assert!(with.contains("\"env\": {\"A\": \"b\"}"), "{with}");
    for foreign in [
        "{\"command\": \"npx\", \"args\": [\"memdir\"]}",
        "{\"url\": \"https://x\"}",
        "7",
        "{\"command\": \"/opt/memdir\", \"args\": [\"read\"]}",
    ] {
        let text = format!("{{\"mcpServers\": {{\n  \"memdir\": {foreign}\n}}}}");
        assert_eq!(SERVERS.with(&text, &entry("/m")).unwrap_err(), Trouble::Foreign, "{foreign}");
        let kept = change(&SERVERS, &target(Some(&text), &[]), &Wanted::Gone);
        assert_eq!(kept.unwrap_err(), Trouble::Foreign, "{foreign}");
    }
}

#[test]
fn json_that_is_none_is_refused() {
    for text in [
        "{",
        "[]",
        "7",
        "// only this",
        "{\"mcpServers\": []}",
        "{'mcpServers': {}}",
        "{mcpServers: {}}",
        "{} {}",
        "{\"mcpServers\": {}, \"mcpServers\": {}}",
        "{\"mcpServers\": {\"memdir\": {}, \"memdir\": {}}}",
        "{\"a\": 1 \"b\": 2}",
    ] {
        assert!(matches!(refuses(SERVERS, text), Trouble::Unread(_)), "{text}");
    }
    assert!(matches!(refuses(SERVERS, &"[".repeat(100_000)), Trouble::Unread(_)));
}

#[test]
fn toml_at_the_end() {
    let ours = "[mcp_servers.memdir]\ncommand = \"/opt/memdir\"\nargs = [\"mcp\", \"--memory\", \"/m\"]\n";
    check(Format::Toml, "", ours);
    let before = "# mine\nmodel = \"x\" # why\n\n[mcp_servers.a]\ncommand = 'b'\n";
    assert_eq!(check(Format::Toml, before, &format!("{before}\n{ours}")), before);
    let before = before.replace('\n', "\r\n");
    let expected = format!("{before}\r\n{}", ours.replace('\n', "\r\n"));
    assert_eq!(check(Format::Toml, &before, &expected), before);
    assert_eq!(check(Format::Toml, "a = 1", &format!("a = 1\n\n{}", ours.trim_end())), "a = 1");
    let marked = format!("\u{feff}{before}");
    assert_eq!(check(Format::Toml, &marked, &format!("\u{feff}{expected}")), marked);
}

#[test]
fn toml_in_the_middle_with_more_in_it() {
    let text = "[mcp_servers.memdir]\ncommand = \"/usr/bin/memdir\" # here\nargs = [\n  \"mcp\", # so\n]\nstartup_timeout_sec = 9\n\n\
                [other]\nx = 1\n\n[mcp_servers.memdir.env]\nA = \"b\"\n\n# last\n[z]\n";
    let with = Format::Toml.with(text, &entry("/m")).unwrap();
    assert!(with.contains("startup_timeout_sec = 9\n") && with.contains("\"/opt/memdir\" # here"), "{with}");
    let gone = change(&Format::Toml, &target(Some(text), &[]), &Wanted::Gone).unwrap().unwrap();
    assert_eq!(gone, "\n[other]\nx = 1\n\n# last\n[z]\n");
}

#[test]
fn toml_that_is_none_or_is_written_otherwise_is_refused() {
    for text in ["a = ", "mcp_servers = 7", "[a]\n[a]\n"] {
        assert!(matches!(refuses(Format::Toml, text), Trouble::Unread(_)), "{text}");
    }
    let inline = "mcp_servers = { a = { command = \"x\" } }";
    assert!(matches!(refuses(Format::Toml, inline), Trouble::Form(_)));
    assert_eq!(refuses(Format::Toml, "[mcp_servers]\nmemdir = 7\n"), Trouble::Foreign);
    let dotted = "[mcp_servers]\nmemdir.command = \"/bin/memdir\"\nmemdir.args = [\"mcp\"]\n";
    let gone = change(&Format::Toml, &target(Some(dotted), &[]), &Wanted::Gone);
    assert!(matches!(gone, Err(Trouble::Form(_))), "{gone:?}");
}

#[test]
fn yaml_first_among_the_extensions() {
    let ours = Format::Yaml.snippet(&entry("/m"));
    assert!(ours.starts_with("extensions:\n  memdir:\n    enabled: true\n    type: stdio\n"), "{ours}");
    assert_eq!(check(Format::Yaml, "", &ours), "");
    let before = "# mine\nGOOSE_MODEL: x # why\nextensions: # all\n    # the tools\n    developer:\n        enabled: true\n        args: [a, 'b']\n\n    other:\n        text: |\n            more\nlast: é\n";
    let inner =
        ours.trim_start_matches("extensions:\n").replace("\n    ", "\n      ").replacen("  memdir", "    memdir", 1);
    let expected = before.replace("# all\n", &format!("# all\n{inner}"));
    assert_eq!(check(Format::Yaml, before, &expected), before);
    let (before, expected) = (before.replace('\n', "\r\n"), expected.replace('\n', "\r\n"));
    assert_eq!(check(Format::Yaml, &before, &expected), before);
    let marked = format!("\u{feff}{before}");
    assert_eq!(check(Format::Yaml, &marked, &format!("\u{feff}{expected}")), marked);
}

#[test]
fn yaml_without_extensions_or_with_none() {
    let ours = Format::Yaml.snippet(&entry("/m"));
    let body = ours.trim_start_matches("extensions:\n");
    for (before, expected) in [
        ("a: 1\n", format!("a: 1\n{ours}")),
        ("a: 1", format!("a: 1\n{ours}")),
        ("# only this\n", format!("# only this\n{ours}")),
        ("extensions: {} # none\nb: 2\n", format!("extensions: # none\n{body}b: 2\n")),
        ("extensions: {}", format!("extensions:\n{body}")),
        ("extensions:\nb: 2\n", format!("extensions:\n{body}b: 2\n")),
        ("---\nextensions: null\n", format!("---\nextensions:\n{body}")),
    ] {
        check(Format::Yaml, before, &expected);
    }
}

#[test]
fn yaml_that_is_none_or_is_written_otherwise_is_refused() {
    for text in [
        "a: [",
        "- a\n",
        "text\n",
        "a: 1\n---\nb: 2\n",
        "extensions: 7\n",
        "extensions:\n\ta: 1\n",
        "extensions:\n  a: 1\nextensions:\n  b: 1\n",
        "extensions: [a]\n",
    ] {
        assert!(matches!(refuses(Format::Yaml, text), Trouble::Unread(_)), "{text}");
    }
    for text in ["{extensions: {}}", "extensions: {a: {enabled: true}}\n", "a: 1\n...\n"] {
        assert!(matches!(refuses(Format::Yaml, text), Trouble::Form(_)), "{text}");
    }
    assert!(matches!(refuses(Format::Yaml, &format!("a: {}", "[".repeat(100_000))), Trouble::Unread(_)));
}

#[test]
fn what_was_brought_up_to_date_is_taken_out_too() {
    for (format, before) in [(SERVERS, "{\"a\": 1}"), (Format::Toml, "a = 1\n"), (Format::Yaml, "a: 1\n")] {
        let old = format.with(before, &entry("/m")).unwrap();
        let new = format.with(&old, &entry("/other")).unwrap();
        let gone = change(&format, &target(Some(&new), &[&old, before]), &Wanted::Gone).unwrap();
        assert_eq!(gone.as_deref(), Some(before));
        let gone = change(&format, &target(Some(&new), &[&old]), &Wanted::Gone).unwrap().unwrap();
        assert!(!gone.contains("memdir"), "{gone}");
    }
}

#[test]
fn yaml_as_goose_writes_it_again() {
    let saved = "extensions:\n  memdir:\n    enabled: true\n    cmd: /bin/memdir\n    args:\n    - mcp\n    - --memory\n    - /old\n    envs: {}\nz: 1\n";
    let with = Format::Yaml.with(saved, &entry("/m")).unwrap();
    let expected = saved
        .replace("/bin/memdir", "\"/opt/memdir\"")
        .replace("\n    - mcp\n    - --memory\n    - /old", " [\"mcp\", \"--memory\", \"/m\"]");
    assert_eq!(with, expected);
    let gone = change(&Format::Yaml, &target(Some(saved), &[]), &Wanted::Gone).unwrap().unwrap();
    assert_eq!(gone, "extensions: {}\nz: 1\n");
}

#[test]
fn a_hook_among_others_is_brought_up_to_date_and_taken_out_alone() {
    let form = HookForm {
        head: &[("version", "1")],
        is_grouped: true,
        before: &[],
        after: &[("timeout", "5")],
        events: &["Start", "End"],
    };
    let hooks = Format::Hooks(form);
    let wanted = Entry {
        command: "/new dir/memdir".to_owned(),
        args: ["hook", "x", "--memory", "/m"].map(str::to_owned).to_vec(),
    };
    let text = "{\n \"version\": 1, // so\n \"hooks\": {\n  \"Start\": [{ \"hooks\": [{\"command\": \"mine\"}, {\"command\": \"/old/memdir hook x Start\", \"timeout\": 3}] }],\n  \"Gone\": [{\"hooks\": [{\"command\": \"memdir hook x Gone\"}]}]\n }\n}\n";
    let with = hooks.with(text, &wanted).unwrap();
    let start = "{\"command\": \"\\\"/new dir/memdir\\\" hook x Start --memory /m\", \"timeout\": 3}";
    assert!(with.contains(start) && with.contains("memdir\\\" hook x End --memory /m"), "{with}");
    assert!(with.contains("\"Gone\": []") && with.contains("\"mine\""), "{with}");
    assert_eq!(hooks.with(&with, &wanted).unwrap(), with);
    let gone = change(&hooks, &target(Some(text), &[]), &Wanted::Gone).unwrap().unwrap();
    assert_eq!(
        gone,
        "{\n \"version\": 1, // so\n \"hooks\": {\n  \"Start\": [{ \"hooks\": [{\"command\": \"mine\"}] }],\n  \"Gone\": []\n }\n}\n"
    );
    // From nothing, and back to nothing.
    let with = hooks.with("", &wanted).unwrap();
    assert!(
        with.starts_with("{\n  \"version\": 1,\n  \"hooks\": {\n    \"Start\": [\n      {\n        \"hooks\": [\n"),
        "{with}"
    );
    assert_eq!(change(&hooks, &target(Some(&with), &[]), &Wanted::Gone).unwrap(), None);
    for broken in ["{\"hooks\": []}", "{\"hooks\": {\"Start\": {}}}", "[]", "{\"hooks\": {}, \"hooks\": {}}"] {
        assert!(matches!(hooks.with(broken, &wanted), Err(Trouble::Unread(_))), "{broken}");
    }
}

#[test]
fn a_command_in_one_list_with_its_arguments() {
    let form = ServerForm { list: "mcp", is_joined: true, before: &[], after: &[("enabled", "true")] };
    let joined = Format::Json(form);
    let expected = "{\n  \"mcp\": {\n    \"memdir\": {\n      \"command\": [\"/opt/memdir\", \"mcp\", \"--memory\", \"/m\"],\n      \"enabled\": true\n    }\n  }\n}\n";
    assert_eq!(check(joined, "", expected), "");
    let off = expected.replace("true", "false");
    assert_eq!(joined.with(&off, &entry("/m")).unwrap(), off, "what the person has set stays");
    for foreign in ["{\"command\": []}", "{\"command\": [\"npx\", \"mcp\"]}", "{\"command\": \"memdir\"}"] {
        let text = format!("{{\"mcp\": {{\"memdir\": {foreign}}}}}");
        assert_eq!(joined.with(&text, &entry("/m")).unwrap_err(), Trouble::Foreign, "{foreign}");
    }
}
