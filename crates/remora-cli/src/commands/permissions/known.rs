//! The rules that are in place, and whether a rule would cover a call: both as
//! the engine says. Settings are read, never written.

use std::path::{Path, PathBuf};

use remora_agents::InstallScope;
use remora_core::Permission;
use remora_hooks::{
    Engine, EngineOptions, LayerSource, PathBases, PermissionMode, Permissions, RuleText,
    SettingsPaths, build_call_input, names,
};
use serde_json::{Map, Value};

use super::rule::split_call;
use crate::commands::data::DataDir;

/// What settings say today.
#[derive(Debug)]
pub(super) struct CurrentRules {
    root: PathBuf,
    home: PathBuf,
    engine: Result<Engine, String>,
    file: PathBuf,
    of_all: bool,
}

impl CurrentRules {
    /// Reads the settings that hold in `root`, or for all projects.
    pub(super) fn load(data: &DataDir, root: Option<PathBuf>, of_all: bool) -> Self {
        let home = data.environment.home().unwrap_or_default();
        let here = data.environment.directory().cloned();
        let root = root.or(here).unwrap_or_else(|| home.clone());
        let mut places = SettingsPaths::new(root.clone(), home.clone());
        places.managed = Some(PathBuf::from(names::MANAGED_SETTINGS_DIR));
        places.sources.project = !of_all;
        places.sources.local = !of_all;
        let spec = remora_agents::permission_agent();
        let config_dir =
            spec.and_then(|spec| data.environment.get(spec.environment.config_variable));
        places.config_dir = config_dir.map(PathBuf::from);
        let scope = if of_all {
            InstallScope::User
        } else {
            InstallScope::Local
        };
        let file = spec.and_then(|spec| {
            let at = remora_agents::AgentPaths {
                home: home.clone(),
                root: root.clone(),
                config_dir: places.config_dir.clone(),
            };
            (spec.install.settings_file)(&at, scope)
        });
        let engine = Engine::load(places, EngineOptions::default()).map_err(|e| e.to_string());
        Self {
            root,
            home,
            engine,
            file: file.unwrap_or_default(),
            of_all,
        }
    }

    /// Why the settings could not be read.
    pub(super) fn load_error(&self) -> Option<&str> {
        self.engine.as_ref().err().map(String::as_str)
    }

    /// Whether every project is meant.
    pub(super) fn is_of_all(&self) -> bool {
        self.of_all
    }

    /// Where rules are to be pasted.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Which rule covers this call today, in words.
    pub(super) fn rule_for(&self, call: &str) -> Option<String> {
        let permissions = self.engine.as_ref().ok()?.permissions();
        let (tool, input) = self.tool_input(call);
        let decision =
            permissions.decide_call(tool, &input, PermissionMode::Default, self.path_bases());
        decision.rule.map(|_| decision.why)
    }

    /// Whether a rule in this list would decide this call.
    pub(super) fn would_cover(&self, rule: &str, list: Permission, call: &str) -> bool {
        let rule = RuleText {
            list,
            text: rule.to_owned(),
            source: LayerSource::Local,
            file: Some(self.file.clone()),
        };
        let permissions = Permissions::new(&[rule], Vec::new());
        let (tool, input) = self.tool_input(call);
        let decision =
            permissions.decide_call(tool, &input, PermissionMode::Default, self.path_bases());
        permissions.warnings.is_empty() && decision.permission == list
    }

    fn path_bases(&self) -> PathBases<'_> {
        PathBases {
            home: &self.home,
            start: &self.root,
            cwd: &self.root,
        }
    }

    /// The call as its tool would receive it.
    fn tool_input<'a>(&self, call: &'a str) -> (&'a str, Map<String, Value>) {
        let (tool, text) = split_call(call);
        let input = build_call_input(tool, text.unwrap_or_default(), &self.root);
        (tool, input)
    }
}
