//! Blocks that want more than they may: each is refused whole, also after calls that are fine, and nothing happens.

use crate::support::Env;

use super::turn;

/// Blocks as a person would write them to get out, or to bring the program down.
const BLOCKS: &[&str] = &[
    "import os",
    "import os as read_file",
    "from os import system",
    "from __future__ import annotations",
    "__import__('os').system('touch x')",
    "x = __import__('os')",
    "eval('1')",
    "exec('x = 1')",
    "compile('1', '', 'eval')",
    "getattr(read_file, '__globals__')",
    "setattr(read_file, 'x', 1)",
    "globals()",
    "locals()",
    "vars()",
    "dir()",
    "open('user.md', 'w')",
    "input()",
    "breakpoint()",
    "help()",
    "exit()",
    "read_file.__globals__",
    "x = ''.__class__.__mro__",
    "x = ().__class__.__bases__[0].__subclasses__()",
    "x = 'a'.format('b')",
    "x = '{0.__class__}'.format(1)",
    "x = 'a'.encode()",
    "x = [f for f in 'abc']",
    "x = {f for f in 'abc'}",
    "x = {f: 1 for f in 'abc'}",
    "x = (f for f in 'abc')",
    "for f in 'abc':\n    delete_file('user.md')",
    "while True:\n    pass",
    "while 1: create_file('loop.md')",
    "x = lambda: 1",
    "(lambda: delete_file('user.md'))()",
    "def f():\n    delete_file('user.md')\nf()",
    "async def f():\n    await read_file('user.md')",
    "await read_file('user.md')",
    "class A:\n    x = delete_file('user.md')",
    "@read_file\ndef f(): pass",
    "@read_file\nclass A: pass",
    "with open('user.md') as f:\n    pass",
    "try:\n    delete_file('user.md')\nexcept:\n    pass",
    "raise SystemExit",
    "assert delete_file('user.md')",
    "del read_file",
    "global read_file",
    "nonlocal x",
    "yield 1",
    "return 1",
    "match 1:\n    case _:\n        delete_file('user.md')",
    "type X = delete_file('user.md')",
    "if (x := delete_file('user.md')): pass",
    "read_file(*['user.md'])",
    "read_file(**{'file_path': 'user.md'})",
    "a, b = 'ab'",
    "a = b = 'x'",
    "a[0] = 1",
    "read_file = delete_file",
    "delete = delete_file\ndelete('user.md')",
    "x: __import__('os') = 1",
    "x: delete_file('user.md') = 1",
    "print(delete_file('user.md'))",
    "print(__import__('os'))",
    "print(f'{delete_file(\"user.md\")}')",
    "x = f'{delete_file(\"user.md\")}'",
    "x = f'{__import__(\"os\")}'",
    "y = 'x'\nx = f'{y:{y}}'",
    "y = 'x'\nx = f'{y!r}'",
    "x = f'{f\"{1}\"}'",
    "x = t'{1}'",
    "x = b'bytes'",
    "x = 'x' * 1000000000",
    "x = 10 ** 1000000000",
    "x = 1 << 1000000000",
    "x = '%s' % 'a'",
    "x = ~1",
    "x = -1",
    "x = 1j",
    "x = 1e400",
    "x = 999999999999999999999999999999",
    "x = ...",
    "x = not_set",
    "x = '\\ud83d\\ude00'",
    "x = '\\N{NO SUCH CHARACTER}'",
    "x = '\\xZZ'",
    "x = 'not closed",
    "x = '''not closed",
    "delete_file('user.md'",
    "delete_file('user.md'))",
    "delete_file 'user.md'",
    "`delete_file`",
    "!touch x",
    "%run x",
    "x = 1 if delete_file('user.md') else 2",
    // Names that Python takes for others, and signs that nobody sees.
    "ｄelete_file('user.md')",
    "𝓭𝓮𝓵𝓮𝓽𝓮_𝓯𝓲𝓵𝓮('user.md')",
    "dele\u{442}e_file('user.md')",
    "delete_\u{fb01}le('user.md')",
    "delete\u{203f}file('user.md')",
    "delete_file\u{200b}('user.md')",
    "x = 'a'\u{202e} ; delete_file('user.md')",
    "\u{2066}x = 1",
    "x\u{a0}= 1",
    "x = \u{201c}a\u{201d}",
    "x = 'a'\0",
    "x = 1\0delete_file('user.md')",
    "ｐrint(delete_file('user.md'))",
    "if True:\n    x = 1\n\ty = 2",
    "if True:\n\tx = 1\n        y = 2",
    "if True:\nx = 1",
    "  x = 1\nx = 2",
    "if True:\n    x = 1\n  y = 2",
    "\u{c}if\u{c} True: x = y_not_set",
    "x = 1 \\ y",
    "delete_file('user.md', 'more')",
    "delete_file(path='user.md')",
    "delete_file(file_path='user.md', file_path='x')",
    "create_dir()",
    "__builtins__ = 1",
    "__name__ = 'x'",
    "x = __name__",
    "x = read_file is None",
    "x = 'a' is 'a'",
    "x = 1 < 2",
    "x = 1 == 1 == 1",
];

/// Blocks that are too large to be written down.
fn large() -> Vec<String> {
    let many = 100_000;
    let stairs: String = (0..2_000).map(|level| " ".repeat(level) + "if True:\n").collect();
    vec![
        format!("x = {}1{}", "(".repeat(many), ")".repeat(many)),
        format!("x = {}", "(".repeat(many)),
        format!("x = {}1{}", "[".repeat(many), "]".repeat(many)),
        format!("x = {}1{}", "{".repeat(many), "}".repeat(many)),
        format!("x = {}1", "-".repeat(many)),
        format!("x = {}1", "not ".repeat(many)),
        format!("x = x{}", ".a".repeat(many)),
        format!("x = 1{}", " + 1".repeat(many)),
        format!("x = 1{}", " and 1".repeat(many)),
        format!("x = 1{}", " == 1".repeat(many)),
        format!("x = 1{}", " if 1 else 1".repeat(many)),
        format!("x = {}1", "lambda: ".repeat(many)),
        format!("{}1", "x = ".repeat(many)),
        format!("x = {}", "f'{".repeat(many)),
        format!("x = f'{{1:{}", "{1:".repeat(many)),
        format!("x = {}'a'{}", "read_file(".repeat(many), ")".repeat(many)),
        format!("{}x = 1", "if True: ".repeat(many)),
        format!("if True:\n  x = 1\n{}", "elif True:\n  x = 1\n".repeat(many)),
        format!("{stairs}{}x = 1", " ".repeat(2_000)),
        format!("x = {}", "9".repeat(many)),
        format!("x = '{}", "a".repeat(17 << 20)),
        "x = 1\n".repeat(many),
        "list_files()\n".repeat(20_000),
        (0..2_000).map(|number| format!("x{number} = 1\n")).collect(),
        "@".repeat(many),
        "match ".repeat(many),
        "\\ ".repeat(many),
        "$".repeat(1 << 20),
    ]
}

#[test]
fn hostile_blocks_are_refused_whole() {
    let env = Env::with(&[("user.md", "# Ada\n\n- city: London\n")]).quick();
    let before = env.files();
    let blocks: Vec<String> = BLOCKS.iter().map(|block| (*block).to_owned()).chain(large()).collect();
    assert!(blocks.len() > 140);
    for block in blocks {
        let shown: String = block.chars().take(60).collect();
        let after_others = format!("create_file('made.md', 'x')\ny = delete_file('user.md')\n{block}");
        for code in [&block, &after_others] {
            let ran = env.say(&turn(code), &[]);
            assert_eq!(ran.code, 2, "{shown}: {}", ran.stdout.chars().take(300).collect::<String>());
            let report = ran.json();
            assert!(report["error"]["hint"].is_string(), "{shown}: {report}");
            assert!(
                report["error"]["message"].as_str().unwrap().contains("the block has")
                    || report["error"]["message"].as_str().unwrap().starts_with("line "),
                "{shown}: {report}"
            );
            assert!(report["answer"].as_str().unwrap().starts_with("<result>\n({}, {Exception"), "{shown}: {report}");
            assert_eq!(env.files(), before, "{shown}");
        }
    }
}
