//! The configuration: that it can be read, and that its patterns can be used.

use std::path::Path;

use remora_redact::{RedactionRules, Redactor};
use remora_server::identity::look_up_project;
use remora_server::{ignore_file_fault, pattern_fault};

use super::{Diagnosis, DoctorContext, quote_path};
use crate::commands::pause::{RECALL_SWITCHED_OFF, SWITCHED_OFF};
use crate::hook::{HOME_VARIABLE, OFF_VARIABLE, RECALL_VARIABLE};
use crate::project_env::find_setter;
use remora_app::config::Config;

pub(super) fn check_config(patient: &DoctorContext) -> Vec<Diagnosis> {
    let file = patient.paths.config_file();
    let mut checks = Vec::new();
    if patient.environment.is_on(OFF_VARIABLE) {
        checks.push(Diagnosis::warn(
            "switch",
            SWITCHED_OFF,
            "`unset REMORA_OFF`",
        ));
    }
    if patient.environment.is_off(RECALL_VARIABLE) {
        let fix = "`unset REMORA_RECALL`";
        checks.push(Diagnosis::warn("switch", RECALL_SWITCHED_OFF, fix));
    }
    checks.extend(project_variables(patient));
    let here = patient.environment.directory();
    let root = here.map(|here| look_up_project(&patient.paths, here, None).project.root);
    if let Some(fault) = root.and_then(|root| ignore_file_fault(Path::new(&root))) {
        let fix = "write fewer and shorter patterns into a regular file";
        checks.push(Diagnosis::warn("ignored files", fault, fix));
    }
    let config = match Config::load(&file) {
        Ok(config) => config,
        Err(e) => {
            let fix = format!("correct {}", quote_path(&file));
            checks.push(Diagnosis::fail("configuration", e.to_string(), fix));
            return checks;
        }
    };
    let fix = |key: &str| format!("correct `{key}` in {}", quote_path(&file));
    let mut bad = Vec::new();
    for (name, pattern) in config.get_table("redact.patterns") {
        let rules = RedactionRules {
            patterns: vec![(name, pattern)],
            deny_paths: Vec::new(),
        };
        bad.extend(check_rules(&rules).map(|e| ("redact.patterns", e)));
    }
    for glob in config.get_list("redact.deny_paths") {
        let rules = RedactionRules {
            patterns: Vec::new(),
            deny_paths: vec![glob],
        };
        bad.extend(check_rules(&rules).map(|e| ("redact.deny_paths", e)));
    }
    for glob in config.get_list("capture.ignore") {
        bad.extend(pattern_fault(&glob).map(|e| ("capture.ignore", e)));
    }
    if bad.is_empty() {
        let there = file.exists();
        checks.push(Diagnosis::ok(
            "configuration",
            if there {
                "valid"
            } else {
                "defaults; there is no file"
            },
        ));
    }
    for (key, error) in bad {
        checks.push(Diagnosis::fail(
            "configuration",
            format!("{key}: {error}"),
            fix(key),
        ));
    }
    checks
}

fn check_rules(rules: &RedactionRules) -> Option<String> {
    // What a compiler of expressions says takes several lines; the last one
    // names the fault.
    let text = Redactor::new(rules).err()?.to_string();
    let first = text
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches(':');
    let last = text.lines().last().unwrap_or_default().trim();
    Some(if first == last {
        first.to_owned()
    } else {
        format!("{first}: {last}")
    })
}

/// What the settings of the project in the current directory do to memory.
fn project_variables(patient: &DoctorContext) -> Vec<Diagnosis> {
    let mut checks = Vec::new();
    if let Some(file) = find_setter(&patient.environment, OFF_VARIABLE, None) {
        checks.push(Diagnosis::warn(
            "project",
            format!(
                "{} sets {OFF_VARIABLE}: nothing is captured in this project",
                file.display()
            ),
            format!("take `{OFF_VARIABLE}` out of its `env`, if you want memory here"),
        ));
    }
    if let Some(file) = find_setter(&patient.environment, RECALL_VARIABLE, None) {
        checks.push(Diagnosis::warn(
            "project",
            format!(
                "{} sets {RECALL_VARIABLE}: off, nothing is injected in this project",
                file.display()
            ),
            format!("take `{RECALL_VARIABLE}` out of its `env`, if you want recall here"),
        ));
    }
    if let Some(file) = find_setter(&patient.environment, HOME_VARIABLE, None) {
        // The agent puts the project's value over the user's own, so a hook
        // cannot know where that led.
        let own = patient.environment.get(HOME_VARIABLE);
        let lost = own.is_some_and(|_| {
            find_setter(&patient.environment, HOME_VARIABLE, own.map(|v| &**v)).is_none()
        });
        let elsewhere = if lost {
            "; it hides your own from hooks, so events of sessions here go to ~/.remora if that is \
             there, else nowhere"
        } else {
            ""
        };
        checks.push(Diagnosis::warn(
            "project",
            format!(
                "{} sets {HOME_VARIABLE}: it does not count, since a repository must not choose where \
                 memory is kept{elsewhere}",
                file.display()
            ),
            if lost {
                format!("take `{HOME_VARIABLE}` out of its `env`")
            } else {
                format!("set `{HOME_VARIABLE}` in your shell or in your own settings")
            },
        ));
    }
    checks
}
