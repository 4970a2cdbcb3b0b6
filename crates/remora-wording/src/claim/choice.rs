//! Things of which a project uses one: tabs or spaces, one package manager,
//! one kind of quotes.

use crate::words::{List, Token, stem_word};

/// One of several things of which a project uses one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) set: &'static str,
    pub(crate) member: String,
    /// The rest of the words, without those that go with the set anyway.
    pub(crate) rest: Vec<String>,
    /// It is used as a command: `npm test`.
    pub(crate) command: bool,
}

/// Sets of things that exclude each other, and words that go with them.
struct Set {
    name: &'static str,
    members: &'static [&'static str],
    plain: List,
}

macro_rules! set {
    ($name:literal, [$($member:literal)*], [$($plain:literal)*]) => {
        Set { name: $name, members: &[$($member),*], plain: List::new(&[$($plain),*]) }
    };
}
static CHOICE_SETS: [Set; 9] = [
    set!("indentation", ["tabs" "spaces"], ["indent indentation indenting file code width"]),
    set!("package manager", ["npm" "yarn" "pnpm" "bun"],
        ["package manager install dependency dependencies script command manage run all add javascript node"]),
    set!("quotes", ["singlequote" "doublequote"], ["string literal quote quoted"]),
    set!("naming", ["camelcase" "snakecase" "kebabcase" "pascalcase"], ["name naming named"]),
    set!("line ends", ["lf" "crlf"], ["line ending end file newline"]),
    set!("test runner", ["jest" "vitest" "mocha"], ["test testing unit runner framework write written"]),
    set!("python test runner", ["pytest" "unittest"], ["test testing unit runner framework write written"]),
    set!("python packages", ["pip" "poetry" "pipenv" "uv" "conda"],
        ["package manager install dependency dependencies manage python run add"]),
    set!("language", ["english" "german" "french" "spanish" "italian" "portuguese" "dutch" "polish"
        "russian" "japanese" "chinese" "korean"], ["answer respond reply speak talk language response communicate"]),
];

pub(super) fn find_choice(all: &[Token], words: &[&Token], core: &[String]) -> Option<Choice> {
    for set in &CHOICE_SETS {
        let is = |text: &str, member: &str| text == member || format!("{text}s") == *member;
        let mut found = words
            .iter()
            .filter_map(|w| set.members.iter().find(|m| is(&w.text, m)));
        let Some(member) = found.next() else {
            continue;
        };
        // "npm or yarn" chooses neither.
        if found.any(|other| other != member) {
            return None;
        }
        let rest = core
            .iter()
            .filter(|root| **root != stem_word(member) && !set.plain.contains_stem(root))
            .cloned()
            .collect();
        let at = all.iter().position(|w| is(&w.text, member))?;
        let next = all.get(at + 1).filter(|w| w.code == all[at].code);
        let calls = [
            "install", "run", "test", "ci", "i", "start", "exec", "add", "build", "lint", "dev",
        ];
        return Some(Choice {
            set: set.name,
            member: (*member).to_owned(),
            rest,
            command: next.is_some_and(|w| calls.contains(&w.text.as_str())),
        });
    }
    None
}
