//! The MCP servers that `mcp_tool` handlers of a session may call: those of the
//! command line, the user, the project and its plugins, by the client's rules.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use remora_core::Event;
use remora_files::{MAX_CLIENT_STATE_BYTES, MAX_SETTINGS_BYTES, read_file};
use remora_hooks::{
    Engine, HandlerKind, Interactivity, Plugin, ServerCall, ServerCallError, ServerReply,
    ToolServers, Trust, names,
};
use remora_server::mcp_client::{
    McpClients, ServerConfig, ServerScope, ToolCallError, parse_servers,
};
use serde_json::{Map, Value};

use crate::error::CliError;
use crate::settings::SessionSettings;

/// Servers that are connected with when a handler calls them.
pub(super) struct HookServers(McpClients);

impl ToolServers for HookServers {
    fn call_tool(
        &self,
        call: &ServerCall<'_>,
        deadline: Instant,
    ) -> Result<ServerReply, ServerCallError> {
        match self
            .0
            .call_tool(call.server, call.tool, call.input, deadline)
        {
            Ok(reply) => Ok(ServerReply {
                texts: reply.texts,
                failed: reply.failed,
            }),
            Err(ToolCallError::TimedOut) => Err(ServerCallError::TimedOut),
            Err(ToolCallError::Failed(why)) => Err(ServerCallError::Failed(why)),
        }
    }
}

/// The session's servers, if a handler of the event may call one.
pub(super) fn load_servers(
    engine: &Engine,
    event: &Event,
    settings: &SessionSettings,
    more: &[String],
    warnings: &mut Vec<String>,
) -> Result<Option<HookServers>, CliError> {
    let calls = engine.handlers().any(|(entry, _)| {
        entry.event == event.name && matches!(entry.config.kind, HandlerKind::McpTool { .. })
    });
    if !calls {
        return Ok(None);
    }
    let environment = settings.environment.for_handlers(&settings.places.home);
    read_servers(engine, settings, &environment, more, warnings).map(Some)
}

/// The session's servers, whatever calls them. `environment` is what they inherit.
pub(super) fn read_servers(
    engine: &Engine,
    settings: &SessionSettings,
    environment: &[(OsString, OsString)],
    more: &[String],
    warnings: &mut Vec<String>,
) -> Result<HookServers, CliError> {
    let configs = list_servers(engine, settings, environment, more, warnings)?;
    let clients = McpClients::new(configs, remora_model::run_lookup);
    Ok(HookServers(clients))
}

impl HookServers {
    /// Replaces them by what is configured now.
    pub(super) fn read_again(
        &self,
        engine: &Engine,
        settings: &SessionSettings,
        environment: &[(OsString, OsString)],
        more: &[String],
        warnings: &mut Vec<String>,
    ) -> Result<(), CliError> {
        let configs = list_servers(engine, settings, environment, more, warnings)?;
        self.0.replace_servers(configs);
        Ok(())
    }
}

fn list_servers(
    engine: &Engine,
    settings: &SessionSettings,
    environment: &[(OsString, OsString)],
    more: &[String],
    warnings: &mut Vec<String>,
) -> Result<Vec<ServerConfig>, CliError> {
    let reader = ServerReader {
        settings,
        environment,
    };
    // Of servers with one name the first counts.
    let mut found = Vec::new();
    for text in more {
        found.extend(reader.read_argument(text, warnings)?);
    }
    let book = reader.read_book();
    let own = reader.own_entry(&book).cloned().unwrap_or_default();
    found.extend(reader.read_map(&own, "", &[], warnings));
    if settings.options.trust == Trust::Trusted {
        found.extend(reader.read_project(&own, warnings));
    }
    found.extend(reader.read_map(&book, "", &[], warnings));
    // Of plugins with one name the last counts.
    let plugins: BTreeMap<&str, &Plugin> = (engine.plugins().iter())
        .map(|plugin| (plugin.name.as_str(), plugin))
        .collect();
    for plugin in plugins.values() {
        found.extend(reader.read_plugin(plugin, warnings));
    }
    Ok(found)
}

type Fields = Map<String, Value>;

struct ServerReader<'a> {
    settings: &'a SessionSettings,
    environment: &'a [(OsString, OsString)],
}

impl ServerReader<'_> {
    /// `--mcp-config`: a file or a JSON object.
    fn read_argument(
        &self,
        text: &str,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<ServerConfig>, CliError> {
        let usage = |why: String| CliError::Usage(format!("--mcp-config: {why}"));
        let value: Value = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|e| usage(format!("the JSON is not valid ({e})")))?
        } else {
            let here = self.settings.environment.directory();
            let path = here.map_or_else(|| PathBuf::from(text), |dir| dir.join(text));
            let bytes = read_file(&path, MAX_SETTINGS_BYTES).map_err(|e| CliError::File {
                path: path.clone(),
                source: e.into(),
            })?;
            serde_json::from_slice(&bytes).map_err(|e| usage(format!("{text}: {e}")))?
        };
        let Value::Object(fields) = value else {
            return Err(usage("must be a JSON object".to_owned()));
        };
        Ok(self.read_map(&fields, "", &[], warnings))
    }

    /// What the user answered and added in the client; never written.
    fn read_book(&self) -> Fields {
        let places = &self.settings.places;
        let folder = places.config_dir.as_ref().unwrap_or(&places.home);
        read_object(&folder.join(names::HOST_STATE_FILE), MAX_CLIENT_STATE_BYTES)
    }

    fn own_entry<'b>(&self, book: &'b Fields) -> Option<&'b Fields> {
        let project = self.settings.places.project.to_str()?;
        book.get(names::PROJECTS_KEY)?.get(project)?.as_object()
    }

    /// The project's own, without those that the user refused; where a user can
    /// be asked, only those that were accepted.
    fn read_project(&self, own: &Fields, warnings: &mut Vec<String>) -> Vec<ServerConfig> {
        let places = &self.settings.places;
        let mut fields = read_object(
            &places.project.join(names::SERVERS_FILE),
            MAX_SETTINGS_BYTES,
        );
        let folder = places.project.join(names::SETTINGS_DIR);
        // Not the project's shared settings: a repository does not accept its own servers.
        let answers = [
            own.clone(),
            read_object(&folder.join(names::LOCAL_SETTINGS_FILE), MAX_SETTINGS_BYTES),
            read_object(
                &places
                    .config_dir
                    .clone()
                    .unwrap_or_else(|| places.home.join(names::SETTINGS_DIR))
                    .join(names::SETTINGS_FILE),
                MAX_SETTINGS_BYTES,
            ),
        ];
        let lists = |key: &str, name: &str| {
            let mut lists = answers.iter().filter_map(|a| a.get(key)?.as_array());
            lists.any(|list| list.iter().any(|v| v == name))
        };
        let accepts_all = answers
            .iter()
            .any(|a| a.get(names::ALL_SERVERS_KEY) == Some(&Value::Bool(true)));
        let asks = self.settings.attendance == Interactivity::Interactive;
        if let Some(servers) = fields
            .get_mut(names::SERVERS_KEY)
            .and_then(Value::as_object_mut)
        {
            servers.retain(|name, _| {
                let accepted = accepts_all || lists(names::ACCEPTED_SERVERS_KEY, name);
                !lists(names::REFUSED_SERVERS_KEY, name) && (accepted || !asks)
            });
        }
        self.read_map(&fields, "", &[], warnings)
    }

    fn read_plugin(&self, plugin: &Plugin, warnings: &mut Vec<String>) -> Vec<ServerConfig> {
        let prefix = format!("{}{}:", names::PLUGIN_SERVER_PREFIX, plugin.name);
        let variables = [
            (names::PLUGIN_ROOT_VAR, plugin.root.as_path()),
            (names::PLUGIN_DATA_VAR, plugin.data.as_path()),
        ];
        let files = [names::SERVERS_FILE, names::PLUGIN_MANIFEST_FILE];
        files
            .iter()
            .flat_map(|file| {
                let fields = read_object(&plugin.root.join(file), MAX_SETTINGS_BYTES);
                self.read_map(&fields, &prefix, &variables, warnings)
            })
            .collect()
    }

    fn read_map(
        &self,
        fields: &Fields,
        prefix: &str,
        variables: &[(&str, &Path)],
        warnings: &mut Vec<String>,
    ) -> Vec<ServerConfig> {
        let Some(servers) = fields.get(names::SERVERS_KEY).and_then(Value::as_object) else {
            return Vec::new();
        };
        let scope = ServerScope {
            environment: self.environment,
            variables,
            cwd: &self.settings.places.project,
            prefix,
        };
        parse_servers(servers, &scope, warnings)
    }
}

/// The object in a file; nothing where there is none.
fn read_object(path: &Path, max_bytes: u64) -> Fields {
    let bytes = read_file(path, max_bytes).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}
