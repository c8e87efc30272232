//! The hostile notes that are hostile by their size: what is repeated, and how often.

/// Their names and texts; `tests/web_hostile` has the others.
pub(super) fn notes() -> Vec<(&'static str, String)> {
    let notes = nested().into_iter().chain(long());
    let end = |name: &str| format!("\n\nEND-{}\n", name.split('-').next().unwrap());
    notes.map(|(name, text)| (name, text + &end(name))).collect()
}

fn lines(count: usize, line: &dyn Fn(usize) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

fn again(text: &str, count: usize) -> String {
    text.repeat(count)
}

/// What is deep.
fn nested() -> Vec<(&'static str, String)> {
    vec![
        ("63-embed-many", lines(2000, &|_| "![[user]] ![[71-one-megabyte-line]]".to_owned())),
        (
            "64-wikilink-brackets",
            paragraphs(&[
                again("[[", 5000) + "x" + &again("]]", 5000),
                again("[", 20_000),
                again("![[", 5000),
                again("[[a|", 5000),
            ]),
        ),
        ("71-one-megabyte-line", again("word ", 200_000) + "<img src=x onerror=window.__pwned='71'>"),
        ("72-nested-quotes-100000", again(">", 100_000) + " deep"),
        (
            "73-nested-lists",
            paragraphs(&[lines(900, &|depth| "  ".repeat(depth) + "- x"), again("- ", 20_000) + "deep"]),
        ),
        (
            "74-nested-emphasis",
            paragraphs(&[
                again("*", 50_000) + "a" + &again("*", 50_000),
                again("*a **a ", 20_000),
                again("_", 50_000),
                again("`", 30_001) + " x",
                again("**a", 20_000),
                again("~~", 20_000),
            ]),
        ),
        (
            "75-nested-html",
            paragraphs(&[
                again("<div>", 20_000) + "deep" + &again("</div>", 20_000),
                again("<b><i>", 15_000) + &again("<!--", 10_000),
            ]),
        ),
        (
            "76-nested-brackets-links",
            paragraphs(&[
                again("[a](", 10_000),
                again("![", 10_000) + "x" + &again("](y)", 10_000),
                again("[a]: ", 5000),
                again("[x", 10_000) + &again("]", 10_000),
                again("<", 30_000),
                again("\\", 30_001),
            ]),
        ),
    ]
}

/// What is long.
fn long() -> Vec<(&'static str, String)> {
    vec![
        (
            "77-long-word",
            paragraphs(&[
                again("A", 300_000),
                "# ".to_owned() + &again("H", 50_000),
                format!("[{}]({})", again("L", 50_000), again("u", 50_000)),
                format!("- **{}**: {}", again("K", 20_000), again("V", 20_000)),
            ]),
        ),
        ("78-huge-table", table()),
        ("79-many-lines", lines(30_000, &|n| format!("- key{n}: value{n} [[n{n}]] #t{n}"))),
        (
            "80-many-footnotes",
            paragraphs(&[
                (0..8000).map(|n| format!("x[^{n}]")).collect::<Vec<_>>().join(" "),
                lines(8000, &|n| format!("[^{n}]: f {n} [^{}]", n + 1)),
            ]),
        ),
        (
            "81-many-references",
            paragraphs(&[
                lines(10_000, &|n| format!("[r{n}]: http://pwned.invalid/81/{n}")),
                again("[r1][r2] ", 10_000).trim_end().to_owned(),
                format!("[a]: /{}\n{}", again("x", 1000), again("[a]", 20_000)),
            ]),
        ),
        (
            "82-regex-traps",
            paragraphs(&[
                again("a@", 20_000),
                again("www.", 20_000),
                again(" ", 50_000) + "x",
                again("|", 50_000),
                again("-", 50_000) + "x",
                again("=", 50_000) + "x",
                again("- [", 20_000),
                "<a ".to_owned() + &again("b=\"c\" ", 20_000),
                again("$", 20_001),
                again("%%", 10_001),
            ]),
        ),
    ]
}

fn paragraphs(texts: &[String]) -> String {
    texts.join("\n\n")
}

fn table() -> String {
    let columns: Vec<String> = (0..200).map(|n| format!("c{n}")).collect();
    let row = format!("| {} |", ["x"; 200].join(" | "));
    format!("| {} |\n|{}\n{}", columns.join(" | "), "---|".repeat(200), vec![row; 2000].join("\n"))
}
