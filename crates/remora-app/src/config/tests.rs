//! Files that are valid, files that are not, and changes that keep the rest.

use super::*;

#[test]
fn defaults_are_valid_and_files_override_them() {
    let config = Config::parse("[worker]\nidle_minutes = 5\n").unwrap();
    assert_eq!(config.get_number("worker.idle_minutes"), 5);
    assert_eq!(config.get_number("archive.max_mb"), 1024);
    let from_file: Vec<&str> = config
        .iter()
        .filter(|(_, _, source)| *source == ValueSource::File)
        .map(|(key, _, _)| key.name)
        .collect();
    assert_eq!(from_file, ["worker.idle_minutes"]);
}

#[test]
fn faults_name_the_key_and_the_way_out() {
    for (text, fault) in [
        (
            "[worker]\nidle_minute = 5",
            "line 2: unknown key `worker.idle_minute`; did you mean `worker.idle_minutes`?",
        ),
        (
            "telemetry = true",
            "line 1: unknown key `telemetry`; `remora config unset telemetry` takes it out",
        ),
        (
            "[worker]\nidle_minutes = \"5\"",
            "line 2: worker.idle_minutes: must be a number from 1 to 1000000",
        ),
        (
            "spool.fsync = 1",
            "line 1: spool.fsync: must be true or false",
        ),
        (
            "capture.ignore = [1]",
            "line 1: capture.ignore: must be a list of strings",
        ),
        (
            "[redact]\npatterns = [\"x\"]",
            "line 2: redact.patterns: must be a table of strings",
        ),
        (
            "search.model = \"minilm.onnx\"",
            "line 1: search.model: must be `built-in`, `off` or an absolute path",
        ),
        (
            "search.model = false",
            "line 1: search.model: must be `built-in`, `off` or an absolute path",
        ),
        (
            "spool.fsync = 1\n\n[search]\nmodel = 7 # off\n",
            "line 1: spool.fsync: must be true or false; line 4: search.model: must be `built-in`, `off` or an absolute path",
        ),
    ] {
        assert_eq!(Config::parse(text).unwrap_err(), fault, "{text}");
    }
    let broken = Config::parse("[worker]\n= 5\n").unwrap_err();
    assert!(broken.starts_with("line 2: "), "{broken}");
}

fn set(text: &str, name: &str, values: &[&str]) -> Result<String, String> {
    let values: Vec<String> = values.iter().map(|v| (*v).to_owned()).collect();
    set_value(text, name, &values)
}

#[test]
fn setting_a_value_keeps_everything_else() {
    let text = "# mine\n[worker]\n# why\nidle_minutes = 5 # short\n";
    let changed = set(text, "spool.fsync", &["true"]).unwrap();
    assert!(changed.starts_with(text), "{changed}");
    assert!(Config::parse(&changed).unwrap().get_flag("spool.fsync"));
    assert_eq!(
        set(text, "worker.idle_minutes", &["7"]).unwrap(),
        "# mine\n[worker]\n# why\nidle_minutes = 7 # short\n"
    );
    let dotted = set("spool.fsync = true # x\n", "spool.fsync", &["false"]);
    assert_eq!(dotted.unwrap(), "spool.fsync = false # x\n");
}

#[test]
fn lists_take_several_values_and_tables_single_entries() {
    let read = |text: &str| Config::parse(text).unwrap();
    for values in [&["a/", "b c"][..], &["[\"a/\", 'b c']"][..]] {
        let text = set("", "capture.ignore", values).unwrap();
        assert_eq!(read(&text).get_list("capture.ignore"), ["a/", "b c"]);
    }
    let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let text = set("", "redact.patterns", &["{ ticket = 'T-\\d+' }"]).unwrap();
    let text = set(&text, "redact.patterns.my.key", &[r"K-\d"]).unwrap();
    assert_eq!(
        read(&text).get_table("redact.patterns"),
        [pair("ticket", r"T-\d+"), pair("my.key", r"K-\d")]
    );
    let text = remove_value(&text, "redact.patterns.ticket").unwrap();
    assert_eq!(read(&text).get_table("redact.patterns").len(), 1);
    let text = remove_value(&text, "redact.patterns").unwrap();
    assert_eq!(read(&text).get_table("redact.patterns").len(), 0);
}

#[test]
fn a_word_or_a_path_is_written_without_quotes() {
    for value in ["off", "built-in", "/opt/some model.onnx"] {
        let text = set("", "search.model", &[value]).unwrap();
        assert_eq!(
            Config::parse(&text).unwrap().get_text("search.model"),
            value
        );
    }
    assert_eq!(
        set("", "search.model", &["on"]).unwrap_err(),
        "search.model: must be `built-in`, `off` or an absolute path"
    );
}

#[test]
fn values_that_do_not_fit_are_told_by_their_key() {
    for (name, values, fault) in [
        (
            "worker.idle_minutes",
            &["soon"][..],
            "worker.idle_minutes: must be a number from 1 to 1000000",
        ),
        (
            "worker.idle_minutes",
            &["0"],
            "worker.idle_minutes: must be a number from 1 to 1000000",
        ),
        (
            "spool.fsync",
            &["true", "x"],
            "spool.fsync: takes one value",
        ),
        (
            "spool.fsync",
            &["yes"],
            "spool.fsync: must be true or false",
        ),
        (
            "capture.ignore",
            &["[1"],
            "capture.ignore: `[1` is not a TOML list",
        ),
        (
            "worker.idle",
            &["1"],
            "unknown key `worker.idle`; `remora config show` lists all",
        ),
        (
            "spool.fsnc",
            &["1"],
            "unknown key `spool.fsnc`; did you mean `spool.fsync`?",
        ),
    ] {
        assert_eq!(set("", name, values).unwrap_err(), fault, "{name}");
    }
    assert_eq!(
        remove_value("a = 1", "nothing").unwrap_err(),
        format_unknown_key("nothing", "`remora config show` lists all")
    );
    let stray = "[worker]\nidle_minute = 5 # mine\nidle_minutes = 6\n";
    assert_eq!(
        remove_value(stray, "worker.idle_minute").unwrap(),
        "[worker]\nidle_minutes = 6\n"
    );
    assert_eq!(
        remove_value(stray, "worker").unwrap_err(),
        format_unknown_key("worker", "`remora config show` lists all")
    );
    let text = "[worker]\nidle_minutes = 5\n";
    assert_eq!(remove_value(text, "spool.fsync").unwrap(), text);
    assert_eq!(
        remove_value(text, "worker.idle_minutes").unwrap(),
        "[worker]\n"
    );
}
