//! What the pages say.

use memdir_vault::VaultError;

use super::*;
use crate::site::without_hint_for_models;

#[test]
fn what_the_disk_needs_is_said_on_the_page_too() {
    let hint = |error| without_hint_for_models(memdir_engine::failure(&error)).hint.unwrap_or_default();
    assert!(hint(VaultError::NoWriteAccess(None)).contains("the right to write"));
    assert!(hint(VaultError::Unsettled(2)).contains("the history"));
    let conflict = VaultError::Conflict(memdir_core::path::MemoryPath::parse("a.md").unwrap());
    assert_eq!(hint(conflict), "nothing was changed: look at the note as it is now");
}

#[tokio::test]
async fn a_memory_that_was_moved_deleted_or_replaced_is_neither_shown_nor_changed() {
    let env = Env::new(&[("user.md", "# Me\n\n- city: Rome\n"), ("a.png", "\u{89}PNG")]).await;
    let (here, away) = (env.folder.path().to_owned(), env.folder.path().with_extension("away"));
    let refused = async |what: &str| {
        for address in [
            "/",
            "/notes",
            "/notes/user.md",
            "/edit/user.md",
            "/search?q=Rome",
            "/history",
            "/audit",
            "/inbox",
            "/pictures/a.png",
        ] {
            let page = env.get(address).await;
            assert_eq!(page.status, 410, "{what}: {address}");
            assert!(
                page.body.contains("was moved, deleted or replaced") && page.body.contains("memdir serve"),
                "{}",
                page.body
            );
            assert!(!page.body.contains("Rome"));
        }
        for (address, fields) in
            [("/new", [("path", "b.md"), ("content", "x")]), ("/chat", [("message", "Hello"), ("session", "")])]
        {
            let answer = env.post(address, &fields).await;
            assert_eq!(answer.status, 410, "{what}: {address}");
            assert!(answer.body.contains("was moved, deleted or replaced"), "{}", answer.body);
        }
    };
    std::fs::rename(&here, &away).unwrap();
    refused("moved").await;
    std::fs::create_dir(&here).unwrap();
    std::fs::write(here.join("user.md"), "# Other\n").unwrap();
    refused("replaced").await;
    assert!(!away.join("b.md").exists() && !here.join("b.md").exists());
    std::fs::remove_dir_all(&here).unwrap();
    std::fs::rename(&away, &here).unwrap();
    assert!(env.get("/notes/user.md").await.body.contains("Rome"), "it is back");
    std::fs::remove_dir_all(&here).unwrap();
    refused("deleted").await;
}

#[tokio::test]
async fn a_note_is_shown_with_what_stands_around_it() {
    let env = Env::new(&[
        ("people/ada.md", "---\nborn: 1815\nfriend: \"[[charles|C. B.]]\"\n---\n# Ada\n\n- city: London\n\nKnows [[charles|Charles]], [[nobody]] and [notes](../notes/one%20two.md#Part).\n![[pic.png]] ![far](https://far.example/x.png)\n"),
        ("people/charles.md", "Text above.\n\nA friend of [[ada]], he says.\n"),
        ("notes/one two.md", "## Part\n\nSee [[charles]].\n"),
        ("notes/apart.md", "Nothing.\n"),
    ])
    .await;
    let page = env.get("/notes/people/ada.md").await.body;
    let article = between(&page, "<article", "</article>");
    assert!(article.contains(r#"<a href="/notes/people/charles.md">Charles</a>"#), "{article}");
    assert!(article.contains(r#"<a href="/notes/notes/one%20two.md?place=s-part#s-part">notes</a>"#), "{article}");
    assert!(article.contains(r#"<span class="broken" title="This link leads nowhere">nobody</span>"#), "{article}");
    assert!(article.contains("Picture, not loaded: https://far.example/x.png"), "{article}");
    assert!(!article.contains("born"), "properties stand beside");
    assert!(!article.contains("<img"));
    let beside = between(&page, "<aside", "</aside>");
    for part in [
        "<dt>born</dt><dd>1815</dd>",
        "<dt>friend</dt><dd><a href=\"/notes/people/charles.md\">C. B.</a></dd>",
        "<dt>city</dt><dd>London</dd>",
        "A friend of ada, he says.",
        "line 3",
        "nobody",
    ] {
        assert!(beside.contains(part), "{part}: {beside}");
    }
    assert!(between(&page, "<svg", "</svg>").matches("<circle").count() >= 3);
    assert!(!beside.contains("apart"));
    assert_eq!(page.matches("<h1").count(), 1);
    let place = env.get("/notes/notes/one%20two.md").await.body;
    assert!(place.contains(r#"<h2 id="s-part">Part</h2>"#), "the link leads there: {place}");
}

#[tokio::test]
async fn the_tree_names_every_note_and_goes_on_on_the_next_page() {
    let names: Vec<String> = (0..1_234).map(|number| format!("f{}/n {number:04}.md", number % 7)).collect();
    let notes: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    let env = Env::new(&notes).await;
    let (mut address, mut found) = ("/notes".to_owned(), std::collections::BTreeSet::new());
    loop {
        let page = env.get(&address).await.body;
        assert!(page.len() <= 100_000);
        let links = page.split("href=\"/notes/").skip(1).map(|rest| rest.split('"').next().unwrap());
        found.extend(links.filter(|link| link.ends_with(".md")).map(|link| link.replace("%20", " ")));
        if !page.contains("id=\"more\"") {
            break;
        }
        address = between(&page, "id=\"more\" rel=\"next\" href=\"", "\"").replace("&amp;", "&");
    }
    assert!(found.into_iter().eq(names.into_iter().collect::<std::collections::BTreeSet<_>>()));
    let folder = env.get("/notes/f3").await.body;
    assert!(folder.contains("n 0003") && !folder.contains("n 0004"));
}

#[tokio::test]
async fn search_says_what_was_found_and_why() {
    let env = Env::new(&[("tea.md", "# Green tea\n\nAnna drinks it <b>daily</b>.\n"), ("b.md", "Coffee.\n")]).await;
    let page = env.get("/search?q=tea").await.body;
    assert!(page.contains(r#"<a href="/notes/tea.md"#) && page.contains("<mark>tea</mark>"), "{page}");
    assert!(page.contains("words of your query") && !page.contains("/notes/b.md"));
    assert!(page.contains("<title>tea · Search"));
    assert!(env.get("/search?q=zebra").await.body.contains("id=\"nothing\""));
    // While it is typed, half a word is no ground to say so.
    let typing = |q: &str| {
        request(Method::GET, &format!("/search?q={q}"), &[("cookie", &env.cookie), ("memdir-typing", "now")], "")
    };
    assert!(!env.send(typing("zeb")).await.body.contains("id=\"nothing\""));
    assert!(env.send(typing("zeb%20")).await.body.contains("id=\"nothing\""));
    assert!(
        between(&env.get("/search?q=since:soon").await.body, "role=\"alert\"", "</div>").contains("class=\"hint\"")
    );
    let missing = env.get("/notes/nothere.md").await.body;
    assert!(missing.contains("href=\"/notes\">Notes</a> ·") && !missing.contains("ist_files"), "{missing}");
    let broken = env.get("/search?q=%5B&mode=regex").await;
    assert_eq!(broken.status, 200);
    assert!(broken.body.contains("role=\"alert\""));
    assert_eq!(env.get("/search").await.status, 200);
}

#[tokio::test]
async fn what_the_script_fetches_again_is_no_reading_and_a_change_is_told() {
    let env = Env::new(&[("a.md", "one\n")]).await;
    // The audit begins with the first change.
    env.post("/new", &[("path", "c"), ("content", "x")]).await;
    let readings = || {
        env.site.engine().clean_up();
        let records = env.site.engine().records(0).unwrap();
        records.iter().filter(|record| record.action == "read_file").count()
    };
    env.get("/notes/a.md").await;
    let before = readings();
    assert_eq!(before, 1);
    let again = request(Method::GET, "/notes/a.md", &[("cookie", &env.cookie), ("memdir-refresh", "1")], "");
    assert!(env.send(again).await.body.contains("one"));
    assert_eq!(readings(), before);
    // An open page hears of a change.
    let events = request(Method::GET, "/events", &[("cookie", &env.cookie)], "");
    let response = env.routes.clone().call(events).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body().into_data_stream();
    env.post("/new", &[("path", "b.md"), ("content", "x")]).await;
    let said = futures_util::StreamExt::next(&mut body).await.unwrap().unwrap();
    assert_eq!(said, "event: changed\ndata: notes state\n\n");
    env.site.finish();
    assert!(futures_util::StreamExt::next(&mut body).await.is_none(), "it ends with the server");
}

#[tokio::test]
async fn who_was_put_out_hears_of_no_more_changes() {
    let env = Env::new(&[]).await;
    let events = request(Method::GET, "/events", &[("cookie", &env.cookie)], "");
    let mut body = env.routes.clone().call(events).await.unwrap().into_body().into_data_stream();
    assert_eq!(env.post("/browsers/end", &[("browser", "1")]).await.status, 303);
    assert!(futures_util::StreamExt::next(&mut body).await.is_none());
}

#[tokio::test]
async fn a_name_alone_renames_in_place_and_code_is_shown_as_code() {
    let env = Env::new(&[("people/bo.md", "# Bo\n")]).await;
    let form = env.get("/rename/people/bo.md").await.body;
    let digest = between(&form, r#"name="digest" value=""#, "\"").to_owned();
    let stale = env.post("/rename/people/bo.md", &[("to", "bob"), ("digest", "x")]).await;
    assert!(stale.body.contains("Note <code>people/bo.md</code> has changed"), "{}", stale.body);
    let renamed = env.post("/rename/people/bo.md", &[("to", "bob"), ("digest", &digest)]).await;
    assert_eq!((renamed.status, renamed.header(LOCATION)), (303, "/notes/people/bob.md"), "{}", renamed.body);
    assert_eq!(env.note("people/bob.md"), "# Bo\n");
    let nowhere = env.get("/nope").await.body;
    assert!(nowhere.contains("href=\"/search\"") && !nowhere.contains("Try again"), "{nowhere}");
}

#[test]
fn only_what_stands_between_two_backticks_is_code() {
    let shown = |text: &str| crate::layout::code_spans(text).into_string();
    assert_eq!(shown("a `b<` c `d` e"), "a <code>b&lt;</code> c <code>d</code> e");
    assert_eq!(shown("a `b` c `d"), "a <code>b</code> c `d");
    assert_eq!((shown("`"), shown("")), ("`".to_owned(), String::new()));
}

#[tokio::test]
async fn properties_that_cannot_be_read_are_shown_as_they_are_written() {
    let long = format!("---\na: {}\nphone: 4711\n---\n# Long\n", "x".repeat(70 << 10));
    let env = Env::new(&[
        ("a.md", "---\ntags: [a\nphone: 0151 <b>\n---\n# A\n\nbody\n"),
        ("b.md", "---\ntags: [a]\nphone: 0152\n---\n# B\n"),
        ("long.md", &long),
    ])
    .await;
    let page = env.get("/notes/a.md").await.body;
    let article = between(&page, "<article", "</article>");
    assert!(article.contains("phone: 0151 &lt;b&gt;") && article.contains("because of line"), "{article}");
    assert!(article.contains("<h1 id=") && article.contains("body"), "{article}");
    let page = env.get("/notes/b.md").await.body;
    assert!(!between(&page, "<article", "</article>").contains("0152") && page.contains("0152"), "a property: {page}");
    let pages = [env.get("/notes/long.md").await.body, env.get("/notes/long.md?part=9").await.body];
    assert!(pages.iter().all(|page| page.len() <= 100 << 10) && pages[0].contains("longer than 64 KiB"));
    assert!(pages[1].contains("phone: 4711") && pages[1].contains("Long"), "{}", pages[1]);
}

/// Follows each link of a page's text to a place, and gives those that lead to none.
async fn lost(env: &Env, address: &str) -> Vec<String> {
    let page = env.get(address).await.body;
    let article = between(&page, "<article", "</article>").replace("&amp;", "&");
    let mut lost = Vec::new();
    for to in article.split("<a href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        let (page, place) = to.split_once('#').unwrap();
        let article = if page.is_empty() { article.clone() } else { env.get(page).await.body };
        if !article.contains(&format!("id=\"{place}\"")) {
            lost.push(to.to_owned());
        }
    }
    lost
}

#[tokio::test]
async fn a_link_to_a_place_leads_there_on_whichever_part_it_is() {
    let names = "## Sec: x, y!\n\n## Sec: x, y!\n\n## What's new\n\n## `code` *em*\n\n## 1.1.0\n\n## 11.0\n\nText ^blk1\n\n- item ^Blk-2\n  below\n\n| a |\n|---|\n| b |\n\n^tab\n";
    let links = "[[an#Sec: x, y!]] [[an#What's new]] [[an#code em]] [[an#^blk1]] [[an#^blk-2|two]] [[an#^tab]] [a](an.md#sec-x-y) \
                 [b](an.md#sec-x-y-1) [c](an.md#whats-new) [d](an.md#code-em) [e](an.md#What's%20new) [[an#11.0]] [[an#1.1.0]] [f](an.md#^blk1)\n";
    let within = links.replace("an.md#", "#").replace("[[an#", "[[#");
    let long = "words and more words\n\n".repeat(6_000);
    let text = format!("# A\n\nA[^1]\n\n{within}\n{long}{names}\n[^1]: Last.\n");
    let env = Env::new(&[("an.md", &text), ("to.md", links), ("short.md", &format!("{within}\n{names}"))]).await;
    for (address, count) in [("/notes/to.md", 14), ("/notes/short.md", 14), ("/notes/an.md", 15)] {
        let page = env.get(address).await.body;
        assert_eq!(between(&page, "<article", "</article>").matches("<a href").count(), count, "{address}: {page}");
        assert_eq!(lost(&env, address).await, [""; 0], "{address}");
    }
    let page = env.get("/notes/an.md?place=b-blk1").await.body;
    assert!(page.contains("Text<span id=\"b-blk1\"></span>") && !page.contains("^blk1"), "{page}");
    let two = env.get("/notes/to.md").await.body;
    assert!(two.contains("#s-1-1-0\"") && two.contains("#s-11-0\""), "names that differ in a point alone: {two}");
}
