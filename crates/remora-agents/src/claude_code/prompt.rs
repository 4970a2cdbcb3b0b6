//! A prompt as the user typed it, without what was inserted before their words.

/// How the names of blocks begin that an editor or the client puts there.
const INSERTED_TAG_PREFIXES: &[&str] = &["ide_", "system-reminder"];

/// The words of a prompt behind the blocks that an editor or the client put
/// before them. A block that is never closed is none.
pub fn own_words(prompt: &str) -> &str {
    let mut words = prompt;
    while let Some(rest) = behind_block(words) {
        words = rest.trim_start();
    }
    words
}

fn behind_block(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix('<')?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'))?;
    let (name, rest) = rest.split_at(end);
    if !INSERTED_TAG_PREFIXES
        .iter()
        .any(|known| name.starts_with(known))
    {
        return None;
    }
    // Without its end it may be the user's own text that begins with a tag.
    let (_, rest) = rest.split_once(&format!("</{name}>"))?;
    Some(rest)
}
