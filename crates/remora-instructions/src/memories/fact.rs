//! A memory and its file's text: what the frontmatter means, what a new file
//! says, what a change does to an old one. Pure.

use std::path::PathBuf;

use crate::frontmatter::Value;

use super::folder::{Change, Draft};
use super::name::Name;
use super::page::Page;
use super::{Author, Memory, PRIORITY, Uri};

/// A new memory's file.
pub(super) fn drafted(name: &Name, draft: &Draft, now: &str) -> Page {
    let mut page = Page::new();
    let text = |words: &str| Value::Text(words.to_owned());
    let mut top = vec![("name", text(name.as_str()))];
    if let Some(description) = &draft.description {
        top.push(("description", text(&one_line(description))));
    }
    let mut nested = vec![("node_type", text("memory"))];
    let title = one_line(&draft.title);
    if title != name.words() && !title.is_empty() {
        nested.push(("title", text(&title)));
    }
    nested.push(("type", text(draft.kind.as_str())));
    if draft.priority != PRIORITY {
        nested.push(("priority", number(draft.priority)));
    }
    if draft.author != Author::default() {
        nested.push(("author", text(draft.author.as_str())));
    }
    if let Some(session) = &draft.session {
        nested.push(("originSessionId", text(session)));
    }
    nested.push(("modified", text(now)));
    for (key, value) in top {
        // A head of our own making cannot refuse.
        let _ = page.set(key, value);
    }
    for (key, value) in nested {
        let _ = page.set_nested(key, value);
    }
    page.set_body(&draft.body);
    page
}

/// Carries a change out; the error says why the file does not take it.
pub(super) fn changed(page: &mut Page, change: &Change, now: &str) -> Result<(), String> {
    let text = |words: &str| Value::Text(words.to_owned());
    if let Some(description) = &change.description {
        page.set("description", text(&one_line(description)))?;
    }
    if let Some(title) = &change.title {
        page.set_nested("title", text(&one_line(title)))?;
    }
    if let Some(kind) = change.kind {
        page.set_nested("type", text(kind.as_str()))?;
    }
    if let Some(priority) = change.priority {
        page.set_nested("priority", number(priority.clamp(1, 5)))?;
    }
    if let Some(author) = change.author
        && author != author_of(page)
    {
        page.set_nested("author", text(author.as_str()))?;
    }
    // A file without a head gets none for the sake of a date.
    if page.has_head() && page.fault().is_none() {
        page.nest("type")?;
        page.set_nested("modified", text(now))?;
    }
    if let Some(body) = &change.body {
        page.set_body(body);
    }
    Ok(())
}

/// What does not say is the user's.
fn author_of(page: &Page) -> Author {
    let word = page.text("author");
    word.map_or(Author::User, |word| Author::parse(&word))
}

fn number(priority: u8) -> Value {
    Value::Number(priority.to_string())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a file says of its memory.
pub(super) fn memory(uri: Uri, path: PathBuf, page: &Page, mut warnings: Vec<String>) -> Memory {
    if let Some(why) = page.fault() {
        warnings.push(format!("its frontmatter cannot be read: {why}"));
    }
    let word = page.text("type");
    let kind = page.kind();
    if let (Some(word), None) = (&word, kind) {
        warnings.push(format!(
            "type `{word}` is none of user, feedback, project, reference"
        ));
    }
    if let Some(given) = page.text("priority")
        && given != page.priority().to_string()
    {
        warnings.push(format!("priority `{given}` is not a number from 1 to 5"));
    }
    let alias = page.text("name").filter(|name| name != uri.name.as_str());
    let body = page.body().to_owned();
    let heading = || {
        let line = body.lines().next()?;
        let title = line.strip_prefix("# ")?.trim();
        (!title.is_empty()).then(|| title.to_owned())
    };
    let spoken = || alias.clone().filter(|name| name.contains(' '));
    let title = page
        .text("title")
        .or_else(spoken)
        .or_else(heading)
        .unwrap_or_else(|| uri.name.words());
    Memory {
        title,
        description: page.text("description"),
        kind,
        priority: page.priority(),
        author: author_of(page),
        modified: page.text("modified"),
        links: links(&body),
        alias,
        body,
        warnings,
        uri,
        path,
    }
}

/// Links that are kept of one memory.
const MOST_LINKS: usize = 200;

/// Names in double brackets, each once.
fn links(body: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (at, _) in body.match_indices("[[") {
        if found.len() == MOST_LINKS {
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
