//! `remora config`: values with their source, and changes that keep the file.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn every_value_has_a_source_and_a_meaning() {
    let sandbox = Sandbox::new();
    sandbox.write("home/.remora/config.toml", "[worker]\nidle_minutes = 5\n");
    assert_snapshot!(sandbox.remora(&["config", "show"]).go(), @r#"
    $ remora config show
    [HOME]/.remora/config.toml
    capture.skip_tools = [] (default)
        tools whose calls are not kept
    capture.ignore = [] (default)
        files that are not captured, as in .gitignore; a project adds its own in .remoraignore
    capture.git = true (default)
        the worker takes in what commits of your projects say
    redact.patterns = {} (default)
        regular expressions whose matches are redacted in every text, by name
    redact.deny_paths = [] (default)
        files whose contents are never kept, as in .gitignore
    spool.fsync = false (default)
        hooks wait until the disk has their event
    worker.idle_minutes = 5 (file)
        the worker ends after this long without work
    archive.max_mb = 1024 (default)
        the archive of raw events drops its oldest files beyond this
    retention.days = 0 (default)
        `prune` removes what is older; 0 keeps everything
    retention.max_mb = 0 (default)
        `prune` removes the oldest until the database is smaller; 0 means no limit
    search.model = "built-in" (default)
        what finds items by their meaning: built-in, off, or the model's file for a build without it
    search.background = true (default)
        the worker embeds items when it has nothing else to do
    recall.start_tokens = 900 (default)
        tokens that are injected at a session's start, at most; small projects take fewer; 0 injects nothing
    recall.index_rows = 12 (default)
        lines on earlier work at a session's start
    recall.summaries = 10 (default)
        sessions that are searched for the state of the work and open steps
    recall.prompt_tokens = 400 (default)
        tokens that are injected at a prompt, at most; 0 injects nothing
    recall.suggest_saves = false (default)
        a pattern that repeats is proposed as a memory
    recall.guard_edits = 0 (default)
        after this many changed files a stop asks once whether something is worth saving; 0 never
    ui.greet = true (default)
        one line at a session's start tells the user what was remembered
    mcp.all_projects = false (default)
        agents may read the memory of other projects than their own
    folders.auto = false (default)
        the worker keeps the notes of `remora folders` up to date
    models.provider = "off" (default)
        who answers questions to a model, such as those of prompt hooks; set by `remora models use`
    models.url = "" (default)
        the provider's address, if it is not its usual one
    models.model = "" (default)
        the model for questions that name none
    models.key_file = "" (default)
        a file with the provider's key, readable by you alone
    models.names = {} (default)
        names of models in hooks, and the provider's models to ask in their place
    models.verifier_shell = false (default)
        agent hooks may also run commands that only read
    exit 0
    "#);
    let (_, value) = sandbox.remora(&["config", "show"]).json();
    let row = value["values"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["key"] == "worker.idle_minutes")
        .unwrap();
    assert_snapshot!(row, @r#"{"key":"worker.idle_minutes","value":5,"source":"file","about":"the worker ends after this long without work"}"#);
    assert_snapshot!(sandbox.remora(&["config", "path"]).go(), @r"
    $ remora config path
    [HOME]/.remora/config.toml
    exit 0
    ");
}

#[test]
fn a_change_keeps_comments_and_the_file_is_private() {
    let sandbox = Sandbox::new();
    let text = "# my own\n[worker]\nidle_minutes = 5 # short\n";
    let file = sandbox.write("home/.remora/config.toml", text);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let calls = [
        &["set", "worker.idle_minutes", "7"][..],
        &["set", "capture.ignore", "secrets/", "*.pem"],
        &["set", "redact.patterns.ticket", r"T-\d+"],
        &["unset", "capture.ignore"],
        &["unset", "capture.ignore"],
    ];
    let told: Vec<String> = calls
        .iter()
        .map(|args| sandbox.remora(&["config"]).args(args).go().to_string())
        .collect();
    assert_snapshot!(told.join("\n"), @r#"
    $ remora config set worker.idle_minutes 7
    worker.idle_minutes = 7
    exit 0
    $ remora config set capture.ignore secrets/ *.pem
    capture.ignore = ["secrets/","*.pem"]
    exit 0
    $ remora config set redact.patterns.ticket T-\d+
    redact.patterns.ticket = "T-\\d+"
    exit 0
    $ remora config unset capture.ignore
    capture.ignore is back to []
    exit 0
    $ remora config unset capture.ignore
    capture.ignore was not set
    exit 0
    "#);
    assert_snapshot!(fs::read_to_string(&file).unwrap(), @r"
    # my own
    [worker]
    idle_minutes = 7 # short

    [capture]

    [redact]

    [redact.patterns]
    ticket = 'T-\d+'
    ");
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn what_does_not_fit_changes_nothing() {
    let sandbox = Sandbox::new();
    let calls = [
        &["set", "worker.idle_minuets", "7"][..],
        &["set", "worker.idle_minutes", "soon"],
        &["set", "redact.patterns.x", "("],
        &["set", "redact.patterns.x", "a*"],
        &["unset", "worker"],
    ];
    let told: Vec<String> = calls
        .iter()
        .map(|args| sandbox.remora(&["config"]).args(args).go().to_string())
        .collect();
    assert_snapshot!(told.join("\n"), @r"
    $ remora config set worker.idle_minuets 7
    stderr: remora: unknown key `worker.idle_minuets`; did you mean `worker.idle_minutes`?
    exit 1
    $ remora config set worker.idle_minutes soon
    stderr: remora: worker.idle_minutes: must be a number from 1 to 1000000
    exit 1
    $ remora config set redact.patterns.x (
    stderr: remora: redact.patterns: redaction pattern `x` is not a usable regular expression: regex parse error:
    stderr:     (
    stderr:     ^
    stderr: error: unclosed group
    exit 1
    $ remora config set redact.patterns.x a*
    stderr: remora: redact.patterns: redaction pattern `x` matches the empty text
    exit 1
    $ remora config unset worker
    stderr: remora: unknown key `worker`; `remora config show` lists all
    exit 1
    ");
    assert!(!sandbox.path("home/.remora/config.toml").exists());
    sandbox.write("home/.remora/config.toml", "[worker]\nidle_minuets = 5\n");
    assert_snapshot!(sandbox.remora(&["config", "set", "spool.fsync", "true"]).go(), @r"
    $ remora config set spool.fsync true
    stderr: remora: [HOME]/.remora/config.toml: line 2: unknown key `worker.idle_minuets`; did you mean `worker.idle_minutes`?
    exit 1
    ");
}

#[test]
fn a_broken_file_is_named_with_its_line_and_can_be_mended() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("home/.remora/config.toml", "[worker]\nidle_minutes 5\n");
    let calls = |calls: &[&[&str]]| -> String {
        let told = calls.iter().map(|args| sandbox.remora(args).go());
        told.map(|done| done.to_string())
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_snapshot!(calls(&[
        &["config", "show"],
        &["config", "set", "worker.idle_minutes", "7"],
        &["config", "unset", "worker.idle_minutes"],
        &["config", "path"],
        &["worker", "stop"],
        &["worker", "status"],
        &["worker", "start"],
    ]), @"
    $ remora config show
    stderr: remora: [HOME]/.remora/config.toml: line 2: key with no value, expected `=`; correct that line
    exit 1
    $ remora config set worker.idle_minutes 7
    stderr: remora: [HOME]/.remora/config.toml: line 2: key with no value, expected `=`; correct that line
    exit 1
    $ remora config unset worker.idle_minutes
    stderr: remora: [HOME]/.remora/config.toml: line 2: key with no value, expected `=`; correct that line
    exit 1
    $ remora config path
    [HOME]/.remora/config.toml
    exit 0
    $ remora worker stop
    no worker runs
    exit 0
    $ remora worker status
    no worker runs; waiting 0
    exit 0
    $ remora worker start
    stderr: remora: [HOME]/.remora/config.toml: line 2: key with no value, expected `=`; correct that line
    exit 1
    ");
    fs::write(
        &file,
        "telemetry = true\n[worker]\nidle_minutes = \"soon\"\n",
    )
    .unwrap();
    assert_snapshot!(calls(&[
        &["config", "show"],
        &["config", "set", "spool.fsync", "true"],
        &["config", "unset", "telemetry"],
        &["config", "set", "worker.idle_minutes", "7"],
    ]), @"
    $ remora config show
    stderr: remora: [HOME]/.remora/config.toml: line 1: unknown key `telemetry`; `remora config unset telemetry` takes it out; line 3: worker.idle_minutes: must be a number from 1 to 1000000
    exit 1
    $ remora config set spool.fsync true
    stderr: remora: [HOME]/.remora/config.toml: line 1: unknown key `telemetry`; `remora config unset telemetry` takes it out; line 3: worker.idle_minutes: must be a number from 1 to 1000000
    exit 1
    $ remora config unset telemetry
    stderr: remora: [HOME]/.remora/config.toml: line 2: worker.idle_minutes: must be a number from 1 to 1000000
    exit 1
    $ remora config set worker.idle_minutes 7
    worker.idle_minutes = 7
    exit 0
    ");
    fs::write(&file, "telemetry = true\n").unwrap();
    assert_snapshot!(calls(&[&["config", "unset", "telemetry"]]), @"
    $ remora config unset telemetry
    telemetry is gone
    exit 0
    ");
}

#[test]
fn a_running_worker_reads_the_new_value() {
    let sandbox = Sandbox::new();
    let start = sandbox.remora(&["worker", "start"]).leaving_a_process();
    assert_eq!(start.go().code, Some(0));
    let set = sandbox
        .remora(&["config", "set", "spool.fsync", "true"])
        .leaving_a_process();
    let (done, value) = set.json();
    assert_eq!(value["worker_restarted"], true, "{done}");
    // The worker leaves a mark for hooks when it has read the value.
    let up = sandbox
        .remora(&["worker", "start"])
        .leaving_a_process()
        .go();
    assert_eq!(up.code, Some(0), "{up}");
    assert!(sandbox.path("home/.remora/run/sync").exists());
    crate::rebuild::stop(&sandbox);
}

/// None of these may hold up or fill up whoever reads the settings.
#[test]
fn a_file_that_never_ends_or_never_answers_is_named() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new();
    let file = sandbox.path("home/.remora/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let said = || {
        let done = sandbox.remora(&["config", "show"]).go();
        assert_eq!(done.code, Some(1), "{done}");
        let set = sandbox.remora(&["config", "set", "search.background", "true"]);
        assert_eq!(set.go().code, Some(1));
        fs::remove_file(&file).unwrap();
        done.stderr
    };
    sandbox.shell("mkfifo ../home/.remora/config.toml");
    assert!(said().contains("is a pipe or a device, not a file"));
    symlink("/dev/zero", &file).unwrap();
    assert!(said().contains("is a pipe or a device, not a file"));
    let huge = fs::File::create(&file).unwrap();
    huge.set_len(64 * 1024 * 1024 * 1024).unwrap();
    assert!(said().contains("at most 4194304 are read"));
    // A link to a file of the user's own is theirs to make.
    let real = sandbox.write(
        "home/dotfiles/remora.toml",
        "[search]\nbackground = false\n",
    );
    symlink(real, &file).unwrap();
    assert_eq!(sandbox.remora(&["config", "show"]).go().code, Some(0));
}
