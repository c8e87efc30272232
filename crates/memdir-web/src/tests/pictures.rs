//! Pictures, tables and footnotes of a note; and files that only pretend to be pictures.

use super::*;

/// The start of a GIF, in letters, so that an answer can be compared as text.
const GIF: &str = "GIF89a a boat";

async fn boats() -> Env {
    let note = "# Boats\n\n![a \"boat\"](../pictures/boat.gif) ![[boat.gif|200]] ![[BOAT.JPG]]\n\n\
                ![remote](https://evil.example/x.png) ![[drawing.svg]] [a link](../pictures/boat.gif)\n";
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
    Env::new(&[
        ("notes/boats.md", note),
        ("pictures/boat.gif", GIF),
        ("pictures/BOAT.JPG", GIF),
        ("pictures/drawing.svg", svg),
        ("pictures/false.png", svg),
        ("pictures/page.gif", "<!DOCTYPE html><script>alert(1)</script>"),
        ("pictures/empty.webp", ""),
        ("pictures/folder.png/x.md", "x"),
        (".obsidian/icon.gif", GIF),
        (".memdir/icon.gif", GIF),
    ])
    .await
}

#[tokio::test]
async fn a_picture_of_the_memory_is_shown_and_no_other() {
    let env = boats().await;
    let page = env.get("/notes/notes/boats.md").await.body;
    let text = between(&page, "<article", "</article>");
    let pictures: Vec<&str> = text.split("<img ").skip(1).map(|rest| rest.split('>').next().unwrap()).collect();
    assert_eq!(pictures.len(), 3, "{text}");
    let has = |at: usize, attribute: &str| assert!(pictures[at].contains(attribute), "{attribute} in {}", pictures[at]);
    for at in 0..3 {
        has(at, "loading=\"lazy\"");
    }
    has(0, "src=\"/pictures/pictures/boat.gif\"");
    has(0, "alt=\"a &quot;boat&quot;\"");
    has(1, "alt=\"boat.gif\"");
    has(1, "width=\"200\"");
    has(2, "src=\"/pictures/pictures/BOAT.JPG\"");
    assert!(text.contains("Picture, not loaded: https://evil.example/x.png"), "{text}");
    assert!(text.contains("href=\"/notes/pictures/drawing.svg\""), "a drawing is a link: {text}");
    assert!(text.contains("<a href=\"/notes/pictures/boat.gif\">a link</a>"), "{text}");
    let own = env.get("/notes/pictures/boat.gif").await;
    assert_eq!(own.status, 200);
    assert!(own.body.contains("src=\"/pictures/pictures/boat.gif\"") && own.body.contains("/notes/notes/boats.md"));
}

#[tokio::test]
async fn a_picture_is_answered_as_what_it_is_and_nothing_in_it_may_happen() {
    let env = boats().await;
    for name in ["boat.gif", "BOAT.JPG"] {
        let answer = env.get(&format!("/pictures/pictures/{name}")).await;
        assert_eq!((answer.status, answer.header(CONTENT_TYPE)), (200, "image/gif"), "by its bytes, not by its name");
        assert_eq!(answer.body, GIF);
        assert_eq!(answer.header("content-security-policy"), "default-src 'none'; sandbox");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(answer.header("cache-control"), "no-store");
    }
}

#[tokio::test]
async fn what_is_no_picture_of_the_memory_is_not_handed_out() {
    let env = boats().await;
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.gif"), GIF).unwrap();
    #[cfg(unix)]
    for (link, to) in [("out.gif", "secret.gif"), ("folder", "")] {
        std::os::unix::fs::symlink(outside.path().join(to), env.folder.path().join(link)).unwrap();
    }
    env.write("large.gif", &format!("{GIF}{}", " ".repeat(16 << 20)));
    for address in [
        "pictures/drawing.svg",
        "pictures/false.png",
        "pictures/page.gif",
        "pictures/empty.webp",
        "pictures/folder.png",
        "pictures/nothing.gif",
        "notes/boats.md",
        "../secret.gif",
        "%2e%2e/secret.gif",
        "pictures/..%2f..%2fsecret.gif",
        "%2Fetc/x.gif",
        ".obsidian/icon.gif",
        ".memdir/icon.gif",
        "out.gif",
        "folder/secret.gif",
        "large.gif",
        "boat.gif%00.gif",
        "",
    ] {
        let answer = env.get(&format!("/pictures/{address}")).await;
        assert!((400..500).contains(&answer.status), "{address}: {}", answer.status);
        assert_eq!(answer.header(CONTENT_TYPE), "text/html; charset=utf-8", "{address}");
        assert!(!answer.body.contains("GIF89a") && !answer.body.contains("alert(1)"), "{address}: {}", answer.body);
        assert!(answer.header("content-security-policy").contains("script-src 'self'"), "a page of ours: {address}");
    }
    let stranger = env.send(request(Method::GET, "/pictures/pictures/boat.gif", &[], "")).await;
    assert_eq!(stranger.status, 401);
    let foreign = [("cookie", &*env.cookie), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")];
    let foreign = env.send(request(Method::GET, "/pictures/pictures/boat.gif", &foreign, "")).await;
    assert_eq!(foreign.status, 403, "a page elsewhere cannot learn whether it is there");
    let text = env.get("/notes/pictures/false.png").await;
    assert!(text.status == 200 && !text.body.contains("<img") && text.body.contains("&lt;script&gt;"), "it is a text");
    assert_eq!(env.get("/notes/pictures/empty.webp").await.status, 200, "so is this");
    assert_eq!(env.get("/notes/pictures/nothing.gif").await.status, 404);
}

#[tokio::test]
async fn a_footnote_leads_to_its_text_and_a_table_can_be_scrolled() {
    let note = "A[^1] and B[^two words] and A again[^1], none[^none].\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\
                [^two words]: Second, see [[other]].\n[^1]: First.\n[^two-words]: The same place.\n";
    let env = Env::new(&[("a.md", note), ("other.md", "x")]).await;
    let page = env.get("/notes/a.md").await.body;
    let text = between(&page, "<article", "</article>");
    assert_eq!(text.matches("<sup><a href=\"#f-s-1\">1</a></sup>").count(), 2, "{text}");
    assert!(text.contains("<sup><a href=\"#f-s-two-words\">2</a></sup>"), "{text}");
    assert!(text.contains("none[^none]"), "what has no text stays as it is written: {text}");
    for id in ["f-s-1", "f-s-two-words"] {
        assert_eq!(text.matches(&format!("id=\"{id}\"")).count(), 1, "{text}");
    }
    let first = between(text, "id=\"f-s-1\"", "</div>");
    assert!(first.contains("<sup>1</sup>") && first.contains("First."), "{first}");
    assert!(text.contains("<a href=\"/notes/other.md\">other</a>"), "{text}");
    let table = text.split("<div ").find(|rest| rest.contains("<table>")).unwrap();
    for attribute in ["class=\"wide\"", "role=\"group\"", "tabindex=\"0\"", "aria-label=\"Table\""] {
        assert!(table.split('>').next().unwrap().contains(attribute), "{attribute}: {table}");
    }
}

/// The first four are of the specification of CommonMark, in which the text that stands for a picture is the plain text of its content.
#[tokio::test]
async fn the_text_of_a_picture_is_plain() {
    let cases = [
        ("![foo *bar*](boat.gif)", "foo bar"),
        ("![foo ![bar](boat.gif)](boat.gif)", "foo bar"),
        ("![foo [bar](/url)](boat.gif)", "foo bar"),
        ("![[a] <b> `c`](boat.gif)", "[a] &lt;b&gt; c"),
        ("![foo ![bar](nowhere.gif) *[baz](other.md)*](boat.gif)", "foo bar baz"),
        ("![a [[other]] and [[nobody|x]]](boat.gif)", "a other and x"),
        ("![one\ntwo](boat.gif)", "one two"),
        ("![](boat.gif)", ""),
    ];
    let note: String = cases.iter().map(|(written, _)| format!("{written} .\n\n")).collect();
    let env = Env::new(&[("a.md", &note), ("other.md", "x"), ("boat.gif", GIF)]).await;
    let page = env.get("/notes/a.md").await.body;
    let text = between(&page, "<article", "</article>");
    let pictures: Vec<&str> = text.split("<p><img ").skip(1).map(|rest| rest.split("</p>").next().unwrap()).collect();
    let alts = pictures.iter().map(|picture| between(picture, "alt=\"", "\""));
    assert_eq!(alts.collect::<Vec<_>>(), cases.map(|(_, alt)| alt), "{text}");
    assert!(pictures.iter().all(|picture| picture.split_once('>').unwrap().1.trim() == "."), "{text}");
}

#[tokio::test]
async fn a_callout_has_its_kind_and_title_above_its_text() {
    let cases = [
        (
            "> [!note] A *title*\n> text",
            "<p class=\"title\"><span class=\"badge\">note</span> A <em>title</em></p><p>text</p>",
        ),
        (
            "> [!Tip]- [[other]]",
            "<p class=\"title\"><span class=\"badge\">Tip</span> <a href=\"/notes/other.md\">other</a></p>",
        ),
        ("> [!x]\n>\n> one\n> two", "<p class=\"title\"><span class=\"badge\">x</span></p><p>onetwo</p>"),
        ("> [!x y]\n>\n> - one", "<p class=\"title\"><span class=\"badge\">x y</span></p><ul><li>one</li></ul>"),
        (
            "> [!info] One\n> ===\n> two",
            "<p class=\"title\"><span class=\"badge\">info</span></p><h1> One</h1><p>two</p>",
        ),
        ("> [!<b>] a", "<p class=\"title\"><span class=\"badge\">&lt;b&gt;</span> a</p>"),
        ("> [!info|wide]- a", "<p class=\"title\"><span class=\"badge\">info</span> a</p>"),
        (
            "> [!a] b\n> > [!c] d\n> > e",
            "<p class=\"title\"><span class=\"badge\">a</span> b</p><blockquote class=\"callout\">\
             <p class=\"title\"><span class=\"badge\">c</span> d</p><p>e</p></blockquote>",
        ),
    ];
    let note: String = cases.iter().map(|(written, _)| format!("{written}\n\nbetween\n\n")).collect();
    let links = "> [!a](b)\n\n> [!a[b] c\n\nbetween\n\n";
    let others = "> plain [!note] text\n\nbetween\n\n>     [!note] code\n\nbetween\n\n> > [!deep] x\n";
    let env = Env::new(&[("a.md", &format!("{note}{links}{others}")), ("other.md", "x")]).await;
    let page = env.get("/notes/a.md").await.body;
    let text = between(&page, "<article", "</article>").replace('\n', "");
    let quotes: Vec<&str> = text.split("<p>between</p>").collect();
    for ((written, html), quote) in cases.iter().zip(&quotes) {
        assert!(quote.ends_with(&format!("<blockquote class=\"callout\">{html}</blockquote>")), "{written}: {quote}");
    }
    let [links, plain, code, deep] = quotes.last_chunk().unwrap();
    assert!(!links.contains("callout") && links.contains("[!a[b] c"), "{links}");
    assert_eq!(*plain, "<blockquote><p>plain [!note] text</p></blockquote>");
    assert_eq!(*code, "<blockquote><pre><code>[!note] code</code></pre></blockquote>");
    assert!(deep.starts_with("<blockquote><blockquote class=\"callout\">"), "{deep}");
}

#[test]
fn a_line_is_read_without_the_marks_of_markdown() {
    for (line, read) in [
        ("- **City**: Porto", "City: Porto"),
        ("  * owner: [[people/paul|Paul]] and [[Boat]]", "owner: Paul and Boat"),
        ("## A `heading`", "A heading"),
        ("1. [Porto](https://a.example) <b>is</b> ~~far~~ 2 * 3", "Porto <b>is</b> ~~far~~ 2 * 3"),
        ("snake_case_name *", "snake_case_name *"),
        ("***", "***"),
        ("[a]: https://a.example", "[a]: https://a.example"),
        ("", ""),
    ] {
        assert_eq!(crate::markdown::as_read(line), read, "{line:?}");
    }
}
