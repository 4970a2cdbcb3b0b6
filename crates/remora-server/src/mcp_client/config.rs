//! Servers as configuration files name them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// One server.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Its name in the session.
    pub name: String,
    /// How it is reached.
    pub link: ServerLink,
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum ServerLink {
    /// A child process.
    Stdio(ServerCommand),
    /// Streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// Headers of each request, which may hold keys.
        headers: Vec<(String, String)>,
    },
}

/// A server's program.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerCommand {
    /// The program.
    pub(super) program: OsString,
    /// Its arguments.
    pub(super) args: Vec<OsString>,
    /// Its whole environment.
    pub(super) environment: Vec<(OsString, OsString)>,
    /// Where it starts.
    pub(super) cwd: PathBuf,
}

// Arguments, variables and headers may hold keys: only the name is shown.
impl std::fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ServerConfig").field(&self.name).finish()
    }
}

/// Where the texts of a file get their variables from, and where its servers start.
#[derive(Debug, Clone, Copy)]
pub struct ServerScope<'a> {
    /// What the servers inherit; its variables fill `${NAME}`.
    pub environment: &'a [(OsString, OsString)],
    /// More variables, which win.
    pub variables: &'a [(&'a str, &'a Path)],
    /// Where servers start.
    pub cwd: &'a Path,
    /// In front of each name.
    pub prefix: &'a str,
}

/// Reads the `mcpServers` of a file. What cannot be used is left out with a
/// warning.
pub fn parse_servers(
    servers: &Map<String, Value>,
    scope: &ServerScope<'_>,
    warnings: &mut Vec<String>,
) -> Vec<ServerConfig> {
    let mut found = Vec::new();
    for (name, entry) in servers {
        match parse_link(entry, scope) {
            Ok(link) => found.push(ServerConfig {
                name: format!("{}{name}", scope.prefix),
                link,
            }),
            Err(why) => warnings.push(format!("MCP server \"{name}\": {why}; it is left out")),
        }
    }
    found
}

fn parse_link(entry: &Value, scope: &ServerScope<'_>) -> Result<ServerLink, &'static str> {
    let entry = entry.as_object().ok_or("must be an object")?;
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let pairs = |key: &str| -> Vec<(String, String)> {
        let map = entry.get(key).and_then(Value::as_object);
        map.into_iter()
            .flatten()
            .filter_map(|(k, v)| Some((k.clone(), scope.fill(v.as_str()?))))
            .collect()
    };
    match (text("type"), text("command"), text("url")) {
        (Some("stdio") | None, Some(command), _) => {
            let args = entry.get("args").and_then(Value::as_array);
            let mut environment = scope.environment.to_vec();
            environment.extend(
                scope
                    .variables
                    .iter()
                    .map(|(k, v)| (OsString::from(k), OsString::from(v))),
            );
            environment.extend(pairs("env").into_iter().map(|(k, v)| (k.into(), v.into())));
            Ok(ServerLink::Stdio(ServerCommand {
                program: scope.fill(command).into(),
                args: args
                    .into_iter()
                    .flatten()
                    .filter_map(|arg| Some(scope.fill(arg.as_str()?).into()))
                    .collect(),
                environment,
                cwd: scope.cwd.to_path_buf(),
            }))
        }
        (Some("http" | "streamable-http") | None, _, Some(url)) => Ok(ServerLink::Http {
            url: scope.fill(url),
            headers: pairs("headers"),
        }),
        (Some("sse" | "ws"), ..) => Err("this kind of connection is not supported"),
        _ => Err("needs a `command` or a `url`"),
    }
}

impl ServerScope<'_> {
    fn find(&self, name: &str) -> Option<String> {
        let own = self.variables.iter().find(|(k, _)| *k == name);
        if let Some((_, value)) = own {
            return Some(value.to_string_lossy().into_owned());
        }
        // Of equal names the last counts, as in the environment of a child.
        let inherited = self.environment.iter().rev().find(|(k, _)| k == name);
        inherited.map(|(_, value)| value.to_string_lossy().into_owned())
    }

    /// Fills in `${NAME}` and `${NAME:-default}`. What has no value stays.
    fn fill(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            out.push_str(&rest[..at]);
            let after = &rest[at + 2..];
            let Some(end) = after.find('}') else {
                rest = &rest[at..];
                break;
            };
            let (name, default) = match after[..end].split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (&after[..end], None),
            };
            match self.find(name).or_else(|| default.map(str::to_owned)) {
                Some(value) => out.push_str(&value),
                None => out.push_str(&rest[at..at + end + 3]),
            }
            rest = &after[end + 1..];
        }
        out.push_str(rest);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_and_unknown_ones_stay() {
        let environment = [("A".into(), "x".into()), ("A".into(), "y".into())];
        let scope = ServerScope {
            environment: &environment,
            variables: &[("ROOT", Path::new("/plug"))],
            cwd: Path::new("/"),
            prefix: "",
        };
        for (text, expected) in [
            ("${A}/${ROOT}/z", "y//plug/z"),
            ("${B:-d}${A:-d}${B:-}", "dy"),
            ("${B} $A ${A", "${B} $A ${A"),
        ] {
            assert_eq!(scope.fill(text), expected, "{text}");
        }
    }
}
