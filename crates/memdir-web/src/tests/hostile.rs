//! Notes that want to run or load something.

use super::*;

/// What a note may try. What comes of it is told from the bytes of the page, by no parser that made them.
const TRIES: &[&str] = &[
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.example></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><script>1</script></svg>",
    "text <b onclick=\"alert(1)\">bold</b> <iframe src=javascript:alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](\u{1}javascript:alert(1))",
    "[x](data:text/html,<script>1</script>)",
    "[x](vbscript:1) [y](file:///etc/passwd) [z](//evil.example) [w](/undo)",
    "<javascript:alert(1)> <https://a.example/\"onmouseover=alert(1)>",
    "![x](https://evil.example/x.png) ![y](//evil.example/y.png) ![z](data:image/svg+xml,<svg/onload=1>)",
    "![a\"onerror=\"alert(1)](https://evil.example/\"onerror=\"x)",
    "[x](https://a.example \"title\\\" onmouseover=alert(1)\")",
    "[[x\" onmouseover=\"alert(1)]] ![[<script>1</script>]] [[a|<img src=x onerror=1>]]",
    "[[javascript:alert(1)|x]]",
    "# <script>1</script> \"onmouseover=x\n## `</h2><script>`",
    "```\"><script>alert(1)</script>\n</code></pre><script>1</script>\n```",
    "| <script>1</script> | a |\n|:--|--:|\n| x | <style>*{}</style> |",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    "<!-- --><base href=//evil.example><meta http-equiv=refresh content=0;url=//evil.example><link rel=stylesheet href=//evil.example>",
    "</main></body><form action=/undo method=post><input name=batch value=1><button>x</button></form>",
    "<style>@import '//evil.example';</style><div style=\"background:url(//evil.example)\">x</div>",
    "<a href=\"/undo\" id=\"notice\" class=\"danger\" target=_blank data-live=notes>x</a>",
    "---\nkey: \"</dd><script>1</script>\"\n\"<img src=x onerror=1>\": x\n---\n- <script>k</script>: <b>v</b>",
    "\u{202e}gnp.exe \u{1b}[31mred\u{1b}]0;title\u{7} \0 \u{2028} \u{feff}",
    "![x](n0.md) ![y](/undo) ![z](../n0.gif) ![[n0.gif]] ![a\" onerror=\"alert(1)](boat.gif) [![x](boat.gif \"onload=x\")](/undo)",
    "![[boat.gif|<img src=x onerror=1>]] ![[boat.gif|20\" onload=\"x]] ![[boat.gif|9999999]] ![x](boat.gif?a=/undo) ![x](//boat.gif)",
    "[^<script>1</script>] [^\"onload=x] [[a[^1]]] [x[^1]](https://a.example)\n\n[^1]: <b id=notice>x</b>\n[^\"onload=x]: y\n[^<script>1</script>]: [^1]",
    "{{7*7}} ${7*7} <%= 1 %> `` ` ``",
];

#[tokio::test]
async fn nothing_in_a_note_becomes_more_than_text_and_links() {
    let names: Vec<String> = (0..TRIES.len()).map(|number| format!("n{number}.md")).collect();
    let notes: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(TRIES.iter().copied()).collect();
    let env = Env::new(&[&notes[..], &[("boat.gif", "GIF89a")]].concat()).await;
    for (name, text) in &notes {
        for address in [format!("/notes/{name}"), format!("/edit/{name}"), format!("/delete/{name}")] {
            let page = env.get(&address).await;
            assert!(page.status == 200 || (text.contains('\0') && address.starts_with("/edit/")), "{address}");
            check(&page.body, text);
        }
    }
    for query in ["script", "alert", "<img src=x onerror=alert(1)>", "\"><script>"] {
        for mode in ["", "text", "regex", "name"] {
            let value = crate::href::value(query);
            check(&env.get(&format!("/search?q={value}&mode={mode}")).await.body, query);
        }
    }
}

/// The elements that pages are made of.
const KNOWN: &str = "!DOCTYPE html head meta title link script body header a nav ul ol li form label input main div article \
                     aside section p h1 h2 h3 h4 h5 h6 small span br dl dt dd button footer textarea pre code em strong \
                     del table thead tbody tr th td blockquote hr mark select option b svg circle line text details summary img sup";

/// Looks at each tag of a page.
#[track_caller]
fn check(page: &str, text: &str) {
    for after in page.split('<').skip(1) {
        // Everything else was escaped.
        let (tag, _) = after.split_once('>').unwrap_or_else(|| panic!("a tag without an end, of {text:?}: {after}"));
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap();
        assert!(KNOWN.split_whitespace().any(|known| known == name), "<{tag}> of {text:?}");
        if name == "script" && !tag.starts_with('/') {
            assert!(tag.starts_with(r#"script src="/assets/app-"#), "<{tag}> of {text:?}");
        }
        for (attribute, value) in attributes(tag) {
            let is_picture = (name, attribute) == ("img", "src");
            assert!(!is_picture || value == "/pictures/boat.gif", "<{tag}> of {text:?}");
            let is_bad = attribute.starts_with("on") || matches!(attribute, "style" | "srcdoc" | "target");
            assert!(!is_bad, "<{tag}> of {text:?}");
            if matches!(attribute, "href" | "src" | "action") {
                let is_own = value.starts_with('/') && !value.starts_with("//");
                let is_link = name == "a" && (value.starts_with("https://") || value.starts_with('#'));
                assert!(is_own || is_link || value == "data:,", "<{tag}> of {text:?}");
                assert!(!(name == "a" && value.starts_with("/undo")), "<{tag}> of {text:?}");
            }
        }
    }
}

/// The attributes of a tag whose values stand in double quotes.
fn attributes(tag: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = tag;
    while let Some((before, after)) = rest.split_once("=\"") {
        let (value, next) = after.split_once('"').unwrap();
        found.push((before.split_whitespace().last().unwrap_or_default(), value));
        rest = next;
    }
    found
}

#[tokio::test]
async fn a_note_that_is_large_or_deep_is_shown_in_pages_of_a_hundred_kilobytes() {
    let (quote, list, line) = (">".repeat(20_000), "- ".repeat(2_000), "x".repeat(1 << 19));
    let marks = "&\"<>".repeat(30_000);
    let links = "[a](b) ".repeat(10_000);
    let rows = format!("|a|b|\n|-|-|\n{}", "|\u{a0}||\n".repeat(10_000));
    let stars = "*a **b ".repeat(5_000);
    let paragraphs = "\u{a0}\u{a0}\u{a0}\n\n".repeat(10_000);
    let notes = [
        ("quote.md", quote.as_str()),
        ("list.md", &list),
        ("line.md", &line),
        ("marks.md", &marks),
        ("links.md", &links),
        ("rows.md", &rows),
        ("stars.md", &stars),
        ("paragraphs.md", &paragraphs),
    ];
    let env = Env::new(&notes).await;
    for (name, _) in notes {
        for part in [1, 2, 1_000_000] {
            let page = env.get(&format!("/notes/{name}?part={part}")).await;
            assert_eq!(page.status, 200, "{name}");
            assert!(page.body.len() <= 100_000, "{name} {part}: {}", page.body.len());
        }
        let page = env.get(&format!("/edit/{name}")).await;
        assert!(page.status == 200 && page.body.len() <= 100_000, "{name}: {}", page.body.len());
        let page = env.get(&format!("/delete/{name}")).await;
        assert!(page.status == 200 && page.body.len() <= 100_000, "{name}: {}", page.body.len());
    }
    let first = env.get("/notes/line.md?part=1").await.body;
    assert!(first.contains("Part 1 of "));
}
