//! One situation: what would be given, and how that compares with the
//! judgement.

use remora_client::{InjectionLog, NewInjection, locate_project};
use remora_core::ids::SessionId;
use remora_core::record::{self, Item, Kind};
use remora_core::tokens;
use remora_embed::LazyEncoder;
use remora_memory::prompt_embedding::PromptEmbedding;
use remora_memory::recall::{
    PromptIntent, RecallResult, RecallTrigger, Selected, WeighedCandidate, classify_intent, recall,
    weigh_prompt,
};
use serde_json::{Map, Value, json};

use super::player::PlayedProject;
use super::set::{BenchProject, Situation, SituationKind};
use crate::args::BenchHalf;
use crate::clock;
use crate::error::CliError;
use remora_app::embed_prompt;
use remora_app::recall_environment::{RecallEnvironment, RecallSettings, SessionHistory};

/// Where the fix that a failure needed was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LostStage {
    /// No pass proved a fix.
    NotLearned,
    /// A fix was learned in that session, but by another pass of the command.
    LearnedElsewhere,
    /// The fix is stored, and nothing was injected.
    NotMatched,
    /// The fix is stored, and something else was injected.
    Outweighed,
    /// What the user refused was injected in its place.
    Refused,
}

impl LostStage {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NotLearned => "not learned",
            Self::LearnedElsewhere => "learned elsewhere",
            Self::NotMatched => "not matched",
            Self::Outweighed => "outweighed",
            Self::Refused => "refused",
        }
    }
}

/// What came of a situation.
#[derive(Debug)]
pub(super) struct SituationVerdict {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) half: BenchHalf,
    pub(super) moment: SituationKind,
    /// Things that had to be given.
    pub(super) wanted: usize,
    /// Those that were not, as the set names them, with why.
    pub(super) missed: Vec<String>,
    /// Of a failure, where each of them was lost.
    pub(super) lost: Vec<LostStage>,
    /// Items that were given.
    pub(super) given: usize,
    /// Items that were given without need, as `#12 kind title`.
    pub(super) wrong: Vec<String>,
    /// Those that must not be given.
    pub(super) forbidden: Vec<String>,
    /// Whether nothing was to be given.
    pub(super) quiet: bool,
    pub(super) tokens: u32,
    /// The intent as the set and as the rules see it, where they differ.
    pub(super) misread: Option<(String, &'static str)>,
    /// The intent as the set sees it.
    pub(super) intent: Option<String>,
    /// Whether the set names an intent.
    pub(super) has_intent: bool,
    /// Whether a prompt asks about the project.
    pub(super) is_question: bool,
    /// What was weighed, with its features and what the set says of it.
    pub(super) candidates: Vec<Value>,
    /// What a model would read.
    pub(super) text: String,
}

/// Asks about one situation.
pub(super) fn run_situation(
    project: &BenchProject,
    played: &PlayedProject,
    situation: &Situation,
    settings: RecallSettings,
    encoder: Option<&LazyEncoder>,
) -> Result<SituationVerdict, CliError> {
    let branch = situation.branch.as_deref().unwrap_or("main");
    played.check_out(branch)?;
    let fresh = format!("{}-now-{}", project.name, situation.id);
    let session = match &situation.session {
        Some(name) => played.session_id(name).unwrap_or(&fresh),
        None => &fresh,
    };
    let before = prepare_history(played, situation, session)?;
    // The branch was checked out above, so the place has it.
    let mut ground = RecallEnvironment::new(
        locate_project(&played.paths, &played.root, None),
        None,
        settings.limits,
    );
    let text = |of: &Option<String>| of.clone().unwrap_or_default();
    let (prompt, file) = (text(&situation.prompt), text(&situation.file));
    let embedded = match situation.moment {
        SituationKind::Prompt => Some(prompt.as_str()),
        SituationKind::Subagent => situation.task.as_deref(),
        _ => None,
    };
    if let Some((encoder, text)) = encoder.zip(embedded) {
        let embedding = embed_prompt(encoder, text);
        let embedding = embedding.map_err(|e| CliError::Usage(e.to_string()))?;
        ground.embedding = Some(PromptEmbedding::from_embedding(embedding));
    }
    let session = SessionId::from(session);
    let scene = ground.recall_context(&session, &before, clock::now_ms());
    let (command, error) = (text(&situation.command), text(&situation.error));
    let moment = match situation.moment {
        SituationKind::Start => RecallTrigger::Start,
        SituationKind::Prompt => RecallTrigger::Prompt(&prompt),
        SituationKind::Read => RecallTrigger::Read(&file),
        SituationKind::Failure => RecallTrigger::Failure {
            command: &command,
            error: &error,
        },
        SituationKind::Compact => RecallTrigger::Compact(situation.summary.as_deref()),
        SituationKind::Subagent => RecallTrigger::Subagent(situation.task.as_deref()),
    };
    let back = recall(played.store.as_ref(), &scene, &moment)?;
    let mut verdict = score_situation(played, situation, &back);
    if situation.moment == SituationKind::Prompt {
        let weighed = weigh_prompt(played.store.as_ref(), &scene, &prompt)?;
        verdict.is_question = weighed.is_question;
        let weighed = weighed
            .candidates
            .iter()
            .filter_map(|one| candidate_to_json(played, situation, one));
        verdict.candidates = weighed.collect();
    }
    verdict.project.clone_from(&project.name);
    verdict.half = project.half;
    verdict.intent.clone_from(&situation.intent);
    // Where nothing is to be given, it does not matter what the prompt wants.
    if let Some(wanted) = situation.intent.as_ref().filter(|_| !situation.nothing) {
        let read = intent_name(classify_intent(&prompt));
        verdict.has_intent = true;
        verdict.misread = (read != wanted).then(|| (wanted.clone(), read));
    }
    Ok(verdict)
}

/// What the session was given before, written down as a hook does.
fn prepare_history(
    played: &PlayedProject,
    situation: &Situation,
    session: &str,
) -> Result<SessionHistory, CliError> {
    // A subagent has been told nothing, whatever its session was.
    let agent = (situation.moment == SituationKind::Subagent).then_some("agent");
    let mut file = InjectionLog::open(&played.paths, session, agent)?;
    let labels = &situation.given_before;
    let rows = played.rows.iter();
    let names: Vec<String> = rows
        .filter(|row| labels.iter().any(|label| played.matches_label(row, label)))
        .map(|row| match row.kind {
            record::Kind::Memory => row.key.clone().unwrap_or_default(),
            _ => format!("#{}", row.id),
        })
        .collect();
    let giving: Vec<NewInjection<'_>> = names
        .iter()
        .map(|item| NewInjection {
            item,
            trigger: "prompt",
            why: "the set says so",
            tokens: 0,
        })
        .collect();
    file.record_injections(&giving, 0)?;
    Ok(SessionHistory(Some(file)))
}

/// What the set calls an intent.
fn intent_name(intent: PromptIntent) -> &'static str {
    match intent {
        PromptIntent::Past => "past",
        PromptIntent::Continue => "continue",
        PromptIntent::Mend => "mend",
        PromptIntent::New => "new",
        PromptIntent::Trivial => "trivial",
    }
}

fn score_situation(
    played: &PlayedProject,
    situation: &Situation,
    back: &RecallResult,
) -> SituationVerdict {
    let row = |item: &str| played.rows.iter().find(|row| matches_reference(row, item));
    let is_any = |row: &Item, labels: &[String]| {
        let mut all = labels.iter().flat_map(|label| label.split('|'));
        all.any(|label| played.matches_label(row, label))
    };
    let given: Vec<(&Selected, Option<&Item>)> = back
        .given
        .iter()
        .map(|chosen| (chosen, row(&chosen.item)))
        .collect();
    let told = |label: &str| {
        given
            .iter()
            .any(|(_, row)| row.is_some_and(|row| played.matches_label(row, label)))
    };
    let mut missed = Vec::new();
    let mut lost = Vec::new();
    for wanted in &situation.must {
        if wanted.split('|').any(told) {
            continue;
        }
        if situation.moment == SituationKind::Failure {
            lost.push(find_lost_stage(played, wanted, back));
        }
        let mut reasons = back.passed.iter().filter(|passed| {
            let row = row(&passed.item);
            row.is_some_and(|row| {
                wanted
                    .split('|')
                    .any(|label| played.matches_label(row, label))
            })
        });
        let why = reasons.next().map_or("not looked at", |passed| &passed.why);
        missed.push(format!("{wanted} ({why})"));
    }
    let mut wrong = Vec::new();
    let mut forbidden = Vec::new();
    for (chosen, row) in &given {
        let told = format!("{} {} {}", chosen.item, chosen.kind, chosen.title);
        let told = format!("{told} ({})", chosen.why);
        let right = |labels: &[String]| row.is_some_and(|row| is_any(row, labels));
        if right(&situation.must) && !right(&situation.given_before) {
            continue;
        }
        if right(&situation.must_not) {
            forbidden.push(told);
        } else if !right(&situation.may) || right(&situation.given_before) {
            wrong.push(told);
        }
    }
    SituationVerdict {
        id: situation.id.clone(),
        project: String::new(),
        half: BenchHalf::Dev,
        moment: situation.moment,
        wanted: situation.must.len(),
        missed,
        lost,
        given: given.len(),
        wrong,
        forbidden,
        quiet: situation.nothing,
        tokens: back.text.as_deref().map_or(0, tokens::estimate_tokens),
        misread: None,
        intent: None,
        has_intent: false,
        is_question: false,
        candidates: Vec::new(),
        text: back.text.clone().unwrap_or_default(),
    }
}

/// Where the fix that a label names was lost.
fn find_lost_stage(played: &PlayedProject, wanted: &str, back: &RecallResult) -> LostStage {
    let is_wanted = |row: &&Item| {
        let mut labels = wanted.split('|');
        labels.any(|label| played.matches_label(row, label))
    };
    let fixes = || played.rows.iter().filter(|row| row.kind == Kind::Fix);
    if fixes().any(|row| is_wanted(&row)) {
        return match back.given.first() {
            None => LostStage::NotMatched,
            Some(given) if given.kind == Kind::Fix => LostStage::Outweighed,
            Some(_) => LostStage::Refused,
        };
    }
    // The label names the fix; the rows of its step show which command passed.
    let step = |label: &str| label.split(':').next().unwrap_or(label).to_owned();
    let steps: Vec<String> = wanted.split('|').map(step).collect();
    let passes = played.rows.iter().filter(|row| {
        let mut steps = steps.iter();
        row.command().is_some() && steps.any(|step| played.matches_label(row, step))
    });
    let is_same = |pass: &Item, fix: &Item| {
        fix.session == pass.session && fix.command().is_some() && fix.command() == pass.command()
    };
    let mut passes = passes.flat_map(|pass| fixes().filter(move |fix| is_same(pass, fix)));
    match passes.next() {
        Some(_) => LostStage::LearnedElsewhere,
        None => LostStage::NotLearned,
    }
}

/// One candidate for a prompt, judged by what would be injected for it: a turn that
/// was superseded counts as the one that holds in its place.
fn candidate_to_json(
    played: &PlayedProject,
    situation: &Situation,
    candidate: &WeighedCandidate,
) -> Option<Value> {
    let injected = &candidate.injected;
    let row = played
        .rows
        .iter()
        .find(|row| matches_reference(row, injected))?;
    let alternatives = |wanted: &str| {
        wanted
            .split('|')
            .any(|label| played.matches_label(row, label))
    };
    let is = |labels: &[String]| labels.iter().any(|wanted| alternatives(wanted));
    let wanted = situation.must.iter().enumerate();
    let wanted = wanted.filter(|(_, wanted)| alternatives(wanted));
    let wanted: Vec<usize> = wanted.map(|(place, _)| place).collect();
    let label = match () {
        () if is(&situation.given_before) => "none",
        () if !wanted.is_empty() => "must",
        () if is(&situation.must_not) => "must_not",
        () if is(&situation.may) => "may",
        () => "none",
    };
    let features = candidate.features.iter();
    let features: Map<String, Value> = features
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    Some(json!({
        "item": candidate.item,
        "injected": injected,
        "label": label,
        "wanted": wanted,
        "refused": candidate.is_refused,
        "probability": candidate.probability,
        "features": features,
    }))
}

/// Whether this is what an item is called.
fn matches_reference(row: &Item, item: &str) -> bool {
    match item.strip_prefix('#') {
        Some(number) => number.parse() == Ok(row.id),
        None => row.key.as_deref() == Some(item),
    }
}
