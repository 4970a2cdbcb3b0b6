//! Whole projects, reviewed: what is proposed, that nothing is written by it,
//! and what carrying out one proposal leaves.

use std::collections::BTreeMap;
use std::fs;

use tempfile::TempDir;

use super::super::MemoryError;
use super::super::check::{Claim, ClaimFinding, ClaimKind, Confidence, Tense};
use super::*;

const NOW: &str = "2026-11-16T03:48:19.837Z";

fn nothing(_: &str) -> Vec<String> {
    Vec::new()
}

/// A project on a disk, with all its layers.
struct Project {
    temp: TempDir,
    layers: Vec<(PathBuf, InstructionKind)>,
    folders: Vec<MemoryFolder>,
    findings: BTreeMap<String, Vec<ClaimFinding>>,
}

impl Project {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let folders = vec![
            MemoryFolder::new(MemoryScope::Project, temp.path().join("auto")),
            MemoryFolder::for_team(temp.path()),
            MemoryFolder::new(MemoryScope::User, temp.path().join("mine")),
        ];
        Self {
            temp,
            layers: Vec::new(),
            folders,
            findings: BTreeMap::new(),
        }
    }

    fn layer(mut self, file: &str, kind: InstructionKind, text: &str) -> Self {
        let path = self.temp.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        self.layers.push((path, kind));
        self
    }

    fn memory(self, scope: MemoryScope, name: &str, head: &str, body: &str) -> Self {
        let folder = self.folders.iter().find(|f| f.scope() == scope).unwrap();
        fs::create_dir_all(folder.dir()).unwrap();
        let text = format!("---\nname: {name}\n{head}\n---\n\n{body}\n");
        fs::write(folder.dir().join(format!("{name}.md")), text).unwrap();
        folder
            .index(super::super::folder::IndexMode::Write)
            .unwrap();
        self
    }

    fn found(mut self, name: &str, text: &str, verdict: ClaimVerdict, now: Option<&str>) -> Self {
        let finding = ClaimFinding {
            claim: Claim {
                kind: ClaimKind::Path,
                text: text.to_owned(),
                line: 1,
                sense: Tense::Stated,
                weight: Confidence::Firm,
                of: None,
            },
            verdict,
            evidence: "deleted in 1a2b3c4".to_owned(),
            now: now.map(str::to_owned),
        };
        self.findings
            .entry(name.to_owned())
            .or_default()
            .push(finding);
        self
    }

    fn review(&self) -> Review {
        let texts: Vec<String> = self
            .layers
            .iter()
            .map(|(path, _)| fs::read_to_string(path).unwrap())
            .collect();
        let layers: Vec<InstructionLayer<'_>> = self
            .layers
            .iter()
            .zip(&texts)
            .map(|((path, kind), text)| InstructionLayer {
                path,
                kind: *kind,
                text,
            })
            .collect();
        let memories: Vec<Memory> = self
            .folders
            .iter()
            .flat_map(|folder| folder.list_memories().unwrap().memories)
            .collect();
        let none = Vec::new();
        let saved: Vec<ReviewedMemory<'_>> = memories
            .iter()
            .map(|memory| ReviewedMemory {
                memory,
                findings: self.findings.get(memory.uri.name.as_str()).unwrap_or(&none),
            })
            .collect();
        let (shared, own) = (self.path("CLAUDE.md"), self.path("CLAUDE.local.md"));
        let material = ReviewInput {
            layers: &layers,
            saved: &saved,
            folders: &self.folders,
            shared: &shared,
            own: &own,
            now: NOW,
        };
        build_review(&material, &nothing)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.temp.path().join(file)
    }

    fn text(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.path(file)).ok()
    }

    /// Every file with its text.
    fn all(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.temp.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.insert(path.clone(), fs::read_to_string(&path).unwrap());
                }
            }
        }
        found
    }
}

fn actions(review: &Review) -> Vec<(ProposalAction, &str)> {
    review
        .proposals
        .iter()
        .map(|proposal| {
            let what = proposal.what.split(' ').next().unwrap();
            (proposal.action, what.rsplit('/').next().unwrap())
        })
        .collect()
}

const FEEDBACK: &str = "metadata:\n  type: feedback";

#[test]
fn duplicates_and_conflicts_with_instructions() {
    let project = Project::new()
        .layer(
            "CLAUDE.md",
            InstructionKind::Project,
            "# App\n\n- Never mock the database in tests\n- Use pnpm to install packages\n",
        )
        .memory(
            MemoryScope::Project,
            "no-mocks",
            FEEDBACK,
            "Do not mock the database in tests.\n\n**Why:** a mock once hid a broken migration.",
        )
        .memory(
            MemoryScope::Project,
            "npm",
            FEEDBACK,
            "Use npm to install packages.",
        )
        .memory(
            MemoryScope::Project,
            "answers",
            "metadata:\n  type: user",
            "The user reads on a small screen.",
        );
    let before = project.all();
    let review = project.review();
    assert_eq!(project.all(), before, "a review writes nothing");
    assert_eq!(
        actions(&review),
        [
            (ProposalAction::RemoveDuplicate, "no-mocks"),
            (ProposalAction::Conflict, "npm")
        ]
    );
    assert_eq!(review.fine, ["memory://project/answers"]);
    assert!(
        review.proposals[0]
            .why
            .ends_with("CLAUDE.md line 3 says it already")
    );
    assert!(
        review.proposals[1]
            .why
            .contains("different values for the same thing"),
        "{}",
        review.proposals[1].why
    );
    apply_proposal(&review.proposals[0]).unwrap();
    assert_eq!(project.text("auto/no-mocks.md"), None);
    assert!(!project.text("auto/MEMORY.md").unwrap().contains("no-mocks"));
    // The second one stands on an index that the first one changed.
    let error = apply_proposal(&review.proposals[1]).unwrap_err();
    assert!(matches!(error, MemoryError::Changed { .. }), "{error}");
    assert!(project.text("auto/npm.md").is_some());
    let again = project.review();
    assert_eq!(again.proposals[0].key, review.proposals[1].key);
    apply_proposal(&again.proposals[0]).unwrap();
    assert_eq!(project.text("auto/npm.md"), None);
}

#[test]
fn the_weaker_of_two_memories_goes() {
    let dated =
        |day: &str| format!("metadata:\n  type: reference\n  modified: {day}T00:00:00.000Z");
    let project = Project::new()
        .memory(
            MemoryScope::Project,
            "linear-old",
            &dated("2026-01-01"),
            "Bugs are tracked in Linear, project INGEST.",
        )
        .memory(
            MemoryScope::Project,
            "linear-new",
            &dated("2026-06-01"),
            "Linear project INGEST tracks the bugs.",
        )
        .memory(
            MemoryScope::User,
            "port-a",
            &dated("2026-01-01"),
            "The API listens on port 8080.",
        )
        .memory(
            MemoryScope::User,
            "port-b",
            &dated("2026-02-01"),
            "The API listens on port 9090.",
        );
    let review = project.review();
    assert_eq!(
        actions(&review),
        [
            (ProposalAction::RemoveDuplicate, "linear-old"),
            (ProposalAction::Conflict, "port-a")
        ]
    );
    assert!(review.proposals.iter().all(|p| p.edits.len() == 2));
}

#[test]
fn what_is_gone_ended_or_moved() {
    let project = Project::new()
        .memory(
            MemoryScope::Project,
            "gone",
            FEEDBACK,
            "Put new handlers into src/old/handlers.rs.",
        )
        .found("gone", "src/old/handlers.rs", ClaimVerdict::Gone, None)
        .memory(
            MemoryScope::Project,
            "moved",
            FEEDBACK,
            "Start reading at src/a.rs, not at src/a.rs.bak or lib/src/a.rs.",
        )
        .found("moved", "src/a.rs", ClaimVerdict::Moved, Some("src/b/a.rs"))
        .memory(
            MemoryScope::Project,
            "freeze",
            "metadata:\n  type: project",
            "Merge freeze until 2026-03-05, for the mobile release.",
        )
        .memory(
            MemoryScope::Project,
            "later",
            "metadata:\n  type: project",
            "Anna covers billing until 2027-03-05.",
        );
    let review = project.review();
    assert_eq!(
        actions(&review),
        [
            (ProposalAction::Outdated, "freeze"),
            (ProposalAction::Outdated, "gone"),
            (ProposalAction::Outdated, "moved")
        ]
    );
    assert_eq!(
        review.proposals[0].why,
        "it says that it ends on 2026-03-05"
    );
    assert_eq!(
        review.proposals[1].why,
        "it names what is gone: `src/old/handlers.rs`: deleted in 1a2b3c4"
    );
    apply_proposal(&review.proposals[2]).unwrap();
    let text = project.text("auto/moved.md").unwrap();
    assert!(
        text.contains("Start reading at src/b/a.rs, not at src/a.rs.bak or lib/src/a.rs."),
        "{text}"
    );
}

#[test]
fn promotions_go_where_they_are_read() {
    let project = Project::new()
        .layer(
            "CLAUDE.md",
            InstructionKind::Project,
            "# App\n\n- One rule here\n",
        )
        .memory(
            MemoryScope::Team,
            "known",
            "metadata:\n  type: project",
            "The audit log is kept for seven years.",
        )
        .memory(
            MemoryScope::Project,
            "rule",
            FEEDBACK,
            "Never write to the ledger table directly.\n\nWhy: triggers depend on it.",
        )
        .memory(
            MemoryScope::Project,
            "mine",
            FEEDBACK,
            "Ask me before you touch the build files.",
        )
        .memory(
            MemoryScope::Project,
            "core",
            "metadata:\n  type: user\n  priority: 1",
            "Works with a screen reader.",
        )
        .memory(
            MemoryScope::Project,
            "wiki",
            "metadata:\n  type: reference",
            "Runbooks are at wiki.acme.test/runbooks.",
        )
        .memory(
            MemoryScope::Project,
            "person",
            "metadata:\n  type: reference",
            "Questions about invoices go to jane@acme.io.",
        );
    let review = project.review();
    assert_eq!(
        actions(&review),
        [
            (ProposalAction::Promote(PromotionTarget::Own), "core"),
            (ProposalAction::Promote(PromotionTarget::Own), "mine"),
            (ProposalAction::Promote(PromotionTarget::Shared), "rule"),
            (ProposalAction::Promote(PromotionTarget::Team), "wiki"),
        ]
    );
    assert_eq!(
        review.fine,
        ["memory://project/person", "memory://team/known"]
    );
    apply_proposal(&review.proposals[2]).unwrap();
    assert_eq!(
        project.text("CLAUDE.md").unwrap(),
        "# App\n\n- One rule here\n- Never write to the ledger table directly.\n\n  Why: triggers depend on it.\n"
    );
    assert_eq!(project.text("auto/rule.md"), None);
    let again = project.review();
    apply_proposal(&again.proposals[0]).unwrap();
    assert_eq!(
        project.text("CLAUDE.local.md").unwrap(),
        "- Works with a screen reader.\n"
    );
    let wiki = project.review();
    let wiki = wiki
        .proposals
        .iter()
        .find(|p| p.action == ProposalAction::Promote(PromotionTarget::Team))
        .unwrap();
    apply_proposal(wiki).unwrap();
    assert!(project.text(".claude/team-memory/wiki.md").is_some());
    let team = MemoryFolder::for_team(project.temp.path());
    assert!(
        team.index(super::super::folder::IndexMode::Check)
            .unwrap()
            .is_true()
    );
    assert_eq!(project.text("auto/wiki.md"), None);
}

#[test]
fn layers_are_compared_with_each_other() {
    let project = Project::new()
        .layer("home/CLAUDE.md", InstructionKind::User, "- Keep answers short\n")
        .layer(
            "CLAUDE.md",
            InstructionKind::Project,
            "- Indent with four spaces\n- Keep answers short\n",
        )
        .layer(
            "CLAUDE.local.md",
            InstructionKind::Local,
            "- Use 4 spaces for indentation\n- Give long, detailed answers\n- Mine alone, about birds\n",
        )
        .layer("auto/MEMORY.md", InstructionKind::AutoMem, "- [Keep answers short](x.md)\n");
    let review = project.review();
    let told: Vec<(ProposalAction, usize)> = review
        .proposals
        .iter()
        .map(|p| (p.action, p.edits.len()))
        .collect();
    assert_eq!(
        told,
        [
            (ProposalAction::RemoveDuplicate, 1),
            (ProposalAction::Conflict, 0),
            (ProposalAction::Conflict, 0)
        ]
    );
    apply_proposal(&review.proposals[0]).unwrap();
    assert_eq!(
        project.text("CLAUDE.local.md").unwrap(),
        "- Give long, detailed answers\n- Mine alone, about birds\n"
    );
}

#[test]
fn what_nobody_can_tell_is_left_to_a_person() {
    let project = Project::new()
        .memory(
            MemoryScope::Project,
            "typeless",
            "other: 1",
            "Something about the billing service.",
        )
        .memory(MemoryScope::Project, "empty", FEEDBACK, "")
        .memory(
            MemoryScope::Project,
            "old",
            "metadata:\n  type: project\n  modified: 2024-01-01T00:00:00Z",
            "Ben owns the search service.",
        );
    let review = project.review();
    assert_eq!(
        actions(&review),
        [
            (ProposalAction::Ambiguous, "empty"),
            (ProposalAction::Ambiguous, "old"),
            (ProposalAction::Ambiguous, "typeless")
        ]
    );
    assert!(review.proposals.iter().all(|p| p.edits.is_empty()));
    let none = Project::new().review();
    assert_eq!(none, Review::default());
}
