//! Arguments right and wrong, and what the tools cost.

use super::*;

fn read(tool: &str, arguments: Value) -> Result<ToolRequest, String> {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    ToolRequest::from_arguments(tool, &arguments, McpLimits::AllProjects)
}

#[test]
fn the_tools_are_few_and_short() {
    let tools = serde_json::to_string(&list_tools(McpLimits::AllProjects)).unwrap();
    assert!(tools.len() < 3_072, "{} bytes", tools.len());
    for tool in list_tools(McpLimits::AllProjects) {
        let known = tool.input_schema["properties"].as_object().unwrap();
        // What is described is understood.
        for key in known.keys() {
            let mut arguments = json!({ key: {} });
            if tool.name == "wrong" && key != "id" {
                arguments["id"] = json!("#12");
            }
            if tool.name == "remember" && key != "text" {
                arguments["text"] = json!("a fact");
            }
            let fault = read(&tool.name, arguments).unwrap_err();
            assert!(fault.contains(&format!("`{key}` must be")), "{fault}");
        }
    }
}

#[test]
fn other_projects_are_not_offered_unless_the_user_allows_it() {
    let offered = |bounds: McpLimits| {
        let tools = list_tools(bounds).into_iter();
        let tools = tools.filter(|tool| {
            tool.input_schema["properties"]
                .get(ALL_PROJECTS_KEY)
                .is_some()
        });
        tools.map(|tool| tool.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(offered(McpLimits::AllProjects), ["search", "timeline"]);
    assert_eq!(offered(McpLimits::OwnProject), Vec::<String>::new());
    for tool in ["search", "timeline"] {
        let arguments = JsonObject::from_iter([(ALL_PROJECTS_KEY.to_owned(), json!(true))]);
        let fault =
            ToolRequest::from_arguments(tool, &arguments, McpLimits::OwnProject).unwrap_err();
        assert!(fault.contains("`all` is not an argument"), "{fault}");
        assert!(!fault.contains("all,"), "{fault}");
    }
}

#[test]
fn arguments_are_understood_as_models_write_them() {
    for ids in [
        json!(["#12", "13"]),
        json!("#12, 13"),
        json!(["#12 13", 13]),
        json!(["#12", 13]),
        json!(["#12", 12, "13", "#13"]),
    ] {
        assert_eq!(
            read("get", json!({ "ids": ids })),
            Ok(ToolRequest::Get(vec!["#12".to_owned(), "13".to_owned()]))
        );
    }
    for kinds in [json!("fix, decision"), json!(["fix", "decision"])] {
        assert_eq!(
            read(
                "search",
                json!({ "query": " cart ", "kind": kinds, "limit": "5000", "file": null })
            ),
            Ok(ToolRequest::Search(SearchParams {
                query: "cart".to_owned(),
                kinds: vec![Kind::Fix, Kind::Decision],
                file: None,
                since: None,
                reach: ProjectScope::Project,
                limit: MAX_ITEMS,
            }))
        );
    }
    assert_eq!(
        read("timeline", json!({ "around": 7, "all": true, "limit": 1 })),
        Ok(ToolRequest::Timeline(TimelineParams {
            around: Some("7".to_owned()),
            since: None,
            until: None,
            reach: ProjectScope::Everywhere,
            limit: 1,
        }))
    );
}

#[test]
fn a_mistake_is_named() {
    let long = "x".repeat(MAX_ARGUMENT_BYTES + 1);
    let many: Vec<usize> = (0..=MAX_IDS).collect();
    for (tool, arguments, fault) in [
        ("erase", json!({}), "`erase` is not a tool"),
        (
            "get",
            json!({ "id": 1 }),
            "`id` is not an argument; known: ids",
        ),
        ("get", json!({ "ids": [] }), "`ids` must be a list of ids"),
        (
            "get",
            json!({ "ids": " , " }),
            "`ids` must be a list of ids",
        ),
        (
            "get",
            json!({ "ids": many }),
            "`ids` must be at most 20 ids",
        ),
        ("search", json!({ "query": 1 }), "`query` must be a string"),
        ("search", json!({ "query": long }), "at most 64 KB"),
        (
            "search",
            json!({ "kind": "bug" }),
            "`kind` must be one of decision,",
        ),
        (
            "search",
            json!({ "all": "yes" }),
            "`all` must be true or false",
        ),
        ("search", json!({ "limit": 0 }), "`limit` must be 1 or more"),
        (
            "search",
            json!({ "limit": -1 }),
            "`limit` must be a whole number",
        ),
        ("remember", json!({}), "`text` is missing"),
        ("remember", json!({ "text": "  " }), "`text` is missing"),
        (
            "remember",
            json!({ "text": "x", "scope": "all" }),
            "`scope` must be one of project, user, team",
        ),
        (
            "remember",
            json!({ "text": "x", "priority": 6 }),
            "`priority` must be 1 to 5",
        ),
    ] {
        let said = read(tool, arguments).unwrap_err();
        assert!(said.contains(fault), "{said}");
    }
}

#[test]
fn an_item_is_corrected_by_its_number() {
    for id in [json!("#12~"), json!("12"), json!(12)] {
        let wrong = read("wrong", json!({ "id": id, "because": " it moved " }));
        let Ok(ToolRequest::Wrong { id, because }) = wrong else {
            panic!("{wrong:?}")
        };
        assert_eq!(id.trim_start_matches('#'), "12");
        assert_eq!(because.as_deref(), Some("it moved"));
    }
    assert_eq!(
        read("forget", json!({ "id": "#12" })),
        Ok(ToolRequest::Forget("#12".to_owned()))
    );
    let fault = read("forget", json!({})).unwrap_err();
    assert_eq!(
        fault,
        "forget: `id` must be the number of a row, such as \"#12\""
    );
    let fault = read("forget", json!({ "id": "#12", "all": true })).unwrap_err();
    assert!(fault.contains("`all` is not an argument"), "{fault}");
}
