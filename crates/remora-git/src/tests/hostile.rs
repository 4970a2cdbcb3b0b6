//! Every way known to us in which a repository makes git run a program. Each
//! row must have teeth: git as users call it runs the trap, and ours does not.

use super::*;

/// A trap: how it is laid, and a command of git's that springs it. `TRAP` is a
/// program that leaves a mark.
struct Vector {
    name: &'static str,
    lay: &'static str,
    /// `None` where the git at hand may be too new to fall for it.
    spring: Option<&'static str>,
}

const VECTORS: &[Vector] = &[
    Vector {
        name: "a clean filter of the attributes in the tree",
        lay: "git config filter.x.clean TRAP; echo '* filter=x' > .gitattributes",
        spring: Some("git status"),
    },
    Vector {
        name: "a clean filter that is required",
        lay: "git config filter.x.clean TRAP; git config filter.x.required true; \
              echo '* filter=x' > .gitattributes",
        spring: Some("git diff HEAD"),
    },
    Vector {
        name: "a filter process",
        lay: "git config filter.x.process TRAP; echo '* filter=x' > .gitattributes",
        spring: Some("git status"),
    },
    Vector {
        name: "a filter whose name cannot be said on a command line",
        lay: "git config 'filter.a=b.clean' TRAP; echo '* filter=a=b' > .gitattributes",
        spring: Some("git -c filter.a=b.clean= status"),
    },
    Vector {
        name: "a filter of the repository's own attributes",
        lay: "git config filter.x.clean TRAP; mkdir -p .git/info; echo '* filter=x' > .git/info/attributes",
        spring: Some("git status"),
    },
    Vector {
        name: "a filter of an attributes file that the configuration names",
        lay: "git config filter.x.clean TRAP; echo '* filter=x' > named; \
              git config core.attributesFile \"$PWD/named\"",
        spring: Some("git status"),
    },
    Vector {
        name: "a filter in a file that is included",
        lay: "printf '[filter \"x\"]\\nclean = TRAP\\n' > more; git config include.path ../more; \
              echo '* filter=x' > .gitattributes",
        spring: Some("git status"),
    },
    Vector {
        name: "a filter in a file that is included on a condition",
        lay: "printf '[filter \"x\"]\\nclean = TRAP\\n' > more; \
              git config includeIf.onbranch:main.path ../more; echo '* filter=x' > .gitattributes",
        spring: Some("git status"),
    },
    Vector {
        name: "a filter in the configuration of the worktree",
        lay: "git config extensions.worktreeConfig true; git config --worktree filter.x.clean TRAP; \
              echo '* filter=x' > .gitattributes",
        spring: Some("git status"),
    },
    Vector {
        name: "a file system monitor",
        lay: "git config core.fsmonitor TRAP",
        spring: Some("git status"),
    },
    Vector {
        name: "a hook on a changed index",
        lay: "mkdir -p .git/hooks; cp TRAP .git/hooks/post-index-change; touch -d 2001-01-01 b.rs",
        spring: Some("git status"),
    },
    Vector {
        name: "a hook in a folder of the tree",
        lay: "mkdir hooks; cp TRAP hooks/post-index-change; git config core.hooksPath hooks; \
              touch -d 2001-01-01 b.rs",
        spring: Some("git status"),
    },
    Vector {
        name: "a converter for comparing",
        lay: "git config diff.x.textconv TRAP; echo '* diff=x' > .gitattributes",
        spring: Some("git log -p --all"),
    },
    Vector {
        name: "a driver for comparing",
        lay: "git config diff.x.command TRAP; echo '* diff=x' > .gitattributes",
        spring: Some("git diff HEAD"),
    },
    Vector {
        name: "a program for comparing",
        lay: "git config diff.external TRAP",
        spring: Some("git diff HEAD"),
    },
    Vector {
        name: "a program that checks signatures",
        lay: "git config gpg.program TRAP; git config log.showSignature true; \
              git commit-tree -m x HEAD^{tree} -p HEAD > .git/made; \
              git cat-file commit $(cat .git/made) | sed 's/^committer.*/&\\ngpgsig -----BEGIN PGP \
              SIGNATURE-----\\n \\n a\\n -----END PGP SIGNATURE-----/' | \
              git hash-object -t commit -w --stdin > .git/signed; \
              git update-ref refs/heads/signed $(cat .git/signed)",
        spring: Some("git log --all"),
    },
    Vector {
        name: "a remote from which missing objects are fetched",
        lay: "blob=$(git rev-parse HEAD:b.rs); rm -f .git/objects/$(echo $blob | cut -c1-2)/$(echo $blob | cut -c3-); \
              git config core.repositoryformatversion 1; git config extensions.partialClone origin; \
              git config remote.origin.promisor true; git config remote.origin.url \"$PWD\"; \
              git config remote.origin.uploadpack TRAP; git config protocol.file.allow always",
        spring: Some("git log -p --all"),
    },
    Vector {
        name: "a remote behind ssh from which missing objects are fetched",
        lay: "blob=$(git rev-parse HEAD:b.rs); rm -f .git/objects/$(echo $blob | cut -c1-2)/$(echo $blob | cut -c3-); \
              git config core.repositoryformatversion 1; git config extensions.partialClone origin; \
              git config remote.origin.promisor true; git config remote.origin.url ssh://host/x; \
              git config core.sshCommand TRAP",
        spring: Some("git log -p --all"),
    },
    Vector {
        name: "a submodule with a filter of its own",
        lay: "git init -q sub; cd sub; git config user.name a; git config user.email a@b.c; echo 1 > f; git add f; \
              git commit -q -m s; cd ..; printf '[submodule \"sub\"]\\npath = sub\\nurl = ./sub\\n' > .gitmodules; \
              git add sub .gitmodules 2>/dev/null; git config submodule.sub.ignore none; cd sub; echo 2 > f; \
              git config filter.x.clean TRAP; echo '* filter=x' > .gitattributes",
        spring: Some("git status"),
    },
    Vector {
        name: "a pager",
        lay: "git config core.pager TRAP; git config pager.log TRAP",
        spring: None,
    },
    Vector {
        name: "an alias",
        lay: "git config alias.diff '!TRAP'; git config alias.log '!TRAP'; git config alias.rev-parse '!TRAP'",
        spring: None,
    },
    Vector {
        name: "a command that lists the references of alternates",
        lay: "git config core.alternateRefsCommand TRAP; git init -q ../other; \
              echo \"$PWD/../other/.git/objects\" > .git/objects/info/alternates",
        spring: None,
    },
    Vector {
        name: "an editor, a helper for passwords and a proxy",
        lay: "git config core.editor TRAP; git config credential.helper '!TRAP'; \
              git config core.askPass TRAP; git config core.gitProxy TRAP",
        spring: None,
    },
];

struct Field {
    dir: tempfile::TempDir,
    trap: PathBuf,
}

impl Field {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let trap = dir.path().join("trap");
        let line =
            "printf '#!/bin/sh\\necho sprung >> \"%s\"\\n' \"$1\" > \"$2\"; chmod 755 \"$2\"";
        let made = process::Command::new("/bin/sh")
            .args(["-ec", line, "sh"])
            .args([&dir.path().join("sprung"), &trap])
            .status();
        assert!(made.unwrap().success());
        Self { dir, trap }
    }

    fn lay(&self, vector: &Vector) -> PathBuf {
        let root = self.dir.path().join("app");
        make_repository(&root);
        let trap = self.trap.to_str().unwrap();
        shell(&root, &vector.lay.replace("TRAP", trap));
        // As long as before, so that git has to look into it.
        shell(&root, "echo two > b.rs");
        self.clear();
        root
    }

    fn is_sprung(&self) -> bool {
        self.dir.path().join("sprung").exists()
    }

    fn clear(&self) {
        let _ = fs::remove_file(self.dir.path().join("sprung"));
    }
}

/// Git as users call it; what it says does not matter.
fn call_plainly(git: &Git, root: &Path, command: &str) {
    let program = git.program.as_ref().unwrap().to_str().unwrap();
    let line = command.replacen("git ", &format!("timeout 20 {program} "), 1);
    let _ = process::Command::new("/bin/sh")
        .args(["-c", &format!("{line} > /dev/null 2>&1 < /dev/null")])
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .status();
}

/// All that any caller of this crate asks.
fn ask_everything(git: &Git, root: &Path) -> Result<(), GitOutcome> {
    let checkout = git.open(root, CheckoutSearch::Here, &CancelToken::default())?;
    let base = checkout.diff_base();
    lines(&checkout, GitCommand::Diff, &["-M", "--name-status", base]);
    lines(&checkout, GitCommand::Diff, &["-U0", base]);
    let all = ["--cached", "--others", "--exclude-standard"];
    lines(&checkout, GitCommand::ListFiles, &all);
    history(&checkout);
    Ok(())
}

#[test]
fn nothing_that_a_repository_names_is_run() {
    for vector in VECTORS {
        let field = Field::new();
        let root = field.lay(vector);
        for git in all_gits() {
            let known = ask_everything(&git, &root);
            assert_eq!(known, Ok(()), "{}: not known", vector.name);
            assert!(!field.is_sprung(), "{}: sprung with {git:?}", vector.name);
        }
    }
}

#[test]
fn each_trap_springs_when_git_is_called_plainly() {
    for vector in VECTORS {
        let Some(command) = vector.spring else {
            continue;
        };
        let field = Field::new();
        let root = field.lay(vector);
        let sprung = all_gits().iter().any(|git| {
            call_plainly(git, &root, command);
            field.is_sprung()
        });
        assert!(sprung, "{}: has no teeth", vector.name);
    }
}

#[test]
fn changes_are_told_in_spite_of_a_filter() {
    for git in all_gits() {
        let field = Field::new();
        let root = field.lay(&VECTORS[1]);
        let checkout = git
            .open(&root, CheckoutSearch::Here, &CancelToken::default())
            .unwrap();
        assert_eq!(changed(&checkout), ["b.rs"]);
        assert_eq!(history(&checkout), (GitOutcome::Complete, 3));
    }
}
