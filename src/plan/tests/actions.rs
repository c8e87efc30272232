//! Each action, and each way in which it fails.

use serde_json::json;

use super::*;

#[test]
fn smoke() {
    let tree = MapTree::of([("user.md", "# Ada\n\n- city: London\n")]);
    let (entry, after) =
        one(&tree, json!({"action":"update_file","path":"user.md","old_content":"London","new_content":"Paris"}));
    assert_eq!(entry["value"], true);
    assert_eq!(after.get("user.md").unwrap(), b"# Ada\n\n- city: Paris\n");
}
