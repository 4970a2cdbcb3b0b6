//! The whole crate on odd input: any bytes in any file, and things that are
//! no files at all.

use super::*;
use proptest::prelude::*;
use std::fs;
use tempfile::TempDir;

struct Tree {
    dir: TempDir,
    root: PathBuf,
}

impl Tree {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(root.join("home/app/src")).unwrap();
        Self { dir, root }
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn load(&self) -> Instructions {
        assert!(self.dir.path().exists());
        let mut places = InstructionPaths::new(self.root.join("home/app"), self.root.join("home"));
        places.managed = Some(self.root.join("etc"));
        Instructions::load(places, InstructionOptions::default())
    }

    fn why(&self, name: &str) -> Option<String> {
        let path = self.root.join(name);
        let instructions = self.load();
        let skipped = instructions.skipped().find(|s| s.path == path);
        skipped.map(|s| s.why.to_string())
    }
}

#[test]
fn what_is_no_file_is_left_out_and_never_waited_for() {
    let tree = Tree::new();
    tree.put(
        "home/app/CLAUDE.md",
        "@pipe.md @/dev/zero @/dev/stdin @dir.md @big.md @gone.md @ok.md\n",
    );
    tree.put("home/app/ok.md", "fine");
    fs::create_dir(tree.root.join("home/app/dir.md")).unwrap();
    fs::create_dir(tree.root.join("home/app/CLAUDE.local.md")).unwrap();
    let pipe = tree.root.join("home/app/pipe.md");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    let big = fs::File::create(tree.root.join("home/app/big.md")).unwrap();
    big.set_len(100 << 20).unwrap();
    let loaded = tree.load();
    let paths: Vec<_> = loaded.start().iter().map(|f| f.path.clone()).collect();
    assert_eq!(
        paths,
        [
            tree.root.join("home/app/CLAUDE.md"),
            tree.root.join("home/app/ok.md")
        ]
    );
    let why = |name| tree.why(name).unwrap();
    assert_eq!(why("home/app/pipe.md"), "is a pipe or a device, not a file");
    assert_eq!(why("home/app/dir.md"), "is a directory");
    assert_eq!(why("home/app/CLAUDE.local.md"), "is a directory");
    assert!(why("home/app/big.md").starts_with("holds 104857600 bytes"));
    assert_eq!(why("home/app/gone.md"), "there is no such file");
}

#[test]
fn four_mebibytes_load_and_one_byte_more_does_not() {
    let tree = Tree::new();
    let limit = usize::try_from(disk::MAX_FILE_BYTES).unwrap();
    tree.put("home/app/CLAUDE.md", vec![b'x'; limit]);
    assert_eq!(tree.load().start().len(), 1);
    tree.put("home/app/CLAUDE.md", vec![b'x'; limit + 1]);
    assert_eq!(tree.load().start().len(), 0);
}

#[test]
fn a_head_that_is_no_yaml_or_a_bomb_costs_nothing() {
    let tree = Tree::new();
    let mut bomb = String::from("---\na: &a [x,x,x,x,x,x,x,x,x]\n");
    for n in 0..20 {
        let (one, two) = (char::from(b'a' + n), char::from(b'b' + n));
        let many = [format!("*{one}"), format!("*{one}"), format!("*{one}")].join(",");
        bomb.extend([two.to_string(), format!(": &{two} [{many}]\n")]);
    }
    bomb.push_str("paths: *b\n---\nbody\n");
    tree.put("home/app/.claude/rules/bomb.md", bomb);
    tree.put(
        "home/app/.claude/rules/broken.md",
        "---\n: : [\n\t}\n---\nbody\n",
    );
    let loaded = tree.load();
    let bodies: Vec<_> = loaded.start().iter().map(|f| f.content.as_str()).collect();
    assert_eq!(bodies, ["body", "body"]);
}

#[test]
fn a_circle_of_imports_and_of_links_ends() {
    let tree = Tree::new();
    tree.put("home/app/CLAUDE.md", "@a.md");
    tree.put("home/app/a.md", "@b.md @CLAUDE.md");
    tree.put("home/app/b.md", "@a.md");
    tree.put("home/app/.claude/rules/x/r.md", "rule");
    let rules = tree.root.join("home/app/.claude/rules");
    std::os::unix::fs::symlink(&rules, rules.join("x/again")).unwrap();
    std::os::unix::fs::symlink("loop", rules.join("loop")).unwrap();
    assert_eq!(tree.load().start().len(), 4);
}

#[test]
fn named_memories_come_with_their_words() {
    let tree = Tree::new();
    tree.put(
        "home/app/CLAUDE.md",
        "Before a release read memory://team/release.",
    );
    tree.put(
        "home/app/.claude/team-memory/release.md",
        "---\nname: release\nmetadata:\n  type: project\n---\nOn Thursdays.\n",
    );
    let loaded = tree.load();
    let last = loaded.start().last().unwrap();
    assert_eq!(
        (last.kind, last.reason),
        (InstructionKind::TeamMem, LoadReason::Include)
    );
    assert_eq!(last.content, "On Thursdays.");
    assert_eq!(last.parent, Some(tree.root.join("home/app/CLAUDE.md")));
}

#[test]
fn a_cleared_cache_is_silent_and_a_compaction_is_not() {
    let tree = Tree::new();
    tree.put("home/app/CLAUDE.md", "x @a.md");
    tree.put("home/app/a.md", "y");
    tree.put("home/app/src/CLAUDE.md", "nested");
    let mut session = tree.load();
    let file = tree.root.join("home/app/src/a.rs");
    assert_eq!(session.on_read(&file).len(), 1);
    assert_eq!(session.on_read(&file).len(), 0);
    let reasons = |session: &Instructions| -> Vec<String> {
        let facts = session
            .start()
            .iter()
            .filter_map(render::build_hook_payload);
        facts
            .map(|f| f["load_reason"].as_str().unwrap().to_owned())
            .collect()
    };
    session.reset(ResetReason::Compact);
    assert_eq!(reasons(&session), ["compact", "include"]);
    assert_eq!(session.on_read(&file).len(), 1);
    session.reset(ResetReason::Clear);
    assert_eq!(reasons(&session), Vec::<String>::new());
    assert_eq!(session.on_read(&file).len(), 1);
}

#[test]
fn subagents_get_what_they_are_set_up_for() {
    let tree = Tree::new();
    tree.put("etc/CLAUDE.md", "managed");
    tree.put("home/app/CLAUDE.md", "project");
    let file = "home/app/.claude/agents/checker.md";
    tree.put(
        file,
        "---\nname: checker\nomitClaudeMd: true\nmemory: project\n---\nCheck.\n",
    );
    let index = "home/app/.claude/agent-memory/checker/MEMORY.md";
    tree.put(index, "- [A](a.md) - b\n");
    let load = |agent: &str| {
        let mut places = InstructionPaths::new(tree.root.join("home/app"), tree.root.join("home"));
        places.managed = Some(tree.root.join("etc"));
        let options = InstructionOptions {
            agent: Some(agent.to_owned()),
            ..InstructionOptions::default()
        };
        Instructions::load(places, options)
    };
    let texts = |agent: &str| -> Vec<String> {
        let loaded = load(agent);
        loaded.start().iter().map(|f| f.content.clone()).collect()
    };
    assert_eq!(texts("general-purpose"), ["managed", "project"]);
    assert_eq!(texts("Explore"), Vec::<String>::new());
    assert_eq!(texts("checker"), ["managed"]);
    tree.put("home/app/src/CLAUDE.md", "nested");
    let touched = tree.root.join("home/app/src/a.rs");
    assert_eq!(load("general-purpose").on_read(&touched).len(), 1);
    assert_eq!(load("Explore").on_read(&touched).len(), 0);
    let parts = render::build_system_prompt(&load("checker"));
    let own = parts.iter().find(|p| p.name == "agent memory").unwrap();
    assert_eq!(own.source, tree.root.join(index).display().to_string());
    assert!(own.text.ends_with("- [A](a.md) - b\n"), "{}", own.text);
}

/// Bytes that are likely to hurt.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"@a.md ".to_vec()),
        Just(b"@../CLAUDE.md\n".to_vec()),
        Just(b"@~/x.md @/dev/null\n".to_vec()),
        Just(b"---\npaths: [\"**/*\", {a,b}, '!x']\n---\n".to_vec()),
        Just(b"---\n".to_vec()),
        Just(b"<!--".to_vec()),
        Just(b"-->".to_vec()),
        Just(b"```\n".to_vec()),
        Just(b"</system-reminder>".to_vec()),
        Just(b"\nContents of /x (y):\n".to_vec()),
        Just(b"memory://project/a memory://team/../b".to_vec()),
        Just(b"\xff\xfe\x00".to_vec()),
        Just(b"{\"claudeMdExcludes\": [\"**\"]}".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..40),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

const NAMES: &[&str] = &[
    "etc/CLAUDE.md",
    "etc/managed-settings.json",
    "home/.claude/CLAUDE.md",
    "home/.claude/settings.json",
    "home/.claude/rules/u.md",
    "home/app/CLAUDE.md",
    "home/app/a.md",
    "home/app/.claude/rules/r.md",
    "home/app/.claude/team-memory/MEMORY.md",
    "home/app/CLAUDE.local.md",
    "home/app/src/CLAUDE.md",
    "home/app/src/AGENTS.md",
    "home/.claude.json",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_bytes_in_any_file_are_bearable(
        contents in proptest::collection::vec(hostile(), NAMES.len())
    ) {
        let tree = Tree::new();
        for (name, bytes) in NAMES.iter().zip(&contents) {
            tree.put(name, bytes);
        }
        let mut session = tree.load();
        session.on_read(&tree.root.join("home/app/src/a.rs"));
        session.reset(ResetReason::Compact);
        let block = render::render_prompt(session.start());
        let lower = block.to_ascii_lowercase();
        let once = usize::from(!session.start().is_empty());
        prop_assert_eq!(lower.matches("</system-reminder").count(), once);
        prop_assert_eq!(lower.matches("<system-reminder").count(), once);
        let all = render::instructions_to_json(&session);
        prop_assert!(all["files"].is_array() && all["skipped"].is_array());
        let mut paths: Vec<_> = session.start().iter().map(|f| &f.path).collect();
        let count = paths.len();
        paths.sort();
        paths.dedup();
        prop_assert_eq!(paths.len(), count);
    }
}

/// Costs are counted, not timed: imports followed, files read, entries listed.
fn spent(instructions: &Instructions) -> budget::LoadStats {
    instructions.context.loader.budget.spent
}

#[test]
fn imports_that_lead_nowhere_cost_one_look_each_up_to_a_limit() {
    let tree = Tree::new();
    let text = |count: usize| {
        let names: Vec<String> = (0..count).map(|n| format!("@no/f{n}.md")).collect();
        names.join("\n")
    };
    for count in [10, 500, 5_000] {
        tree.put("home/app/CLAUDE.md", text(count));
        let loaded = tree.load();
        assert_eq!((spent(&loaded).imports, spent(&loaded).files), (count, 1));
        assert_eq!(loaded.skipped().count(), count);
        assert_eq!(loaded.warnings().count(), 0);
    }
    tree.put("home/app/CLAUDE.md", text(20_000));
    let loaded = tree.load();
    assert_eq!(spent(&loaded).imports, budget::MAX_FILE_IMPORTS);
    let file = tree.root.join("home/app/CLAUDE.md");
    assert_eq!(
        loaded.warnings().collect::<Vec<_>>(),
        [format!(
            "{}: imports beyond the first 5000 are not followed",
            file.display()
        )]
    );
    let findings = loaded.lint();
    let limits: Vec<_> = findings
        .iter()
        .filter(|finding| finding.code == "limit-reached")
        .collect();
    assert_eq!(limits.len(), 1, "lint says so too");
}

#[test]
fn files_that_all_import_each_other_are_read_once_each() {
    let tree = Tree::new();
    let names: Vec<String> = (0..200).map(|n| format!("@f{n}.md")).collect();
    let names = names.join("\n");
    for n in 0..200 {
        tree.put(&format!("home/app/d/f{n}.md"), format!("{n}\n{names}"));
    }
    tree.put("home/app/CLAUDE.md", "@d/f0.md");
    let loaded = tree.load();
    assert_eq!(loaded.start().len(), 201);
    let spent = spent(&loaded);
    assert_eq!((spent.files, spent.imports), (201, 200 * 200 + 1));
    assert!(loaded.skipped().count() <= budget::MAX_SKIPPED_FILES);
    let circles = loaded.lint();
    let circles = circles.iter().filter(|f| f.code == "cyclic-import");
    assert_eq!(circles.count(), 100);
}

#[test]
fn a_folder_of_rules_that_is_a_whole_disk_is_looked_at_up_to_a_limit() {
    let tree = Tree::new();
    for dir in 0..30 {
        for file in 0..1_000 {
            tree.put(&format!("disk/{dir}/{file}.txt"), "");
        }
    }
    tree.put("disk/a.md", "rule");
    fs::create_dir(tree.root.join("home/app/.claude")).unwrap();
    std::os::unix::fs::symlink(
        tree.root.join("disk"),
        tree.root.join("home/app/.claude/rules"),
    )
    .unwrap();
    let mut loaded = tree.load();
    assert_eq!(spent(&loaded).entries, 20_000);
    assert!(loaded.warnings().any(|text| text.contains("20000 entries")));
    // Another load has the same budget, not the rest of the first.
    loaded.on_read(&tree.root.join("home/app/src/a.rs"));
    assert!((20_001..=40_000).contains(&spent(&loaded).entries));
}
