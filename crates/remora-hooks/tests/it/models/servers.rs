//! The recorded cases' server, without a process: what each of its tools answers.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use remora_hooks::{ServerCall, ServerCallError, ServerReply, ToolServers};
use serde_json::{Map, Value, json};

pub(crate) struct ScriptedServers {
    /// The names under which the server is there.
    names: Mutex<Vec<String>>,
    calls: Mutex<Vec<Value>>,
    /// Lets so many seconds pass.
    pass: Box<dyn Fn(f64) + Send + Sync>,
}

impl ScriptedServers {
    /// Where the client would find servers in these cases.
    pub(crate) fn new(
        args: &[String],
        home: &Path,
        pass: impl Fn(f64) + Send + Sync + 'static,
    ) -> Self {
        let mut names = Vec::new();
        let after = |flag: &str| {
            let at = args.iter().position(|arg| arg == flag)?;
            args.get(at + 1)
        };
        let parse = |file: &Path| -> Value {
            let text = fs::read_to_string(file).unwrap_or_default();
            serde_json::from_str(&text).unwrap_or_default()
        };
        let mut read = |file: &Path, prefix: &str| {
            let value = parse(file);
            for (name, server) in value["mcpServers"].as_object().into_iter().flatten() {
                if server["command"] != "/bin/false" {
                    names.push(format!("{prefix}{name}"));
                }
            }
        };
        if let Some(file) = after("--mcp-config") {
            read(Path::new(file), "");
        }
        read(&home.join("app/.mcp.json"), "");
        read(&home.join(".claude.json"), "");
        if let Some(plugin) = after("--plugin-dir") {
            let plugin = Path::new(plugin);
            let manifest = plugin.join(".claude-plugin/plugin.json");
            let name = parse(&manifest)["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            let prefix = format!("plugin:{name}:");
            read(&plugin.join(".mcp.json"), &prefix);
            read(&manifest, &prefix);
        }
        Self {
            names: Mutex::new(names),
            calls: Mutex::new(Vec::new()),
            pass: Box::new(pass),
        }
    }

    pub(crate) fn list_calls(&self) -> Vec<Value> {
        self.calls.lock().unwrap().clone()
    }
}

impl ToolServers for ScriptedServers {
    fn call_tool(
        &self,
        call: &ServerCall<'_>,
        deadline: Instant,
    ) -> Result<ServerReply, ServerCallError> {
        let fail = |why: &str| Err(ServerCallError::Failed(why.to_owned()));
        if !self
            .names
            .lock()
            .unwrap()
            .iter()
            .any(|name| name == call.server)
        {
            return fail("not connected");
        }
        let made = json!({"tool": call.tool, "arguments": call.input});
        self.calls.lock().unwrap().push(made);
        let show = |input: &Map<String, Value>, key: &str| match input.get(key) {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let text = show(call.input, "text");
        let texts = match call.tool {
            "raw" => vec![text],
            "two" => vec![show(call.input, "a"), show(call.input, "b")],
            "struct" => vec!["plain".into()],
            "img" | "none" => Vec::new(),
            "any" => vec!["ok".into()],
            "slow" => {
                let seconds = call
                    .input
                    .get("secs")
                    .and_then(Value::as_f64)
                    .unwrap_or(1.0);
                let left = deadline
                    .saturating_duration_since(Instant::now())
                    .as_secs_f64();
                (self.pass)(seconds.min(left));
                if seconds >= left {
                    return Err(ServerCallError::TimedOut);
                }
                vec![text]
            }
            "fail" => {
                return Ok(ServerReply {
                    texts: vec![text],
                    failed: true,
                });
            }
            "die" => {
                self.names
                    .lock()
                    .unwrap()
                    .retain(|name| name != call.server);
                return fail("the connection is closed");
            }
            _ => return fail("refused"),
        };
        Ok(ServerReply {
            texts,
            failed: false,
        })
    }
}
