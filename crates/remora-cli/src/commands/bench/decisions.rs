//! `remora bench decisions`: plays chats in which something was decided through
//! the pipeline that people have, begins a session with each task, and looks
//! whether what was decided stands in what would be given.

mod chats;
mod rule;

use std::time::Instant;

use remora_client::{InjectionLog, locate_project};
use remora_core::ids::SessionId;
use remora_core::tokens;
use remora_embed::LazyEncoder;
use remora_memory::prompt_embedding::PromptEmbedding;
use remora_memory::recall::{RecallResult, RecallTrigger, recall};
use serde_json::{Value, json};

use super::load_encoder;
use super::recall::player::{self, PlayedProject};
use super::recall::set::BenchProject;
use crate::args::SearchTierArg;
use crate::args::{BenchDecisionsArgs, BenchHalf};
use crate::clock;
use crate::commands::progress::Progress;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};
use chats::{Chats, DecisionTask};
use remora_app::SearchTier;
use remora_app::embed_prompt;
use remora_app::recall_environment::{RecallEnvironment, RecallSettings, SessionHistory};
use rule::DecisionRule;

/// The name of the project that the chats are about.
const PROJECT_NAME: &str = "decisions";
/// Things of the right chats that were weighed and are told.
const MAX_SHOWN_ITEMS: usize = 6;

/// What came of a task.
#[derive(Debug)]
struct TaskOutcome {
    id: String,
    category: String,
    /// Whether something of the right chat is given.
    has_chat: bool,
    /// The share of the rule's words in what is given.
    share: f64,
    /// Of a task whose decision was changed later: whether the old one is given.
    gives_old: Option<bool>,
    injected: usize,
    tokens: u32,
    ms: f64,
    /// What was weighed of the right chats, with why.
    weighed: Vec<String>,
    rule: String,
    text: String,
}

impl TaskOutcome {
    fn has_rule(&self) -> bool {
        self.share >= rule::MIN_RULE_SHARE
    }
}

pub(super) fn run(args: &BenchDecisionsArgs, out: &mut Output) -> Result<Exit, CliError> {
    let chats = Chats::read_chats(&args.corpus)?;
    let tasks = chats.read_tasks(&args.queries)?;
    let encoder = match args.tier {
        SearchTierArg::Fast => None,
        SearchTierArg::Full => Some(load_encoder()?),
    };
    let mut progress = Progress::new("playing");
    let mut outcomes = Vec::with_capacity(tasks.len());
    let mut rows = 0;
    let rounds = chats::split_rounds(&tasks);
    for (at, task_round) in rounds.iter().enumerate() {
        progress.update_line(at as u64, rounds.len() as u64, "chats");
        let project = BenchProject {
            name: PROJECT_NAME.to_owned(),
            half: BenchHalf::Dev,
            steps: chats.to_steps(&task_round.left_out),
            situations: Vec::new(),
            moments: args.queries.clone(),
            sessions: args.corpus.clone(),
        };
        let played = player::play_project(&project, encoder.as_ref())?;
        rows = rows.max(played.rows.len());
        for task in &task_round.tasks {
            outcomes.push(run_task(&chats, &played, task, encoder.as_ref())?);
        }
    }
    drop(progress);
    if args.json {
        out.print_json(&json!({
            "tier": SearchTier::from(args.tier).name(),
            "chats": chats.len(),
            "rows": rows,
            "figures": DecisionStats::from_outcomes(&outcomes).to_json(),
            "tasks": outcomes.iter().map(as_json).collect::<Vec<_>>(),
        }))?;
        return Ok(Exit::GoOn);
    }
    if args.verbose {
        for outcome in &outcomes {
            print_outcome(outcome, out)?;
        }
    }
    let tier = SearchTier::from(args.tier).name();
    let (chats, tasks) = (chats.len(), outcomes.len());
    out.print_text(&format!(
        "{tasks} tasks, {chats} chats, {rows} rows stored, {tier} tier\n"
    ))?;
    out.print_text(&DecisionStats::from_outcomes(&outcomes).to_text())?;
    Ok(Exit::GoOn)
}

/// Begins a session with the task.
fn run_task(
    chats: &Chats,
    played: &PlayedProject,
    task: &DecisionTask,
    encoder: Option<&LazyEncoder>,
) -> Result<TaskOutcome, CliError> {
    let session = SessionId::from(format!("{PROJECT_NAME}-now-{}", task.id));
    let before = SessionHistory(Some(InjectionLog::open(&played.paths, &session, None)?));
    let place = locate_project(&played.paths, &played.root, None);
    // As somebody has it who has set nothing.
    let mut environment = RecallEnvironment::new(place, None, RecallSettings::default().limits);
    let started = Instant::now();
    if let Some(encoder) = encoder {
        let embedding = embed_prompt(encoder, &task.text);
        let embedding = embedding.map_err(|e| CliError::Usage(e.to_string()))?;
        environment.embedding = Some(PromptEmbedding::from_embedding(embedding));
    }
    let context = environment.recall_context(&session, &before, clock::now_ms());
    let back = recall(
        played.store.as_ref(),
        &context,
        &RecallTrigger::Prompt(&task.text),
    )?;
    let ms = started.elapsed().as_secs_f64() * 1000.0;
    Ok(score_task(chats, played, task, back, ms))
}

fn score_task(
    chats: &Chats,
    played: &PlayedProject,
    task: &DecisionTask,
    back: RecallResult,
    ms: f64,
) -> TaskOutcome {
    // The chat that an item came of, if the task is about it.
    let chat_of = |item: &str| {
        let id = item
            .strip_prefix('#')
            .and_then(|id| id.parse::<i64>().ok())?;
        let row = played.rows.iter().find(|row| row.id == id)?;
        let is_it = |chat: &&String| played.session_id(chat) == Some(row.session.as_str());
        let chat = task.chats.iter().find(is_it)?;
        Some((chat.as_str(), row.prompt.unwrap_or(0)))
    };
    let last = task.chats.last().map_or("", String::as_str);
    let rule = DecisionRule::from_message(chats.find_conclusion(last));
    let text = back.text.unwrap_or_default();
    let earlier = &task.chats[..task.chats.len().saturating_sub(1)];
    let gives_old = (!earlier.is_empty()).then(|| {
        let mut old = earlier.iter().map(|chat| {
            DecisionRule::from_message(chats.find_conclusion(chat)).without_words(&rule)
        });
        old.any(|old| old.share_in(&text) >= rule::MIN_OLD_RULE_SHARE)
    });
    let mut weighed: Vec<String> = Vec::new();
    for injected in &back.given {
        let from = chat_of(&injected.item);
        let from = from.map_or("another chat".to_owned(), |(chat, turn)| {
            format!("{chat} turn {turn}")
        });
        weighed.push(format!(
            "given {} of {from}: {}",
            injected.item, injected.why
        ));
    }
    for passed in back
        .passed
        .iter()
        .filter(|passed| chat_of(&passed.item).is_some())
        .take(MAX_SHOWN_ITEMS)
    {
        let (chat, turn) = chat_of(&passed.item).unwrap_or_default();
        weighed.push(format!(
            "passed {} of {chat} turn {turn}: {}",
            passed.item, passed.why
        ));
    }
    TaskOutcome {
        id: task.id.clone(),
        category: task.category.clone(),
        has_chat: back
            .given
            .iter()
            .any(|one| chat_of(&one.item).is_some_and(|(chat, _)| chat == last)),
        share: rule.share_in(&text),
        gives_old,
        injected: back.given.len(),
        tokens: tokens::estimate_tokens(&text),
        ms,
        weighed,
        rule: rule.text,
        text,
    }
}

/// What is told of all tasks.
#[derive(Debug, Default)]
struct DecisionStats {
    tasks: usize,
    chats: usize,
    rules: usize,
    share: f64,
    amended: usize,
    amended_right: usize,
    tokens: f64,
    max_tokens: u32,
    ms: f64,
}

impl DecisionStats {
    fn from_outcomes(outcomes: &[TaskOutcome]) -> Self {
        let mut sum = Self::default();
        for one in outcomes {
            sum.tasks += 1;
            sum.chats += usize::from(one.has_chat);
            sum.rules += usize::from(one.has_rule());
            sum.share += one.share;
            sum.amended += usize::from(one.gives_old.is_some());
            sum.amended_right += usize::from(one.has_rule() && one.gives_old == Some(false));
            sum.tokens += f64::from(one.tokens);
            sum.max_tokens = sum.max_tokens.max(one.tokens);
            sum.ms += one.ms;
        }
        let all = to_float(sum.tasks.max(1));
        sum.share /= all;
        sum.tokens /= all;
        sum.ms /= all;
        sum
    }

    fn to_json(&self) -> Value {
        json!({
            "tasks": self.tasks,
            "right_chat": self.chats,
            "rule": self.rules,
            "rule_share": self.share,
            "amended_tasks": self.amended,
            "amended_right": self.amended_right,
            "tokens": self.tokens,
            "max_tokens": self.max_tokens,
            "ms": self.ms,
        })
    }

    fn to_text(&self) -> String {
        let part = |n: usize, of: usize| {
            let share = 100.0 * to_float(n) / to_float(of.max(1));
            format!("{n} of {of} ({share:.1} %)")
        };
        format!(
            "right chat given     {}\nrule in the text     {}, {:.1} % of its words\namended, not the old {}\ntokens a task        {:.0}, at most {}\nms a task            {:.1}\n",
            part(self.chats, self.tasks),
            part(self.rules, self.tasks),
            self.share * 100.0,
            part(self.amended_right, self.amended),
            self.tokens,
            self.max_tokens,
            self.ms,
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred at most")]
fn to_float(n: usize) -> f64 {
    n as f64
}

fn as_json(one: &TaskOutcome) -> Value {
    json!({
        "id": one.id,
        "category": one.category,
        "right_chat": one.has_chat,
        "rule": one.has_rule(),
        "rule_share": one.share,
        "gives_old": one.gives_old,
        "given": one.injected,
        "tokens": one.tokens,
        "ms": one.ms,
        "weighed": one.weighed,
        "concluded": one.rule,
        "text": one.text,
    })
}

fn print_outcome(one: &TaskOutcome, out: &mut Output) -> Result<(), CliError> {
    let yes = |is: bool| if is { "yes" } else { "NO" };
    let name = out.paint(Style::Bold, &escape_invisible(&one.id));
    let old = match one.gives_old {
        Some(old) => format!(", old rule left out {}", yes(!old)),
        None => String::new(),
    };
    out.print_text(&format!(
        "{name} ({}): right chat {}, rule {} ({:.0} %){old}, {} tokens, {:.1} ms\n",
        escape_invisible(&one.category),
        yes(one.has_chat),
        yes(one.has_rule()),
        one.share * 100.0,
        one.tokens,
        one.ms,
    ))?;
    for weighed in &one.weighed {
        out.print_text(&format!("  {}\n", escape_invisible(weighed)))?;
    }
    out.print_text(&format!("  decided: {}\n", escape_invisible(&one.rule)))?;
    for line in one.text.lines() {
        out.print_text(&format!("  | {}\n", escape_invisible(line)))?;
    }
    out.print_text("\n")
}
