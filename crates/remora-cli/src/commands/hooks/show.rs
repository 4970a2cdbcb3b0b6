//! Reports, explanations and lists as text.

use std::fmt::Write;

use remora_core::text::cut_chars;
use remora_core::{EVENTS, EventName, Outcome, Permission};
use remora_hooks::{Engine, Explanation, HandlerInfo, HandlerReport, HandlerStatus, Report};
use serde_json::{Value, json};

use crate::output::{Output, Style, escape_invisible};

/// `[User]`, `[Plugin fmt]`.
fn format_badge(info: &HandlerInfo) -> String {
    let label = info.source.label();
    match &info.plugin {
        Some(name) => label.replace(']', &format!(" {name}]")),
        None => label.to_owned(),
    }
}

fn format_title(event: &str, query: Option<&str>, out: &Output) -> String {
    let query = query.map_or_else(String::new, |q| format!(" {q}"));
    format!("{}{query}\n", out.paint(Style::Bold, event))
}

fn one_line(text: &str, width: usize) -> String {
    let flat: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if cut_chars(&flat, width).is_none() {
        return flat;
    }
    let cut = cut_chars(&flat, width.saturating_sub(1)).unwrap_or(&flat);
    format!("{cut}…")
}

fn indent_lines(text: &str, by: &str) -> String {
    text.trim_end()
        .lines()
        .fold(String::new(), |mut all, line| {
            let _ = writeln!(all, "{by}{line}");
            all
        })
}

fn render_warnings(list: &[String], out: &Output) -> String {
    list.iter().fold(String::new(), |mut all, warning| {
        let _ = writeln!(
            all,
            "{} {}",
            out.paint(Style::Yellow, "warning:"),
            escape_invisible(warning)
        );
        all
    })
}

/// The result of a run.
pub(crate) fn render_report(report: &Report, out: &Output) -> String {
    let mut text = format_title(report.event, report.query.as_deref(), out);
    if report.handlers.is_empty() {
        text.push_str("  no handler matches\n");
    }
    for handler in &report.handlers {
        text.push_str(&handler_lines(handler, out));
    }
    text.push_str(&outcome_lines(&report.outcome, out));
    text.push_str(&render_warnings(&report.warnings, out));
    text
}

fn handler_lines(handler: &HandlerReport, out: &Output) -> String {
    let (mark, word, style) = match handler.status {
        HandlerStatus::Ok => ("✓", "ok", Style::Green),
        HandlerStatus::Blocked => ("✗", "blocked", Style::Red),
        HandlerStatus::Error => ("!", "error", Style::Yellow),
        HandlerStatus::Timeout => ("!", "timeout", Style::Yellow),
        HandlerStatus::Background => ("…", "background", Style::Cyan),
        HandlerStatus::Cancelled => ("!", "cancelled", Style::Yellow),
        HandlerStatus::Skipped => ("-", "skipped", Style::Dim),
    };
    let code = handler
        .exit_code
        .map_or_else(String::new, |c| format!(", exit {c}"));
    let took = if handler.status == HandlerStatus::Skipped {
        String::new()
    } else {
        format!(", {} ms", handler.duration_ms)
    };
    let mut text = format!(
        "  {} {} {}  {}{code}{took}\n",
        out.paint(style, mark),
        out.paint(Style::Cyan, &format_badge(&handler.info)),
        one_line(&handler.info.label, 70),
        out.paint(style, word),
    );
    if !handler.why.is_empty() {
        text.push_str(&indent_lines(
            &out.paint(Style::Dim, &escape_invisible(&handler.why)),
            "      ",
        ));
    }
    if handler.status != HandlerStatus::Ok && !handler.stderr.trim().is_empty() {
        text.push_str(&indent_lines(
            &format!("stderr: {}", one_line(handler.stderr.trim(), 200)),
            "      ",
        ));
    }
    text
}

fn outcome_lines(outcome: &Outcome, out: &Output) -> String {
    let mut text = String::new();
    let verdict = match outcome.final_decision {
        Some(Permission::Deny) => (Style::Red, "deny"),
        Some(Permission::Ask) => (Style::Yellow, "ask the user"),
        Some(Permission::Defer) => (Style::Yellow, "defer"),
        Some(Permission::Allow) => (Style::Green, "allow"),
        None if outcome.blocked => (Style::Red, "blocked"),
        None if !outcome.go_on => (Style::Red, "stopped"),
        None => (Style::Green, "go on"),
    };
    let _ = writeln!(text, "  → {}", out.paint(verdict.0, verdict.1));
    let mut row = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            let _ = write!(
                text,
                "{}",
                indent_lines(
                    &format!("{name}: {}", escape_invisible(value.trim_end())),
                    "    "
                )
            );
        }
    };
    row("because", outcome.final_why.as_deref());
    row("reason", outcome.reason.as_deref());
    if !outcome.go_on {
        row(
            "the turn ends",
            Some(outcome.stop_reason.as_deref().unwrap_or("")),
        );
    }
    for context in &outcome.context {
        row("for the model", Some(context));
    }
    for message in &outcome.messages {
        row("for the user", Some(message));
    }
    let json = |value: &Option<Value>| value.as_ref().map(Value::to_string);
    let input = outcome.updated_input.clone().map(Value::Object);
    row("new input", json(&input).as_deref());
    row("new output", json(&outcome.updated_output).as_deref());
    row(
        "permission updates",
        json(&outcome.updated_permissions).as_deref(),
    );
    row(
        "summary instructions",
        outcome.compact_instructions.as_deref(),
    );
    row("first prompt", outcome.initial_user_message.as_deref());
    row("session title", outcome.session_title.as_deref());
    row("shown instead", outcome.display_content.as_deref());
    row("worktree", outcome.worktree_path.as_deref());
    row(
        "terminal",
        outcome
            .terminal_sequence
            .as_ref()
            .map(|t| format!("{t:?}"))
            .as_deref(),
    );
    for path in &outcome.watch_paths {
        row("watch", Some(path));
    }
    for (name, value) in &outcome.env {
        row(
            "variable",
            Some(&format!("{name}={}", value.as_str().unwrap_or_default())),
        );
    }
    text
}

/// Which handlers would run, and why.
pub(super) fn render_explanation(explanation: &Explanation, out: &Output) -> String {
    let mut text = format_title(explanation.event, explanation.query.as_deref(), out);
    if explanation.handlers.is_empty() {
        text.push_str("  no handler is configured for this event\n");
    }
    for handler in &explanation.handlers {
        let (mark, style) = if handler.matches {
            ("✓ runs", Style::Green)
        } else {
            ("✗ does not run", Style::Red)
        };
        let _ = writeln!(
            text,
            "  {}  {} {}",
            out.paint(style, mark),
            out.paint(Style::Cyan, &format_badge(&handler.info)),
            one_line(&handler.info.label, 70)
        );
        text.push_str(&indent_lines(&escape_invisible(&handler.why), "      "));
        let file = handler.info.file.as_deref().unwrap_or("--settings");
        text.push_str(&indent_lines(
            &out.paint(Style::Dim, &format!("{file}  {}", handler.info.id)),
            "      ",
        ));
    }
    text.push_str(&render_warnings(&explanation.warnings, out));
    text
}

/// All hooks by event.
pub(super) fn list_text(engine: &Engine, only: Option<EventName>, out: &Output) -> String {
    let mut text = String::new();
    for def in EVENTS.iter().filter(|d| only.is_none_or(|o| o == d.name)) {
        let rows: Vec<_> = engine
            .handlers()
            .filter(|(e, _)| e.event == def.name)
            .collect();
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(
            text,
            "{}  {}",
            out.paint(Style::Bold, def.text),
            out.paint(Style::Dim, def.doc.trim())
        );
        for (entry, held) in rows {
            let info = HandlerInfo::new(entry);
            let mut line = format!("  {}", out.paint(Style::Cyan, &format_badge(&info)));
            if let Some(matcher) = info.matcher.as_deref().filter(|m| !m.is_empty()) {
                let _ = write!(line, " {}", one_line(matcher, 40));
            }
            if let Some(condition) = &info.condition {
                let _ = write!(line, " if {}", one_line(condition, 40));
            }
            let _ = writeln!(text, "{line}  {}: {}", info.kind, one_line(&info.label, 80));
            if let Some(why) = held {
                text.push_str(&indent_lines(
                    &out.paint(Style::Yellow, &format!("off: {why}")),
                    "      ",
                ));
            }
        }
    }
    if text.is_empty() {
        text.push_str("no hooks are configured\n");
    }
    text.push_str(&render_warnings(&engine.load_warnings(), out));
    text
}

/// The same for programs.
pub(super) fn list_json(engine: &Engine, only: Option<EventName>) -> Value {
    let events: Vec<Value> = EVENTS
        .iter()
        .filter(|d| only.is_none_or(|o| o == d.name))
        .filter_map(|def| {
            let handlers: Vec<Value> = engine
                .handlers()
                .filter(|(e, _)| e.event == def.name)
                .map(|(entry, held)| {
                    let mut row = json!(HandlerInfo::new(entry));
                    row["label_source"] = entry.place.source.label().into();
                    row["off"] = held.into();
                    row
                })
                .collect();
            (!handlers.is_empty())
                .then(|| json!({"event": def.text, "about": def.doc.trim(), "handlers": handlers}))
        })
        .collect();
    json!({"warnings": engine.load_warnings(), "events": events})
}
