//! Imports that lead nowhere, in a circle, outside, or were not meant; and
//! what was meant as one but is none.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::sheet::{self, LintFile, NamedImport, TRAILING_PUNCTUATION};
use super::{LintContext, LintFinding, Severity};
use crate::budget::MAX_FILE_IMPORTS;
use crate::file::SkipReason;
use crate::import;
use crate::markdown::NearImportReason;
use crate::near::find_nearest_path;

/// Names without an extension that users import on purpose.
const KNOWN_FILE_NAMES: &[&str] = &[
    "makefile",
    "justfile",
    "dockerfile",
    "readme",
    "license",
    "procfile",
];
/// Words before an `@` that mentions someone.
const MENTION_WORDS: &[&str] = &[
    "by",
    "cc",
    "ask",
    "ping",
    "owner",
    "owners",
    "thanks",
    "contact",
    "author",
    "reviewer",
    "maintainer",
];

/// Missing imports for which a name that was meant is looked for.
const MAX_SPELLING_SEARCHES: usize = 100;
/// Circles that are reported, and the files of one that are named.
const MAX_CIRCLES: usize = 100;
const MAX_CIRCLE_NAMES: usize = 10;

pub(super) fn check_imports(bench: &LintContext<'_>) -> Vec<LintFinding> {
    let home = &bench.session.context.places.home;
    let all = bench.session.start.files.iter().chain(&bench.session.later);
    let loaded: HashSet<PathBuf> = all
        .filter_map(|file| fs::canonicalize(&file.path).ok())
        .collect();
    let skipped: SkippedFiles<'_> = bench
        .session
        .skipped()
        .map(|s| ((s.path.as_path(), s.parent.as_deref()), &s.why))
        .collect();
    let mut spellings = 0;
    let mut findings = Vec::new();
    let mut graph: BTreeMap<PathBuf, Vec<(PathBuf, usize)>> = BTreeMap::new();
    for sheet in bench.sheets.iter().chain(&bench.waiting_sheets) {
        let mut reported: BTreeSet<(usize, String)> = BTreeSet::new();
        let lines: Vec<&str> = sheet.text.lines().collect();
        for named in sheet.list_imports(home).into_iter().take(MAX_FILE_IMPORTS) {
            if let Ok(real) = fs::canonicalize(&named.target) {
                graph
                    .entry(sheet.path.clone())
                    .or_default()
                    .push((real, named.line));
            }
            if let Some(finding) =
                check_import(&skipped, (sheet, &lines), &named, home, &mut spellings)
            {
                reported.insert(import_key(&named));
                findings.push(finding.at_line(named.line));
            }
        }
        for (named, why) in sheet
            .list_near_imports(home)
            .into_iter()
            .take(MAX_FILE_IMPORTS)
        {
            let real = fs::canonicalize(&named.target)
                .ok()
                .filter(|real| real.is_file());
            // A file that is loaded by another line needs no second import.
            let wanted = real.is_some_and(|real| !loaded.contains(&real));
            if wanted
                && !reported.contains(&import_key(&named))
                && let Some(finding) = check_near_import(sheet, &named, why)
            {
                findings.push(finding.at_line(named.line));
            }
        }
    }
    findings.extend(check_circles(&graph));
    findings
}

/// Identifies an import of a line, whatever punctuation follows its name.
fn import_key(named: &NamedImport) -> (usize, String) {
    let name = named.token.trim_end_matches(TRAILING_PUNCTUATION);
    (named.line, name.to_owned())
}

/// Files that were left out, by their path and the file that names them.
type SkippedFiles<'a> = HashMap<(&'a Path, Option<&'a Path>), &'a SkipReason>;

fn check_import(
    skipped: &SkippedFiles<'_>,
    (sheet, lines): (&LintFile, &[&str]),
    named: &NamedImport,
    home: &Path,
    spellings: &mut usize,
) -> Option<LintFinding> {
    let token = &named.token;
    let target = named.target.display();
    let error = |code, message: String, advice: String| {
        Some(LintFinding::new(
            Severity::Error,
            code,
            &sheet.path,
            message,
            advice,
        ))
    };
    let warning = |code, message: String, advice: String| {
        Some(LintFinding::new(
            Severity::Warning,
            code,
            &sheet.path,
            message,
            advice,
        ))
    };
    // The order matters: a mark at the end is a better explanation than "does not exist".
    let Ok(about) = fs::metadata(&named.target) else {
        let bare = token.trim_end_matches(TRAILING_PUNCTUATION);
        let meant = import::resolve_import(bare, &sheet.folder, home);
        if bare != token && !bare.is_empty() && meant.is_file() {
            return error(
                "punctuation-import",
                format!("@{token} imports nothing: the mark at its end counts as part of the name"),
                format!("write @{bare} with a blank behind it"),
            );
        }
        if !is_meant(token, &sheet.folder) {
            return None;
        }
        // Each search lists a folder, so their number is limited.
        *spellings += 1;
        let near = (*spellings <= MAX_SPELLING_SEARCHES).then(|| find_nearest_path(&named.target));
        let advice = match near.flatten() {
            Some(near) => format!("did you mean {}?", near.display()),
            None => "fix the path, or remove the @".to_owned(),
        };
        return error(
            "dead-import",
            format!("@{token} leads to {target}, which does not exist"),
            advice,
        );
    };
    if about.is_dir() {
        let explicit = token.contains('/');
        return explicit.then(|| {
            LintFinding::new(
                Severity::Warning,
                "dead-import",
                &sheet.path,
                format!("@{token} leads to a directory, and only files are imported"),
                "name the files in it one by one",
            )
        });
    }
    if let Some(ending) = import::parse_extension(&named.target).filter(|e| !import::is_text(e)) {
        return warning(
            "dead-import",
            format!("@{token} imports nothing: `.{ending}` files are not imported"),
            "give the file a name that ends in .md or .txt, or take the @ away".to_owned(),
        );
    }
    let skipped = skipped.get(&(named.target.as_path(), Some(sheet.path.as_path())));
    match skipped {
        Some(SkipReason::External) => warning(
            "external-import",
            format!("@{token} leads outside the working directory and is held back"),
            "approve it with `remora instructions approve` and in the client, or move the file into the project".to_owned(),
        ),
        Some(SkipReason::TooDeep) => warning(
            "deep-import",
            format!("@{token} is more than four imports away from the first file and is not loaded"),
            "import it from a file that is nearer to the first one".to_owned(),
        ),
        _ if is_accident(lines, named) => warning(
            "accidental-import",
            format!("@{token} looks like a mention or a decorator, but it imports {target}"),
            format!("write `@{token}` in backticks if it is not meant as an import"),
        ),
        _ => None,
    }
}

/// Whether a name that leads nowhere was meant as a path: names of people, decorators
/// and packages also begin with an `@`.
fn is_meant(token: &str, folder: &Path) -> bool {
    if ["./", "../", "~/", "/"]
        .iter()
        .any(|start| token.starts_with(start))
    {
        return true;
    }
    let name = token.rsplit('/').next().unwrap_or_default();
    let ending = import::parse_extension(Path::new(name));
    if ending.is_some_and(|ending| import::is_text(&ending) && ending.len() > 1) {
        // `@Component.ts` in prose is rare; `@app.py` less so.
        return !token.contains(['(', '@', '=']);
    }
    match token.split_once('/') {
        Some((first, rest)) => !rest.is_empty() && folder.join(first).is_dir(),
        None => false,
    }
}

/// Whether an import that works looks unintended.
fn is_accident(lines: &[&str], named: &NamedImport) -> bool {
    let token = named.token.as_str();
    if token.contains('@') {
        return true;
    }
    let line = lines.get(named.line.saturating_sub(1)).copied();
    let line = line.unwrap_or_default();
    let before = line.split(&format!("@{token}")).next().unwrap_or_default();
    let word = before
        .trim_end()
        .rsplit([' ', '('])
        .next()
        .unwrap_or_default();
    let word = word.trim_end_matches(':').to_lowercase();
    if MENTION_WORDS.contains(&word.as_str()) {
        return true;
    }
    let explicit = token.contains('.') || token.starts_with(['/', '~']);
    if explicit {
        return false;
    }
    // `@types/node` is a package, `@alice` a person; `@README` is meant.
    let first = token.chars().next().unwrap_or_default();
    let known = KNOWN_FILE_NAMES.contains(&token.to_lowercase().as_str());
    !known && first.is_lowercase() && token.matches('/').count() < 2
}

fn check_near_import(
    sheet: &LintFile,
    named: &NamedImport,
    why: NearImportReason,
) -> Option<LintFinding> {
    let (severity, code) = match why {
        NearImportReason::Escaped => return None,
        NearImportReason::InCode | NearImportReason::InComment | NearImportReason::InHtml => {
            (Severity::Note, "code-import")
        }
        NearImportReason::AfterPunctuation | NearImportReason::TrailingPunctuation => {
            (Severity::Error, "punctuation-import")
        }
        NearImportReason::BrokenByEmphasis | NearImportReason::FirstCharacter => {
            (Severity::Error, "dead-import")
        }
    };
    let message = format!(
        "@{} imports nothing: it {}",
        named.token,
        sheet::describe_reason(why)
    );
    Some(LintFinding::new(
        severity,
        code,
        &sheet.path,
        message,
        sheet::suggest_fix(why),
    ))
}

/// Circles of imports, each reported once, where it closes.
fn check_circles(graph: &BTreeMap<PathBuf, Vec<(PathBuf, usize)>>) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    let mut done: BTreeSet<&Path> = BTreeSet::new();
    for start in graph.keys() {
        if findings.len() >= MAX_CIRCLES {
            break;
        }
        // Depth first without recursion: a chain of imports may be as long as a hostile
        // repository likes. Each file with the next import to follow.
        let mut way: Vec<(&Path, usize)> = vec![(start, 0)];
        let mut at_of: HashMap<&Path, usize> = HashMap::from([(start.as_path(), 0)]);
        while let Some((file, next)) = way.last_mut() {
            let imports = graph.get(*file).map(Vec::as_slice).unwrap_or_default();
            let Some((target, line)) = imports.get(*next) else {
                done.insert(file);
                at_of.remove(*file);
                way.pop();
                continue;
            };
            *next += 1;
            let from = *file;
            if let Some(at) = at_of.get(target.as_path()).copied() {
                if findings.len() >= MAX_CIRCLES {
                    continue;
                }
                let names: Vec<String> = way[at..]
                    .iter()
                    .take(MAX_CIRCLE_NAMES)
                    .map(|(file, _)| file.display().to_string())
                    .collect();
                let hidden = way.len() - at - names.len();
                let dots = if hidden == 0 { "" } else { " -> .." };
                let message = if way.len() - at == 1 {
                    "the file imports itself".to_owned()
                } else {
                    format!(
                        "imports go in a circle: {}{dots} -> {}",
                        names.join(" -> "),
                        names[0]
                    )
                };
                let advice = "each file is loaded once, so this import does nothing: take it away";
                let finding =
                    LintFinding::new(Severity::Warning, "cyclic-import", from, message, advice);
                findings.push(finding.at_line(*line));
            } else if !done.contains(target.as_path()) && graph.contains_key(target) {
                at_of.insert(target, way.len());
                way.push((target, 0));
            }
        }
    }
    findings
}
