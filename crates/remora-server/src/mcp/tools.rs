//! The tools: their descriptions, kept short because every session pays for
//! them, and their arguments, read so that a mistake is named.

use std::sync::Arc;

use remora_core::record::Kind;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::{Fact, McpLimits, ProjectScope, SearchParams, TimelineParams};

/// Items of a search, unless it says how many.
const DEFAULT_SEARCH_ITEMS: usize = 20;
/// Items of a timeline, unless it says how many.
const DEFAULT_TIMELINE_ITEMS: usize = 30;
/// More items than this are never returned at once.
const MAX_ITEMS: usize = 100;
/// More than this many ids are not looked up at once.
const MAX_IDS: usize = 20;
/// The longest argument, in bytes.
const MAX_ARGUMENT_BYTES: usize = 64 * 1024;

/// A call that can be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ToolRequest {
    Search(SearchParams),
    Get(Vec<String>),
    Timeline(TimelineParams),
    Remember(Fact),
    Forget(String),
    Wrong { id: String, because: Option<String> },
}

/// The argument that looks in every project; offered only where that may be.
const ALL_PROJECTS_KEY: &str = "all";

/// All tools. A model is not offered what its user has not allowed.
pub(super) fn list_tools(bounds: McpLimits) -> Vec<Tool> {
    let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    let text = |about: &str| json!({ "type": "string", "description": about });
    let number = json!({ "type": "integer" });
    let mut tools = vec![
        build_tool(
            "search",
            "Search the memory of earlier sessions. Gives index rows (#id, date, kind, tokens, \
             title); then `get` the few that matter. Words in any order; also \"a phrase\", -word, \
             error:TEXT.",
            json!({
                "query": text("words; empty lists the newest"),
                "kind": text(&format!("only these, comma-separated: {}", kinds.join(", "))),
                "file": text("only what touched this file or folder"),
                "since": text("2026-11-15, today, monday, 7d"),
                "limit": number,
            }),
            &["query"],
        ),
        build_tool(
            "get",
            "Details of rows or saved memories, several in one call.",
            json!({
                "ids": {
                    "type": "array",
                    "items": { "type": ["string", "integer"] },
                    "description": "#12, 12 or memory://scope/name",
                },
            }),
            &["ids"],
        ),
        build_tool(
            "timeline",
            "Show what happened, in order: around a row, or in a time.",
            json!({
                "around": text("an id"),
                "since": text("as in search"),
                "until": text("as in search"),
                "limit": number,
            }),
            &[],
        ),
        build_tool(
            "remember",
            "Save a lasting fact for later sessions (a Markdown file): a decision, a preference, a \
             trap. Not what code or git already say, never secrets.",
            json!({
                "text": text("the fact, and why it holds"),
                "name": text("file name, such as no-mocks"),
                "type": { "type": "string", "enum": Fact::TYPES },
                "scope": {
                    "type": "string",
                    "enum": Fact::SCOPES,
                    "description": "default: project",
                },
                "priority": {
                    "type": "integer",
                    "description": "1 to 5; 1 and 2 are told at every start; default 3",
                },
            }),
            &["text"],
        ),
        build_tool(
            "wrong",
            "Mark a row as wrong when the user says so: no session is told of it again. Can be \
             undone.",
            json!({
                "id": text("#12 or 12"),
                "because": text("what is true instead"),
            }),
            &["id"],
        ),
        build_tool(
            "forget",
            "Delete a row for good, with the event it came from. Only when the user asks for it.",
            json!({ "id": text("#12 or 12") }),
            &["id"],
        ),
    ];
    if bounds == McpLimits::AllProjects {
        for tool in &mut tools {
            offer_all_projects(tool);
        }
    }
    tools
}

fn offer_all_projects(tool: &mut Tool) {
    if !matches!(&*tool.name, "search" | "timeline") {
        return;
    }
    let schema = Arc::make_mut(&mut tool.input_schema);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let everywhere = json!({ "type": "boolean", "description": "all projects" });
        properties.insert(ALL_PROJECTS_KEY.to_owned(), everywhere);
    }
}

fn build_tool(
    name: &'static str,
    about: &'static str,
    properties: Value,
    required: &[&'static str],
) -> Tool {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    let annotations = match name {
        "remember" | "wrong" => ToolAnnotations::new().read_only(false).destructive(false),
        "forget" => ToolAnnotations::new().read_only(false).destructive(true),
        _ => ToolAnnotations::new().read_only(true),
    };
    Tool::new(name, about, Arc::new(schema)).with_annotations(annotations)
}

impl ToolRequest {
    /// The call, or what is wrong with it.
    pub(super) fn from_arguments(
        tool: &str,
        arguments: &JsonObject,
        bounds: McpLimits,
    ) -> Result<Self, String> {
        let arguments = ToolArguments {
            tool,
            values: arguments,
            bounds,
        };
        match tool {
            "search" => {
                arguments.check_keys(&["query", "kind", "file", "since", "all", "limit"])?;
                Ok(Self::Search(SearchParams {
                    query: arguments.parse_text("query")?.unwrap_or_default(),
                    kinds: arguments.parse_kinds()?,
                    file: arguments.parse_text("file")?,
                    since: arguments.parse_text("since")?,
                    reach: arguments.parse_scope()?,
                    limit: arguments.parse_limit(DEFAULT_SEARCH_ITEMS)?,
                }))
            }
            "get" => {
                arguments.check_keys(&["ids"])?;
                arguments.parse_ids().map(Self::Get)
            }
            "timeline" => {
                arguments.check_keys(&["around", "since", "until", "all", "limit"])?;
                Ok(Self::Timeline(TimelineParams {
                    around: arguments
                        .name("around")?
                        .map(|id| strip_mark(&id).to_owned()),
                    since: arguments.parse_text("since")?,
                    until: arguments.parse_text("until")?,
                    reach: arguments.parse_scope()?,
                    limit: arguments.parse_limit(DEFAULT_TIMELINE_ITEMS)?,
                }))
            }
            "remember" => {
                arguments.check_keys(&["text", "name", "type", "scope", "priority"])?;
                let text = arguments.parse_text("text")?;
                let text = text.ok_or("remember: `text` is missing: say what to save")?;
                Ok(Self::Remember(Fact {
                    text,
                    name: arguments.parse_text("name")?,
                    kind: arguments.one_of("type", Fact::TYPES)?,
                    scope: arguments.one_of("scope", Fact::SCOPES)?,
                    priority: arguments.parse_priority()?,
                }))
            }
            "wrong" => {
                arguments.check_keys(&["id", "because"])?;
                Ok(Self::Wrong {
                    id: arguments.id()?,
                    because: arguments.parse_text("because")?,
                })
            }
            "forget" => {
                arguments.check_keys(&["id"])?;
                arguments.id().map(Self::Forget)
            }
            other => Err(format!(
                "`{other}` is not a tool; there are search, get, timeline, remember, wrong, forget"
            )),
        }
    }
}

/// An id without the mark that an index puts behind it.
fn strip_mark(id: &str) -> &str {
    id.trim_end_matches('~')
}

/// Arguments as models write them: numbers as text and the other way round are
/// understood, and nothing is guessed.
struct ToolArguments<'a> {
    tool: &'a str,
    values: &'a JsonObject,
    bounds: McpLimits,
}

impl ToolArguments<'_> {
    fn format_error(&self, key: &str, wanted: &str) -> String {
        format!("{}: `{key}` must be {wanted}", self.tool)
    }

    fn check_keys(&self, known: &[&str]) -> Result<(), String> {
        let known: Vec<&str> = known
            .iter()
            .copied()
            // Not even named where the user has not allowed it, so that no model tries it.
            .filter(|key| *key != ALL_PROJECTS_KEY || self.bounds == McpLimits::AllProjects)
            .collect();
        let unknown = self.values.keys().find(|key| !known.contains(&&***key));
        match unknown {
            None => Ok(()),
            Some(key) => Err(format!(
                "{}: `{key}` is not an argument; known: {}",
                self.tool,
                known.join(", ")
            )),
        }
    }

    fn get(&self, key: &str) -> Option<&Value> {
        // Models write null for an argument that they leave out.
        self.values.get(key).filter(|value| !value.is_null())
    }

    /// A text; one of blanks is none.
    fn parse_text(&self, key: &str) -> Result<Option<String>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) if text.len() > MAX_ARGUMENT_BYTES => {
                Err(self.format_error(key, "at most 64 KB long"))
            }
            Some(Value::String(text)) => {
                Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
            }
            Some(_) => Err(self.format_error(key, "a string")),
        }
    }

    /// A text or a number.
    fn name(&self, key: &str) -> Result<Option<String>, String> {
        match self.get(key) {
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            _ => self.parse_text(key),
        }
    }

    /// The one item that a call is about.
    fn id(&self) -> Result<String, String> {
        let id = self.name("id")?;
        let id =
            id.ok_or_else(|| self.format_error("id", "the number of a row, such as \"#12\""))?;
        Ok(strip_mark(&id).to_owned())
    }

    fn parse_ids(&self) -> Result<Vec<String>, String> {
        let wanted = "a list of ids, such as [\"#12\"]";
        let list = match self.get("ids") {
            Some(Value::Array(list)) => list.iter().collect(),
            Some(one @ (Value::String(_) | Value::Number(_))) => vec![one],
            _ => return Err(self.format_error("ids", wanted)),
        };
        let mut ids: Vec<String> = Vec::new();
        for value in list {
            let id = match value {
                Value::Number(number) => number.to_string(),
                // A list that was written as one text.
                Value::String(text) if text.len() <= MAX_ARGUMENT_BYTES => text.clone(),
                _ => return Err(self.format_error("ids", wanted)),
            };
            let parts = id.split([',', ' ', '\n']).map(strip_mark);
            for id in parts.filter(|id| !id.is_empty()) {
                let number = |id: &str| id.trim_start_matches('#').to_owned();
                // `12` and `#12` are one item.
                if !ids.iter().any(|other| number(other) == number(id)) {
                    ids.push(id.to_owned());
                }
            }
        }
        if ids.is_empty() {
            return Err(self.format_error("ids", wanted));
        }
        if ids.len() > MAX_IDS {
            return Err(self.format_error("ids", &format!("at most {MAX_IDS} ids")));
        }
        Ok(ids)
    }

    fn parse_number(&self, key: &str) -> Result<Option<u64>, String> {
        let number = match self.get(key) {
            None => return Ok(None),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(value) => value.as_u64(),
        };
        number
            .map(Some)
            .ok_or_else(|| self.format_error(key, "a whole number"))
    }

    fn parse_limit(&self, usual: usize) -> Result<usize, String> {
        match self.parse_number("limit")? {
            None => Ok(usual),
            Some(0) => Err(self.format_error("limit", "1 or more")),
            Some(limit) => Ok(usize::try_from(limit).unwrap_or(MAX_ITEMS).min(MAX_ITEMS)),
        }
    }

    fn parse_priority(&self) -> Result<Option<u8>, String> {
        let Some(number) = self.parse_number("priority")? else {
            return Ok(None);
        };
        match u8::try_from(number) {
            Ok(number @ 1..=5) => Ok(Some(number)),
            _ => Err(self.format_error("priority", "1 to 5")),
        }
    }

    fn parse_scope(&self) -> Result<ProjectScope, String> {
        match self.get("all") {
            None | Some(Value::Bool(false)) => Ok(ProjectScope::Project),
            Some(Value::Bool(true)) => Ok(ProjectScope::Everywhere),
            Some(_) => Err(self.format_error("all", "true or false")),
        }
    }

    fn one_of(&self, key: &str, all: &[&str]) -> Result<Option<String>, String> {
        match self.parse_text(key)? {
            Some(text) if !all.contains(&text.as_str()) => {
                Err(self.format_error(key, &format!("one of {}", all.join(", "))))
            }
            other => Ok(other),
        }
    }

    /// One kind, several with commas, or a list of them.
    fn parse_kinds(&self) -> Result<Vec<Kind>, String> {
        let words: Vec<String> = match self.get("kind") {
            Some(Value::Array(list)) => {
                let words = list.iter().map(|word| word.as_str().map(str::to_owned));
                let words: Option<Vec<String>> = words.collect();
                words.ok_or_else(|| self.format_error("kind", "a string"))?
            }
            _ => self.parse_text("kind")?.into_iter().collect(),
        };
        let words = words.iter().flat_map(|words| words.split(','));
        let words = words.map(str::trim).filter(|word| !word.is_empty());
        words
            .map(|word| {
                Kind::parse(word).ok_or_else(|| {
                    let all: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
                    self.format_error("kind", &format!("one of {}", all.join(", ")))
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
