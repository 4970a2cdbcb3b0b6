//! Names that come close, and names that do not.

use super::*;

#[test]
fn letters_that_differ() {
    for (one, other, apart) in [
        ("deploy", "deploy", 0),
        ("deplyo", "deploy", 1),
        ("deploys", "deploy", 1),
        ("", "abc", 3),
        ("deploy", "d", usize::MAX),
        ("\u{e4}rger", "arger", 1),
    ] {
        assert_eq!(edit_distance(one, other), apart, "{one} {other}");
        assert_eq!(edit_distance(other, one), apart, "{other} {one}");
    }
}

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
