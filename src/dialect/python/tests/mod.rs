#[test]
fn a_block_is_read() {
    let parsed = crate::dialect::parse(b"<python>x = read_file(\"user.md\")</python>");
    assert!(parsed.script.is_some());
}
