//! A memory and its file's text: what the frontmatter means, what a new file
//! says, what a change does to an old one. Pure.

use std::path::PathBuf;

use remora_core::text::collapse_whitespace;

use remora_instructions::frontmatter::FrontmatterValue;

use super::MemoryName;
use super::folder::{MemoryChange, NewMemory};
use super::page::MemoryPage;
use super::{DEFAULT_PRIORITY, Memory, MemoryAuthor, MemoryUri};

/// A new memory's file.
pub(super) fn build_page(name: &MemoryName, draft: &NewMemory, now: &str) -> MemoryPage {
    let mut page = MemoryPage::new();
    let text = |words: &str| FrontmatterValue::Text(words.to_owned());
    let mut top = vec![("name", text(name.as_str()))];
    if let Some(description) = &draft.description {
        top.push(("description", text(&collapse_whitespace(description))));
    }
    let mut nested = vec![("node_type", text("memory"))];
    let title = collapse_whitespace(&draft.title);
    if title != name.to_words() && !title.is_empty() {
        nested.push(("title", text(&title)));
    }
    nested.push(("type", text(draft.kind.as_str())));
    if draft.priority != DEFAULT_PRIORITY {
        nested.push(("priority", priority_value(draft.priority)));
    }
    if draft.author != MemoryAuthor::default() {
        nested.push(("author", text(draft.author.as_str())));
    }
    if let Some(session) = &draft.session {
        nested.push(("originSessionId", text(session)));
    }
    nested.push(("modified", text(now)));
    for (key, value) in top {
        // Setting a key fails only in a broken head, and this one is new.
        let _ = page.set_top_level(key, value);
    }
    for (key, value) in nested {
        let _ = page.set_nested(key, value);
    }
    page.set_body(&draft.body);
    page
}

/// Carries a change out; the error says why the file does not take it.
pub(super) fn apply_change(
    page: &mut MemoryPage,
    change: &MemoryChange,
    now: &str,
) -> Result<(), String> {
    let text = |words: &str| FrontmatterValue::Text(words.to_owned());
    if let Some(description) = &change.description {
        page.set_top_level("description", text(&collapse_whitespace(description)))?;
    }
    if let Some(title) = &change.title {
        page.set_nested("title", text(&collapse_whitespace(title)))?;
    }
    if let Some(kind) = change.kind {
        page.set_nested("type", text(kind.as_str()))?;
    }
    if let Some(priority) = change.priority {
        page.set_nested("priority", priority_value(priority.clamp(1, 5)))?;
    }
    if let Some(author) = change.author
        // Not written if nothing changes, so that an edit does not add a line for the default.
        && author != author_of(page)
    {
        page.set_nested("author", text(author.as_str()))?;
    }
    // A file without a head gets none just for a date: the user wrote it that way.
    if page.has_head() && page.head_error().is_none() {
        // Both spellings are read; on the first change a file gets the one the client writes.
        page.move_to_nested("type")?;
        page.set_nested("modified", text(now))?;
    }
    if let Some(body) = &change.body {
        page.set_body(body);
    }
    Ok(())
}

/// A file without an author counts as the user's: users write files by hand.
fn author_of(page: &MemoryPage) -> MemoryAuthor {
    let word = page.find_text("author");
    word.map_or(MemoryAuthor::User, |word| MemoryAuthor::parse(&word))
}

fn priority_value(priority: u8) -> FrontmatterValue {
    FrontmatterValue::Number(priority.to_string())
}

/// What a file says of its memory.
pub(super) fn build_memory(
    uri: MemoryUri,
    path: PathBuf,
    page: &MemoryPage,
    mut warnings: Vec<String>,
) -> Memory {
    if let Some(why) = page.head_error() {
        warnings.push(format!("its frontmatter cannot be read: {why}"));
    }
    let word = page.find_text("type");
    let kind = page.kind();
    if let (Some(word), None) = (&word, kind) {
        warnings.push(format!(
            "type `{word}` is none of user, feedback, project, reference"
        ));
    }
    if let Some(priority) = page.find_text("priority")
        && priority != page.priority().to_string()
    {
        warnings.push(format!("priority `{priority}` is not a number from 1 to 5"));
    }
    let alias = page
        .find_text("name")
        .filter(|name| name != uri.name.as_str());
    let body = page.body().to_owned();
    let heading = || {
        let line = body.lines().next()?;
        let title = line.strip_prefix("# ")?.trim();
        (!title.is_empty()).then(|| title.to_owned())
    };
    // A `name` with blanks is a title, not the name of a file.
    let spoken = || alias.clone().filter(|name| name.contains(' '));
    let title = page
        .find_text("title")
        .or_else(spoken)
        .or_else(heading)
        .unwrap_or_else(|| uri.name.to_words());
    Memory {
        title,
        description: page.find_text("description"),
        kind,
        priority: page.priority(),
        author: author_of(page),
        modified: page.find_text("modified"),
        links: list_links(&body),
        alias,
        body,
        warnings,
        uri,
        path,
    }
}

/// Links that are kept of one memory.
const MAX_LINKS: usize = 200;

/// Names in double brackets, each once.
fn list_links(body: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (at, _) in body.match_indices("[[") {
        if found.len() == MAX_LINKS {
            break;
        }
        let rest = &body[at + 2..];
        let Some(end) = rest.find(['[', ']', '\n']) else {
            continue;
        };
        let name = rest[..end].split('|').next().unwrap_or_default().trim();
        if rest[end..].starts_with("]]") && !name.is_empty() && !found.iter().any(|n| n == name) {
            found.push(name.to_owned());
        }
    }
    found
}
