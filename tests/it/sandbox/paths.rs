//! Paths that a hostile or confused model sends, in every place of every action that takes one.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{CANARY, Guarded, actions, around};
use crate::support::engine;

/// Paths that lead out, `BASE` for the folder that holds the memory: they have to be refused.
const LEADS_OUT: &[&str] = &[
    "../secret.md",
    "../outside/secret.md",
    "../memoryx/secret.md",
    "../memory-backup/secret.md",
    "../home/.ssh/secret",
    "..",
    "../",
    "../..",
    "./../secret.md",
    "entities/../../secret.md",
    "entities/../user.md",
    "entities/..",
    "entities/acme.md/../../../secret.md",
    "nowhere/../../secret.md",
    "a/b/c/../../../../secret.md",
    "..//secret.md",
    ".././secret.md",
    "  ../secret.md",
    "../../../../../../../../etc/passwd",
    "/etc/passwd",
    "/",
    "//",
    "///etc//passwd",
    "/dev/zero",
    "/proc/self/environ",
    " /etc/passwd",
    "\t/etc/passwd",
    "/.",
    "BASE/secret.md",
    "BASE/outside/secret.md",
    "BASE/memoryx/secret.md",
    "BASE/memory/../secret.md",
    "BASE/memory/user.md",
    "BASE/memory",
    "user.md\0",
    "user.md\0/../../secret.md",
    "\0",
    "../secret.md\0.md",
    "us\u{1}er.md",
    "user\u{7f}.md",
    "user\u{85}.md",
    "two\nlines.md",
    "carriage\rreturn.md",
    "tab\there.md",
    "\u{1b}[2Jx.md",
    "",
    ".",
    "./",
    "./.",
    "   ",
    ".memdir",
    ".memdir/lock",
    "./.memdir/lock",
    ".memdir/../user.md",
    ".MemDir/lock",
    ".MEMDIR",
    "entities/.memdir/lock",
    "MEMDIR~1",
    "memdir~1/lock",
    "MEMDIR~2/lock",
    "GIT~1/config",
    "OBSIDI~1/app.json",
    ".git/config",
    ".GIT/hooks/pre-commit",
    ".obsidian/app.json",
    ".obsidian/plugins/x/main.js",
    ".hidden.md",
    "entities/.hidden",
    "...",
    ".../secret.md",
    ". ./secret.md",
    ".. /secret.md",
    "entities/.. /secret.md",
    "..\\secret.md",
    "..\\..\\secret.md",
];

/// Spellings that are names like any other here, and something else elsewhere: nothing is made of them.
const UNPORTABLE: &[&str] = &[
    "outside\\secret.md",
    "entities\\..\\..\\secret.md",
    "entities/..\\..\\secret.md",
    "\\etc\\passwd",
    "\\\\server\\share\\secret.md",
    "//server/share/secret.md",
    "\\\\?\\C:\\secret.md",
    "\\\\.\\PhysicalDrive0",
    "\\??\\C:\\secret.md",
    "C:\\secret.md",
    "C:/secret.md",
    "C:secret.md",
    "c:",
    "user.md:stream",
    "user.md::$DATA",
    "file:///etc/passwd",
    "file://BASE/secret.md",
    "http://example.com/secret.md",
    "CON",
    "nul.md",
    "aux.txt.md",
    "COM1.md",
    "LPT\u{b9}.md",
    "CONIN$",
    "user.md.",
    "user.md ./x.md",
    "entities /acme.md",
    "entities./acme.md",
    "trailing./x.md",
    "blank .md /x.md",
    "what?.md",
    "star*.md",
    "pipe|.md",
    "<b>.md",
    "quote\".md",
    "zero\u{200b}width.md",
    "right\u{202e}dm.ot.md",
    "bom\u{feff}.md",
];

/// Spellings that some program somewhere decodes into one that leads out: names, taken as they are.
const PLAIN: &[&str] = &[
    "%2e%2e/secret.md",
    "%2e%2e%2fsecret.md",
    "..%2fsecret.md2",
    "%252e%252e%252fsecret.md",
    "..%c0%afsecret.md",
    "%00user.md",
    "~",
    "~/secret.md",
    "~root/.ssh/secret",
    "$HOME/secret.md",
    "${HOME}/secret.md",
    "`id`.md",
    "$(id).md",
    "-rf",
    "--help.md",
    "\u{2024}\u{2024}/secret.md",
    "\u{2024}\u{2024}\u{2215}secret.md",
    "\u{2025}/secret.md",
    "\u{ff0e}\u{ff0e}/secret.md",
    "\u{ff0e}\u{ff0e}\u{ff0f}secret.md",
    "entities\u{ff0f}acme.md",
    "entities\u{2215}acme.md",
    "entities\u{2044}acme.md",
    "entities\u{29f8}acme.md",
    "\u{ff3c}\u{ff3c}server",
    "secret.md#../../outside",
    "secret.md;../x",
    "outside/secret.md",
];

fn spelled(guarded: &Guarded, path: &str) -> String {
    path.replace("BASE", guarded.env.base().to_str().unwrap())
}

/// The outcomes of all actions with a path in their `path` or `new_path`.
fn outcomes(report: &Value) -> impl Iterator<Item = (&str, &Value)> {
    report["actions"].as_array().unwrap().iter().map(|outcome| (outcome["action"].as_str().unwrap(), outcome))
}

#[test]
fn paths_that_lead_out_are_refused_by_every_action() {
    assert!(LEADS_OUT.len() + UNPORTABLE.len() + PLAIN.len() >= 60);
    for path in LEADS_OUT {
        let guarded = Guarded::new();
        let path = spelled(&guarded, path);
        let before = guarded.env.seen();
        let report = guarded.poke(&path);
        let is_root = matches!(path.trim(), "" | "." | "./" | "/");
        for (action, outcome) in outcomes(&report) {
            // A listing, a size and a search take an empty path for the memory itself.
            let is_listing = is_root && ["list_files", "list_directory", "get_size", "search_files"].contains(&action);
            assert!(is_listing || outcome["ok"] == json!(false), "{path:?}: {outcome}");
        }
        assert_eq!(guarded.env.seen(), before, "{path:?}");
    }
}

#[test]
fn names_that_not_every_system_can_hold_are_not_made() {
    for path in UNPORTABLE {
        let guarded = Guarded::new();
        let path = spelled(&guarded, path);
        let before = guarded.env.files();
        let report = guarded.poke(&path);
        for (action, outcome) in outcomes(&report) {
            let makes = ["create_file", "write_file", "create_dir", "copy_file", "rename_file"].contains(&action);
            assert!(!makes || outcome["ok"] == json!(false), "{path:?}: {outcome}");
        }
        assert_eq!(guarded.env.files(), before, "{path:?}");
    }
}

#[test]
fn nothing_is_decoded_or_expanded() {
    for path in PLAIN {
        let guarded = Guarded::new();
        guarded.poke(path);
        for (name, seen) in guarded.env.seen() {
            assert!(seen.kind != "link", "{path:?} made a link: {name}");
        }
    }
}

#[test]
fn paths_too_long_are_refused() {
    let name = "n".repeat(256);
    let deep = "d/".repeat(600);
    let long = "x".repeat(1 << 20);
    let fits = format!("{}.md", "n".repeat(252));
    let guarded = Guarded::new();
    for path in [&name, &deep, &long, &format!("{}/{}", name, "../".repeat(99))] {
        let report = guarded.poke(path);
        for (_, outcome) in outcomes(&report) {
            assert_eq!(outcome["ok"], json!(false), "{outcome}");
        }
    }
    let create = json!({"action": "create_file", "path": fits, "content": "x"});
    assert_eq!(guarded.env.act(&create)["ok"], json!(true), "255 bytes are a name");
}

#[test]
fn commands_refuse_what_actions_refuse() {
    let guarded = Guarded::new();
    for path in LEADS_OUT.iter().filter(|path| !path.contains('\0')) {
        let path = spelled(&guarded, path);
        for command in ["read", "log", "tree"] {
            let ran = guarded.env.run(&[command, "--json", "--", &path], "");
            guarded.check(&path, &ran);
            let is_root = command == "tree" && matches!(path.as_str(), "" | "." | "/");
            assert_eq!(ran.code == 0, is_root, "{command} {path:?}: {ran:?}");
        }
        let ran = guarded.env.run(&["restore", "--json", "--at", "1", "--", &path], "");
        guarded.check(&path, &ran);
        assert_ne!(ran.code, 0, "{path:?}");
    }
}

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(vec![
            "..", ".", "", " ", "...", ".. ", "~", "C:", "\\", "\\\\", "..\\", "%2e%2e", "outside", "secret.md", "user.md",
            "entities", "memoryx", ".memdir", "lock", "\u{2024}\u{2024}", "\u{ff0e}\u{ff0e}", "\0", "\n", "inside.md",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_path_at_all_leads_out(
        parts in prop::collection::vec((part(), prop::sample::select(vec!["/", "\\", "//", "\u{2215}", ""])), 1..7),
    ) {
        thread_local! {
            static SHARED: Guarded = Guarded::new();
        }
        let path: String = parts.into_iter().map(|(part, joint)| part + joint).collect();
        SHARED.with(|guarded| {
            let report = engine::exec(&engine::open(guarded.env.memory()), &Value::Array(actions(&path)));
            prop_assert!(!report.to_string().contains(CANARY), "{:?}: {}", path, report);
            prop_assert!(around(&guarded.env) == guarded.before, "{:?}", path);
            Ok(())
        })?;
    }
}
