//! What each caller may read: a user everything, an agent its own project.

use remora_app::recap::RecapRequest;
use remora_app::search::{SearchNote, SearchRequest};
use remora_app::sessions::SessionsRequest;
use remora_app::show::ShowRequest;
use remora_app::timeline::TimelineRequest;
use remora_app::{App, CallerKind, ErrorKind, Hint, ProjectChoice, SearchTier};

use crate::bench::Bench;

/// One item here and one elsewhere, whose number is 2.
fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.remember("shop", "a", "A cart of the shop");
    bench.remember("notes", "b", "A cart in the notes");
    bench
}

fn search_titles(app: &App, query: &str, project: ProjectChoice) -> Vec<String> {
    let request = SearchRequest {
        query: query.to_owned(),
        project,
        limit: 9,
        tier: SearchTier::Fast,
        ..SearchRequest::default()
    };
    let found = app.search(&request).unwrap();
    let hits = found.results.into_iter();
    hits.map(|result| result.hit.item.title).collect()
}

fn show(id: &str) -> ShowRequest {
    ShowRequest {
        ids: vec![id.to_owned()],
    }
}

#[test]
fn a_user_reads_every_project() {
    let app = bench().user();
    assert_eq!(search_titles(&app, "cart", ProjectChoice::All).len(), 2);
    assert_eq!(app.show(&show("2")).unwrap().items.len(), 1);
}

#[test]
fn an_agents_shell_is_refused_what_is_not_its_own() {
    let app = bench().app(CallerKind::AgentShell, "", "memory:");
    let here = search_titles(&app, "cart", ProjectChoice::Here);
    assert_eq!(here, ["A cart of the shop"]);
    let everywhere = ProjectChoice::All;
    let errors = [
        app.show(&show("2")).map(drop),
        app.timeline(&TimelineRequest {
            around: Some("2".to_owned()),
            ..TimelineRequest::default()
        })
        .map(drop),
        app.list_sessions(&SessionsRequest {
            project: everywhere.clone(),
            ..SessionsRequest::default()
        })
        .map(drop),
        app.recap(&RecapRequest {
            project: everywhere,
            ..RecapRequest::default()
        })
        .map(drop),
        app.require_user("this is done"),
    ];
    for (at, outcome) in errors.into_iter().enumerate() {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Forbidden, "{at}: {error}");
    }
    let refused = app.show(&show("2")).unwrap_err();
    assert_eq!(refused.hints, [Hint::AskAsUser]);
}

#[test]
fn to_an_agents_tool_other_projects_are_not_there() {
    let app = bench().app(CallerKind::AgentTool, "", "memory:");
    let found = app.show(&show("2")).unwrap();
    assert_eq!((found.items.len(), found.missing.len()), (0, 1));
    let request = SearchRequest {
        query: "cart project:notes".to_owned(),
        limit: 9,
        tier: SearchTier::Fast,
        ..SearchRequest::default()
    };
    let found = app.search(&request).unwrap();
    assert_eq!(found.notes, [SearchNote::OwnProjectOnly]);
    assert_eq!(found.results.len(), 1);
    assert_eq!(found.results[0].hit.item.title, "A cart of the shop");
    let around = app.timeline(&TimelineRequest {
        around: Some("2".to_owned()),
        ..TimelineRequest::default()
    });
    assert_eq!(around.unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn a_tool_that_may_read_everything_still_corrects_its_own_project_only() {
    let bench = bench();
    let app = bench.app(CallerKind::AgentTool, "mcp.all_projects = true", "memory:");
    let found = app.show(&show("2")).unwrap();
    let elsewhere = &found.items[0].item;
    assert!(app.read_limits().unwrap().allows_item(elsewhere));
    assert!(!app.change_limits().unwrap().allows_item(elsewhere));
}
