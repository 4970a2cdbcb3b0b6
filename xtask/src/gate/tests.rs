use super::*;

#[test]
fn the_count_is_read_as_old_and_new_valgrinds_write_it() {
    let old = "==7== Cachegrind\n==7== \n==7== I   refs:      1,795,547\n";
    assert_eq!(parse_instructions(old), Some(1_795_547));
    assert_eq!(parse_instructions("==7== I refs:  42\n"), Some(42));
    assert_eq!(parse_instructions("==7== D refs:  42\n"), None);
    assert_eq!(parse_instructions(""), None);
}

#[test]
fn only_a_rise_beyond_the_tolerance_is_one() {
    let accepted = json!({"instructions": {"a": 100_000, "b": 100_000, "c": 100_000}});
    let counts = [("a", 105_000), ("b", 105_100), ("c", 50_000), ("d", 1)];
    let counts = counts.map(|(name, count)| (name.to_owned(), count));
    let (lines, risen) = compare_counts(&accepted, &counts.into());
    assert_eq!(risen, ["b", "d"]);
    assert_eq!(
        lines,
        [
            "a: 105000 instructions, +5.00 % against 100000",
            "b: 105100 instructions, +5.10 % against 100000",
            "c: 50000 instructions, -50.00 % against 100000",
            "d: 1 instructions, never accepted",
        ]
    );
}

#[test]
fn an_unknown_argument_shows_the_usage() {
    let error = run(&["--acept".to_owned()]).unwrap_err().to_string();
    assert_eq!(error, USAGE);
}
