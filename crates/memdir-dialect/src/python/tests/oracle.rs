//! Random texts and blocks, which Python itself reads too.

use std::io::Write;
use std::process::{Command, Stdio};

use super::*;

/// Reads each line as a JSON text, runs it as a block, and says what it has set.
const DRIVER: &str = "
import json, sys, warnings
warnings.simplefilter('ignore')
for line in sys.stdin:
    names = {}
    try:
        code = compile(json.loads(line), 'block', 'exec')
    except (SyntaxError, ValueError):
        print('syntax')
        continue
    try:
        exec(code, {'__builtins__': {'str': str}}, names)
    except Exception:
        how = 'raised'
    else:
        how = 'done'
    names = {name: value for name, value in names.items() if not name.startswith('__')}
    print(how, ascii(names))
";

/// What Python says of each block; `None` where there is no Python.
#[expect(clippy::disallowed_methods, reason = "Python is what the reader is compared with")]
fn python(blocks: &[String]) -> Option<Vec<String>> {
    let mut child = Command::new("python3")
        .args(["-I", "-X", "utf8", "-c", DRIVER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let lines: String =
        blocks.iter().map(|block| serde_json::to_string(&format!("{block}\n")).unwrap() + "\n").collect();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let said: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(said.len(), blocks.len());
    Some(said)
}

/// Numbers without order, the same in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

/// Python's `ascii` of what a block has set, in our words.
fn ascii(variables: &Variables) -> String {
    let mut out = String::new();
    for (name, value) in variables.iter() {
        out.push_str(if out.is_empty() { "" } else { ", " });
        out.push_str(&format!("'{name}': "));
        let mut value_out = String::new();
        repr::value(&mut value_out, value);
        for character in value_out.chars() {
            match u32::from(character) {
                0..=0x7F => out.push(character),
                code @ ..=0xFF => out.push_str(&format!("\\x{code:02x}")),
                code @ ..=0xFFFF => out.push_str(&format!("\\u{code:04x}")),
                code => out.push_str(&format!("\\U{code:08x}")),
            }
        }
    }
    format!("{{{out}}}")
}

/// Compares both readers: what ours takes means the same to Python, and what ours calls no Python is none.
///
/// Answers how many blocks ours has taken; `None` where there is no Python.
fn compare(blocks: &[String], may_refuse: impl Fn(&str, &str) -> bool) -> Option<usize> {
    let Some(said) = python(blocks) else {
        // A skipped comparison says why; the tables in the other tests still hold.
        #[expect(clippy::print_stderr, reason = "the reason why a test compares nothing")]
        {
            eprintln!("skipped: there is no `python3` to compare with");
        }
        return None;
    };
    let mut taken = 0;
    for (block, said) in blocks.iter().zip(said) {
        let source = format!("<python>\n{block}\n</python>");
        let parsed = parse_as(source.as_bytes(), Some(Dialect::Python), &Variables::default());
        if parsed.script.is_some() {
            taken += 1;
            let ran = go(parsed.turn(), &parsed, Vec::new());
            let how = if ran.stopped.is_some() { "raised" } else { "done" };
            assert_eq!(format!("{how} {}", ascii(&ran.variables)), said, "{block}");
        } else {
            let [Entry::Unread(unread)] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
            let message = &unread.failure.message;
            assert!(said == "syntax" || may_refuse(message, &said), "{message}: {said}: {block}");
        }
    }
    Some(taken)
}

#[test]
fn texts_mean_what_they_mean_to_python() {
    let mut dice = Dice(1);
    let pieces = [
        "\\", "\\", "\\", "'", "\"", "x", "u", "U", "N", "0", "1", "7", "8", "41", "e9", "D800", "0001", "n", "t", "r",
        "v", "a", "b", "f", "d", "{", "}", "{{", "}}", "{y}", "{ y }", "\n", "\\\n", "é", "😀", "\t", " ", "\r\n",
        "\u{fffd}", "\u{7f}", "\u{a0}", "#",
    ];
    let blocks: Vec<String> = (0..20_000)
        .map(|_| {
            let mut literals = String::new();
            for _ in 0..=dice.roll(2) {
                let prefix = dice.pick(&["", "", "", "r", "R", "u", "f", "F", "rf", "fR", "b", "ur"]);
                let quote = dice.pick(&["'", "\"", "'''", "\"\"\""]);
                let body: String = (0..dice.roll(7)).map(|_| dice.pick(&pieces)).collect();
                literals.push_str(&format!("{prefix}{quote}{body}{quote}{}", dice.pick(&["", " "])));
            }
            format!("y = 5\nx = ({literals})")
        })
        .collect();
    let may_refuse = |message: &str, said: &str| {
        let leniency = [
            "bytes are",
            "is not set",
            "`\\N` in",
            "in an f-string",
            "an f-string inside",
            "a conversion",
            "dictionaries",
            "lists",
            "operators",
        ];
        leniency.iter().any(|words| message.contains(words))
            || message.contains("is no character") && said.contains("\\ud8")
    };
    if let Some(taken) = compare(&blocks, may_refuse) {
        assert!(taken > 5_000, "{taken}");
    }
}

/// A random expression of the forms that a block may hold.
fn expression(dice: &mut Dice, depth: usize) -> String {
    let inner = |dice: &mut Dice| expression(dice, depth - 1);
    match if depth == 0 { 0 } else { dice.roll(10) } {
        0 | 1 => dice
            .pick(&[
                "a",
                "b",
                "c",
                "1",
                "0",
                "'x'",
                "''",
                "\"xy\"",
                "True",
                "False",
                "None",
                "f'{a}-{b}'",
                "0x1F",
                "1_0",
                "'x' 'y'",
            ])
            .to_owned(),
        2 => format!("({})", inner(dice)),
        3 => format!("not {}", inner(dice)),
        4 => format!("{} + {}", inner(dice), inner(dice)),
        5 => format!("{} and {}", inner(dice), inner(dice)),
        6 => format!("{} or {}", inner(dice), inner(dice)),
        7 => format!("{} {} {}", inner(dice), dice.pick(&["==", "!=", "in", "not in"]), inner(dice)),
        8 => format!("{} {} {}", inner(dice), dice.pick(&["is", "is not"]), dice.pick(&["True", "None", "(False)"])),
        _ => format!("(\n  {}  # more\n)", inner(dice)),
    }
}

/// Random statements, each line after an indent.
fn statements(dice: &mut Dice, indent: &str, depth: usize, out: &mut String) {
    for _ in 0..=dice.roll(3) {
        let name = dice.pick(&["a", "b", "c"]);
        let value = expression(dice, 2);
        match if depth == 0 { dice.roll(6) } else { dice.roll(8) } {
            0 | 1 => out.push_str(&format!("{indent}{name} = {value}\n")),
            2 => out.push_str(&format!("{indent}{name} += {value}\n")),
            3 => out.push_str(&format!("{indent}{name}: str = {value}; {value}\n")),
            4 => out.push_str(&format!("{indent}pass # {value}\n\n")),
            5 => out.push_str(&format!("{indent}{name} = \\\n {value}\n")),
            6 => out.push_str(&format!("{indent}if {value}: {name} = 1; b = 2\n{indent}else: pass\n")),
            _ => {
                let deeper = format!("{indent}{}", dice.pick(&["  ", "\t", "    "]));
                out.push_str(&format!("{indent}if {value}:\n"));
                statements(dice, &deeper, depth - 1, out);
                if dice.roll(2) == 0 {
                    out.push_str(&format!("{indent}elif {name}:\n"));
                    statements(dice, &deeper, depth - 1, out);
                }
                if dice.roll(2) == 0 {
                    out.push_str(&format!("{indent}else:\n"));
                    statements(dice, &deeper, depth - 1, out);
                }
            }
        }
    }
}

#[test]
fn blocks_do_what_they_do_in_python() {
    let mut dice = Dice(2);
    let noise = [
        "(",
        ")",
        "'",
        "\"",
        "\n",
        "\n  ",
        "\n\t",
        " ",
        "=",
        "==",
        "+",
        "not ",
        " in ",
        " is ",
        "if ",
        "else",
        ":",
        ",",
        ";",
        "\\\n",
        "#",
        "f'",
        "1",
        "a",
        "\\",
        "_",
        "0x",
        "elif a:",
        " or ",
        "{",
        "'''",
        "+=",
        "pass",
        "match ",
        "type ",
        "case ",
        "\nmatch a:\n case 1: pass\n",
        "\u{c}",
        "\n\u{c}",
    ];
    let blocks: Vec<String> = (0..10_000)
        .map(|number| {
            let mut block = "a = 1\nb = 'x'\nc = None\n".to_owned();
            statements(&mut dice, "", 2, &mut block);
            // Half of them are damaged.
            for _ in 0..if number % 2 == 0 { 0 } else { 1 + dice.roll(3) } {
                let at = dice.roll(block.len());
                let end = (at + dice.roll(3)).min(block.len());
                block.replace_range(at..end, dice.pick(&noise));
            }
            block
        })
        .collect();
    let may_refuse = |message: &str, _: &str| !message.contains("this is not Python");
    if let Some(taken) = compare(&blocks, may_refuse) {
        assert!(taken > 3_000, "{taken}");
    }
}
