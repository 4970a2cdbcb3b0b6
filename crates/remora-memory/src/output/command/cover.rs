//! Whether one command does all that another does: the same tests or more of
//! them. Works on the keys that [`super::same_command_key`] gives.

/// Whether what the one key's command does takes in all that the other's does:
/// `pytest` runs what `pytest tests/test_a.py` runs.
pub(crate) fn takes_in(whole: &str, part: &str) -> bool {
    !part.is_empty()
        && super::parts(part)
            .all(|part| super::parts(whole).any(|whole| whole == part || covers(whole, part)))
}

fn covers(whole: &str, part: &str) -> bool {
    let (whole, part) = (Run::of(whole), Run::of(part));
    let all = |some: &[String], of: &[String]| some.iter().all(|word| of.contains(word));
    // What takes in more can fail for more reasons.
    if whole.program != part.program || !all(&part.wider, &whole.wider) {
        return false;
    }
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
    within(&whole.packages, &part.packages, |a, b| a == b)
        && within(&whole.targets, &part.targets, |a, b| a == b)
        && within(&whole.paths, &part.paths, |path, folder| {
            if go {
                is_go_package_of(path, folder)
            } else {
                path == folder || is_within(path, folder)
            }
        })
        && says_no_less(&whole, &part)
}

/// What is named narrows the whole: each of the part's must lie in it.
fn within(whole: &[String], part: &[String], lies_in: impl Fn(&str, &str) -> bool) -> bool {
    whole.is_empty()
        || !part.is_empty()
            && part
                .iter()
                .all(|name| whole.iter().any(|w| lies_in(name, w)))
}

fn says_no_less(whole: &Run, part: &Run) -> bool {
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
const STARTERS: &[&[&str]] = &[
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
const STARTER_ALONE: &[&str] = &[
    "--",
    "--yes",
    "-y",
    "--no-install",
    "--frozen",
    "--locked",
    "--no-sync",
    "--all-extras",
];
const STARTER_VALUED: &[&str] = &["--with", "--extra", "--group", "--python"];

/// What an option does to what a command takes in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
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
enum Value {
    None,
    Next,
}

/// For one program, or for all with an empty name; the first that fits counts.
const OPTIONS: &[(&str, Value, Effect, &[&str])] = &[
    (
        "cargo",
        Value::Next,
        Effect::Nothing,
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
        Value::None,
        Effect::Nothing,
        &["--keep-going", "--timings", "--fail-fast"],
    ),
    (
        "cargo",
        Value::Next,
        Effect::Wider,
        &["--features", "-F", "-D"],
    ),
    (
        "cargo",
        Value::None,
        Effect::Wider,
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
        Value::Next,
        Effect::Setting,
        &["--target", "--profile", "--manifest-path"],
    ),
    (
        "cargo",
        Value::None,
        Effect::Setting,
        &["--no-default-features", "--no-run"],
    ),
    ("cargo", Value::Next, Effect::Package, &["-p", "--package"]),
    (
        "cargo",
        Value::Next,
        Effect::Target,
        &["--test", "--bin", "--example", "--bench"],
    ),
    (
        "cargo",
        Value::None,
        Effect::Target,
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
        Value::Next,
        Effect::Narrower,
        &["-E", "--exclude", "--skip", "--filter-expr"],
    ),
    (
        "pytest",
        Value::Next,
        Effect::Nothing,
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
        Value::None,
        Effect::Nothing,
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
        Value::None,
        Effect::Wider,
        &["--cov", "--runslow"],
    ),
    ("pytest", Value::Next, Effect::Wider, &["-W"]),
    (
        "pytest",
        Value::Next,
        Effect::Narrower,
        &["-k", "-m", "--ignore", "--deselect"],
    ),
    (
        "go",
        Value::Next,
        Effect::Nothing,
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
        Value::None,
        Effect::Nothing,
        &["-v", "-x", "-json", "-failfast", "-cover"],
    ),
    ("go", Value::None, Effect::Wider, &["-race"]),
    ("go", Value::Next, Effect::Wider, &["-shuffle"]),
    ("go", Value::Next, Effect::Setting, &["-tags", "-C"]),
    (
        "go",
        Value::Next,
        Effect::Narrower,
        &["-run", "-skip", "-bench"],
    ),
    ("make", Value::Next, Effect::Nothing, &["-j", "--jobs"]),
    ("make", Value::Next, Effect::Setting, &["-C", "-f"]),
    ("make", Value::None, Effect::Setting, &["-n", "--dry-run"]),
    (
        "",
        Value::Next,
        Effect::Nothing,
        &[
            "--maxWorkers",
            "--max-workers",
            "--reporter",
            "--testTimeout",
        ],
    ),
    (
        "",
        Value::None,
        Effect::Nothing,
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
        Value::None,
        Effect::Wider,
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
    ("", Value::Next, Effect::Package, &["--filter"]),
    (
        "",
        Value::Next,
        Effect::Narrower,
        &["-t", "--grep", "--testNamePattern", "--testPathPattern"],
    ),
];

/// The words in front of what is named, for programs whose other words name
/// files, folders, packages or tests.
fn verbs(program: &str, words: &[&str]) -> Option<usize> {
    match program {
        "pytest" | "jest" | "vitest" | "mocha" | "rspec" | "mypy" | "eslint" => Some(0),
        "cargo" | "go" | "ruff" => Some(1),
        "npm" | "pnpm" | "yarn" | "bun" => Some(1 + usize::from(words.contains(&"run"))),
        _ => None,
    }
}

/// A command by what its words do to what it takes in.
#[derive(Default)]
struct Run {
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

impl Run {
    fn of(command: &str) -> Self {
        let given = split(command);
        let mut given: Vec<&str> = given.iter().map(String::as_str).collect();
        while let Some(from) = started(&given) {
            given.drain(..from);
        }
        let mut run = Self::default();
        match given[..] {
            ["cargo", "nextest", "run", ..] => {
                run.nextest = true;
                given.splice(1..3, ["test"]);
            }
            ["cargo", "t", ..] => given[1] = "test",
            ["vitest", "run", ..] => {
                given.remove(1);
            }
            _ => {}
        }
        let Some((program, rest)) = given.split_first() else {
            return run;
        };
        (*program).clone_into(&mut run.program);
        let mut verbs = verbs(program, rest);
        let mut rest = rest.iter().copied();
        while let Some(word) = rest.next() {
            if let Some((name, given, value, effect)) = option(program, word) {
                let behind = match (given, value) {
                    (None, Value::Next) => rest.next(),
                    (given, _) => given,
                };
                let said = behind.map_or_else(|| name.to_owned(), |v| format!("{name}={v}"));
                run.add(effect, said);
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

    fn add(&mut self, effect: Effect, said: String) {
        match effect {
            Effect::Nothing => {}
            Effect::Wider => self.wider.push(said),
            Effect::Setting => self.settings.push(said),
            Effect::Package => self.packages.push(said.replace("--package=", "-p=")),
            Effect::Target => self.targets.push(said),
            Effect::Narrower => self.flags.push(said),
        }
    }
}

/// How many words only start the program behind them.
fn started(words: &[&str]) -> Option<usize> {
    let starter = STARTERS.iter().find(|s| words.starts_with(s))?;
    let mut from = starter.len();
    while let Some(word) = words.get(from).filter(|w| w.starts_with('-')) {
        let name = word.split('=').next().unwrap_or(word);
        from += match name {
            _ if STARTER_ALONE.contains(word) => 1,
            _ if STARTER_VALUED.contains(&name) => 2 - usize::from(word.contains('=')),
            // `python` itself is started with what it takes.
            _ => return None,
        };
    }
    (from < words.len()).then_some(from)
}

/// An option by its name, with the value that is part of the word.
fn option<'a>(program: &str, word: &'a str) -> Option<(&'a str, Option<&'a str>, Value, Effect)> {
    // Go takes its options with one dash or two.
    let word = match word.strip_prefix('-') {
        Some(short) if program == "go" && short.starts_with('-') && short != "-" => short,
        _ => word,
    };
    let known = |name: &str| {
        let mut all = OPTIONS.iter();
        all.find(|(of, _, _, names)| (of.is_empty() || *of == program) && names.contains(&name))
            .map(|(_, value, effect, _)| (*value, *effect))
    };
    if let Some((value, effect)) = known(word) {
        return Some((word, None, value, effect));
    }
    let (name, given) = match word.split_once('=') {
        Some(pair) => pair,
        // `-n4` and `-j8` have their value at once.
        None if word.starts_with("-n") || word.starts_with("-j") => word.split_at(2),
        None => return None,
    };
    let (value, effect) = known(name)?;
    Some((name, Some(given), value, effect))
}

/// The words of a key; one in quotes is one word.
fn split(command: &str) -> Vec<String> {
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
