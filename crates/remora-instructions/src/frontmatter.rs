//! The YAML head of a Markdown file: cuts it off and reads it into values.
//! Reads what users write, not only what YAML allows, and never lets a
//! hostile head cost more than its length: lists and mappings are not
//! repeated through aliases, depth and size are limited. Knows nothing of
//! what the keys mean.

mod repair;
mod yaml;

#[cfg(test)]
mod tests;

/// The longest head that is read, in bytes; a longer one is an error.
const MAX_FRONTMATTER_BYTES: usize = 256 * 1024;

/// The value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrontmatterValue {
    /// A text, quoted or plain.
    Text(String),
    /// A sequence, in either spelling.
    List(Vec<FrontmatterValue>),
    /// A mapping; the keys keep their order, each occurs once.
    Map(Vec<(String, FrontmatterValue)>),
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it was written.
    Number(String),
}

/// Cuts the head off a decoded text. `None` when there is none; then the
/// whole text is the body, with its byte order mark.
///
/// The client ends the head at the first `---` it meets, also in the middle
/// of a line, and drops all blanks behind it, so an indented first line of
/// the body loses its indent.
pub fn split_frontmatter(text: &str) -> (Option<&str>, &str) {
    let head = text.strip_prefix('\u{feff}').unwrap_or(text);
    split_head(head).map_or((None, text), |(head, body)| (Some(head), body))
}

fn split_head(text: &str) -> Option<(&str, &str)> {
    let after = text.strip_prefix("---")?;
    let blanks = after.len() - after.trim_start_matches(is_blank).len();
    let start = after[..blanks].rfind('\n')? + 1;
    let (head, body) = after[start..].split_once("---")?;
    Some((head, body.trim_start_matches(is_blank)))
}

/// Reads a head. What is not quite YAML is repaired first, the way the client
/// does it; what stays broken is an error that says where.
pub fn parse_frontmatter(front: &str) -> Result<Vec<(String, FrontmatterValue)>, String> {
    if front.len() > MAX_FRONTMATTER_BYTES {
        return Err(format!(
            "frontmatter of {} bytes is longer than {MAX_FRONTMATTER_BYTES}",
            front.len()
        ));
    }
    let value = yaml::parse_document(front).or_else(|fault| match fault {
        yaml::YamlError::Refused(_) => Err(fault),
        // The first error is reported: it is about the text as the user wrote it.
        yaml::YamlError::Broken(_) => {
            yaml::parse_document(&repair::repair_frontmatter(front)).map_err(|_| fault)
        }
    });
    match value {
        Ok(FrontmatterValue::Map(entries)) => Ok(entries),
        Ok(FrontmatterValue::Null) => Ok(Vec::new()),
        Ok(_) => Err("frontmatter is not a mapping of keys to values".to_owned()),
        Err(yaml::YamlError::Broken(why) | yaml::YamlError::Refused(why)) => Err(why),
    }
}

/// White space as the client's regular expressions know it.
pub fn is_blank(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}
