//! Whether one command does all that another does: the same tests or more of
//! them. Works on the keys that [`super::same_command_key`] gives.

/// Whether what the one key's command does takes in all that the other's does:
/// `pytest` runs what `pytest tests/test_a.py` runs.
pub(crate) fn takes_in(whole: &str, part: &str) -> bool {
    !part.is_empty()
        && super::split_key_parts(part).all(|part| {
            super::split_key_parts(whole).any(|whole| whole == part || covers_part(whole, part))
        })
}

fn covers_part(whole: &str, part: &str) -> bool {
    let (whole, part) = (
        CommandScope::from_command(whole),
        CommandScope::from_command(part),
    );
    let all = |some: &[String], of: &[String]| some.iter().all(|word| of.contains(word));
    // What takes in more can fail for more reasons.
    if whole.program != part.program || !all(&part.wider, &whole.wider) {
        return false;
    }
    // A flag that is not known may narrow: the whole may have none that the
    // part lacks.
    if !all(&whole.flags, &part.flags)
        || !all(&whole.settings, &part.settings)
        || !all(&part.settings, &whole.settings)
    {
        return false;
    }
    // Documentation tests are nothing that nextest knows.
    if whole.nextest && part.targets.iter().any(|target| target == "--doc") {
        return false;
    }
    let go = whole.program == "go";
    contains_names(&whole.packages, &part.packages, |a, b| a == b)
        && contains_names(&whole.targets, &part.targets, |a, b| a == b)
        && contains_names(&whole.paths, &part.paths, |path, folder| {
            if go {
                is_go_package_of(path, folder)
            } else {
                path == folder || is_within(path, folder)
            }
        })
        && says_no_less(&whole, &part)
}

/// What is named narrows the whole: each of the part's must lie in it.
fn contains_names(whole: &[String], part: &[String], lies_in: impl Fn(&str, &str) -> bool) -> bool {
    whole.is_empty()
        || !part.is_empty()
            && part
                .iter()
                .all(|name| whole.iter().any(|w| lies_in(name, w)))
}

fn says_no_less(whole: &CommandScope, part: &CommandScope) -> bool {
    // Without a target, these make another one.
    if matches!(whole.program.as_str(), "make" | "just" | "task") {
        return whole.words == part.words;
    }
    // All that the whole says, and nothing of that a second time.
    let mut said = whole.words.iter().peekable();
    for word in &part.words {
        if said.next_if(|next| *next == word).is_none() && whole.words.contains(word) {
            return false;
        }
    }
    said.next().is_none()
}

/// Whether a path or a test's name lies within another.
fn is_within(name: &str, folder: &str) -> bool {
    let rest = name.strip_prefix(folder);
    rest.is_some_and(|rest| rest.starts_with(['/', ':', '[']))
}

/// Only `...` takes in the packages below.
fn is_go_package_of(path: &str, folder: &str) -> bool {
    match folder.strip_suffix("...") {
        Some("") => !path.starts_with(['/', '.']) || path == "." || path == "...",
        Some(folder) => path == folder.trim_end_matches('/') || path.starts_with(folder),
        None => path == folder,
    }
}

/// What starts another program and changes nothing about what that does.
const STARTER_COMMANDS: &[&[&str]] = &[
    &["uv", "run"],
    &["poetry", "run"],
    &["pdm", "run"],
    &["hatch", "run"],
    &["rye", "run"],
    &["pipenv", "run"],
    &["npx"],
    &["bunx"],
    &["pnpm", "exec"],
    &["npm", "exec"],
    &["yarn", "exec"],
    &["bundle", "exec"],
    &["python", "-m"],
    &["python3", "-m"],
];
/// Options of theirs, alone and with a value.
const STARTER_FLAGS: &[&str] = &[
    "--",
    "--yes",
    "-y",
    "--no-install",
    "--frozen",
    "--locked",
    "--no-sync",
    "--all-extras",
];
const STARTER_VALUE_OPTIONS: &[&str] = &["--with", "--extra", "--group", "--python"];

/// What an option does to what a command takes in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionEffect {
    /// Speed, order or how much is said.
    Nothing,
    /// More is done or asked for.
    Wider,
    /// Something else is done, neither more nor less.
    Setting,
    /// Names a package.
    Package,
    /// Names a kind of tests or a binary.
    Target,
    Narrower,
}

/// Whether the word behind an option belongs to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionValue {
    None,
    Next,
}

/// For one program, or for all with an empty name; the first that fits counts.
const OPTION_EFFECTS: &[(&str, OptionValue, OptionEffect, &[&str])] = &[
    (
        "cargo",
        OptionValue::Next,
        OptionEffect::Nothing,
        &[
            "-j",
            "--jobs",
            "--test-threads",
            "--message-format",
            "--target-dir",
            "--retries",
        ],
    ),
    (
        "cargo",
        OptionValue::None,
        OptionEffect::Nothing,
        &["--keep-going", "--timings", "--fail-fast"],
    ),
    (
        "cargo",
        OptionValue::Next,
        OptionEffect::Wider,
        &["--features", "-F", "-D"],
    ),
    (
        "cargo",
        OptionValue::None,
        OptionEffect::Wider,
        &[
            "--release",
            "--locked",
            "--frozen",
            "--offline",
            "--include-ignored",
        ],
    ),
    (
        "cargo",
        OptionValue::Next,
        OptionEffect::Setting,
        &["--target", "--profile", "--manifest-path"],
    ),
    (
        "cargo",
        OptionValue::None,
        OptionEffect::Setting,
        &["--no-default-features", "--no-run"],
    ),
    (
        "cargo",
        OptionValue::Next,
        OptionEffect::Package,
        &["-p", "--package"],
    ),
    (
        "cargo",
        OptionValue::Next,
        OptionEffect::Target,
        &["--test", "--bin", "--example", "--bench"],
    ),
    (
        "cargo",
        OptionValue::None,
        OptionEffect::Target,
        &[
            "--lib",
            "--bins",
            "--tests",
            "--examples",
            "--benches",
            "--doc",
        ],
    ),
    (
        "cargo",
        OptionValue::Next,
        OptionEffect::Narrower,
        &["-E", "--exclude", "--skip", "--filter-expr"],
    ),
    (
        "pytest",
        OptionValue::Next,
        OptionEffect::Nothing,
        &[
            "-n",
            "--numprocesses",
            "--dist",
            "--maxfail",
            "--durations",
            "--tb",
            "--color",
            "--junitxml",
            "--cov-report",
            "--timeout",
            "-p",
        ],
    ),
    (
        "pytest",
        OptionValue::None,
        OptionEffect::Nothing,
        &[
            "-x",
            "--exitfirst",
            "-l",
            "--showlocals",
            "-ra",
            "-rA",
            "-rs",
            "-rf",
            "--ff",
            "--failed-first",
            "--no-cov",
        ],
    ),
    (
        "pytest",
        OptionValue::None,
        OptionEffect::Wider,
        &["--cov", "--runslow"],
    ),
    ("pytest", OptionValue::Next, OptionEffect::Wider, &["-W"]),
    (
        "pytest",
        OptionValue::Next,
        OptionEffect::Narrower,
        &["-k", "-m", "--ignore", "--deselect"],
    ),
    (
        "go",
        OptionValue::Next,
        OptionEffect::Nothing,
        &[
            "-count",
            "-parallel",
            "-p",
            "-timeout",
            "-coverprofile",
            "-covermode",
        ],
    ),
    (
        "go",
        OptionValue::None,
        OptionEffect::Nothing,
        &["-v", "-x", "-json", "-failfast", "-cover"],
    ),
    ("go", OptionValue::None, OptionEffect::Wider, &["-race"]),
    ("go", OptionValue::Next, OptionEffect::Wider, &["-shuffle"]),
    (
        "go",
        OptionValue::Next,
        OptionEffect::Setting,
        &["-tags", "-C"],
    ),
    (
        "go",
        OptionValue::Next,
        OptionEffect::Narrower,
        &["-run", "-skip", "-bench"],
    ),
    (
        "make",
        OptionValue::Next,
        OptionEffect::Nothing,
        &["-j", "--jobs"],
    ),
    (
        "make",
        OptionValue::Next,
        OptionEffect::Setting,
        &["-C", "-f"],
    ),
    (
        "make",
        OptionValue::None,
        OptionEffect::Setting,
        &["-n", "--dry-run"],
    ),
    (
        "",
        OptionValue::Next,
        OptionEffect::Nothing,
        &[
            "--maxWorkers",
            "--max-workers",
            "--reporter",
            "--testTimeout",
        ],
    ),
    (
        "",
        OptionValue::None,
        OptionEffect::Nothing,
        &[
            "--",
            ".",
            "-v",
            "-q",
            "--ci",
            "--bail",
            "--runInBand",
            "--run",
            "--no-cache",
            "--fail-fast",
            "--watch=false",
            "--watchAll=false",
        ],
    ),
    (
        "",
        OptionValue::None,
        OptionEffect::Wider,
        &[
            "--workspace",
            "--all",
            "--all-targets",
            "--all-features",
            "--recursive",
            "-r",
            "--coverage",
            "--strict",
        ],
    ),
    ("", OptionValue::Next, OptionEffect::Package, &["--filter"]),
    (
        "",
        OptionValue::Next,
        OptionEffect::Narrower,
        &["-t", "--grep", "--testNamePattern", "--testPathPattern"],
    ),
];

/// The words in front of what is named, for programs whose other words name
/// files, folders, packages or tests.
fn count_verb_words(program: &str, words: &[&str]) -> Option<usize> {
    match program {
        "pytest" | "jest" | "vitest" | "mocha" | "rspec" | "mypy" | "eslint" => Some(0),
        "cargo" | "go" | "ruff" => Some(1),
        "npm" | "pnpm" | "yarn" | "bun" => Some(1 + usize::from(words.contains(&"run"))),
        _ => None,
    }
}

/// A command by what its words do to what it takes in.
#[derive(Default)]
struct CommandScope {
    program: String,
    nextest: bool,
    wider: Vec<String>,
    settings: Vec<String>,
    packages: Vec<String>,
    targets: Vec<String>,
    paths: Vec<String>,
    flags: Vec<String>,
    words: Vec<String>,
}

impl CommandScope {
    fn from_command(command: &str) -> Self {
        let tokens = split_words(command);
        let mut tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
        while let Some(from) = count_starter_words(&tokens) {
            tokens.drain(..from);
        }
        let mut run = Self::default();
        match tokens[..] {
            ["cargo", "nextest", "run", ..] => {
                run.nextest = true;
                tokens.splice(1..3, ["test"]);
            }
            ["cargo", "t", ..] => tokens[1] = "test",
            ["vitest", "run", ..] => {
                tokens.remove(1);
            }
            _ => {}
        }
        let Some((program, rest)) = tokens.split_first() else {
            return run;
        };
        (*program).clone_into(&mut run.program);
        // Without a known grammar a word may be a verb or a path; only what
        // looks like a path narrows.
        let mut verbs = count_verb_words(program, rest);
        let mut rest = rest.iter().copied();
        while let Some(word) = rest.next() {
            if let Some((name, tokens, value, effect)) = parse_option(program, word) {
                let behind = match (tokens, value) {
                    (None, OptionValue::Next) => rest.next(),
                    (tokens, _) => tokens,
                };
                let said = behind.map_or_else(|| name.to_owned(), |v| format!("{name}={v}"));
                run.add_option(effect, said);
            } else if word.starts_with('-') {
                run.flags.push(word.to_owned());
            } else if let Some(left) = verbs.as_mut().filter(|left| **left > 0) {
                *left -= 1;
                run.words.push(word.to_owned());
            } else if verbs.is_some() || word.contains(['/', '.']) {
                let path = word.strip_prefix("./").unwrap_or(word);
                run.paths.push(path.trim_end_matches('/').to_owned());
            } else {
                run.words.push(word.to_owned());
            }
        }
        // No package is the one of the current folder.
        if run.program == "go" && run.paths.is_empty() {
            run.paths.push(".".to_owned());
        }
        run
    }

    fn add_option(&mut self, effect: OptionEffect, said: String) {
        match effect {
            OptionEffect::Nothing => {}
            OptionEffect::Wider => self.wider.push(said),
            OptionEffect::Setting => self.settings.push(said),
            OptionEffect::Package => self.packages.push(said.replace("--package=", "-p=")),
            OptionEffect::Target => self.targets.push(said),
            OptionEffect::Narrower => self.flags.push(said),
        }
    }
}

/// How many words only start the program behind them.
fn count_starter_words(words: &[&str]) -> Option<usize> {
    let starter = STARTER_COMMANDS.iter().find(|s| words.starts_with(s))?;
    let mut from = starter.len();
    while let Some(word) = words.get(from).filter(|w| w.starts_with('-')) {
        let name = word.split('=').next().unwrap_or(word);
        from += match name {
            _ if STARTER_FLAGS.contains(word) => 1,
            _ if STARTER_VALUE_OPTIONS.contains(&name) => 2 - usize::from(word.contains('=')),
            // `python` itself is started with what it takes.
            _ => return None,
        };
    }
    (from < words.len()).then_some(from)
}

/// An option by its name, with the value that is part of the word.
fn parse_option<'a>(
    program: &str,
    word: &'a str,
) -> Option<(&'a str, Option<&'a str>, OptionValue, OptionEffect)> {
    // Go takes its options with one dash or two.
    let word = match word.strip_prefix('-') {
        Some(short) if program == "go" && short.starts_with('-') && short != "-" => short,
        _ => word,
    };
    let known = |name: &str| {
        let mut all = OPTION_EFFECTS.iter();
        all.find(|(of, _, _, names)| (of.is_empty() || *of == program) && names.contains(&name))
            .map(|(_, value, effect, _)| (*value, *effect))
    };
    if let Some((value, effect)) = known(word) {
        return Some((word, None, value, effect));
    }
    let (name, tokens) = match word.split_once('=') {
        Some(pair) => pair,
        // `-n4` and `-j8` have their value at once.
        None if word.starts_with("-n") || word.starts_with("-j") => word.split_at(2),
        None => return None,
    };
    let (value, effect) = known(name)?;
    Some((name, Some(tokens), value, effect))
}

/// The words of a key; one in quotes is one word.
fn split_words(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for word in command.split(' ') {
        if let Some(last) = words.last_mut().filter(|_| open) {
            last.push(' ');
            last.push_str(word);
            open = !word.ends_with('\'');
        } else {
            open = word.starts_with('\'') && (word.len() == 1 || !word.ends_with('\''));
            words.push(word.to_owned());
        }
    }
    words
}
