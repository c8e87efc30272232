use super::{MAX_NAME_BYTES, MemoryPath, PathError, UnportableName};

#[track_caller]
fn parses(input: &str, expected: Result<&str, PathError>) {
    assert_eq!(MemoryPath::parse(input).as_ref().map(MemoryPath::as_str), expected.as_ref().copied(), "{input:?}");
}

#[track_caller]
fn portable(input: &str, expected: Result<(), UnportableName>) {
    assert_eq!(MemoryPath::parse(input).unwrap().check_portable(), expected, "{input:?}");
}

#[test]
fn shapes_that_change_nothing_are_taken() {
    parses("user.md", Ok("user.md"));
    parses("  ./people//ada.md\n", Ok("people/ada.md"));
    parses("a/./b/", Ok("a/b"));
    parses("a/b  /", Ok("a/b"));
    parses("./ a.md", Ok("a.md"));
    parses("./ /", Err(PathError::Empty));
    parses("Re: plans.md", Ok("Re: plans.md"));
    parses("a..b.md", Ok("a..b.md"));
    parses("北京.md", Ok("北京.md"));
    parses(r"a\b.md", Ok(r"a\b.md"));
}

#[test]
fn shapes_that_could_leave_or_hide_are_refused() {
    parses("", Err(PathError::Empty));
    parses("./.", Err(PathError::Empty));
    parses("/etc/passwd", Err(PathError::Absolute));
    parses("//host/share", Err(PathError::Absolute));
    parses("..", Err(PathError::Climbs));
    parses("a/../b", Err(PathError::Climbs));
    parses("a/..", Err(PathError::Climbs));
    parses(".memdir/lock", Err(PathError::Reserved));
    parses("a/.git/config", Err(PathError::Reserved));
    parses("...", Err(PathError::Reserved));
    parses("./ .git", Err(PathError::Reserved));
    parses("./ ../x", Err(PathError::Climbs));
    parses("MEMDIR~1/lock", Err(PathError::Reserved));
    parses("git~2", Err(PathError::Reserved));
    parses("a\0.md", Err(PathError::Character));
    parses("a\nb.md", Err(PathError::Character));
    parses("a\u{85}b.md", Err(PathError::Character));
    parses(&"a".repeat(1025), Err(PathError::TooLong));
    parses(&"a".repeat(MAX_NAME_BYTES + 1), Err(PathError::TooLong));
    parses(&"é".repeat(600), Err(PathError::TooLong));
}

#[test]
fn names_that_some_system_cannot_store_are_found() {
    portable("entities/jane_doe.md", Ok(()));
    portable("日記 2026.md", Ok(()));
    portable("console.md", Ok(()));
    portable("com10.md", Ok(()));
    portable("a:b.md", Err(UnportableName::Character(':')));
    portable(r"a\b.md", Err(UnportableName::Character('\\')));
    portable("what?.md", Err(UnportableName::Character('?')));
    portable("a\u{200b}.md", Err(UnportableName::Character('\u{200b}')));
    portable("a\u{202e}dm.md", Err(UnportableName::Character('\u{202e}')));
    portable("user\u{2800}.md", Err(UnportableName::Character('\u{2800}')));
    portable("user .md", Err(UnportableName::Ending));
    portable("user\u{a0}.md", Err(UnportableName::Ending));
    portable("folder./a.md", Err(UnportableName::Ending));
    portable("folder /a.md", Err(UnportableName::Ending));
    portable("a/ b.md", Err(UnportableName::Beginning));
    portable("nul", Err(UnportableName::Device));
    portable("Aux.md", Err(UnportableName::Device));
    portable("x/com1.tar.md", Err(UnportableName::Device));
    portable("LPT³.md", Err(UnportableName::Device));
}

#[test]
fn parts_of_a_path() {
    let path = MemoryPath::parse("a/b/Note.MD").unwrap();
    assert_eq!((path.name(), path.stem(), path.is_note()), ("Note.MD", "Note", true));
    assert_eq!(path.parent().unwrap().as_str(), "a/b");
    assert_eq!(path.ancestors().map(String::from).collect::<Vec<_>>(), ["a", "a/b"]);
    let top = MemoryPath::parse("md").unwrap();
    assert_eq!((top.stem(), top.is_note(), top.parent()), ("md", false, None));
}

#[test]
fn rebasing_keeps_to_component_borders() {
    let path = |text| MemoryPath::parse(text).unwrap();
    assert_eq!(path("a/b.md").rebased(&path("a"), &path("x/y")), Some(path("x/y/b.md")));
    assert_eq!(path("a").rebased(&path("a"), &path("b")), Some(path("b")));
    assert_eq!(path("ab/c").rebased(&path("a"), &path("b")), None);
    assert!(path("a/b").is_within(&path("a")) && !path("ab").is_within(&path("a")));
}

#[test]
fn a_listed_name_stays_one_component() {
    let folder = MemoryPath::parse("a").unwrap();
    assert_eq!(MemoryPath::in_folder(Some(&folder), "b.md").unwrap().as_str(), "a/b.md");
    assert!(MemoryPath::in_folder(Some(&folder), " b.md").is_err());
    assert!(MemoryPath::in_folder(Some(&folder), "b/c.md").is_err());
    assert!(MemoryPath::in_folder(None, ".").is_err());
    assert!(MemoryPath::in_folder(None, ".git").is_err());
}
