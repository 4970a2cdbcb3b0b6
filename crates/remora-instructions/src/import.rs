//! Where an `@path` leads, and whether a file of that name is text.

use std::path::{Path, PathBuf};

use crate::file::normalise_path;

/// The file an import names. `folder` is the real folder of the file that
/// names it. A slash at the end is lost on relative paths alone; others keep
/// it and lead nowhere.
pub(crate) fn resolve_import(token: &str, folder: &Path, home: &Path) -> PathBuf {
    let path = match token.strip_prefix("~/") {
        Some(rest) => home.join(rest.trim_start_matches('/')),
        None => folder.join(token),
    };
    let path = normalise_path(&path);
    // The client joins relative paths, which drops the slash; a file with a slash behind it
    // cannot be opened.
    if token.starts_with(['~', '/']) && token.ends_with('/') {
        return path.join("");
    }
    path
}

/// The extension of a name, in lower case; a dot file such as `.env` has
/// none.
pub(crate) fn parse_extension(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy();
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty()).then(|| extension.to_lowercase())
}

/// Whether files with this extension are imported. The list is the client's,
/// found by trying each extension.
pub(crate) fn is_text(extension: &str) -> bool {
    TEXT_EXTENSIONS.binary_search(&extension).is_ok()
}

/// Sorted, for the binary search.
const TEXT_EXTENSIONS: &[&str] = &[
    "adoc",
    "asciidoc",
    "astro",
    "bash",
    "bat",
    "c",
    "cc",
    "cfg",
    "cjs",
    "clj",
    "cljc",
    "cljs",
    "cmake",
    "cmd",
    "conf",
    "config",
    "cpp",
    "cs",
    "css",
    "csv",
    "cts",
    "cxx",
    "dart",
    "diff",
    "edn",
    "ejs",
    "elm",
    "env",
    "erb",
    "erl",
    "ex",
    "exs",
    "f",
    "f90",
    "f95",
    "fish",
    "for",
    "go",
    "gql",
    "gradle",
    "graphql",
    "h",
    "hbs",
    "hpp",
    "hrl",
    "hs",
    "htm",
    "html",
    "hxx",
    "ini",
    "jade",
    "java",
    "js",
    "json",
    "jsx",
    "kt",
    "kts",
    "latex",
    "less",
    "lhs",
    "lock",
    "log",
    "lua",
    "make",
    "makefile",
    "md",
    "mjs",
    "ml",
    "mli",
    "mts",
    "org",
    "patch",
    "php",
    "pl",
    "pm",
    "properties",
    "proto",
    "ps1",
    "pug",
    "py",
    "pyi",
    "pyw",
    "r",
    "rake",
    "rb",
    "rs",
    "rst",
    "sass",
    "sbt",
    "scala",
    "scss",
    "sh",
    "sql",
    "svelte",
    "swift",
    "tex",
    "text",
    "toml",
    "ts",
    "tsx",
    "txt",
    "vue",
    "xml",
    "yaml",
    "yml",
    "zsh",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(TEXT_EXTENSIONS.is_sorted());
        assert!(is_text("md") && is_text("f90") && !is_text("markdown") && !is_text(""));
    }

    #[test]
    fn tokens_lead_somewhere() {
        let to = |token: &str| resolve_import(token, Path::new("/p/docs"), Path::new("/h"));
        assert_eq!(to("a.md"), Path::new("/p/docs/a.md"));
        assert_eq!(to("./a.md"), Path::new("/p/docs/a.md"));
        assert_eq!(to("../a.md"), Path::new("/p/a.md"));
        assert_eq!(to("~/a.md"), Path::new("/h/a.md"));
        assert_eq!(to("/x/./a.md"), Path::new("/x/a.md"));
        assert_eq!(to("a.md/"), Path::new("/p/docs/a.md"));
        assert_eq!(to("~//a.md"), Path::new("/h/a.md"));
        assert_eq!(to("~/a.md/").as_os_str(), "/h/a.md/");
        assert_eq!(to("/p/a.md/").as_os_str(), "/p/a.md/");
    }

    #[test]
    fn extensions_are_of_names_with_a_stem() {
        let of = |name: &str| parse_extension(Path::new(name));
        assert_eq!(of("a/B.MD").as_deref(), Some("md"));
        assert_eq!(of("a.tar.gz").as_deref(), Some("gz"));
        assert_eq!(of(".env"), None);
        assert_eq!(of("Makefile"), None);
        assert_eq!(of("a.md,").as_deref(), Some("md,"));
        assert_eq!(of("a.").as_deref(), Some(""));
    }
}
