use super::*;

#[test]
fn a_block_is_read() {
    let parsed = parse("<python>x = read_file(\"user.md\")</python>", false, &Variables::default()).unwrap();
    assert!(parsed.script.is_some());
}
