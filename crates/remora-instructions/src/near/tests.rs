//! Names that come close, and names that do not.

use super::*;

#[test]
fn the_nearest_name_is_near() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["style.md", "testing.md", "zebra"] {
        std::fs::write(dir.path().join(name), "x").unwrap();
    }
    let near = |name: &str| find_nearest_path(&dir.path().join(name));
    assert_eq!(near("Style.md"), Some(dir.path().join("style.md")));
    assert_eq!(near("tseting.md"), Some(dir.path().join("testing.md")));
    assert_eq!(near("x.md"), None);
    assert_eq!(find_nearest_path(Path::new("/")), None);
}
