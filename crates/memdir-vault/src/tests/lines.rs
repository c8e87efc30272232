//! Who wrote the lines of a note, where contents are no longer kept.

use super::{DAY, Env, commit, commit_on, path, put};
use memdir_core::time::Timestamp;
use memdir_plan::Tree;

/// The batch of each line of `a.md`; 0 where nobody knows.
fn batches(env: &Env) -> Vec<u64> {
    let vault = env.vault();
    let now = vault.read(&path("a.md"), 99).unwrap().content;
    vault.lines(&path("a.md"), &now).unwrap().into_iter().map(|line| line.batch.unwrap_or(0)).collect()
}

#[test]
fn lines_of_pruned_contents_have_no_author() {
    let env = Env::new(&[]);
    let texts = ["1\n", "1\n2\n", "1\n2\n3\n", "1\n2\n3\n4\n"];
    let mut before = None;
    for text in texts {
        commit(&env.vault(), &[put("a.md", before, Some(text))], None).unwrap();
        before = Some(text);
    }
    assert_eq!(batches(&env), [1, 2, 3, 4]);
    let vault = env.vault();
    let young = [91, 92].map(|day| commit_on(&vault, day, &format!("{day}.md")));
    vault.lock().unwrap().prune(Timestamp::from_micros(92 * DAY)).unwrap();
    drop(vault);
    assert_eq!((batches(&env), young), (vec![0; 4], [5, 6]), "only what is younger is kept");
    commit(&env.vault(), &[put("a.md", before, None)], None).unwrap();
    commit(&env.vault(), &[put("a.md", None, before)], None).unwrap();
    assert_eq!(batches(&env), [8, 8, 8, 8], "a note that was deleted is made anew");
}
