//! What the user trusts, as Codex writes it into its settings: a table for each
//! hook, named after the file, the event and the places of the hook in it.
//!
//! A `trusted_hash` says that the user has trusted a hook at that place. How the
//! client makes it of the hook is not known here, so a hook whose text changed
//! since passes as trusted.

use std::path::PathBuf;

use toml_edit::{DocumentMut, Item, TableLike};

use super::user_config_file;
use crate::install::{HookTrust, InstalledHook, TrustSpec, TrustVerdicts, toml_error};

/// Where Codex notes which hooks the user has trusted.
pub(super) const TRUST_SPEC: TrustSpec = TrustSpec {
    file: user_config_file,
    judge_hooks,
    advice: "start `codex`, and review the hooks when it asks, or with /hooks",
};

fn judge_hooks(state: &str, files: &[PathBuf], hooks: &[InstalledHook]) -> TrustVerdicts {
    let document: DocumentMut = state.parse().map_err(|error| toml_error(state, &error))?;
    let states = document
        .get("hooks")
        .and_then(Item::as_table_like)
        .and_then(|hooks| hooks.get("state"))
        .and_then(Item::as_table_like);
    let judge = |hook: &InstalledHook| {
        // The client may have written any spelling of the path, through a link or without.
        let found = files.iter().find_map(|file| {
            let key = format!(
                "{}:{}:{}:{}",
                file.display(),
                to_snake_case(&hook.event),
                hook.group,
                hook.handler
            );
            states?.get(&key)?.as_table_like()
        });
        found.map_or(HookTrust::Untrusted, judge_state)
    };
    Ok(hooks.iter().map(judge).collect())
}

fn judge_state(state: &dyn TableLike) -> HookTrust {
    if state.get("enabled").and_then(Item::as_bool) == Some(false) {
        return HookTrust::SwitchedOff;
    }
    match state.get("trusted_hash").and_then(Item::as_str) {
        None | Some("") => HookTrust::Untrusted,
        Some(_) => HookTrust::Trusted,
    }
}

/// `SessionStart` as `session_start`.
fn to_snake_case(name: &str) -> String {
    let mut all = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !all.is_empty() {
            all.push('_');
        }
        all.push(c.to_ascii_lowercase());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::SPEC;
    use crate::install::{InstallError, find_entries};

    /// Ours comes after a group of another tool, and second in another.
    const HOOKS: &str = r#"{ "hooks": {
        "SessionStart": [ { "hooks": [ { "type": "command", "command": "/o/remora hook codex" } ] } ],
        "UserPromptSubmit": [ { "hooks": [ { "type": "command", "command": "beep" } ] },
            { "hooks": [ { "type": "command", "command": "/o/remora hook codex" } ] } ],
        "Stop": [ { "hooks": [ { "type": "command", "command": "beep" },
            { "type": "command", "command": "/o/remora hook codex" } ] } ]
    } }"#;

    fn judge(state: &str) -> Result<[HookTrust; 3], InstallError> {
        let hooks = find_entries(HOOKS, &SPEC).unwrap();
        let files = ["/h/.codex/hooks.json", "/real/hooks.json"].map(PathBuf::from);
        judge_hooks(state, &files, &hooks).map(|all| all.try_into().unwrap())
    }

    #[test]
    fn a_hook_is_trusted_at_its_place() {
        use HookTrust::{SwitchedOff, Trusted, Untrusted};
        let all = r#"
            [hooks.state]

            [hooks.state."/h/.codex/hooks.json:session_start:0:0"]
            trusted_hash = "sha256:d240"
            [hooks.state."/real/hooks.json:user_prompt_submit:1:0"]
            trusted_hash = "sha256:d241"
            [hooks.state."/h/.codex/hooks.json:stop:0:1"]
            trusted_hash = "sha256:d242"
        "#;
        let rows = [
            ("", [Untrusted; 3]),
            ("[hooks]\nstate = 7\n", [Untrusted; 3]),
            (all, [Trusted; 3]),
            (
                &all.replace("submit:1:0", "submit:0:0"),
                [Trusted, Untrusted, Trusted],
            ),
            (
                &all.replace("/h/.codex/", "/other/"),
                [Untrusted, Trusted, Untrusted],
            ),
            (
                &all.replace("\"sha256:d240\"", "\"\""),
                [Untrusted, Trusted, Trusted],
            ),
            (
                &format!("{all}\nenabled = false\n"),
                [Trusted, Trusted, SwitchedOff],
            ),
        ];
        for (state, expected) in rows {
            assert_eq!(judge(state), Ok(expected), "{state}");
        }
        assert_eq!(
            judge("a = = 1").unwrap_err().to_string(),
            "not valid TOML at line 1, column 5"
        );
    }
}
