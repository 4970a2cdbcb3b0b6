//! A sandbox in which something is remembered: two sessions on a shop and one
//! on notes, put into the spool with moments of their own.

use serde_json::{Value, json};

use crate::sandbox::{Call, Done, Sandbox};

/// 2026-11-14 09:00 in UTC.
const FIRST: i64 = 1_794_646_800_000;
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

pub(crate) const CART: &str = "5b1c9f00-1111-4000-8000-000000000001";
pub(crate) const DISCOUNTS: &str = "7c2d9f00-2222-4000-8000-000000000002";
pub(crate) const NOTES: &str = "8d3e9f00-3333-4000-8000-000000000003";

/// A sandbox and its spool.
pub(crate) struct Remembered {
    pub(crate) sandbox: Sandbox,
    events: u32,
}

impl Remembered {
    /// Nothing yet.
    pub(crate) fn nothing() -> Self {
        Self::inside(Sandbox::new())
    }

    /// Nothing yet, in a sandbox of another kind.
    pub(crate) fn inside(sandbox: Sandbox) -> Self {
        Self { sandbox, events: 0 }
    }

    /// The three sessions, stored.
    pub(crate) fn shop() -> Self {
        let mut memory = Self::nothing();
        memory.cart();
        memory.discounts();
        let list = json!({"prompt": "List my notes about carts"});
        memory.event(NOTES, "notes", 31 * HOUR, "UserPromptSubmit", list);
        memory.store();
        memory
    }

    fn cart(&mut self) {
        let root = "/home/dev/shop";
        let file = format!("{root}/src/cart.rs");
        let failed = "Exit code 101\nrunning 2 tests\ntest cart::tests::adds ... ok\n\
            test cart::tests::empty ... FAILED\n\nfailures:\n\n---- cart::tests::empty stdout ----\n\
            thread 'cart::tests::empty' panicked at src/cart.rs:2:60:\n\
            called `Option::unwrap()` on a `None` value\n\nfailures:\n    cart::tests::empty\n\n\
            test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let passed = "running 2 tests\ntest cart::tests::adds ... ok\n\
            test cart::tests::empty ... ok\n\n\
            test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let run = json!({"command": "cargo test cart", "description": "Run the cart tests"});
        let (old, new) = (".reduce(|a, b| a + b).unwrap()", ".sum()");
        let patch = json!([{"oldStart": 1, "oldLines": 3, "newStart": 1, "newLines": 3, "lines": [
            " pub fn total(items: &[Item]) -> u64 {",
            format!("-    items.iter().map(|i| i.cents){old}"),
            format!("+    items.iter().map(|i| i.cents){new}"),
            " }",
        ]}]);
        for (minute, name, fields) in [
            (0, "SessionStart", json!({"source": "startup"})),
            (
                1,
                "UserPromptSubmit",
                json!({"prompt": "The cart test fails on an empty cart. Please fix it. \
                    We decided to keep prices in cents because floats lose money."}),
            ),
            (
                2,
                "PostToolUseFailure",
                json!({"tool_name": "Bash", "tool_input": run, "error": failed, "tool_use_id": "t1"}),
            ),
            (
                3,
                "PostToolUse",
                json!({
                    "tool_name": "Edit",
                    "tool_input": {"file_path": file, "old_string": old, "new_string": new},
                    "tool_response": {
                        "filePath": file, "oldString": old, "newString": new,
                        "structuredPatch": patch,
                    },
                    "tool_use_id": "t2",
                }),
            ),
            (
                4,
                "PostToolUse",
                json!({
                    "tool_name": "Bash", "tool_input": run, "tool_use_id": "t3",
                    "tool_response": {"stdout": passed, "stderr": "", "interrupted": false},
                }),
            ),
            (
                5,
                "Stop",
                json!({"last_assistant_message": "Fixed the empty cart: `total` now sums.\n\n\
                    Next steps:\n- add a test for a cart with a discount\n"}),
            ),
            (10, "SessionEnd", json!({"reason": "prompt_input_exit"})),
        ] {
            self.event(CART, "shop", minute * MINUTE, name, fields);
        }
    }

    fn discounts(&mut self) {
        let error = "Exit code 2\nsrc/cart.ts(14,7): error TS2322: \
            Type 'string' is not assignable to type 'number'.\n";
        for (minute, name, fields) in [
            (0, "SessionStart", json!({"source": "startup"})),
            (
                1,
                "UserPromptSubmit",
                json!({"prompt": "Add discounts to the cart. 折扣不能低于零。"}),
            ),
            (
                2,
                "PostToolUseFailure",
                json!({
                    "tool_name": "Bash", "tool_use_id": "t9", "error": error,
                    "tool_input": {"command": "npm run build", "description": "Build"},
                }),
            ),
        ] {
            self.event(DISCOUNTS, "shop", 29 * HOUR + minute * MINUTE, name, fields);
        }
    }

    /// Puts an event into the spool; the moment counts from the first one.
    pub(crate) fn event(
        &mut self,
        session: &str,
        project: &str,
        moment: i64,
        name: &str,
        fields: Value,
    ) {
        let agent = remora_agents::known_names()[0];
        self.spool(agent, session, project, moment, name, fields);
    }

    /// Puts an event of that agent into the spool, after all of the shop's.
    pub(crate) fn event_of(
        &mut self,
        agent: &str,
        session: &str,
        project: &str,
        name: &str,
        fields: Value,
    ) {
        let moment = 40 * HOUR + i64::from(self.events) * MINUTE;
        self.spool(agent, session, project, moment, name, fields);
    }

    fn spool(
        &mut self,
        agent: &str,
        session: &str,
        project: &str,
        moment: i64,
        name: &str,
        fields: Value,
    ) {
        self.events += 1;
        let id = format!("0199a000-0000-7000-8000-{:012}", self.events);
        let root = format!("/home/dev/{project}");
        let mut payload = fields;
        payload["session_id"] = json!(session);
        payload["hook_event_name"] = json!(name);
        payload["cwd"] = json!(root);
        let payload = payload.to_string();
        let envelope = json!({
            "v": 1, "id": id, "agent": agent, "at": FIRST + moment, "len": payload.len(),
            "project": {"key": format!("github.com/acme/{project}"), "name": project, "root": root},
            "branch": "main",
        });
        self.sandbox.write(
            &format!("home/.remora/spool/{id}.json"),
            format!("{envelope}\n{payload}"),
        );
    }

    /// Lets a worker take what is in the spool, and ends it.
    pub(crate) fn store(&self) {
        let drained = self.sandbox.remora(&["worker", "drain"]);
        assert_eq!(drained.leaving_a_process().go().code, Some(0));
        assert_eq!(self.sandbox.remora(&["worker", "stop"]).go().code, Some(0));
    }

    /// `remora LINE`, with the clock's times in UTC.
    pub(crate) fn call(&self, line: &str) -> Call<'_> {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        self.sandbox.remora(&words).environment("TZ", "UTC")
    }

    /// The call made: within eighty columns, without colours. The agent's
    /// name is not part of what is compared.
    pub(crate) fn go(&self, line: &str) -> Done {
        let mut done = self.call(line).go();
        for agent in remora_agents::known_names() {
            done.stdout = done.stdout.replace(agent, "[AGENT]");
        }
        let wide = done.stdout.lines().find(|line| line.chars().count() > 80);
        assert!(
            wide.is_none() || done.stdout.starts_with('{'),
            "{wide:?} is too wide"
        );
        assert!(
            !done.stdout.contains('\u{1b}'),
            "colours without a terminal"
        );
        done
    }

    /// `remora LINE --json`.
    pub(crate) fn json(&self, line: &str) -> Value {
        let (done, value) = self.call(line).json();
        assert_eq!(done.code, Some(0), "{done}");
        value
    }
}
