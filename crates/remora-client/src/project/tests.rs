//! Checkouts of every kind, real and forged.

use super::*;

const KEY: &str = "h.org/acme/app";
const CONFIG: &str = "[remote \"origin\"]\nurl = git@h.org:acme/app.git\n";

/// A folder with a data directory, and the checkout `app` of the remote.
struct Disk {
    _dir: tempfile::TempDir,
    top: PathBuf,
    paths: DataPaths,
}

impl Disk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let disk = Self {
            paths: DataPaths::new(top.join("data")),
            _dir: dir,
            top,
        };
        disk.write("app/.git/HEAD", "ref: refs/heads/main\n");
        disk.write("app/.git/config", CONFIG);
        disk
    }

    /// The same, and `app` holds the key.
    fn claimed() -> Self {
        let disk = Self::new();
        let root = disk.text("app");
        assert!(
            ProjectRoots::for_data_dir(&disk.paths)
                .claim(KEY, &root)
                .unwrap()
        );
        disk
    }

    fn write(&self, file: &str, text: &str) {
        let file = self.top.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn link(&self, file: &str, to: &str) {
        let file = self.top.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(self.top.join(to), file).unwrap();
    }

    /// What `git worktree add ../w` leaves.
    fn worktree(&self, of: &str, at: &str) {
        let name = at.rsplit('/').next().unwrap();
        let own = format!("{of}/worktrees/{name}");
        self.write(&format!("{own}/HEAD"), "ref: refs/heads/w\n");
        self.write(&format!("{own}/commondir"), "../..\n");
        let back = format!("{}/.git\n", self.text(at));
        self.write(&format!("{own}/gitdir"), &back);
        let pointer = format!("gitdir: {}\n", self.text(&own));
        self.write(&format!("{at}/.git"), &pointer);
    }

    fn text(&self, path: &str) -> String {
        self.top.join(path).display().to_string()
    }

    fn at(&self, path: &str) -> ProjectLocation {
        locate_project(&self.paths, &self.top.join(path), None)
    }

    fn key(&self, path: &str) -> String {
        self.at(path).project.key.into_string()
    }
}

#[test]
fn checkouts_worktrees_and_subfolders_are_one_project() {
    let disk = Disk::claimed();
    disk.write("app/src/deep/x", "");
    disk.worktree("app/.git", "elsewhere/w");
    let main = disk.at("app/src/deep");
    let project = Project {
        key: KEY.into(),
        name: "app".to_owned(),
        root: disk.text("app"),
    };
    let branch = Some("main".to_owned());
    let app = ProjectLocation {
        project: project.clone(),
        branch,
        main: disk.text("app"),
        claim: RootClaim::Accepted,
    };
    assert_eq!(main, app);
    let tree = ProjectLocation {
        project: Project {
            root: disk.text("elsewhere/w"),
            ..project
        },
        branch: Some("w".to_owned()),
        ..app
    };
    assert_eq!(disk.at("elsewhere/w"), tree);
    // As newer versions of git write them.
    disk.write(
        "app/.git/worktrees/w/gitdir",
        "../../../../elsewhere/w/.git\n",
    );
    disk.write("elsewhere/w/.git", "gitdir: ../../app/.git/worktrees/w\n");
    assert_eq!(disk.at("elsewhere/w"), tree);
}

#[test]
fn a_worktree_without_a_remote_is_known_by_the_main_checkout() {
    let disk = Disk::new();
    disk.write("app/.git/config", "");
    disk.worktree("app/.git", "w");
    assert_eq!(disk.key("w"), disk.text("app"));
    assert_eq!(disk.key("app"), disk.text("app"));
}

#[test]
fn folders_of_the_same_name_do_not_mix() {
    let disk = Disk::new();
    disk.write("a/app/sub/x", "");
    disk.write("b/app/x", "");
    assert_ne!(disk.key("a/app"), disk.key("b/app"));
    let one = disk.top.join("a/app");
    let sub = locate_project(&disk.paths, &one.join("sub"), Some(&one));
    assert_eq!(sub.project.key, disk.key("a/app"));
}

#[test]
fn a_key_is_free_then_held_then_shared_by_those_who_were_accepted() {
    let disk = Disk::new();
    disk.write("clone/.git/config", CONFIG);
    assert_eq!(disk.at("app").claim, RootClaim::Free);
    let roots = ProjectRoots::for_data_dir(&disk.paths);
    roots.claim(KEY, &disk.text("app")).unwrap();
    let clone = disk.at("clone");
    let waiting = RootClaim::Waiting {
        key: KEY.into(),
        holders: vec![disk.text("app")],
    };
    assert_eq!(
        (&clone.claim, clone.project.key.as_str()),
        (&waiting, disk.text("clone").as_str())
    );
    assert_eq!(clone.project.name, "clone");
    roots.accept(KEY, &disk.text("clone")).unwrap();
    assert_eq!(
        (disk.key("clone"), disk.key("app")),
        (KEY.to_owned(), KEY.to_owned())
    );
}

#[test]
fn links_to_one_root_are_one_root() {
    let disk = Disk::claimed();
    disk.link("link", "app");
    assert_eq!(disk.key("link"), KEY);
    assert_eq!(disk.at("link").project.root, disk.text("link"));
    disk.write("app/.git/config", "");
    assert_eq!(disk.key("link"), disk.text("app"));
    disk.write("app/.git/config", CONFIG);
    disk.write("clone/.git/config", CONFIG);
    disk.link("other", "clone");
    assert_eq!(disk.key("other"), disk.text("clone"));
}

#[test]
fn a_list_that_cannot_be_read_lets_no_root_in() {
    let disk = Disk::claimed();
    let file = disk.paths.roots_dir().join("h.org%2Facme%2Fapp");
    fs::write(&file, "something else\n").unwrap();
    assert_eq!(disk.key("app"), disk.text("app"));
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(disk.key("app"), disk.text("app"));
}

/// Ways to look like `app` without being it, each in a folder of its own.
#[test]
fn no_forged_checkout_gets_into_another() {
    type Forge = fn(&Disk);
    let forged: &[(&str, Forge)] = &[
        ("a config", |d| d.write("evil/.git/config", CONFIG)),
        ("a linked config", |d| {
            d.link("evil/.git/config", "app/.git/config");
        }),
        ("a linked git folder", |d| d.link("evil/.git", "app/.git")),
        ("a pointer to the repository", |d| {
            d.write("evil/.git", &format!("gitdir: {}\n", d.text("app/.git")));
        }),
        ("a relative pointer", |d| {
            d.write("evil/.git", "gitdir: ../app/.git\n");
        }),
        ("a pointer to a worktree", |d| {
            d.worktree("app/.git", "w");
            d.write("evil/.git", "gitdir: ../app/.git/worktrees/w\n");
        }),
        ("a link to a worktree's pointer", |d| {
            d.worktree("app/.git", "w");
            d.link("evil/.git", "w/.git");
        }),
        ("a worktree that no repository lists", |d| {
            d.write("evil/.git", "gitdir: ../app/.git/worktrees/none\n");
        }),
        ("commondir in a git folder", |d| {
            d.write("evil/.git/HEAD", "ref: refs/heads/x\n");
            d.write("evil/.git/commondir", "../../app/.git\n");
        }),
        ("commondir in a folder of its own", |d| {
            d.write("evil/.git", "gitdir: own\n");
            d.write("evil/own/commondir", "../../app/.git\n");
            d.write("evil/own/gitdir", "../.git\n");
        }),
        ("a whole tree of worktrees of its own", |d| {
            d.write("evil/.git", "gitdir: own/worktrees/w\n");
            d.write("evil/own/worktrees/w/commondir", "../../../../app/.git\n");
            d.write("evil/own/worktrees/w/gitdir", "../../../.git\n");
        }),
        (
            "a repository of its own that says its tree is elsewhere",
            |d| {
                d.write("evil/.git", "gitdir: own/worktrees/w\n");
                d.write("evil/own/worktrees/w/commondir", "../..\n");
                d.write("evil/own/worktrees/w/gitdir", "../../../.git\n");
                let tree = format!("{CONFIG}[core]\nworktree = ../../app\n");
                d.write("evil/own/config", &tree);
            },
        ),
        ("a linked folder of worktrees", |d| {
            d.worktree("app/.git", "w");
            d.link("evil/own/worktrees", "app/.git/worktrees");
            d.write("evil/.git", "gitdir: own/worktrees/w\n");
        }),
        ("a linked repository with a worktree", |d| {
            d.worktree("app/.git", "w");
            d.link("evil/own", "app");
            d.write("evil/.git", "gitdir: own/.git/worktrees/w\n");
        }),
        ("a pointer with dots", |d| {
            d.link("evil/in", "app/.git/worktrees");
            d.write("evil/.git", "gitdir: in/../../app/.git\n");
        }),
        ("a path as a remote", |d| {
            let url = d.text("app");
            d.write(
                "evil/.git/config",
                &format!("[remote \"origin\"]\nurl = {url}\n"),
            );
        }),
    ];
    for (what, forge) in forged {
        for claimed in [true, false] {
            let disk = if claimed {
                Disk::claimed()
            } else {
                Disk::new()
            };
            disk.write("evil/x", "");
            forge(&disk);
            let evil = disk.at("evil");
            let is_inside = Path::new(&evil.main).starts_with(disk.top.join("evil"));
            assert!(is_inside, "{what}: {evil:?}");
            assert_ne!(evil.project.key, disk.text("app"), "{what}");
            if claimed {
                assert_ne!(evil.project.key, KEY, "{what}");
                assert_eq!(disk.key("app"), KEY, "{what}");
            }
        }
    }
}

#[test]
fn git_folders_elsewhere_belong_to_the_tree_that_they_name() {
    let disk = Disk::claimed();
    let lib = "[remote \"origin\"]\nurl = h.org:acme/lib\n";
    let of = |tree: &str| format!("{lib}[core]\nworktree = {tree}\n");
    // A submodule, and a worktree of it.
    disk.write("app/lib/.git", "gitdir: ../.git/modules/lib\n");
    disk.write("app/.git/modules/lib/config", &of("../../../lib"));
    disk.worktree("app/.git/modules/lib", "lib-w");
    for checkout in ["app/lib", "lib-w"] {
        let lib = disk.at(checkout);
        assert_eq!(lib.project.key, "h.org/acme/lib", "{checkout}");
        assert_eq!(lib.main, disk.text("app/lib"), "{checkout}");
    }
    // `git clone --bare h.org:acme/lib .bare`, and worktrees next to it.
    disk.write("bare/.git", "gitdir: ./.bare\n");
    disk.write("bare/.bare/config", lib);
    disk.worktree("bare/.bare", "bare/one");
    disk.worktree("bare/.bare", "bare/two");
    for checkout in ["bare", "bare/one", "bare/two"] {
        assert_eq!(disk.at(checkout).main, disk.text("bare"), "{checkout}");
    }
    // A bare repository without a checkout.
    disk.write("srv/lib.git/config", lib);
    disk.worktree("srv/lib.git", "three");
    assert_eq!(disk.at("three").main, disk.text("srv/lib.git"));
    assert_eq!(main_root(&disk.top.join("three")), disk.text("srv/lib.git"));
}

#[test]
fn files_of_git_are_small_and_regular() {
    let disk = Disk::new();
    let of = |git: &str| disk.at(git).project.key;
    disk.write(
        "large/.git/config",
        &format!("{CONFIG}{}", "#\n".repeat(600_000)),
    );
    assert_eq!(of("large"), disk.text("large"));
    for (folder, device) in [("zero", "/dev/zero"), ("null", "/dev/null")] {
        fs::create_dir_all(disk.top.join(folder).join("sub/.git")).unwrap();
        let git = disk.top.join(folder).join(".git");
        std::os::unix::fs::symlink(device, git).unwrap();
        let config = disk.top.join(folder).join("sub/.git/config");
        std::os::unix::fs::symlink(device, config).unwrap();
        assert_eq!(of(folder), disk.text(folder));
        let sub = format!("{folder}/sub");
        assert_eq!(of(&sub), disk.text(&sub));
    }
}
