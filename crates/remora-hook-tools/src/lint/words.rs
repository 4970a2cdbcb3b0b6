//! A shell line taken apart into words that know how each part of them is
//! quoted: what decides whether a variable splits, and whether it is filled in
//! at all. What is not understood is a part of its own, never a guess.

/// How a part of a word is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    None,
    Single,
    Double,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Text as it is.
    Text(String, Quoting),
    /// A variable by its name.
    Variable(String, Quoting),
    /// A substitution, or what else only a shell can know.
    Unknown,
}

/// One word.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Word {
    pub(super) parts: Vec<Part>,
}

impl Word {
    /// The text of a word that holds nothing else.
    pub(super) fn as_text(&self) -> Option<String> {
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text, _) => Some(text.as_str()),
            _ => None,
        });
        parts.collect()
    }

    fn is_assignment(&self) -> bool {
        let Some(Part::Text(text, Quoting::None)) = self.parts.first() else {
            return false;
        };
        text.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        })
    }
}

/// The words of one simple command, assignments and redirections left out.
pub(super) type Command = Vec<Word>;

/// Words that come before a command and are none.
const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "while", "until", "do", "!", "time", "exec", "{", "}", "fi",
    "done",
];

/// Reads a line into its simple commands.
pub(super) fn read_commands(line: &str) -> Vec<Command> {
    let mut reader = Reader {
        rest: cut_here_documents(line).chars().collect(),
        at: 0,
    };
    let mut commands = Vec::new();
    let mut command = Command::new();
    let mut skip_next = false;
    while let Some(token) = reader.next_token() {
        match token {
            Token::End => {
                if !command.is_empty() {
                    commands.push(std::mem::take(&mut command));
                }
                skip_next = false;
            }
            Token::Redirection => skip_next = true,
            Token::Word(word) => {
                if std::mem::take(&mut skip_next) {
                    continue;
                }
                let keyword = word
                    .as_text()
                    .is_some_and(|t| KEYWORDS.contains(&t.as_str()));
                if command.is_empty() && (word.is_assignment() || keyword) {
                    continue;
                }
                command.push(word);
            }
        }
    }
    if !command.is_empty() {
        commands.push(command);
    }
    commands
}

/// The text without what stands in here-documents, and without what follows
/// them: it is not worth telling the two apart.
fn cut_here_documents(text: &str) -> &str {
    let here = text
        .match_indices("<<")
        .find(|(at, _)| !text[at + 2..].starts_with('<') && !text[..*at].ends_with('<'));
    let line_end = here.and_then(|(at, _)| Some(at + text[at..].find('\n')?));
    &text[..line_end.unwrap_or(text.len())]
}

enum Token {
    Word(Word),
    Redirection,
    End,
}

struct Reader {
    rest: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn take(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|c| fits(*c)) {
            text.push(c);
            self.at += 1;
        }
        text
    }

    fn next_token(&mut self) -> Option<Token> {
        self.take_while(|c| c == ' ' || c == '\t');
        match self.peek()? {
            '#' => {
                self.take_while(|c| c != '\n');
                Some(Token::End)
            }
            '\n' | ';' | '&' | '|' | '(' | ')' => {
                self.take_while(|c| matches!(c, '\n' | ';' | '&' | '|' | '(' | ')'));
                Some(Token::End)
            }
            '<' | '>' => {
                self.take_while(|c| matches!(c, '<' | '>' | '&' | '|'));
                Some(Token::Redirection)
            }
            _ => Some(self.read_word()),
        }
    }

    fn read_word(&mut self) -> Token {
        let mut word = Word::default();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' => break,
                '<' | '>' => {
                    // A number in front belongs to the redirection.
                    let digits = word
                        .as_text()
                        .is_some_and(|t| t.chars().all(|c| c.is_ascii_digit()));
                    if digits {
                        self.take_while(|c| matches!(c, '<' | '>' | '&' | '|'));
                        return Token::Redirection;
                    }
                    break;
                }
                '\'' => {
                    self.at += 1;
                    let text = self.take_while(|c| c != '\'');
                    self.at += 1;
                    word.parts.push(Part::Text(text, Quoting::Single));
                }
                '"' => {
                    self.at += 1;
                    self.read_double_quoted(&mut word);
                }
                '\\' => {
                    self.at += 1;
                    let next = self.take().map(String::from).unwrap_or_default();
                    word.parts.push(Part::Text(next, Quoting::Single));
                }
                '$' | '`' => {
                    let part = self.read_expansion(Quoting::None);
                    word.parts.push(part);
                }
                _ => {
                    let text =
                        self.take_while(|c| !c.is_whitespace() && !"'\"\\$`;&|()<>".contains(c));
                    word.parts.push(Part::Text(text, Quoting::None));
                }
            }
        }
        Token::Word(word)
    }

    fn read_double_quoted(&mut self, word: &mut Word) {
        let mut text = String::new();
        while let Some(c) = self.peek() {
            match c {
                '"' => {
                    self.at += 1;
                    break;
                }
                '\\' => {
                    self.at += 1;
                    text.extend(self.take());
                }
                '$' | '`' => {
                    if !text.is_empty() {
                        let text = std::mem::take(&mut text);
                        word.parts.push(Part::Text(text, Quoting::Double));
                    }
                    let part = self.read_expansion(Quoting::Double);
                    word.parts.push(part);
                }
                _ => text.extend(self.take()),
            }
        }
        word.parts.push(Part::Text(text, Quoting::Double));
    }

    /// From a `$` or a backtick on.
    fn read_expansion(&mut self, quoting: Quoting) -> Part {
        if self.take() == Some('`') {
            self.take_while(|c| c != '`');
            self.at += 1;
            return Part::Unknown;
        }
        match self.peek() {
            Some('(') => {
                self.skip_balanced();
                Part::Unknown
            }
            Some('{') => {
                self.at += 1;
                let name = self.take_while(|c| c != '}');
                self.at += 1;
                let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
                if plain && !name.is_empty() {
                    Part::Variable(name, quoting)
                } else {
                    Part::Unknown
                }
            }
            Some(c) if c.is_alphabetic() || c == '_' => Part::Variable(
                self.take_while(|c| c.is_alphanumeric() || c == '_'),
                quoting,
            ),
            Some(c) if c.is_ascii_digit() || "?#@*!$-".contains(c) => {
                self.at += 1;
                Part::Unknown
            }
            _ => Part::Text("$".to_owned(), quoting),
        }
    }

    /// Over `( … )` with what is nested in it.
    fn skip_balanced(&mut self) {
        let mut depth = 0_usize;
        while let Some(c) = self.take() {
            match c {
                '(' => depth += 1,
                ')' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                '\'' | '"' => {
                    self.take_while(|other| other != c);
                    self.at += 1;
                }
                '\\' => self.at += 1,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(line: &str) -> Vec<Vec<String>> {
        let show = |part: &Part| match part {
            Part::Text(text, _) => text.clone(),
            Part::Variable(name, Quoting::None) => format!("<{name}>"),
            Part::Variable(name, Quoting::Single) => format!("<'{name}'>"),
            Part::Variable(name, Quoting::Double) => format!("<\"{name}\">"),
            Part::Unknown => "<?>".to_owned(),
        };
        let commands = read_commands(line);
        commands
            .iter()
            .map(|words| {
                words
                    .iter()
                    .map(|word| word.parts.iter().map(show).collect())
                    .collect()
            })
            .collect()
    }

    #[test]
    fn quotes_decide_what_a_variable_is() {
        assert_eq!(
            shape(r#"sh "$A"/x.sh $B '$C' ${D}e"#),
            [["sh", "<\"A\">/x.sh", "<B>", "$C", "<D>e"]]
        );
    }

    #[test]
    fn simple_commands_are_told_apart() {
        assert_eq!(
            shape("X=1 if a 2>&1 >out; then b; fi && c | d # e\n( f )"),
            [vec!["a"], vec!["b"], vec!["c"], vec!["d"], vec!["f"]]
        );
    }

    #[test]
    fn what_only_a_shell_knows_is_unknown() {
        assert_eq!(
            shape(r#"a $(b "c)" $(d)) `e` ${f:-g} "$(h)i" $1"#)[0][1..],
            ["<?>", "<?>", "<?>", "<?>i", "<?>"]
        );
        assert_eq!(shape("a 'open")[0], ["a", "open"]);
        assert_eq!(shape("cat <<EOF\nnot a command\nEOF"), [["cat"]]);
        assert_eq!(shape("cat <<< x\nb"), [vec!["cat"], vec!["b"]]);
    }
}
