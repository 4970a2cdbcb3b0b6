//! Whether the user lets the agent run our hooks, where it asks first.

use std::path::PathBuf;

use remora_agents::install::HookTrust;
use remora_agents::{AgentPaths, AgentSpec};
use remora_files::{MAX_CLIENT_STATE_BYTES, read_text};

use super::super::Diagnosis;
use super::{CHECK_NAME, RegistrationStatus};
use crate::commands::show::lines::format_count;

pub(super) fn check_trust(
    install: &RegistrationStatus,
    spec: &AgentSpec,
    places: &AgentPaths,
) -> Vec<Diagnosis> {
    let Some(trust) = &spec.install.trust else {
        return Vec::new();
    };
    let file = (trust.file)(places);
    let text = match read_text(&file, MAX_CLIENT_STATE_BYTES) {
        Err(e) if e.is_missing() => String::new(),
        Err(e) => return vec![diagnose_unreadable(&file, &e.to_string(), spec)],
        Ok(text) => text,
    };
    let judged = match (trust.judge_hooks)(&text, &path_spellings(install), &install.entries) {
        Err(e) => return vec![diagnose_unreadable(&file, &e.to_string(), spec)],
        Ok(judged) => judged,
    };
    let shown = install.file.display();
    let events_of = |wanted: HookTrust| -> Vec<&str> {
        let both = install.entries.iter().zip(&judged);
        both.filter(|(_, trust)| **trust == wanted)
            .map(|(entry, _)| entry.event.as_str())
            .collect()
    };
    let count = install.entries.len() as u64;
    let diagnose = |(wanted, what): (HookTrust, &str)| {
        let events = events_of(wanted);
        let of_all = format_count(count, "hook", "hooks");
        (!events.is_empty()).then(|| {
            Diagnosis::warn(
                CHECK_NAME,
                format!(
                    "{shown}: {} does not run {} of our {of_all}: {what} in {}: {}",
                    spec.name,
                    events.len(),
                    file.display(),
                    events.join(", ")
                ),
                trust.advice,
            )
        })
    };
    let faults = [
        (HookTrust::Untrusted, "not trusted"),
        (HookTrust::SwitchedOff, "switched off"),
    ];
    faults.into_iter().filter_map(diagnose).collect()
}

/// The path as we write it, and as the agent may have resolved it.
fn path_spellings(install: &RegistrationStatus) -> Vec<PathBuf> {
    let mut all = vec![install.file.clone()];
    all.extend(install.file.canonicalize());
    all
}

fn diagnose_unreadable(file: &std::path::Path, why: &str, spec: &AgentSpec) -> Diagnosis {
    Diagnosis::fail(
        CHECK_NAME,
        format!(
            "{}: {why}; which hooks {} may run is in it",
            file.display(),
            spec.name
        ),
        "correct the file at that place",
    )
}
