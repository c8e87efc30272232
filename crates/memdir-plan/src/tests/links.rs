//! Links: what is read of them, and that a rename leaves each where it led.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use memdir_note::{Note, Targets};

fn text<'t>(tree: &'t MapTree, name: &str) -> &'t str {
    std::str::from_utf8(tree.get(name).unwrap()).unwrap()
}

#[test]
fn a_link_leads_to_a_heading_or_a_block() {
    let tree = MapTree::of([("a.md", "x\n# H\ny ^id\n\n## I\nz\n# J\n"), ("p.png", "x")]);
    let go = |link: &str| one(&tree, json!({"action": "go_to_link", "link": link})).0;
    assert_eq!(go("[[a#h]]")["value"], "# H\ny ^id\n\n## I\nz\n");
    assert_eq!(go("[[a#H#I]]")["value"], "## I\nz\n");
    assert_eq!(go("![[a#^id|x]]")["value"], "y ^id\n");
    let missing = go("[[a#K]]");
    assert_eq!((&missing["error"]["code"], &missing["path"]), (&json!("heading_not_found"), &Json::Null));
    assert_eq!(go("[[a#^no]]")["error"]["message"], "note `a.md` has no block `^no`");
    assert_eq!(one(&tree, json!({"action": "go_to_link", "link": "[[#I]]", "source": "a.md"})).0["value"], "## I\nz\n");
}

#[test]
fn the_links_of_a_note_are_listed_both_ways() {
    let tree = MapTree::of([("a.md", "[[b#H]]\n[[none]] ![[p.png]]\n"), ("b.md", "# H\n[[a|A]]\n"), ("p.png", "")]);
    let links = one(&tree, json!({"action": "get_links", "path": "a.md"})).0["value"].clone();
    assert_eq!(
        links,
        json!({"links": [
        {"source": "a.md", "line": 1, "target": "b", "subpath": "#H", "text": null, "kind": "wikilink",
         "resolved": "b.md", "status": "ok", "nearest": null},
        {"source": "a.md", "line": 2, "target": "none", "subpath": "", "text": null, "kind": "wikilink",
         "resolved": null, "status": "broken_file", "nearest": null},
        {"source": "a.md", "line": 2, "target": "p.png", "subpath": "", "text": null, "kind": "embed",
         "resolved": "p.png", "status": "ok", "nearest": null},
    ], "backlinks": {"a.md": ["b.md"]}})
    );
    let links = one(&tree, json!({"action": "get_backlinks", "path": "a.md"})).0["value"].clone();
    assert_eq!(links["links"][0]["source"], "b.md");
    assert_eq!((&links["links"][0]["text"], &links["backlinks"]), (&json!("A"), &json!({"a.md": ["b.md"]})));
    // What the batch has written counts.
    let calls = [
        json!({"action": "append_file", "path": "b.md", "content": "[[c]]"}),
        json!({"action": "create_file", "path": "x/c.md", "content": ""}),
        json!({"action": "get_backlinks", "path": "x/c.md"}),
    ];
    let (outcomes, _) = run(&tree, &calls);
    assert_eq!(serde_json::to_value(&outcomes[2]).unwrap()["value"]["links"][0]["line"], 3);
}

#[test]
fn an_ambiguous_link_is_noted_when_it_is_written() {
    let tree = MapTree::of([("a/x.md", ""), ("b/x.md", ""), ("n.md", "[[x]]\n")]);
    let calls = [
        json!({"action": "append_file", "path": "n.md", "content": "[[x]] [[a/x]]"}),
        json!({"action": "create_file", "path": "m.md", "content": "[[x]] `[[x]]`"}),
        json!({"action": "create_file", "path": "c/a/x.md", "content": ""}),
        json!({"action": "create_file", "path": "o.md", "content": "[[a/x]]"}),
    ];
    let (_, plan) = run(&tree, &calls);
    let issues: Vec<_> = plan.issues().iter().map(|issue| (issue.code, issue.index, issue.message.as_str())).collect();
    assert_eq!(
        issues,
        [
            ("ambiguous_link", Some(2), "link `[[x]]` fits `a/x.md`, `b/x.md`; write the whole path"),
            ("ambiguous_link", Some(4), "link `[[a/x]]` fits `a/x.md`, `c/a/x.md`; write the whole path"),
        ]
    );
}

#[test]
fn a_rename_takes_the_links_along() {
    let tree = MapTree::of([
        ("a/x.md", "[[#H]] [[y]] [up](../n.md)\n"),
        ("a/y.md", "[[x]] [X](x.md) `[[x]]`\n"),
        ("n.md", "---\nup: \"[[a/x]]\"\n---\n[[x|X]] ![[x#H]] [[X.md]] [x](a/x.md) [[none]]\n"),
    ]);
    let (_, after) = one(&tree, json!({"action": "rename_file", "path": "a/x.md", "new_path": "b/z.md"}));
    assert_eq!(text(&after, "b/z.md"), "[[#H]] [[y]] [up](../n.md)\n");
    assert_eq!(text(&after, "a/y.md"), "[[z]] [X](../b/z.md) `[[x]]`\n");
    assert_eq!(text(&after, "n.md"), "---\nup: \"[[b/z]]\"\n---\n[[z|X]] ![[z#H]] [[z.md]] [x](b/z.md) [[none]]\n");
    let (_, after) = one(&tree, json!({"action": "rename_file", "path": "a", "new_path": "q/w"}));
    assert_eq!(text(&after, "q/w/x.md"), "[[#H]] [[y]] [up](../../n.md)\n");
    assert_eq!(text(&after, "n.md"), "---\nup: \"[[q/w/x]]\"\n---\n[[x|X]] ![[x#H]] [[X.md]] [x](q/w/x.md) [[none]]\n");
}

#[test]
fn a_link_that_would_become_ambiguous_is_written_out() {
    let tree = MapTree::of([("a/x.md", ""), ("b/y.md", ""), ("n.md", "[[x]] [[y]]\n")]);
    let (_, after) = one(&tree, json!({"action": "rename_file", "path": "b/y.md", "new_path": "b/x.md"}));
    assert_eq!(text(&after, "n.md"), "[[a/x]] [[b/x]]\n");
}

#[test]
fn two_renames_in_a_batch_follow_each_other() {
    let tree = MapTree::of([("a.md", "[[b]]\n"), ("b.md", "[[a]]\n")]);
    let calls = [
        json!({"action": "rename_file", "path": "a.md", "new_path": "c.md"}),
        json!({"action": "rename_file", "path": "b.md", "new_path": "d/e.md"}),
        json!({"action": "rename_file", "path": "c.md", "new_path": "b.md"}),
    ];
    let (outcomes, plan) = run(&tree, &calls);
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()), "{outcomes:?}");
    let mut after = tree.clone();
    after.apply(plan.steps()).unwrap();
    assert_eq!((text(&after, "b.md"), text(&after, "d/e.md")), ("[[e]]\n", "[[b]]\n"));
    assert_eq!(undone(plan.steps(), &after), tree);
}

#[test]
fn a_name_that_no_link_can_say_is_refused_where_links_would_have_to() {
    let tree = MapTree::of([("a.md", ""), ("b.md", ""), ("n.md", "[[a]]\n")]);
    let rename = |name: &str| one(&tree, json!({"action": "rename_file", "path": name, "new_path": "c#d.md"})).0;
    assert_eq!(rename("a.md")["error"]["message"], "a link in `n.md` cannot say `c#d.md`");
    assert_eq!(rename("a.md")["error"]["hint"], "send a name such as `c_d.md`");
    assert_eq!(rename("b.md")["ok"], true);
}

fn any_note() -> impl Strategy<Value = String> {
    let names = vec!["a", "b", "c", "a/b", "a/b/c", "b/a", "c/a", "b/c.md", "c/c"];
    prop::sample::select(names).prop_map(|name| format!("{}.md", name.trim_end_matches(".md")))
}

fn any_link() -> impl Strategy<Value = String> {
    let paths =
        vec!["a", "b.md", "a/b", "/b/a", "./c", "../a", "A", "b/c", "../b/a.md", "c/c", "a/b/c", "#H", "c#H", "none"];
    let forms = vec!["[[P]]", "[[P|t]]", "![[P]]", "[t](P)", "[t](<P>)", "`[[P]]`", "%%[[P]]%%"];
    (prop::sample::select(paths), prop::sample::select(forms)).prop_map(|(path, form)| form.replace('P', path))
}

/// For each link of each note where it leads, and each note with the places of its links cut out.
fn led(
    tree: &MapTree,
    called: impl Fn(&MemoryPath) -> MemoryPath,
) -> Vec<(MemoryPath, Vec<Option<MemoryPath>>, String)> {
    let targets = Targets::new(tree.paths().cloned());
    let mut notes: Vec<_> = tree
        .paths()
        .map(|name| {
            let text = text(tree, name.as_str());
            let links = Note::parse(text).links();
            let led = links.iter().map(|link| targets.best(&link.path, link.syntax, Some(name)).map(&called)).collect();
            let mut rest = text.to_owned();
            links.iter().rev().for_each(|link| rest.replace_range(link.target.clone(), ""));
            (called(name), led, rest)
        })
        .collect();
    notes.sort();
    notes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// After a rename each link that led somewhere leads there again, and nothing else has changed.
    #[test]
    fn every_link_leads_where_it_led(
        notes in prop::collection::btree_map(any_note(), prop::collection::vec(any_link(), 0..6), 1..7),
        from in prop::sample::select(vec!["a.md", "b.md", "a", "b", "a/b.md", "c/a.md", "b/c.md", "a/b"]),
        to in prop::sample::select(vec!["d.md", "a.md", "d", "d/e", "c/a.md", "b/c.md", "d/a.md", "b/d.md", "a/d/c.md"]),
    ) {
        let mut tree = MapTree::default();
        for (name, links) in &notes {
            tree.insert(&path(name), links.join("\n").as_bytes());
        }
        let (outcomes, plan) = run(&tree, &[json!({"action": "rename_file", "path": from, "new_path": to})]);
        if outcomes[0].result.is_err() {
            return Ok(());
        }
        let mut after = tree.clone();
        after.apply(plan.steps()).unwrap();
        let called = |name: &MemoryPath| name.rebased(&path(from), &path(to)).unwrap_or_else(|| name.clone());
        let (before, now) = (led(&tree, called), led(&after, Clone::clone));
        prop_assert_eq!(before.len(), now.len());
        for (before, now) in before.iter().zip(&now) {
            prop_assert_eq!((&before.0, &before.2), (&now.0, &now.2));
            for (led, leads) in before.1.iter().zip(&now.1) {
                prop_assert!(led.is_none() || led == leads, "{:?} became {:?}", before, now);
            }
        }
        prop_assert_eq!(undone(plan.steps(), &after), tree);
    }
}

#[test]
fn a_title_or_an_alias_is_told_where_a_link_or_a_path_leads_nowhere() {
    let robert = "---\naliases: [Bob, \"B. Jones\"]\n---\n# Robert Jones\n";
    let tree = MapTree::of([
        ("people/robert.md", robert),
        ("n.md", "[[Bob]] [[x/b-jones.md]] [t](bob.md) [[Robber]]\n"),
        ("x.md", ""),
    ]);
    let links = one(&tree, json!({"action": "get_links", "path": "n.md"})).0["value"]["links"].clone();
    let nearest: Vec<_> = links.as_array().unwrap().iter().map(|link| link["nearest"].clone()).collect();
    assert_eq!(
        nearest,
        [json!("people/robert.md"), json!("people/robert.md"), json!("people/robert.md"), json!("people/robert.md")]
    );
    let hint = |json: Json| one(&tree, json).0["error"]["hint"].as_str().unwrap().to_owned();
    assert_eq!(hint(json!({"action": "go_to_link", "link": "[[bob]]"})), "the nearest is `[[people/robert.md]]`");
    assert_eq!(hint(json!({"action": "go_to_link", "link": "[[B Jones|b]]"})), "the nearest is `[[people/robert.md]]`");
    assert_eq!(
        hint(json!({"action": "read_file", "path": "people/robert_jones.md"})),
        "the nearest is `people/robert.md`"
    );
    assert_eq!(hint(json!({"action": "read_file", "path": "bob.md"})), "the nearest is `people/robert.md`");
    // A file of this name is meant before a note that is called so.
    let tree = MapTree::of([("a.md", "---\naliases: [bob]\n---\n"), ("x/bob.md", ""), ("n.md", "[[y/bob]]\n")]);
    let hint = one(&tree, json!({"action": "read_file", "path": "bob.md"})).0["error"]["hint"].clone();
    assert_eq!(hint, "the nearest is `x/bob.md`");
    let links = one(&tree, json!({"action": "get_links", "path": "n.md"})).0["value"]["links"].clone();
    assert_eq!(links[0]["nearest"], "x/bob.md");
}
