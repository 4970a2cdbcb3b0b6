//! In the terminal program a user sees one line of ours, gets an answer, clears and leaves.

use anyhow::{Context as _, Result};

use super::super::MemoryCase;
use super::injected::collect_injected;
use super::{MOLES_CONCLUSION, has_first_session, text_reply, two_sessions_before};
use crate::client::api::ScriptedModel;
use crate::client::terminal::Terminal;

const GREETING_PREFIX: &str = "Remora remembers:";
const ANSWER_TEXT: &str = "The cormorant answers.";

pub(in super::super) fn play_screen(case: &mut MemoryCase) -> Result<()> {
    two_sessions_before(case)?;
    case.sessions += 1;
    let model = ScriptedModel::start(&[text_reply(ANSWER_TEXT), text_reply("And again.")])?;
    let project = case.house.path("project");
    let terminal = Terminal::start(&case.house, project, &case.house.client, &[], |command| {
        model.point_client(command);
    })?;
    terminal.wait("our greeting", |screen| screen.contains(GREETING_PREFIX))?;
    terminal.type_line(MOLES_CONCLUSION.question)?;
    let screen = terminal.wait("the answer", |screen| screen.contains(ANSWER_TEXT))?;
    let greetings = screen.matches(GREETING_PREFIX).count();
    terminal.type_line("/clear")?;
    terminal.wait("a clear screen", |screen| {
        !screen.contains(ANSWER_TEXT) && screen.contains(GREETING_PREFIX)
    })?;
    terminal.type_line("/exit")?;
    terminal.wait_until_ended()?;
    drop(terminal);
    case.check_equal("greetings on the screen", &greetings, &1);
    case.check_that(!screen.contains("remora-context"), || {
        format!("the user is shown what is for the model:\n{screen}")
    });
    let requests = model.main_requests();
    let texts = collect_injected(requests.first().context("no request")?);
    let asked = texts.iter().any(|injected| {
        injected.event_name() == "UserPromptSubmit"
            && injected.text.contains(MOLES_CONCLUSION.answer)
    });
    case.check_that(has_first_session(&texts) && asked, || {
        format!("the model gets {texts:?}")
    });
    Ok(())
}
