//! The language of a file by its name; contents are never read.

/// The languages that have line rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    Python,
    /// JavaScript, TypeScript and their dialects.
    Script,
    Go,
    Java,
    Kotlin,
    C,
    CSharp,
    Ruby,
    Php,
    Swift,
    Shell,
    Sql,
    Css,
    Html,
    Toml,
    Yaml,
    Json,
    Ini,
    Markdown,
    Make,
    Docker,
    Plain,
}

/// What a file is for, which decides how a change of it is described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilePurpose {
    Code,
    Data,
    Prose,
    Unknown,
}

impl Language {
    /// The language of a path, by file name and ending.
    pub(crate) fn from_path(path: &str) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let lower = name.to_ascii_lowercase();
        if let Some(known) = Self::of_name(&lower) {
            return known;
        }
        let ending = lower.rsplit_once('.').map_or("", |(_, e)| e);
        match ending {
            "rs" => Self::Rust,
            "py" | "pyi" | "pyw" => Self::Python,
            "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" => {
                Self::Script
            }
            "go" => Self::Go,
            "java" | "dart" | "groovy" | "gradle" => Self::Java,
            "kt" | "kts" | "scala" => Self::Kotlin,
            "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" | "ino" | "m" | "mm" | "cu" => {
                Self::C
            }
            "cs" => Self::CSharp,
            "rb" | "rake" | "gemspec" => Self::Ruby,
            "php" => Self::Php,
            "swift" => Self::Swift,
            "sh" | "bash" | "zsh" | "ksh" | "bats" => Self::Shell,
            "sql" | "psql" | "ddl" => Self::Sql,
            "css" | "scss" | "less" | "sass" => Self::Css,
            "html" | "htm" | "xml" | "xhtml" | "svg" => Self::Html,
            "toml" => Self::Toml,
            "yaml" | "yml" => Self::Yaml,
            "json" | "jsonc" | "json5" | "ipynb" => Self::Json,
            "ini" | "cfg" | "conf" | "properties" | "env" | "service" | "desktop" => Self::Ini,
            "md" | "mdx" | "markdown" => Self::Markdown,
            "mk" => Self::Make,
            "dockerfile" => Self::Docker,
            _ => Self::Plain,
        }
    }

    fn of_name(lower: &str) -> Option<Self> {
        Some(match lower {
            "makefile" | "gnumakefile" | "justfile" => Self::Make,
            "containerfile" => Self::Docker,
            "gemfile" | "rakefile" | "podfile" | "vagrantfile" => Self::Ruby,
            "cargo.lock" | "pipfile" | "poetry.lock" | "uv.lock" => Self::Toml,
            ".bashrc" | ".zshrc" | ".profile" | ".bash_profile" | "pkgbuild" => Self::Shell,
            ".editorconfig" | ".npmrc" | ".gitconfig" => Self::Ini,
            ".prettierrc" | ".eslintrc" | ".babelrc" => Self::Json,
            _ if lower.starts_with("dockerfile") => Self::Docker,
            _ if lower == ".env" || lower.starts_with(".env.") => Self::Ini,
            _ => return None,
        })
    }

    /// The separator between a container and its member.
    pub(crate) fn member_joiner(self) -> &'static str {
        match self {
            Self::Rust | Self::C | Self::Php | Self::Ruby => "::",
            Self::Css => " ",
            _ => ".",
        }
    }

    /// The separator between a container and its method.
    pub(crate) fn method_joiner(self) -> &'static str {
        if self == Self::Ruby {
            "#"
        } else {
            self.member_joiner()
        }
    }

    /// Whether one qualified name lies inside another.
    pub(crate) fn is_inside(self, inner: &str, outer: &str) -> bool {
        inner.strip_prefix(outer).is_some_and(|rest| {
            rest.starts_with(self.member_joiner()) || rest.starts_with(self.method_joiner())
        })
    }

    /// The last part of a qualified name.
    pub(crate) fn strip_qualifier(self, name: &str) -> &str {
        if matches!(self, Self::Markdown | Self::Css) {
            return name;
        }
        let name = name.rsplit(self.member_joiner()).next().unwrap_or(name);
        name.rsplit(self.method_joiner()).next().unwrap_or(name)
    }

    /// What files of this language are for.
    pub(crate) fn file_purpose(self) -> FilePurpose {
        match self {
            Self::Toml | Self::Yaml | Self::Json | Self::Ini => FilePurpose::Data,
            Self::Markdown => FilePurpose::Prose,
            Self::Plain => FilePurpose::Unknown,
            _ => FilePurpose::Code,
        }
    }

    /// Whether the trimmed line is nothing but a comment.
    pub(crate) fn is_comment(self, line: &str) -> bool {
        match self {
            Self::Rust
            | Self::Script
            | Self::Go
            | Self::Java
            | Self::Kotlin
            | Self::C
            | Self::CSharp
            | Self::Swift
            | Self::Css => is_slash_comment(line),
            Self::Php => {
                is_slash_comment(line) || (line.starts_with('#') && !line.starts_with("#["))
            }
            Self::Python
            | Self::Ruby
            | Self::Shell
            | Self::Toml
            | Self::Yaml
            | Self::Make
            | Self::Docker => line.starts_with('#'),
            Self::Ini => line.starts_with('#') || line.starts_with(';'),
            Self::Json => line.starts_with("//"),
            Self::Sql => line.starts_with("--") || line.starts_with("/*"),
            Self::Html | Self::Markdown => line.starts_with("<!--"),
            Self::Plain => line.starts_with('#') || line.starts_with("//"),
        }
    }
}

fn is_slash_comment(line: &str) -> bool {
    line.starts_with("//")
        || line.starts_with("/*")
        || line == "*"
        || line.starts_with("* ")
        || line.starts_with("*/")
}
