//! The one file that a command line shows, of agents that read files with a shell.

use remora_shell::lenient::{CommandLine, CommandPart, PartJoin};

use super::is_log;

/// The file that this command line shows and does nothing else with; `None` if it
/// shows several, or something that only running it would tell.
pub fn shown_file(command: &str) -> Option<String> {
    let line = CommandLine::parse(command);
    let (reader, filters) = line.parts.split_first()?;
    let [file] = list_read_files(reader)?[..] else {
        return None;
    };
    // What comes behind only cuts a piece out.
    let cuts = |part: &CommandPart| {
        part.join == PartJoin::Pipe && list_read_files(part).is_some_and(|files| files.is_empty())
    };
    let is_plain = !file.starts_with(['-', '~']) && !file.contains(['$', '`', '*', '?', '[', '<']);
    (filters.iter().all(cuts) && is_plain && !is_log(file)).then(|| file.to_owned())
}

/// The files that a program prints as they are; `None` if it does something else.
fn list_read_files(part: &CommandPart) -> Option<Vec<&str>> {
    if part.into.is_some() || part.fed {
        return None;
    }
    match part.program() {
        "cat" => Some(list_operands(part, &[])),
        "head" | "tail" => Some(list_operands(part, &["-n", "-c", "--lines", "--bytes"])),
        "nl" => Some(list_operands(
            part,
            &["-b", "-d", "-f", "-h", "-i", "-l", "-n", "-s", "-v", "-w"],
        )),
        "bat" | "batcat" => Some(list_operands(
            part,
            &[
                "-r",
                "--line-range",
                "-l",
                "--language",
                "-H",
                "--highlight-line",
                "--style",
                "--theme",
                "--color",
                "--paging",
            ],
        )),
        "sed" => list_sed_files(part),
        _ => None,
    }
}

/// The words that are neither options nor the values of these options.
fn list_operands<'a>(part: &'a CommandPart, value_options: &[&str]) -> Vec<&'a str> {
    let mut operands = Vec::new();
    let mut words = part.words.iter().skip(1).map(String::as_str);
    while let Some(word) = words.next() {
        if word == "--" {
            operands.extend(words.by_ref());
        } else if value_options.contains(&word) {
            words.next();
        } else if word == "-" || !word.starts_with('-') {
            operands.push(word);
        }
    }
    operands
}

fn list_sed_files(part: &CommandPart) -> Option<Vec<&str>> {
    const SCRIPT_OPTIONS: &[&str] = &["-e", "-ne", "-f", "-nf", "--expression", "--file"];
    let mut options = part.words.iter().filter(|word| word.starts_with('-'));
    if options.any(|word| word.starts_with("-i") || word.starts_with("--in-place")) {
        return None;
    }
    let mut operands = list_operands(part, SCRIPT_OPTIONS);
    let names_script = |word: &String| {
        SCRIPT_OPTIONS.contains(&word.as_str())
            || word.starts_with("--expression=")
            || word.starts_with("--file=")
    };
    if !part.words.iter().any(names_script) {
        if operands.is_empty() {
            return None;
        }
        operands.remove(0);
    }
    Some(operands)
}

#[cfg(test)]
mod tests {
    use super::shown_file;

    #[test]
    fn a_line_that_shows_one_file_names_it() {
        for (command, expected) in [
            ("cat src/a.rs", Some("src/a.rs")),
            ("cat -n -- src/a.rs", Some("src/a.rs")),
            ("cat 'src/a b.rs' | head -40", Some("src/a b.rs")),
            ("sed -n '1,200p' src/a.rs", Some("src/a.rs")),
            ("sed -n -e 1,5p -e 9p src/a.rs", Some("src/a.rs")),
            ("sed --expression=1,5p src/a.rs", Some("src/a.rs")),
            ("nl -ba src/a.rs | sed -n '10,40p'", Some("src/a.rs")),
            ("nl -b a src/a.rs", Some("src/a.rs")),
            ("head -n 20 /w/src/a.rs", Some("/w/src/a.rs")),
            ("tail -c 200 src/a.rs 2>/dev/null", Some("src/a.rs")),
            ("head -20 src/a.rs", Some("src/a.rs")),
            ("bat --style plain -r 1:20 src/a.rs", Some("src/a.rs")),
            ("bash -lc 'cat src/a.rs'", Some("src/a.rs")),
            // Several, or none.
            ("cat src/a.rs src/b.rs", None),
            ("cat", None),
            ("cat -", None),
            ("sed -n 1,5p", None),
            ("cat src/a.rs; cat src/b.rs", None),
            ("cat src/a.rs | cat - src/b.rs", None),
            // Something else is done.
            ("cat src/a.rs > src/b.rs", None),
            ("cat > src/a.rs <<'END'\nfn a() {}\nEND", None),
            ("cat <<END\nsrc/a.rs\nEND", None),
            ("sed -i s/a/b/ src/a.rs", None),
            ("sed -n -i.bak 1p src/a.rs", None),
            ("cat src/a.rs | wc -l", None),
            ("cat src/a.rs && make", None),
            ("cd src && cat a.rs", None),
            ("grep -n limit src/a.rs", None),
            ("cat src/a.rs | tee src/b.rs", None),
            // Only running it would tell which.
            ("cat $FILE", None),
            ("cat src/*.rs", None),
            ("cat `which make`", None),
            ("cat ~/.profile", None),
            ("cat < src/a.rs", None),
            // What a tool printed.
            ("tail -n 50 build.log", None),
            ("cat /tmp/out.txt", None),
            ("", None),
        ] {
            assert_eq!(shown_file(command).as_deref(), expected, "{command}");
        }
    }
}
