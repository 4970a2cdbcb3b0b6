//! Our own system-prompt text: how saved memories are kept, that hooks may send
//! text, and the lines that settings ask for. Each part with its source.

use std::fmt::Write as _;
use std::path::Path;

use remora_core::text::collapse_whitespace;

use crate::Instructions;
use crate::{agent, auto_memory, disk, frontmatter, markdown, names, pages};

/// A part of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPromptPart {
    /// What it is about.
    pub name: &'static str,
    /// Where it comes from: built in, or a settings file and its key.
    pub source: String,
    /// The text.
    pub text: String,
}

const BUILT_IN_SOURCE: &str = "built in";

/// The parts, in order.
pub fn build_system_prompt(instructions: &Instructions) -> Vec<SystemPromptPart> {
    let mut parts = Vec::new();
    if instructions.context.memory_off().is_none() && instructions.context.disabled_by().is_none() {
        parts.push(SystemPromptPart {
            name: "memory",
            source: BUILT_IN_SOURCE.to_owned(),
            text: render_memory_guide(&instructions.memory_folder(), instructions),
        });
    }
    parts.extend(agent_memory(instructions));
    parts.push(SystemPromptPart {
        name: "hooks",
        source: BUILT_IN_SOURCE.to_owned(),
        text: HOOKS_TEXT.to_owned(),
    });
    let settings = &instructions.context.settings;
    if let Some(language) = &settings.language {
        parts.push(SystemPromptPart {
            name: "language",
            source: format!("{} (language)", language.source),
            text: format!(
                "Write to the user in {}. Code, commands, file names and quoted output keep \
                 their own language.\n",
                collapse_whitespace(&language.value)
            ),
        });
    }
    if let Some(style) = &settings.output_style {
        parts.push(SystemPromptPart {
            name: "output style",
            source: format!("{} (outputStyle)", style.source),
            text: output_style(&collapse_whitespace(&style.value), instructions),
        });
    }
    parts
}

/// The memory of a subagent that keeps one.
fn agent_memory(instructions: &Instructions) -> Option<SystemPromptPart> {
    let name = instructions.context.options.agent.as_ref()?;
    let file = agent::load_subagent(&instructions.context, name).memory?;
    let mut text = format!(
        "# Your own memory\nBesides the user's you keep notes of your own in {}, by the same rules: \
         one fact a file, one line in the index for each. Keep what helps you with work of this \
         kind, and remove what turned out wrong. The index as it is:\n\n",
        file.parent().unwrap_or(&file).display()
    );
    let bytes = disk::read_bytes(&file).unwrap_or_default();
    let page = markdown::decode_text(&bytes);
    let body = markdown::parse_markdown(frontmatter::split_frontmatter(&page).1).text;
    text.push_str(&match markdown::trim_text(&body) {
        "" => "(empty)".to_owned(),
        // The agent wrote this file, maybe from text it had read; it is data, not our words.
        index => super::escape_markup(&auto_memory::truncate_index(index).render_with_warning()),
    });
    text.push('\n');
    Some(SystemPromptPart {
        name: "agent memory",
        source: file.display().to_string(),
        text,
    })
}

const HOOKS_TEXT: &str = "\
# Hooks
Commands that the user has set up may run when you use a tool, when a prompt arrives and at other
moments. What they say reaches you as if the user had said it: act on it. When a hook stops
something you tried, read its reason, and see whether you can go about the task in another way; if
you cannot, say so and ask the user to look at the hook.
";

fn render_memory_guide(folder: &Path, instructions: &Instructions) -> String {
    let folder = folder.display();
    let mut text = format!(
        "\
# Memory
You keep notes for later sessions in {folder}. One fact is one Markdown file there; {index} in the
same folder is the index, and only the index is shown to you when a session begins.

What to keep, by type:
- user: who the user is: role, knowledge, how they like to work.
- feedback: how they want things done: a correction, or an unusual way they confirmed. Say why.
- project: who does what, why and until when; write dates as dates, not as `next week`.
- reference: where something outside the repository is found.

What not to keep, even when asked: what the code or its history shows (structure, paths, patterns,
how a bug was fixed), what an instruction file says already, and what matters only to the task at
hand. Offer to note what was surprising about it instead. Never keep passwords or keys.

To save, in two steps:
1. Write the file: frontmatter with `name`, `description` (one line that says later whether it
   matters) and `metadata.type`, then the fact; for feedback and project also why it holds and how
   to apply it. Refer to other memories as `[[name]]`. Change a memory that exists instead of adding
   one beside it.
2. Add one line to {index}: `- [Title](file.md) - what it is about`, under 200 characters. The index
   is cut after {lines} lines.

A memory says what was true when it was written. Before you recommend or use a path, a function or
an option that one names, look whether it is still there; trust what you see, and fix or remove the
memory. If the user asks you not to use memory, act as if there were none.
",
        index = names::MEMORY_INDEX_FILE,
        lines = crate::auto_memory::MAX_INDEX_LINES,
    );
    let team = instructions.team_folder();
    // Without the folder the team shares nothing.
    if team.is_dir() {
        let _ = write!(
            text,
            "\nThe team shares memories in {}, which is in version control: keep only what everyone \
             who works here should know, and nothing personal or secret.\n",
            team.display()
        );
    }
    text
}

/// The style's own text where there is a file of that name.
fn output_style(name: &str, instructions: &Instructions) -> String {
    let line = format!("Answer in the output style `{name}`.\n");
    let places = &instructions.context.places;
    let folders = [
        instructions.cwd().join(names::SETTINGS_DIR),
        places.config_dir(),
    ];
    let folders = folders.map(|dir| dir.join("output-styles"));
    match folders.iter().find_map(|dir| style_file(dir, name)) {
        Some(body) => format!("{line}\n{body}\n"),
        None => line,
    }
}

fn style_file(folder: &Path, name: &str) -> Option<String> {
    let page =
        pages::list_pages(folder).find(|page| page.name() == Some(name) || page.stem == name)?;
    Some(page.body.trim().to_owned())
}
