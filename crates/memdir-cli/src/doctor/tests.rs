#![expect(clippy::disallowed_methods, reason = "a test opens its own folder")]

use super::*;
use memdir_vault::Options;

#[test]
fn a_repair_is_named_for_what_stays_and_not_for_what_passes() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let dir = cap_std::fs::Dir::open_ambient_dir(&root, cap_std::ambient_authority()).unwrap();
    let vault = Vault::new(dir, root, Options::default());
    let sqlite = |code| VaultError::History(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None));
    for (error, is_lasting) in [
        (VaultError::Damaged("torn".to_owned()), true),
        (VaultError::Untrusted("it belongs to somebody else"), true),
        (sqlite(rusqlite::ffi::SQLITE_IOERR_READ), false),
        (sqlite(rusqlite::ffi::SQLITE_CANTOPEN), false),
        (VaultError::Busy, false),
        (VaultError::DiskFull, false),
    ] {
        let check = unusable(&vault, &error);
        assert_eq!(check.hint.unwrap_or_default().contains("--repair"), is_lasting, "{error}");
    }
}
