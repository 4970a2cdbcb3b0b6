use remora_memory::testing::{LOOK_TOOLS, item};

use super::*;

fn scope(kinds: &[Kind]) -> ResolvedFilter {
    ResolvedFilter {
        project: Some(7),
        kinds: kinds.iter().map(|kind| kind_code(*kind)).collect(),
        looks: LookupItems::LeftOut,
        listed: true,
        ..ResolvedFilter::default()
    }
}

#[test]
fn whole_lists_are_asked() {
    let said = [
        Kind::Memory,
        Kind::Decision,
        Kind::Correction,
        Kind::Preference,
    ];
    assert_eq!(find_group_prefixes(&scope(&said)), ["_s7_"]);
    assert_eq!(
        find_group_prefixes(&scope(&[Kind::Summary, Kind::Fix])),
        ["_u7_", "_f7_"]
    );
    let with_commits = [INJECTABLE_GROUPS[0].1, &[Kind::Commit]].concat();
    assert_eq!(find_group_prefixes(&scope(&with_commits)), ["_r7_", "_c7_"]);
    // A part of a list, or what is in none, is not.
    assert!(find_group_prefixes(&scope(&said[..3])).is_empty());
    assert!(find_group_prefixes(&scope(&[Kind::Summary, Kind::Command])).is_empty());
    assert!(find_group_prefixes(&scope(&[])).is_empty());
    let everywhere = ResolvedFilter {
        project: None,
        ..scope(&[Kind::Fix])
    };
    assert!(find_group_prefixes(&everywhere).is_empty());
    let older = ResolvedFilter {
        listed: false,
        ..scope(&[Kind::Fix])
    };
    assert!(find_group_prefixes(&older).is_empty());
}

#[test]
fn looks_are_in_no_list() {
    let all = INJECTABLE_GROUPS[0].1;
    assert_eq!(find_group_prefixes(&scope(all)), ["_r7_"]);
    let with_looks = ResolvedFilter {
        looks: LookupItems::Kept,
        ..scope(all)
    };
    assert!(find_group_prefixes(&with_looks).is_empty());
}

#[test]
fn terms_are_listed_once_more() {
    let listed = |kind, tool: &str| {
        let mut item = item("a", "p");
        item.kind = kind;
        item.tool = Some(tool.to_owned());
        let mut terms = "retry _tloop".to_owned();
        add_injectable_terms(&mut terms, &item, 7, LOOK_TOOLS);
        terms
    };
    assert_eq!(
        listed(Kind::Decision, ""),
        "retry _tloop _r7_retry _r7__tloop _s7_retry _s7__tloop"
    );
    assert_eq!(
        listed(Kind::Discovery, "WebFetch"),
        "retry _tloop _r7_retry _r7__tloop"
    );
    assert_eq!(listed(Kind::Discovery, "Read"), "retry _tloop");
    assert_eq!(
        listed(Kind::Prompt, ""),
        "retry _tloop _p7_retry _p7__tloop"
    );
    assert_eq!(listed(Kind::Command, ""), "retry _tloop");
}
