//! The command line of what is asked of memory.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args as ClapArgs, ValueEnum};
use remora_core::record::Kind;

use remora_app::{ProjectChoice, SearchTier, TimeSpanRequest};

/// Which projects are meant.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct ProjectScopeArgs {
    /// In every project, not only the one of the current directory
    #[arg(long, conflicts_with = "project")]
    pub(crate) all: bool,
    /// In the project with this key, name or path
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
}

impl ProjectScopeArgs {
    pub(crate) fn to_choice(&self) -> ProjectChoice {
        match &self.project {
            Some(project) => ProjectChoice::Named(project.clone()),
            None if self.all => ProjectChoice::All,
            None => ProjectChoice::Here,
        }
    }
}

/// The directory that is meant, where a verb reads files of a project.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct DirectoryArgs {
    /// In the project with this key, name or path [default: this one]
    #[arg(long, value_name = "PROJECT", conflicts_with = "cwd")]
    pub(crate) project: Option<String>,
    /// In this directory, which need not be the top of a project
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}

/// Which time is meant.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct TimeSpanArgs {
    /// From this time on: 2026-11-15, "2026-11-15 14:30", today, yesterday, monday, "last week", 3d, 2h
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Up to this time; a day or week counts to its end
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
}

impl TimeSpanArgs {
    pub(crate) fn to_request(&self) -> TimeSpanRequest {
        TimeSpanRequest {
            since: self.since.clone(),
            until: self.until.clone(),
        }
    }
}

/// How thorough a search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchTierArg {
    /// Words and what items are about; nothing to load
    Fast,
    /// Also the embeddings of the encoder
    Full,
}

impl From<SearchTierArg> for SearchTier {
    fn from(tier: SearchTierArg) -> Self {
        match tier {
            SearchTierArg::Fast => Self::Fast,
            SearchTierArg::Full => Self::Full,
        }
    }
}

/// What may be among the words of a search.
const SEARCH_SYNTAX_HELP: &str = r#"Among the words:
  "out of memory"         these words, one after the other
  -word, -"a phrase"      only items without it
  file:src/cart.rs        read or changed this file, or one in this folder
  kind:fix,decision       of these kinds; -kind:prompt is any other
  project:shop            in this project; project:* is all of them
  since:7d, until:monday  from this time on, up to it; after: and before: leave
                          the named day out
  session:ID, agent:NAME  of this session, of this agent
  error:TEXT              this error as it was met, its failures and fixes; the
                          rest of the text is part of it

Examples:
  remora search empty cart -discount kind:fix
  remora search 'file:"my notes/cart.md" since:"last week"'
  remora search 'error:cannot find module "left-pad"'"#;

#[derive(Debug, ClapArgs)]
#[command(after_help = SEARCH_SYNTAX_HELP)]
pub(crate) struct SearchArgs {
    /// The words, in any order, with filters among them (see below); none list the newest
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) place: ProjectScopeArgs,
    /// Only this kind; may be given several times
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = build_kind_parser())]
    pub(crate) kind: Vec<String>,
    /// Only what read or changed this file, or a file in this folder
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<String>,
    #[command(flatten)]
    pub(crate) span: TimeSpanArgs,
    /// Only this session; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// How many results at most
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// How thorough: fast (words, nothing to load) or full (also embeddings)
    #[arg(long, value_enum, value_name = "TIER", default_value_t = SearchTierArg::Full, hide_possible_values = true)]
    pub(crate) tier: SearchTierArg,
    /// Show what each score is made of
    #[arg(long)]
    pub(crate) explain: bool,
    /// Show the best result in full
    #[arg(long)]
    pub(crate) open: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments with a blank before every `-word` of a search, and before text
/// that merely begins with `--`, so that neither is read as flags.
pub(crate) fn protect_search_words(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    if args.get(1).is_none_or(|verb| verb != "search") {
        return args;
    }
    for arg in args.iter_mut().skip(2).take_while(|arg| *arg != "--") {
        let word = arg.to_str().and_then(|arg| arg.strip_prefix('-'));
        if let Some(word) = word.filter(|word| is_word(word)) {
            *arg = format!(" -{word}").into();
        }
    }
    args
}

/// Behind the first hyphen: not `-n`, `-n5`, `-n=5`, `-h`, `-V`, `--json` or
/// `--file=my notes`.
fn is_word(text: &str) -> bool {
    if let Some(long) = text.strip_prefix('-') {
        let name = long.split('=').next().unwrap_or_default();
        return name.contains(char::is_whitespace)
            || !long.starts_with(|c: char| c.is_ascii_alphabetic());
    }
    let limit = text.strip_prefix('n').map(|n| n.trim_start_matches('='));
    let limit = limit.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    !limit && !matches!(text, "" | "h" | "V")
}

fn build_kind_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(Kind::ALL.iter().map(|kind| kind.name()))
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ShowArgs {
    /// Numbers such as 12 or #12, or the long names of items
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SessionsArgs {
    #[command(flatten)]
    pub(crate) place: ProjectScopeArgs,
    #[command(flatten)]
    pub(crate) span: TimeSpanArgs,
    /// Only this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// How many sessions at most
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TimelineArgs {
    /// What came before and after this item
    #[arg(long, value_name = "ID")]
    pub(crate) around: Option<String>,
    #[command(flatten)]
    pub(crate) place: ProjectScopeArgs,
    #[command(flatten)]
    pub(crate) span: TimeSpanArgs,
    /// Only this session; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// How many lines at most; with --around, before and after it each [default: 50, around: 10]
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RecapArgs {
    #[command(flatten)]
    pub(crate) place: ProjectScopeArgs,
    /// From this time on: 2026-11-15, today, monday, "last week", 3d, 2h
    #[arg(long, value_name = "TIME", default_value = "yesterday")]
    pub(crate) since: String,
    /// Up to this time; a day or week counts to its end
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct StatusArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DoctorArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_flags() {
        let moved = |line: &[&str]| -> Vec<bool> {
            let args = ["remora"].iter().chain(line).map(OsString::from);
            let apart = protect_search_words(args);
            let given = line.iter().zip(apart.iter().skip(1));
            given.map(|(given, got)| got != given).collect()
        };
        for word in [
            "-p",
            "-rf",
            "-nothing",
            "-\"a phrase\"",
            "-> arrow",
            "-折扣",
            "--amend was used",
            "--amend was used = twice",
            "---",
            "-- and then",
        ] {
            assert_eq!(moved(&["search", word]), [false, true], "{word}");
            assert_eq!(moved(&["search", "--", word]), [false; 3], "{word}");
            assert_eq!(moved(&["show", word]), [false, false], "{word}");
        }
        for flag in [
            "-n",
            "-n5",
            "-n=5",
            "-h",
            "-V",
            "-",
            "--json",
            "--file=my notes",
            "mkdir",
        ] {
            assert_eq!(moved(&["search", flag]), [false, false], "{flag}");
        }
    }
}
