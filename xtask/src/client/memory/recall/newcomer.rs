//! Two or three sessions as somebody has them who has just installed it, in everyday words: what is
//! said in one comes back in the next where it matters, in the form that holds, and not otherwise.

use std::ffi::OsString;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::super::MemoryCase;
use super::super::talk::{TalkRequest, TalkResult};
use super::injected::{after_call, after_prompt, list_injected};
use super::{bash_call, edit_call, read_call, run_and_list_injected, text_at_event, text_reply};

/// What the user rules in passing, and why.
const PASSING_RULE: &str = "keep the limit at 3, the upstream bans us above that";
const PASSING_REASON: &str = "the upstream bans us";

/// Installs for the user, as everybody begins.
fn install_for_user(case: &MemoryCase) -> Result<()> {
    let installed = case
        .house
        .run_remora("project", &["install", "claude-code"]);
    installed.map(drop)
}

/// A session of one prompt that is stored when it is over.
fn run_prompt(case: &mut MemoryCase, prompt: &str, turns: &[Value]) -> Result<TalkResult> {
    let talk = case.run_talk(&TalkRequest {
        project: "project",
        prompt,
        turns,
        ..TalkRequest::default()
    })?;
    case.house.drain_spool()?;
    Ok(talk)
}

/// Items are embedded, and a hook may wait for the embedding of its prompt.
fn encoder_environment(case: &MemoryCase) -> Result<[(&'static str, OsString); 1]> {
    case.house.wait_for_encoder()?;
    Ok([("REMORA_EMBEDDING_BUDGET_MS", "5000".into())])
}

/// The line of a text that holds these words.
fn line_with<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    text.lines().find(|line| line.contains(words))
}

fn play_retries(case: &mut MemoryCase, rule: &str) -> Result<()> {
    case.house
        .write_file("project/src/retry.py", "LIMIT = 1\n")?;
    let turns = [
        read_call(case, "toolu_retry_read", "src/retry.py"),
        edit_call(
            case,
            "toolu_retry_edit",
            "src/retry.py",
            "LIMIT = 1",
            "LIMIT = 3",
        ),
        bash_call("toolu_retry_look", "ls src"),
        text_reply(
            "Retries are in: `src/retry.py` tries three times.\n\nNext steps:\n- add jitter to the \
             waits",
        ),
    ];
    let prompt = format!("Add retries to the fetcher. {rule}");
    run_prompt(case, &prompt, &turns).map(drop)
}

fn play_export(case: &mut MemoryCase) -> Result<()> {
    case.house
        .write_file("project/src/export.py", "def rows():\n    return []\n")?;
    let turns = [
        read_call(case, "toolu_export_read", "src/export.py"),
        edit_call(
            case,
            "toolu_export_edit",
            "src/export.py",
            "return []",
            "return [';']",
        ),
        text_reply(
            "The export writes `report.csv` with a semicolon. I tried the csv module first and \
             dropped it: it quotes numbers, which the ERP rejects.\n\nNext steps:\n- header row \
             from the config\n- a test with umlauts",
        ),
    ];
    let prompt = "We need a csv export of the monthly report, quick one";
    run_prompt(case, prompt, &turns).map(drop)
}

/// "Continue" brings the newest working session and its open steps, not the oldest, whatever was
/// only chatted about since.
pub(in super::super) fn goes_on(case: &mut MemoryCase) -> Result<()> {
    install_for_user(case)?;
    play_retries(case, PASSING_RULE)?;
    play_export(case)?;
    let answer = [text_reply("It writes a semicolon.")];
    run_prompt(case, "Which separator does the export write?", &answer)?;
    run_prompt(case, "thanks, that's it for today", &[text_reply("Bye.")])?;
    for prompt in ["continue", "where were we?"] {
        let texts = run_and_list_injected(case, "project", prompt)?;
        let injected = text_at_event(&texts, "UserPromptSubmit");
        for words in [
            "the ERP rejects",
            "header row from the config",
            "a test with umlauts",
        ] {
            case.check_that(injected.contains(words), || {
                format!("{prompt:?} does not bring `{words}`: {texts:#?}")
            });
        }
        for old in ["jitter", "three times"] {
            case.check_that(!injected.contains(old), || {
                format!("{prompt:?} brings older work: {injected}")
            });
        }
        let start = text_at_event(&texts, "SessionStart");
        case.check_that(start.contains("header row from the config"), || {
            format!("the briefing lacks the open step: {start}")
        });
        for noise in ["Read src/", "Listed", "Looked", "ls src"] {
            case.check_that(!start.contains(noise), || {
                format!("the briefing holds what was only read ({noise}): {start}")
            });
        }
    }
    Ok(())
}

/// What is about to break what the user said brings it, with its reason.
pub(in super::super) fn rule_holds(case: &mut MemoryCase) -> Result<()> {
    install_for_user(case)?;
    play_retries(case, PASSING_RULE)?;
    play_export(case)?;
    // In a session that begins with it, and in one that has begun.
    let raise = "Raise the retry limit to 5";
    let first = run_and_list_injected(case, "project", raise)?;
    let instead = "why don't we just retry 10 times?";
    let talk = case.run_talk(&TalkRequest {
        project: "project",
        prompt: "ok",
        then: &[instead],
        turns: &[text_reply("Ready."), text_reply("Noted.")],
        ..TalkRequest::default()
    })?;
    for (prompt, texts) in [(raise, first), (instead, list_injected(&talk))] {
        // At the prompt that breaks it, though the briefing has it as well.
        let injected = text_at_event(&texts, "UserPromptSubmit");
        case.check_that(injected.contains(PASSING_REASON), || {
            format!("{prompt:?} does not bring the rule: {texts:#?}")
        });
    }
    Ok(())
}

/// The start of the next session lists a rule as one in force, with its reason.
pub(in super::super) fn rule_is_listed(case: &mut MemoryCase) -> Result<()> {
    install_for_user(case)?;
    play_retries(case, PASSING_RULE)?;
    play_export(case)?;
    let texts = run_and_list_injected(case, "project", "Raise the retry limit to 5")?;
    let start = text_at_event(&texts, "SessionStart");
    let listed = line_with(start, "limit at 3");
    case.check_that(
        listed.is_some_and(|line| line.contains(PASSING_REASON)),
        || format!("the start does not list the rule with its reason: {start}"),
    );
    // It is there by itself, not as something that was once asked.
    case.check_that(listed.is_some_and(|line| !line.contains("asked:")), || {
        format!("the rule is not injected as a statement: {start}")
    });
    Ok(())
}

/// A decision that was changed later comes in its changed form only.
pub(in super::super) fn changed_decision(case: &mut MemoryCase) -> Result<()> {
    install_for_user(case)?;
    case.house
        .write_file("project/src/cache.py", "MINUTES = 5\n")?;
    let turns = [
        read_call(case, "toolu_ten_read", "src/cache.py"),
        edit_call(
            case,
            "toolu_ten",
            "src/cache.py",
            "MINUTES = 5",
            "MINUTES = 10",
        ),
        text_reply("Cached reports expire after 10 minutes now."),
    ];
    let prompt = "Cached reports should expire after 10 minutes, so that the numbers stay fresh.";
    run_prompt(case, prompt, &turns)?;
    let turns = [
        read_call(case, "toolu_thirty_read", "src/cache.py"),
        edit_call(
            case,
            "toolu_thirty",
            "src/cache.py",
            "MINUTES = 10",
            "MINUTES = 30",
        ),
        text_reply("Cached reports expire after 30 minutes now."),
    ];
    let prompt = "Change of plan: let cached reports expire after 30 minutes instead of 10, the \
                  database cannot keep up.";
    run_prompt(case, prompt, &turns)?;
    play_export(case)?;
    for prompt in [
        "How long until cached reports expire, and why?",
        "Cache the weekly reports like the other cached reports, they should expire alike.",
    ] {
        let texts = run_and_list_injected(case, "project", prompt)?;
        let all: String = texts
            .iter()
            .map(|injected| injected.text.as_str())
            .collect();
        case.check_that(all.contains("30 minutes"), || {
            format!("{prompt:?} does not bring the decision: {texts:#?}")
        });
        for old in ["expire after 10 minutes", "stay fresh"] {
            case.check_that(!all.contains(old), || {
                format!("{prompt:?} brings the decision that was changed: {texts:#?}")
            });
        }
    }
    Ok(())
}

/// `Remember: …` in a prompt is injected at the next start.
pub(in super::super) fn play_remembers(case: &mut MemoryCase) -> Result<()> {
    install_for_user(case)?;
    run_prompt(
        case,
        "Remember: the staging server is wiped every Monday at 6.",
        &[text_reply("Noted.")],
    )?;
    let texts = run_and_list_injected(case, "project", "ok")?;
    let start = text_at_event(&texts, "SessionStart");
    case.check_that(start.contains("wiped every Monday at 6"), || {
        format!("what the user asked to remember is not in the briefing: {texts:#?}")
    });
    Ok(())
}

/// A failure behind a wrapper gets its old fix, another failure of the wrapper gets nothing.
pub(in super::super) fn wrapped_failure(case: &mut MemoryCase) -> Result<()> {
    install_for_user(case)?;
    // Prints what lies in a file, as a runner does, until it is empty.
    let make = "#!/bin/sh\n[ -s failure.txt ] || { echo ok; exit 0; }\ncat failure.txt\necho \
                'make: *** [Makefile:4: check] Error 1'\nexit 2\n";
    case.house.write_script("bin/make", make)?;
    let failure = |file: &str, line: u32| {
        format!(
            "Traceback (most recent call last):\n  File \"{file}\", line {line}, in load\n    \
             frame = frame[frame.at > since]\nTypeError: Cannot compare tz-naive and tz-aware \
             datetime-like objects\n"
        )
    };
    case.house
        .write_file("project/src/load.py", "since = now()\n")?;
    case.house
        .write_file("project/failure.txt", &failure("src/load.py", 12))?;
    let mut turns = vec![
        bash_call("toolu_make_failing", "make check"),
        read_call(case, "toolu_make_read", "src/load.py"),
        edit_call(
            case,
            "toolu_make_edit",
            "src/load.py",
            "now()",
            "now(tz=UTC)",
        ),
        bash_call("toolu_make_empty", ": > failure.txt"),
        bash_call("toolu_make_passing", "make check"),
        text_reply("The check passes: both sides have a time zone now."),
    ];
    run_prompt(case, "make check fails, please look", &turns)?;
    // The same error elsewhere, then another one behind the same wrapper.
    case.house
        .write_file("project/failure.txt", &failure("src/report.py", 88))?;
    let other = "Traceback (most recent call last):\n  File \"src/mail.py\", line 3, in send\n    \
                 smtp.login(user)\nsmtplib.SMTPAuthenticationError: (535, b'credentials \
                 rejected')\n";
    case.house.write_file("project/other.txt", other)?;
    turns = vec![
        bash_call("toolu_same", "make check"),
        bash_call("toolu_swap", "cp other.txt failure.txt"),
        bash_call("toolu_other", "make check"),
        text_reply("Seen."),
    ];
    let talk = run_prompt(case, "run the checks", &turns)?;
    let last = talk.requests.last().context("no request")?;
    let same = after_call(last, "toolu_same");
    let shows_fix = |injected: &super::InjectedText| {
        injected.event_name() == "PostToolUseFailure" && injected.text.contains("now(tz=UTC)")
    };
    case.check_that(same.len() == 1 && same.iter().all(shows_fix), || {
        format!("the same error through `make` brings {same:?}")
    });
    let other = after_call(last, "toolu_other");
    case.check_equal("another error through `make`", &other, &Vec::new());
    Ok(())
}

/// A test that fails behind `| tail`, so that the client sees a success, gets its old fix;
/// calls that pass get nothing.
pub(in super::super) fn piped_failure(case: &mut MemoryCase) -> Result<()> {
    install_for_user(case)?;
    super::lay_out(case)?;
    let piped = "sh check.sh 2>&1 | tail -30";
    let turns = [
        bash_call("toolu_piped_failing", piped),
        read_call(case, "toolu_piped_read", super::FIXED_FILE),
        edit_call(
            case,
            "toolu_piped_edit",
            super::FIXED_FILE,
            "[m for m in metres]",
            "[m * 1000 for m in metres]",
        ),
        bash_call("toolu_piped_passing", piped),
        text_reply("The levels are millimetres now."),
    ];
    run_prompt(case, "the gauge check fails, please look", &turns)?;
    // The briefing would hold all that is known of so small a project.
    let off = ["config", "set", "recall.start_tokens", "0"];
    case.house.run_remora("project", &off)?;
    let elsewhere = super::format_failure("/build/77/tests/test_gauge.py", 19);
    case.house.write_file("project/failure.txt", &elsewhere)?;
    case.house
        .write_file("project/check.sh", "cat failure.txt\nexit 1\n")?;
    let turns = [
        bash_call("toolu_quiet", "echo '1 passed in 0.01s' | tail -30"),
        bash_call("toolu_again", piped),
        text_reply("Seen."),
    ];
    let talk = run_prompt(case, "run the checks", &turns)?;
    let last = talk.requests.last().context("no request")?;
    let again = after_call(last, "toolu_again");
    let shows_fix = |injected: &super::InjectedText| {
        injected.event_name() == "PostToolUse" && injected.text.contains("m * 1000")
    };
    case.check_that(again.len() == 1 && again.iter().all(shows_fix), || {
        format!("the same failure behind a filter brings {again:?}")
    });
    let quiet = after_call(last, "toolu_quiet");
    case.check_equal("a call that passed", &quiet, &Vec::new());
    Ok(())
}

/// What was said of a file comes when it is read under its new name.
pub(in super::super) fn moved_file(case: &mut MemoryCase) -> Result<()> {
    install_for_user(case)?;
    case.house
        .write_file("project/src/parse.py", "LIMIT = 1\n")?;
    case.house.run_git("project", &["add", "-A"])?;
    case.house
        .run_git("project", &["commit", "-q", "-m", "parse"])?;
    let turns = [
        read_call(case, "toolu_parse_read", "src/parse.py"),
        edit_call(
            case,
            "toolu_parse",
            "src/parse.py",
            "LIMIT = 1",
            "LIMIT = 64",
        ),
        text_reply(
            "The parser reads 64 KB at most. I tried 1 MB and dropped that: 9 s on the mail box.",
        ),
    ];
    let prompt = "Give the parser a limit. Never use eval in src/parse.py, because the input is \
                  hostile.";
    run_prompt(case, prompt, &turns)?;
    play_export(case)?;
    let moving = bash_call("toolu_move", "git mv src/parse.py src/reader.py");
    run_prompt(
        case,
        "Call it reader.py",
        &[moving, text_reply("It is moved.")],
    )?;
    case.house
        .run_git("project", &["commit", "-q", "-a", "-m", "move"])?;
    // The briefing would hold all that is known of so small a project.
    let off = ["config", "set", "recall.start_tokens", "0"];
    case.house.run_remora("project", &off)?;
    let turns = [
        read_call(case, "toolu_moved", "src/reader.py"),
        text_reply("Read."),
    ];
    let talk = run_prompt(case, "ok", &turns)?;
    let last = talk.requests.last().context("no request")?;
    let texts = after_call(last, "toolu_moved");
    let injected: String = texts
        .iter()
        .map(|injected| injected.text.as_str())
        .collect();
    for words in [
        "Never use eval",
        "the input is hostile",
        "9 s on the mail box",
    ] {
        case.check_that(injected.contains(words), || {
            format!("`{words}` is not injected beside the moved file: {texts:?}")
        });
    }
    Ok(())
}

/// Thanks, and work that has nothing to do with what is remembered, bring nothing.
pub(in super::super) fn play_silence(case: &mut MemoryCase) -> Result<()> {
    install_for_user(case)?;
    play_retries(case, PASSING_RULE)?;
    play_export(case)?;
    let prompts = [
        "thanks, great work!",
        "Find a good recipe for sourdough bread",
        "Write a function that converts Roman numerals to integers",
        "perfect, thank you",
    ];
    for prompt in prompts {
        let texts = run_and_list_injected(case, "project", prompt)?;
        let injected = text_at_event(&texts, "UserPromptSubmit").to_owned();
        case.check_that(injected.is_empty(), || {
            format!("first: {prompt:?} brings {injected}")
        });
    }
    // The same within one session, after one that has to do with it.
    let said = ["Noted."; 5].map(text_reply);
    let talk = case.run_talk(&TalkRequest {
        project: "project",
        prompt: "Why did we drop the csv module for the export?",
        then: &prompts,
        turns: &said,
        ..TalkRequest::default()
    })?;
    let first = list_injected(&talk);
    case.check_that(
        text_at_event(&first, "SessionStart").contains("quotes numbers"),
        || format!("nothing is injected at all: {first:#?}"),
    );
    let last = talk.requests.last().context("no request")?;
    for prompt in prompts {
        case.check_equal(prompt, &after_prompt(last, prompt), &Vec::new());
    }
    Ok(())
}

/// The same with the encoder, as on any day but the first.
pub(in super::super) fn with_encoder(case: &mut MemoryCase) -> Result<()> {
    install_for_user(case)?;
    play_retries(case, PASSING_RULE)?;
    play_export(case)?;
    let env = encoder_environment(case)?;
    for (prompt, wanted) in [
        ("thanks, great work!", None),
        ("Find a good recipe for sourdough bread", None),
        (
            "Write a function that converts Roman numerals to integers",
            None,
        ),
        ("why don't we just retry 10 times?", Some(PASSING_REASON)),
        ("Raise the retry limit to 5", Some(PASSING_REASON)),
    ] {
        let talk = case.run_talk(&TalkRequest {
            project: "project",
            prompt,
            turns: &[text_reply("Noted.")],
            env: &env,
            ..TalkRequest::default()
        })?;
        let texts = list_injected(&talk);
        let holds = match wanted {
            Some(words) => texts.iter().any(|injected| injected.text.contains(words)),
            None => text_at_event(&texts, "UserPromptSubmit").is_empty(),
        };
        case.check_that(holds, || format!("{prompt:?} brings {texts:#?}"));
    }
    Ok(())
}
