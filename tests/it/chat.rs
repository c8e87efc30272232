//! `memdir chat` through the binary, as far as it goes without a model. The conversation itself is tested in `src/cli/chat/tests`.

use crate::support::Env;

#[test]
fn without_a_model_it_says_so_and_changes_nothing() {
    let env = Env::ada();
    let before = env.files();
    let ran = env.run(&["chat"], "Hello\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (6, ""), "{ran:?}");
    assert!(ran.stderr.contains("no model"), "{ran:?}");
    assert_eq!(env.files(), before);
}

#[test]
fn it_is_no_json_object() {
    let ran = Env::ada().ask(&["chat"]);
    let error = ran.exits(2);
    assert_eq!(error["error"]["hint"], "`memdir ask --json` answers one message");
}
