//! Worktrees that their repository lists, and those that only say so.

use super::*;

#[test]
fn a_pointer_counts_when_it_is_returned() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let write = |file: &str, text: &str| {
        let file = top.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    write("app/.git/worktrees/w/commondir", "../..\n");
    let back = format!("{}/w/.git\n", top.display());
    write("app/.git/worktrees/w/gitdir", &back);
    write("w/.git", "gitdir: ../app/.git/worktrees/w\n");
    write("evil/.git", "gitdir: ../app/.git/worktrees/w\n");
    write("forged/.git", "gitdir: own/worktrees/w\n");
    write("forged/own/worktrees/w/commondir", "../../../../app/.git\n");
    write("forged/own/worktrees/w/gitdir", "../../../.git\n");
    let main = |name: &str| Repository::find_containing(&top.join(name)).unwrap().main;
    assert_eq!(main("w"), top.join("app"));
    assert_eq!(main("evil"), top.join("evil"));
    assert_eq!(main("forged"), top.join("forged"));
}
