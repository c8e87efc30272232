//! Hooks go into the settings of programs and come out again. The files are made up from a seed: comments, odd indents, line ends
//! of Windows, commas behind the last, hooks of others. What a file says is read by another parser than memdir's.

use std::fmt::Write;
use std::fs;

use serde_json::{Value, json};

use super::{install, put};
use crate::support::Env;

/// How a program writes a hook that runs a command, at which moments memdir runs for it, and what else it needs.
struct Program {
    name: &'static str,
    file: &'static str,
    events: [&'static str; 4],
    has_version: bool,
    hook: fn(&str) -> Value,
}

const PROGRAMS: &[Program] = &[
    Program {
        name: "claude-code",
        file: ".claude/settings.json",
        events: ["SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"],
        has_version: false,
        hook: |line| json!({"hooks": [{"type": "command", "command": line, "timeout": 5}]}),
    },
    Program {
        name: "codex",
        file: ".codex/hooks.json",
        events: ["SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"],
        has_version: false,
        hook: |line| json!({"hooks": [{"type": "command", "command": line, "timeout": 5}]}),
    },
    Program {
        name: "cursor",
        file: ".cursor/hooks.json",
        events: ["sessionStart", "beforeSubmitPrompt", "preCompact", "sessionEnd"],
        has_version: true,
        hook: |line| json!({"command": line, "timeout": 5}),
    },
    Program {
        name: "copilot",
        file: ".copilot/hooks/memdir.json",
        events: ["sessionStart", "userPromptSubmitted", "preCompact", "agentStop"],
        has_version: true,
        hook: |line| json!({"type": "command", "command": line, "timeoutSec": 5}),
    },
];

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides).unwrap()).unwrap()
    }

    fn is(&mut self, of: usize) -> bool {
        self.roll(of) == 0
    }

    fn one<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.roll(all.len())]
    }
}

/// How a made-up file is written.
struct Style {
    dice: Dice,
    end: &'static str,
    step: &'static str,
    colon: &'static str,
    is_one_line: bool,
    has_comments: bool,
    has_last_commas: bool,
}

impl Style {
    fn write(&mut self, value: &Value, depth: usize, text: &mut String) {
        let (open, close, items): (_, _, Vec<(Option<&String>, &Value)>) = match value {
            Value::Object(object) => ('{', '}', object.iter().map(|(name, value)| (Some(name), value)).collect()),
            Value::Array(list) => ('[', ']', list.iter().map(|value| (None, value)).collect()),
            other => return write!(text, "{other}").unwrap(),
        };
        text.push(open);
        let is_inline = self.is_one_line || items.is_empty() || self.dice.is(5);
        let count = items.len();
        for (at, (name, value)) in items.into_iter().enumerate() {
            if is_inline {
                text.push_str(if at == 0 { "" } else { " " });
            } else {
                if self.has_comments && self.dice.is(4) {
                    write!(text, "{}{}{}", self.end, self.step.repeat(depth + 1), self.dice.one(&COMMENTS)).unwrap();
                }
                let odd = if self.dice.is(6) { " " } else { "" };
                write!(text, "{}{}{odd}", self.end, self.step.repeat(depth + 1)).unwrap();
            }
            if let Some(name) = name {
                write!(text, "{}{}", json!(name), self.colon).unwrap();
            }
            self.write(value, depth + 1, text);
            if at + 1 < count || (self.has_last_commas && !is_inline) {
                text.push(',');
            }
            if self.has_comments && !is_inline && self.dice.is(4) {
                write!(text, " {}", self.dice.one(&COMMENTS)).unwrap();
            }
        }
        if !is_inline {
            write!(text, "{}{}", self.end, self.step.repeat(depth)).unwrap();
        }
        text.push(close);
    }
}

const COMMENTS: [&str; 4] =
    ["// a comment, with } and ]", "/* \"hooks\": [1, */", "// memdir hook claude-code prompt", "/* é */"];

/// The settings of somebody: what they say, and the file.
fn made_up(seed: u64, program: &Program) -> (Value, String) {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut said = json!({});
    if dice.is(2) {
        said["theme"] = json!("dark // not a comment");
    }
    if program.has_version && dice.is(2) {
        said["version"] = json!(1);
    }
    if !dice.is(4) {
        said["hooks"] = json!({});
        let other = ["PostToolUse", "afterFileEdit"];
        for event in program.events.into_iter().chain(other) {
            let lines = [
                "./mine.sh",
                "echo \"memdir hook\" /* x */",
                "other hook claude-code prompt",
                "/opt/memdir mcp",
                "memdir hook claude-code SessionStart | tee log",
                "é,]}",
            ];
            let hooks: Vec<_> = (0..dice.roll(4)).map(|_| (program.hook)(dice.one(&lines))).collect();
            if !hooks.is_empty() || dice.is(8) {
                said["hooks"][event] = json!(hooks);
            }
        }
    }
    if dice.is(2) {
        said["permissions"] = json!({"allow": ["Bash(ls:*)", "x,}"], "deny": [], "env": {"A": "\\\"", "b": 1.50}});
    }
    let has_comments = dice.is(2);
    let mut style = Style {
        end: dice.one(&["\n", "\n", "\r\n"]),
        step: dice.one(&["  ", "    ", "\t", " ", "   "]),
        colon: dice.one(&[": ", ":", " : "]),
        is_one_line: dice.is(6),
        has_comments,
        has_last_commas: dice.is(3),
        dice,
    };
    let mut text = String::new();
    if style.dice.is(5) {
        text.push('\u{feff}');
    }
    if has_comments && style.dice.is(3) {
        write!(text, "// head{}", style.end).unwrap();
    }
    style.write(&said, 0, &mut text);
    if !style.dice.is(3) {
        text.push_str(style.end);
    }
    (said, text)
}

/// What a file says, by `serde_json`, once comments and commas behind the last are taken away.
fn read(text: &str) -> Value {
    let (mut plain, mut rest) = (String::new(), text.trim_start_matches('\u{feff}'));
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            let length = rest.find('\n').unwrap_or(rest.len());
            rest = rest.split_at(length).1;
            continue;
        } else if rest.starts_with("/*") {
            rest = rest.split_once("*/").unwrap().1;
            continue;
        } else if first == '"' {
            let mut length = 1;
            while rest.as_bytes()[length] != b'"' {
                length += if rest.as_bytes()[length] == b'\\' { 2 } else { 1 };
            }
            length + 1
        } else {
            first.len_utf8()
        };
        if matches!(first, '}' | ']') && plain.trim_end().ends_with(',') {
            plain.truncate(plain.trim_end().len() - 1);
        }
        let (part, behind) = rest.split_at(length);
        plain.push_str(part);
        rest = behind;
    }
    serde_json::from_str(&plain).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What the settings have to say once memdir's hooks are in.
fn expected(said: &Value, program: &Program, env: &Env) -> Value {
    let mut expected = said.clone();
    if program.has_version {
        expected["version"] = json!(1);
    }
    let memory = env.memory().canonicalize().unwrap();
    let (memdir, memory) = (env!("CARGO_BIN_EXE_memdir"), memory.to_str().unwrap());
    for event in program.events {
        let line = format!("{memdir} hook {} {event} --memory {memory}", program.name);
        let hooks = &mut expected["hooks"][event];
        if hooks.is_null() {
            *hooks = json!([]);
        }
        hooks.as_array_mut().unwrap().push((program.hook)(&line));
    }
    expected
}

#[test]
fn two_hundred_files_get_hooks_and_are_given_back() {
    let run = |part: u64| {
        let env = Env::ada();
        for seed in (part * 50)..(part * 50 + 50) {
            let program = &PROGRAMS[usize::try_from(seed).unwrap() % PROGRAMS.len()];
            let (said, text) = made_up(seed, program);
            assert_eq!(read(&text), said, "the test itself: {text}");
            let file = put(&env, program.file, &text);
            install(&env, &[program.name, "--hooks", "--yes"]).exits(0);
            let with = fs::read_to_string(&file).unwrap();
            assert_eq!(read(&with), expected(&said, program, &env), "seed {seed}: {text}\n---\n{with}");
            let again = install(&env, &[program.name, "--hooks", "--yes"]).exits(0);
            assert_eq!(again["hooks"]["changed"], json!(false), "seed {seed}: {with}");
            // Something else in the file is changed meanwhile: that stays.
            let edited = |text: &str| text.replace("dark // not", "light // not");
            fs::write(&file, edited(&with)).unwrap();
            install(&env, &[program.name, "--hooks", "--remove", "--yes"]).exits(0);
            let left = fs::read_to_string(&file).unwrap();
            let has_empty = said == json!({}) || said["hooks"] == json!({}) || said["hooks"].to_string().contains("[]");
            let has_no_version = program.has_version && said["version"].is_null();
            // What was empty before cannot be told from what memdir left empty, but by what was kept.
            if !has_empty && !has_no_version || edited(&with) == with {
                assert_eq!(left, edited(&text), "seed {seed}: {with}");
            }
            assert!(!left.contains(env!("CARGO_BIN_EXE_memdir")), "{left}");
            // And with the file as it was kept, byte for byte, whatever it is.
            fs::write(&file, &text).unwrap();
            install(&env, &[program.name, "--hooks", "--yes"]).exits(0);
            install(&env, &[program.name, "--remove", "--yes"]).exits(0);
            assert_eq!(fs::read_to_string(&file).unwrap(), text, "seed {seed}: {with}");
            fs::remove_dir_all(env.home()).unwrap();
            fs::create_dir(env.home()).unwrap();
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|part| drop(scope.spawn(move || run(part)))));
}
