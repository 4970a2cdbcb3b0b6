//! Names, addresses, pages and index lines, from data and from any text.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value as Json;

use super::page::MemoryPage;
use super::*;
use remora_instructions::frontmatter::FrontmatterValue;

fn case(name: &str) -> Json {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("cases/memories")
        .join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn texts(list: &Json) -> impl Iterator<Item = &str> {
    list.as_array().unwrap().iter().map(|t| t.as_str().unwrap())
}

#[test]
fn names_stay_in_their_folder() {
    let cases = case("names.json");
    for name in texts(&cases["refused"]) {
        let error = MemoryName::new(name).expect_err(name).to_string();
        assert!(!error.contains('\n') && !error.contains('\0'), "{error}");
    }
    for (given, name) in cases["taken"].as_object().unwrap() {
        assert_eq!(
            MemoryName::new(given).unwrap().as_str(),
            name.as_str().unwrap()
        );
    }
    for (title, name) in cases["titles"].as_object().unwrap() {
        assert_eq!(
            MemoryName::from_title(title).unwrap().as_str(),
            name.as_str().unwrap(),
            "{title}"
        );
    }
    for title in texts(&cases["titles_refused"]) {
        assert!(MemoryName::from_title(title).is_err(), "{title}");
    }
}

#[test]
fn addresses_are_read_and_found() {
    let uri = MemoryUri::parse("memory://project/no-mocks").unwrap();
    assert_eq!(
        (uri.scope, uri.name.as_str()),
        (MemoryScope::Project, "no-mocks")
    );
    assert_eq!(uri.to_string(), "memory://project/no-mocks");
    for wrong in [
        "memory://",
        "memory://project",
        "memory://project/",
        "memory://others/x",
        "memory://team/../x",
        "memory://user//x",
        "http://project/x",
    ] {
        assert!(MemoryUri::parse(wrong).is_err(), "{wrong}");
    }
    let text = "See memory://project/no-mocks, (memory://team/v1.2) and memory://user/x.\n\
                memory://project/no-mocks again; memory://team/../y; memory://nobody/z; memory://user/";
    let found: Vec<String> = MemoryUri::all_in(text)
        .iter()
        .map(MemoryUri::to_string)
        .collect();
    assert_eq!(
        found,
        [
            "memory://project/no-mocks",
            "memory://team/v1.2",
            "memory://user/x"
        ]
    );
}

#[test]
fn sentences_end_where_people_end_them() {
    for (text, first) in [
        ("", ""),
        ("# Title\nmore", "Title"),
        ("Never mock it. Use a container.", "Never mock it"),
        ("Use src/a.rs for this. Then go.", "Use src/a.rs for this"),
        ("- *x*", "x*"),
        ("数据库不要 mock。真的", "数据库不要 mock"),
    ] {
        assert_eq!(first_sentence(text), first);
    }
}

#[test]
fn pages_change_in_one_place_only() {
    for case in case("pages.json").as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let mut page = MemoryPage::parse(case["before"].as_str().unwrap());
        assert_eq!(page.render(), case["before"].as_str().unwrap(), "{name}");
        let change = &case["change"];
        let word = |key: &str| change[key].as_str().map(str::to_owned);
        let change = folder::MemoryChange {
            title: word("title"),
            description: word("description"),
            kind: word("type").and_then(|word| MemoryType::parse(&word)),
            priority: change["priority"]
                .as_u64()
                .and_then(|number| u8::try_from(number).ok()),
            author: word("author").map(|word| MemoryAuthor::parse(&word)),
            body: word("body"),
        };
        let result = fact::apply_change(&mut page, &change, "2026-11-16T03:48:19.837Z");
        if let Some(part) = case["error"].as_str() {
            assert!(result.unwrap_err().contains(part), "{name}");
            continue;
        }
        result.unwrap();
        assert_eq!(page.render(), case["after"].as_str().unwrap(), "{name}");
    }
}

#[test]
fn both_spellings_are_read() {
    let page = MemoryPage::parse(
        "---\ntype: user\nmodified: 2026-01-01\npriority: 9\nmetadata:\n  type: feedback\n  priority: 2\n---\nx\n",
    );
    assert_eq!(page.kind(), Some(MemoryType::Feedback));
    assert_eq!(page.priority(), 2);
    assert_eq!(page.find_text("modified").as_deref(), Some("2026-01-01"));
    let top = MemoryPage::parse("---\ntype: Reference\npriority: 9\n---\nx\n");
    assert_eq!(
        (top.kind(), top.priority()),
        (Some(MemoryType::Reference), 3)
    );
    assert_eq!(MemoryPage::parse("no head").kind(), None);
}

fn memory(title: &str, description: Option<&str>, body: &str) -> Memory {
    Memory {
        uri: MemoryUri {
            scope: MemoryScope::Project,
            name: MemoryName::new("a-b").unwrap(),
        },
        path: PathBuf::from("a-b.md"),
        title: title.to_owned(),
        description: description.map(str::to_owned),
        kind: None,
        priority: 3,
        author: MemoryAuthor::User,
        modified: None,
        links: Vec::new(),
        body: body.to_owned(),
        alias: None,
        warnings: Vec::new(),
    }
}

#[test]
fn index_lines() {
    let line = |title, hook| pointer::format_entry(&memory(title, hook, ""));
    assert_eq!(line("Title", Some("a hook")), "- [Title](a-b.md) - a hook");
    assert_eq!(line("Title", None), "- [Title](a-b.md)");
    assert_eq!(
        line("a]( b\n[c] `d` \\", Some("x\n\n- y <!-- z")),
        "- [a\\]( b \\[c\\] \\`d\\` \\\\](a-b.md) - x - y \\<!-- z"
    );
    let parsed = |line| pointer::parse_entry(line).map(|p| (p.title, p.file));
    let pair = |title: &str, file: &str| Some((title.to_owned(), file.to_owned()));
    assert_eq!(parsed("- [T](a.md) — hook"), pair("T", "a.md"));
    assert_eq!(parsed("- [T](a.md \"t\")"), pair("T", "a.md"));
    assert_eq!(parsed("- [T](./a%20b.md#part)"), pair("T", "a b.md"));
    assert_eq!(parsed("- [T](a.md"), None);
    assert_eq!(parsed("  * [a [b] c](./a.md)"), pair("a [b] c", "a.md"));
    assert_eq!(parsed("+ [x](<a b.md>) y\r\n"), pair("x", "a b.md"));
    assert_eq!(parsed("- [x](a%20b.md)"), pair("x", "a b.md"));
    for not in [
        "",
        "-",
        "- x",
        "[x](a.md)",
        "- see [x](a.md)",
        "- [x]",
        "- [x](",
        "- [x\\",
    ] {
        assert_eq!(parsed(not), None, "{not}");
    }
}

#[test]
fn an_index_keeps_what_a_person_wrote() {
    let new = memory("New", Some("hook"), "");
    let with = |index: &str| pointer::add_entry(index, &new);
    assert_eq!(with(""), "- [New](a-b.md) - hook\n");
    assert_eq!(
        with("# Mine\n\n- [X](x.md) - y\n\nnotes"),
        "# Mine\n\n- [X](x.md) - y\n- [New](a-b.md) - hook\n\nnotes"
    );
    assert_eq!(with("no end"), "no end\n- [New](a-b.md) - hook\n");
    assert_eq!(
        with("- [X](x.md)\r\n"),
        "- [X](x.md)\r\n- [New](a-b.md) - hook\r\n"
    );
    assert_eq!(
        with("- [Old](a-b.md) - old\n- [X](x.md)\n- [Twice](a-b.md)\n"),
        "- [New](a-b.md) - hook\n- [X](x.md)\n"
    );
    let text = "- [a](a-b.md)\nsee a-b.md or xa-b.md\n- both [x](x.md), [a](a-b.md)\n";
    let without = pointer::remove_entry(text, "a-b.md");
    assert_eq!(
        without,
        "see a-b.md or xa-b.md\n- both [x](x.md), [a](a-b.md)\n"
    );
    assert_eq!(pointer::find_mentions(&without, "a-b.md"), [1, 2]);
    let mended = pointer::repair_index(
        "# Mine\n- [gone](gone.md)\n- [web](https://x.test)\n- [sub](sub/x.md)\n",
        &[new],
        |file| file == "gone.md",
    );
    assert_eq!(
        mended,
        "# Mine\n- [web](https://x.test)\n- [sub](sub/x.md)\n- [New](a-b.md) - hook\n"
    );
}

fn value() -> impl Strategy<Value = FrontmatterValue> {
    let leaf = prop_oneof![
        "\\PC{0,20}".prop_map(FrontmatterValue::Text),
        "[a-z:#'\"\n\t\\\\ -]{0,12}".prop_map(FrontmatterValue::Text),
        Just(FrontmatterValue::Bool(true)),
        Just(FrontmatterValue::Null),
        (0..1000_u32).prop_map(|n| FrontmatterValue::Number(n.to_string())),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(FrontmatterValue::List),
            prop::collection::vec(("[a-z]{1,6}", inner), 0..3).prop_map(|mut entries| {
                entries.sort_by(|a, b| a.0.cmp(&b.0));
                entries.dedup_by(|a, b| a.0 == b.0);
                FrontmatterValue::Map(entries)
            }),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_set_is_read_again(value in value(), nested in value(), body in "\\PC{0,30}") {
        let mut page = MemoryPage::parse("---\n# mine\nname: x # why\nother:\n  - 1\n---\nold\n");
        page.set_top_level("description", value.clone()).unwrap();
        page.set_nested("extra", nested.clone()).unwrap();
        page.set_body(&body);
        let text = page.render();
        let again = MemoryPage::parse(&text);
        let expected = |value: FrontmatterValue| Some(value).filter(|value| *value != FrontmatterValue::Null);
        prop_assert_eq!(again.find_value("description").cloned(), expected(value), "{}", text);
        prop_assert_eq!(again.find_value("extra").cloned(), expected(nested), "{}", text);
        prop_assert!(text.starts_with("---\n# mine\nname: x # why\nother:\n  - 1\n"), "{}", text);
        prop_assert_eq!(again.body(), body.trim());
    }

    #[test]
    fn any_page_comes_out_as_it_went_in(text in "(---\n)?[a-z:#\\- \n\"'{}\\[\\]&*|>]{0,60}(---\n)?\\PC{0,20}") {
        let page = MemoryPage::parse(&text);
        let again = MemoryPage::parse(&page.render());
        prop_assert_eq!(again.body(), page.body());
        let mut edited = page.clone();
        let change = folder::MemoryChange { kind: Some(MemoryType::User), ..Default::default() };
        if fact::apply_change(&mut edited, &change, "2026-11-16T00:00:00Z").is_ok() {
            let again = MemoryPage::parse(&edited.render());
            prop_assert_eq!(again.kind(), Some(MemoryType::User), "{}", edited.render());
            prop_assert_eq!(again.body(), page.body());
        }
    }

    #[test]
    fn any_title_and_hook_stay_on_one_line(title in "\\PC{0,120}", hook in "[\\PC\r\n]{0,300}") {
        let memory = memory(&title, Some(&hook), "");
        let line = pointer::format_entry(&memory);
        prop_assert!(!line.contains(['\n', '\r']), "{}", line);
        let read = pointer::parse_entry(&line);
        prop_assert_eq!(read.map(|p| p.file), Some("a-b.md".to_owned()), "{}", line);
        prop_assert!(line.chars().count() <= 260);
    }

    #[test]
    fn any_name_is_safe_or_refused(text in "[\\PC\0\n/\\\\.]{0,120}") {
        for name in [MemoryName::new(&text), MemoryName::from_title(&text)].into_iter().flatten() {
            let file = Path::new("folder").join(name.file_name());
            prop_assert_eq!(file.parent(), Some(Path::new("folder")));
            let last = file.file_name().and_then(|f| f.to_str()).map(str::to_owned);
            prop_assert_eq!(last, Some(name.file_name()));
            prop_assert!(name.file_name().len() <= 103 && name.file_name() != "MEMORY.md");
        }
    }
}
