//! Every method in one table: what runs it, what it takes and what it answers.

use std::sync::Arc;

use serde_json::Value;

use crate::message::{RpcError, UNKNOWN_METHOD};
use crate::methods as run;
use crate::params::Params;
use crate::server::Server;
use crate::shapes::{self as shape, Field, needed, optional};

/// How a method is run.
pub(crate) enum Method {
    /// At once, before the next request is read.
    Direct(fn(&Arc<Server>, Params) -> Result<Value, RpcError>),
    /// In a thread of its own.
    Fire,
}

/// One method.
pub(crate) struct MethodRow {
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) doc: &'static str,
    pub(crate) method: Method,
    /// What it takes; anything else is an error.
    pub(crate) params: &'static [Field],
    /// What it answers.
    pub(crate) result: &'static [Field],
}

const SESSION: Field = needed("session", shape::text);

/// All of them, in the order in which `initialize` lists them.
pub(crate) const METHODS: &[MethodRow] = &[
    MethodRow {
        name: "initialize",
        doc: "Says what this server is. It need not be called.",
        method: Method::Direct(run::initialize),
        params: &[],
        result: &[
            needed("name", shape::text),
            needed("version", shape::text),
            needed("protocol", shape::integer),
            needed("methods", shape::texts),
            needed("events", shape::event_names),
        ],
    },
    MethodRow {
        name: "open",
        doc: "Opens a session.",
        method: Method::Direct(run::open),
        params: &[
            optional("project", shape::text),
            optional("home", shape::text),
            optional("managed", shape::text),
            optional("settings", shape::file_or_object),
            optional("plugins", shape::texts),
            optional("mcp_config", shape::files_or_objects),
            optional("setting_sources", shape::setting_sources),
            optional("permission_mode", shape::permission_mode),
            optional("mode", shape::engine_mode),
            optional("attendance", shape::attendance),
            optional("trusted", shape::flag),
            optional("watch", shape::flag),
            optional("observe_handlers", shape::flag),
            optional("environment", shape::environment),
            optional("memory", shape::flag),
            optional("state", shape::object),
        ],
        result: &[SESSION, needed("warnings", shape::texts)],
    },
    MethodRow {
        name: "fire",
        doc: "Fires an event: runs its handlers and decides.",
        method: Method::Fire,
        params: &[
            SESSION,
            needed("event", shape::event),
            optional("conversation", shape::conversation),
            optional("timeout_seconds", shape::seconds),
        ],
        result: &[
            needed("event", shape::event),
            needed("report", shape::report),
            needed("deliveries", shape::deliveries),
            needed("stop", shape::stop_decision),
            needed("reload", shape::reload_result),
        ],
    },
    MethodRow {
        name: "preview",
        doc: "Says which handlers an event would run, and why. Nothing is run.",
        method: Method::Direct(run::preview),
        params: &[SESSION, needed("event", shape::event)],
        result: &[
            needed("event", shape::event_name),
            needed("query", shape::query),
            needed("warnings", shape::texts),
            needed("handlers", shape::handlers),
        ],
    },
    MethodRow {
        name: "take_deliveries",
        doc: "Takes what the next request to the model also carries.",
        method: Method::Direct(run::take_deliveries),
        params: &[SESSION, needed("point", shape::request_point)],
        result: &[needed("deliveries", shape::deliveries)],
    },
    MethodRow {
        name: "end_turn",
        doc: "The turn ended without `Stop`.",
        method: Method::Direct(run::end_turn),
        params: &[SESSION],
        result: &[],
    },
    MethodRow {
        name: "status",
        doc: "Says how the session stands.",
        method: Method::Direct(run::read_status),
        params: &[SESSION],
        result: &[
            needed("phase", shape::phase),
            needed("stop_hook_active", shape::flag),
            needed("shell_prelude", shape::text),
            needed("running", shape::running_handlers),
        ],
    },
    MethodRow {
        name: "snapshot",
        doc: "Returns the session's state, which `open` takes.",
        method: Method::Direct(run::snapshot),
        params: &[SESSION],
        result: &[needed("state", shape::object)],
    },
    MethodRow {
        name: "reload",
        doc: "Reads the settings again without asking a hook.",
        method: Method::Direct(run::reload),
        params: &[SESSION],
        result: &[needed("warnings", shape::texts)],
    },
    MethodRow {
        name: "register_callback",
        doc: "Registers the host's own code as a hook.",
        method: Method::Direct(run::register_callback),
        params: &[
            SESSION,
            needed("callback", shape::text),
            needed("event", shape::event_name),
            optional("matcher", shape::text),
            optional("timeout_seconds", shape::seconds),
            optional("failure_blocks", shape::flag),
        ],
        result: &[],
    },
    MethodRow {
        name: "remove_callback",
        doc: "Takes a callback back.",
        method: Method::Direct(run::remove_callback),
        params: &[SESSION, needed("callback", shape::text)],
        result: &[needed("removed", shape::flag)],
    },
    MethodRow {
        name: "add_skill",
        doc: "A skill was used: its hooks run in the main conversation.",
        method: Method::Direct(run::add_skill),
        params: &[
            SESSION,
            needed("name", shape::text),
            needed("hooks", shape::object),
            needed("origin", shape::origin),
            optional("file", shape::text),
        ],
        result: &[],
    },
    MethodRow {
        name: "clear_skills",
        doc: "The hooks of all skills are over.",
        method: Method::Direct(run::clear_skills),
        params: &[SESSION],
        result: &[],
    },
    MethodRow {
        name: "add_hooks",
        doc: "Adds hooks for the whole session under a name.",
        method: Method::Direct(run::add_hooks),
        params: &[
            SESSION,
            needed("name", shape::text),
            needed("hooks", shape::object),
            optional("file", shape::text),
        ],
        result: &[],
    },
    MethodRow {
        name: "remove_hooks",
        doc: "Takes the hooks of a name back.",
        method: Method::Direct(run::remove_hooks),
        params: &[SESSION, needed("name", shape::text)],
        result: &[needed("removed", shape::flag)],
    },
    MethodRow {
        name: "add_agent",
        doc: "A subagent begins, or the session is an agent: its hooks run for it.",
        method: Method::Direct(run::add_agent),
        params: &[
            SESSION,
            optional("agent_id", shape::text),
            needed("name", shape::text),
            needed("hooks", shape::object),
            needed("origin", shape::origin),
            optional("file", shape::text),
        ],
        result: &[],
    },
    MethodRow {
        name: "remove_agent",
        doc: "A subagent ended without `SubagentStop`, or the session is no agent any more.",
        method: Method::Direct(run::remove_agent),
        params: &[SESSION, optional("agent_id", shape::text)],
        result: &[needed("removed", shape::flag)],
    },
    MethodRow {
        name: "list_watched_paths",
        doc: "Lists the paths whose changes matter, for hosts with a watcher of their own.",
        method: Method::Direct(run::list_watched_paths),
        params: &[SESSION],
        result: &[needed("paths", shape::texts)],
    },
    MethodRow {
        name: "describe_change",
        doc: "Says which events to fire because of a change.",
        method: Method::Direct(run::describe_change),
        params: &[
            SESSION,
            needed("path", shape::text),
            needed("kind", shape::change_kind),
        ],
        result: &[needed("events", shape::events)],
    },
    MethodRow {
        name: "close",
        doc: "Closes the session, behind `SessionEnd`.",
        method: Method::Direct(run::close),
        params: &[SESSION, optional("end_all", shape::flag)],
        result: &[needed("running", shape::integer)],
    },
];

pub(crate) fn find_method(name: &str) -> Result<&'static MethodRow, RpcError> {
    let found = METHODS.iter().find(|row| row.name == name);
    found.ok_or_else(|| RpcError::about(UNKNOWN_METHOD, name, "is no method"))
}
