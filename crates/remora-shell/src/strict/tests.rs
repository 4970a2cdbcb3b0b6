//! Odd rows one by one, and random input. The recorded answers of the client are
//! compared where patterns are matched, in the hooks engine.

use super::{ShellReading, read_command};
use crate::lenient::CommandLine;

const HOME: &str = "/home/dev";

fn texts(command: &str) -> Vec<String> {
    match read_command(command, HOME) {
        ShellReading::Understood {
            commands,
            unknown_argument: false,
        } => commands.into_iter().map(|command| command.text).collect(),
        other => panic!("{command:?} read as {other:?}"),
    }
}

fn opaque(command: &str) -> bool {
    matches!(
        read_command(command, HOME),
        ShellReading::NotUnderstood { .. }
    )
}

fn unknown(command: &str) -> bool {
    matches!(
        read_command(command, HOME),
        ShellReading::Understood {
            unknown_argument: true,
            ..
        }
    )
}

#[test]
fn words_are_rebuilt() {
    assert_eq!(texts("'git' sta\\tus"), ["git status"]);
    assert_eq!(texts("X=1 PATH=/x git  status > y 2>&1"), ["git status"]);
    assert_eq!(texts("ls $HOME/a \"$HOME\""), ["ls /home/dev/a /home/dev"]);
    assert_eq!(texts("X=1; ls a$X \"$X b\""), ["ls a1 1 b"]);
    assert_eq!(
        texts("echo \"ab $(git status) c\""),
        ["git status", "echo ab __CMDSUB_OUTPUT__ c"]
    );
    assert_eq!(texts("[ -f x ] && ls"), ["[[ -f x", "ls"]);
    assert_eq!(texts("(X=1)"), ["true"]);
    assert_eq!(texts("ls 'ab"), ["ls a"]);
}

#[test]
fn an_unknown_argument_leaves_the_name() {
    for command in [
        "git push $X",
        "ls $(pwd)",
        "ls \"$(pwd)\"",
        "ls a`pwd`",
        "ls $X # c",
        "ls $X;",
    ] {
        assert!(unknown(command), "{command}");
    }
    for command in [
        "ls 'a' $X",
        "ls $X > y",
        "env $X",
        "/bin/Bash5.2 $X",
        "ls && rm $X",
        "ls a$X",
    ] {
        assert!(opaque(command), "{command}");
    }
}

#[test]
fn long_and_deep_input_ends_early() {
    assert!(opaque(&"a".repeat(1_000_000)));
    assert!(opaque(&format!("{}ls", "$(".repeat(4_000))));
    assert!(opaque(&format!("ls {}", "\"$(ls ".repeat(1_000))));
    assert!(opaque(&"( ".repeat(4_000)));
    assert!(opaque(&"! ".repeat(4_000)));
    assert!(opaque(&"if ".repeat(3_000)));
    assert!(opaque(&format!("[[ {}", "! ".repeat(4_000))));
    assert_eq!(texts(&"ls;".repeat(3_300)).len(), 3_300);
    for piece in [
        "{", "'a'", "`'a'", "X=1;", "a||b;", "X=1;a|b&", "[[ a == ", "$((", "<<'E'\n", "!", "=\"",
    ] {
        let _ = read_command(&piece.repeat(9_900 / piece.len()), HOME);
        let _ = read_command(&format!("ls {}", piece.repeat(9_900 / piece.len())), HOME);
    }
}

/// A small deterministic generator.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap_or(0)
    }
}

#[test]
fn random_input_never_panics() {
    const PIECES: [&str; 60] = [
        "ls",
        "git",
        " ",
        " ",
        " ",
        "\n",
        ";",
        "&",
        "|",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "[[",
        "]]",
        "<",
        ">",
        "<<",
        "<<<",
        "'",
        "\"",
        "`",
        "$",
        "$(",
        "$((",
        "${",
        "\\",
        "=",
        "+=",
        "X=1",
        "$X",
        "!",
        "#",
        "*",
        "?",
        "~",
        "-",
        "a",
        "é",
        "日",
        "\u{a0}",
        "if",
        "then",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "while",
        "else",
        "elif",
        "'E'\n",
        "E\n",
        "export ",
        "unset ",
        "read ",
        "1",
        "\u{1f600}",
    ];
    let mut random = Xorshift(0x9e37_79b9_7f4a_7c15);
    for _ in 0..20_000 {
        let length = random.below(30);
        let command: String = (0..length)
            .map(|_| PIECES[random.below(PIECES.len())])
            .collect();
        let _ = read_command(&command, HOME);
        let _ = CommandLine::parse(&command);
    }
}
