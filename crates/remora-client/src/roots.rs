//! Which checkouts share the memory of a remote's key: one small file a key,
//! the key on its first line and one accepted root on each of the others.
//!
//! A remote's address is written by the author of a checkout, so it proves
//! nothing. The first root that is seen with a key holds it; another one gets
//! in when the user joins them. Only the user's own commands add a root.

use std::borrow::Cow;
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use remora_core::hash::stable_hash;
use remora_files::{DraftName, Durability, ReplaceOptions, StagedFile};

use crate::{DataPaths, open_plain};

/// A list of roots that is larger is not read.
const MAX_FILE_BYTES: u64 = 256 * 1024;
/// File systems allow 255; the rest is for the name of a file in the making.
const MAX_NAME_BYTES: usize = 230;

/// The accepted roots of a data directory.
#[derive(Debug)]
pub struct ProjectRoots {
    folder: PathBuf,
}

impl ProjectRoots {
    /// Those of this data directory.
    pub fn for_data_dir(paths: &DataPaths) -> Self {
        Self {
            folder: paths.roots_dir(),
        }
    }

    /// The roots that share this key; `None` when no root has it yet.
    pub fn find_roots(&self, key: &str) -> io::Result<Option<Vec<String>>> {
        let hidden = hide_tokens(key);
        match self.read_holders(&hidden)? {
            // Earlier versions wrote every key as it is.
            None if hidden != key => self.read_holders(key),
            found => Ok(found),
        }
    }

    fn read_holders(&self, key: &str) -> io::Result<Option<Vec<String>>> {
        let name = file_name(key).ok_or(ErrorKind::InvalidInput)?;
        match read_file(&self.folder.join(name)) {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
            // On a disk without case, two keys may have one file.
            Ok((of, _)) if of != key => Err(ErrorKind::InvalidData.into()),
            Ok((_, roots)) => Ok(Some(roots)),
        }
    }

    /// Makes `root` the first root of a key; `false` when there is one already.
    pub fn claim(&self, key: &str, root: &str) -> io::Result<bool> {
        let (staged, file) = self.stage_roots(key, &[root.to_owned()])?;
        // A name for a whole file, and only if there is none: a reader never
        // sees half of it, and of two that claim at once one is first.
        let linked = fs::hard_link(staged.draft_path(), &file);
        match linked {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
            // Some file systems have no links.
            // Two processes may then both be first; the later rename wins and
            // readers still see a whole list.
            Err(_) if !file.exists() => staged.commit().map(|()| true),
            Err(_) => Ok(false),
        }
    }

    /// Lets `root` share a key, on the user's word.
    pub fn accept(&self, key: &str, root: &str) -> io::Result<()> {
        let mut roots = self.find_roots(key)?.unwrap_or_default();
        if !roots.iter().any(|known| known == root) {
            roots.push(root.to_owned());
        }
        self.replace_roots(key, &roots)
    }

    /// Takes `root` off a key; says whether it was there.
    pub fn release(&self, key: &str, root: &str) -> io::Result<bool> {
        let mut roots = self.find_roots(key)?.unwrap_or_default();
        let before = roots.len();
        roots.retain(|known| known != root);
        if roots.len() == before {
            return Ok(false);
        }
        // An empty list stays: the key has a memory, and a free key would be
        // claimed by the next clone that names it.
        self.replace_roots(key, &roots)?;
        Ok(true)
    }

    /// Forgets a key whose memory was deleted: the next root that is seen with it
    /// is the first one again.
    pub fn remove_key(&self, key: &str) -> io::Result<()> {
        // Earlier versions wrote every key as it is.
        let spellings = [hide_tokens(key), Cow::Borrowed(key)];
        for name in spellings.iter().filter_map(|key| file_name(key)) {
            match fs::remove_file(self.folder.join(name)) {
                Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        Ok(())
    }

    /// Every key with its roots, in the order of keys; of a key with a token in
    /// it, what is written in its place. Files that are not ours
    /// or cannot be read are left out.
    pub fn list_keys(&self) -> io::Result<Vec<(String, Vec<String>)>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut all = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if let Ok((key, roots)) = read_file(&path)
                && file_name(&key).is_some_and(|name| path.ends_with(name))
            {
                all.push((key, roots));
            }
        }
        all.sort();
        Ok(all)
    }

    fn replace_roots(&self, key: &str, roots: &[String]) -> io::Result<()> {
        self.stage_roots(key, roots)?.0.commit()
    }

    /// A whole file under a name of this process, and the name that it is for.
    fn stage_roots(&self, key: &str, roots: &[String]) -> io::Result<(StagedFile, PathBuf)> {
        let key = &*hide_tokens(key);
        let name = file_name(key).ok_or(ErrorKind::InvalidInput)?;
        if !roots.iter().all(|root| is_line(root)) || !is_line(key) {
            return Err(ErrorKind::InvalidInput.into());
        }
        // A leading dot, which no key's file begins with, keeps drafts out of
        // `list_keys`.
        let partial = self.folder.join(format!(".{name}.{}", std::process::id()));
        let mut text = format!("{key}\n");
        for root in roots {
            text.push_str(root);
            text.push('\n');
        }
        let file = self.folder.join(name);
        let options = ReplaceOptions {
            draft: DraftName::Overwrite(&partial),
            ..ReplaceOptions::private(Durability::None)
        };
        let stage = || StagedFile::stage_bytes(&file, text.as_bytes(), &options);
        let staged = match stage() {
            // Made only when it turns out to be missing: the usual claim pays
            // for no extra look.
            Err(e) if e.kind() == ErrorKind::NotFound => {
                let mut builder = DirBuilder::new();
                builder.recursive(true).mode(0o700).create(&self.folder)?;
                stage()?
            }
            other => other?,
        };
        Ok((staged, file))
    }
}

/// The key without what may be a token: some hosts take one in the path of a
/// remote, and neither a file nor its name may hold it. A hash replaces it, so
/// that two keys stay two. Patterns are not for a hook, so this goes by looks:
/// a long run of letters and digits. Never changes its own result.
fn hide_tokens(key: &str) -> Cow<'_, str> {
    if !key.split('/').any(holds_token) {
        return key.into();
    }
    let hide = |part: &str| {
        if holds_token(part) {
            format!("~{:016x}", stable_hash(part.as_bytes()))
        } else {
            part.to_owned()
        }
    };
    key.split('/')
        .map(hide)
        .collect::<Vec<_>>()
        .join("/")
        .into()
}

/// Letters and digits without a break that no name of a repository has.
const MIN_TOKEN_CHARS: usize = 20;
/// How many digits are among them: long words have none.
const MIN_TOKEN_DIGITS: usize = 2;

fn holds_token(part: &str) -> bool {
    part.split(|c: char| !c.is_ascii_alphanumeric()).any(|run| {
        let digits = run.bytes().filter(u8::is_ascii_digit).count();
        run.len() >= MIN_TOKEN_CHARS && digits >= MIN_TOKEN_DIGITS && digits < run.len()
    })
}

/// Whether a key can be held: its name must fit a file's.
pub(crate) fn is_holdable(key: &str) -> bool {
    file_name(key).is_some() && is_line(key)
}

/// Whether a text can be a line of its own, so that no path forges another.
pub(crate) fn is_line(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(char::is_control)
}

/// The key as a file name that users can read: special characters become `%XX`,
/// so that no two keys share a name and none leaves the folder.
fn file_name(key: &str) -> Option<String> {
    let mut name = String::with_capacity(key.len() + 8);
    for (at, byte) in key.bytes().enumerate() {
        match byte {
            b'.' if at == 0 => name.push_str("%2E"),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => {
                name.push(char::from(byte));
            }
            _ => {
                const HEX: &[u8; 16] = b"0123456789ABCDEF";
                name.push('%');
                name.push(char::from(HEX[usize::from(byte >> 4)]));
                name.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
    (!name.is_empty() && name.len() <= MAX_NAME_BYTES).then_some(name)
}

fn read_file(path: &Path) -> io::Result<(String, Vec<String>)> {
    let file = open_plain(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() || meta.len() > MAX_FILE_BYTES {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut text = String::new();
    file.take(MAX_FILE_BYTES).read_to_string(&mut text)?;
    let mut lines = text.lines().map(ToOwned::to_owned);
    let key = lines.next().ok_or(ErrorKind::InvalidData)?;
    Ok((key, lines.filter(|line| !line.is_empty()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "h.org:8443/acme/app";

    fn roots(dir: &tempfile::TempDir) -> ProjectRoots {
        ProjectRoots::for_data_dir(&DataPaths::new(dir.path().join("data")))
    }

    #[test]
    fn a_token_in_a_remote_s_path_is_not_written_down() {
        let dir = tempfile::tempdir().unwrap();
        let roots = roots(&dir);
        let token = format!("glpat-{}", "a1b2".repeat(6));
        let key = format!("h.org/{token}/app");
        assert!(roots.claim(&key, "/a").unwrap());
        assert_eq!(roots.find_roots(&key).unwrap(), Some(vec!["/a".to_owned()]));
        assert!(!roots.claim(&key, "/b").unwrap());
        roots.accept(&key, "/b").unwrap();
        let [(listed, held)] = &roots.list_keys().unwrap()[..] else {
            panic!("not one key");
        };
        assert_eq!(held, &["/a", "/b"]);
        let other = format!("h.org/glpat-{}/app", "c3d4".repeat(6));
        assert_eq!(roots.find_roots(&other).unwrap(), None);
        for entry in fs::read_dir(dir.path().join("data/roots")).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            assert!(!format!("{} {text} {listed}", path.display()).contains("a1b2a1b2"));
        }
        // What an earlier version wrote still counts.
        let old = dir
            .path()
            .join("data/roots")
            .join(file_name(&other).unwrap());
        fs::write(old, format!("{other}\n/c\n")).unwrap();
        assert_eq!(
            roots.find_roots(&other).unwrap(),
            Some(vec!["/c".to_owned()])
        );
        for key in [&key, &other] {
            roots.remove_key(key).unwrap();
            assert_eq!(roots.find_roots(key).unwrap(), None, "{key}");
        }
        assert_eq!(roots.list_keys().unwrap(), []);
        // Names of repositories stay as they are.
        for key in [
            "h.org/acme/internationalization2",
            "h.org/a-1/my-app-2024-edition-99",
        ] {
            assert_eq!(hide_tokens(key), key);
        }
    }

    #[test]
    fn the_first_root_holds_a_key_until_others_are_accepted() {
        let dir = tempfile::tempdir().unwrap();
        let roots = roots(&dir);
        assert_eq!(roots.find_roots(KEY).unwrap(), None);
        assert!(roots.claim(KEY, "/a").unwrap());
        assert!(!roots.claim(KEY, "/b").unwrap());
        assert_eq!(roots.find_roots(KEY).unwrap().unwrap(), ["/a"]);
        roots.accept(KEY, "/b").unwrap();
        roots.accept(KEY, "/b").unwrap();
        assert_eq!(roots.find_roots(KEY).unwrap().unwrap(), ["/a", "/b"]);
        assert!(roots.release(KEY, "/a").unwrap());
        assert!(!roots.release(KEY, "/a").unwrap());
        let all = [(KEY.to_owned(), vec!["/b".to_owned()])];
        assert_eq!(roots.list_keys().unwrap(), all);
        // A key without roots is not free again: it has a memory.
        assert!(roots.release(KEY, "/b").unwrap());
        assert!(!roots.claim(KEY, "/evil").unwrap());
        // Without that memory it is.
        roots.remove_key(KEY).unwrap();
        roots.remove_key(KEY).unwrap();
        assert_eq!(roots.list_keys().unwrap(), []);
        assert!(roots.claim(KEY, "/c").unwrap());
    }

    #[test]
    fn no_key_and_no_root_leaves_its_line_or_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let roots = roots(&dir);
        for key in ["../../x", "..", ".", "a/../b", "/etc/passwd"] {
            assert!(roots.claim(key, "/a").unwrap(), "{key}");
            assert_eq!(roots.find_roots(key).unwrap().unwrap(), ["/a"]);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        for (key, root) in [("a\n/b", "/a"), ("a", "/b\n/c"), ("a", ""), ("", "/a")] {
            assert!(roots.claim(key, root).is_err(), "{key:?} {root:?}");
        }
        assert!(roots.claim(&"a".repeat(300), "/a").is_err());
        assert!(!is_holdable(&"a".repeat(300)));
    }

    #[test]
    fn a_file_of_another_key_holds_nothing_and_lets_nobody_in() {
        let dir = tempfile::tempdir().unwrap();
        let roots = roots(&dir);
        roots.claim(KEY, "/a").unwrap();
        let file = dir.path().join("data/roots").join(file_name(KEY).unwrap());
        for text in ["", "other\n/evil\n"] {
            fs::write(&file, text).unwrap();
            assert!(roots.find_roots(KEY).is_err(), "{text:?}");
            assert!(!roots.claim(KEY, "/evil").unwrap());
        }
        assert_eq!(roots.list_keys().unwrap(), []);
    }
}
