//! A turn as a card: what was asked, what came of it, what is left, and bounded.

use super::super::card::{CardFocus, render_card, tells_nothing};
use super::super::word_set::WordSet;
use super::*;

#[test]
fn a_card_tells_what_was_asked_the_outcome_and_the_steps() {
    let world = World {
        branch: Some("main"),
        ..World::default()
    };
    let item = Item {
        id: 7,
        branch: Some("spike".to_owned()),
        ..open_turn(
            3,
            "Read invoices as XML. Any reader will do.",
            "quick-xml, because a tree took 1.9 GB. Tests pass.\n\nNext steps:\n- stream the totals",
            &["stream the totals", "document it"],
        )
    };
    let scene = world.scene(0);
    let known = [WordSet::from_text("Any reader will do")];
    assert_eq!(
        render_card(&item, None, CardFocus::Standing(""), &known, &scene).unwrap(),
        "#7~ 1970-01-04 [branch spike] asked: Read invoices as XML.
  outcome: quick-xml, because a tree took 1.9 GB.
  left open: stream the totals
  left open: document it"
    );
    // For a prompt the steps do not count, and the row of the prompt is named.
    assert_eq!(
        render_card(
            &item,
            Some("#5"),
            CardFocus::About("which XML reader"),
            &[],
            &scene
        )
        .unwrap(),
        "#7~ 1970-01-04 [branch spike] asked (#5): Read invoices as XML. Any reader will do.
  outcome: quick-xml, because a tree took 1.9 GB."
    );
}

#[test]
fn a_title_of_the_agent_is_not_told_as_what_was_asked() {
    let world = World::default();
    let mut item = turn(3, "x", "Retries wait twice as long each time.");
    item.title = "Committed as 749b51f".to_owned();
    let detail = item.detail.as_mut().unwrap();
    detail.set_list(DetailList::Asked, [""; 0]);
    let card = render_card(
        &item,
        None,
        CardFocus::About("retries"),
        &[],
        &world.scene(0),
    )
    .unwrap();
    assert!(!card.contains("asked"), "{card}");
    assert!(card.contains("outcome: Retries wait"), "{card}");
}

#[test]
fn a_card_that_only_tells_that_work_was_handed_in_is_none() {
    let world = World::default();
    let item = turn(3, "commit it and push", "Committed as 749b51f and pushed.");
    let about = CardFocus::About("commit and push the parser");
    assert_eq!(render_card(&item, None, about, &[], &world.scene(0)), None);
    // Who goes on wants to know where the work stood.
    let standing = CardFocus::Standing("continue");
    assert!(render_card(&item, None, standing, &[], &world.scene(0)).is_some());
}

#[test]
fn a_card_that_tells_nothing_new_is_none() {
    let world = World::default();
    let scene = world.scene(0);
    let about = CardFocus::About("session auth");
    let question = turn(1, "how do we do session auth?", "");
    assert_eq!(render_card(&question, None, about, &[], &scene), None);
    let stated = turn(1, "Let's use JWT for session auth.", "JWT it is.");
    assert!(render_card(&stated, None, about, &[], &scene).is_some());
    let known = [WordSet::from_text("Let's use JWT for session auth")];
    assert_eq!(render_card(&stated, None, about, &known, &scene), None);
    // Nothing came of it, and the same is asked again.
    let asked = turn(1, "Choose the session auth.", "");
    let again = CardFocus::Best("choose the session auth, please");
    assert_eq!(render_card(&asked, None, again, &[], &scene), None);
    assert!(render_card(&asked, None, about, &[], &scene).is_some());
    // What was asked is no news by itself once its outcome is known.
    let outcome = "Sessions use JWT, not cookies, because the app has no domain.";
    let decided = turn(1, "Choose the session auth.", outcome);
    let known = [WordSet::from_text(outcome)];
    assert_eq!(render_card(&decided, None, about, &known, &scene), None);
    assert!(render_card(&decided, Some("#5"), about, &known, &scene).is_some());
    let standing = CardFocus::Standing("go on");
    assert!(render_card(&decided, None, standing, &known, &scene).is_some());
}

#[test]
fn a_card_is_bounded_whatever_was_said() {
    let world = World::default();
    let long = "A sentence about the exporter that never ends and never stops, ".repeat(200);
    let many = "The exporter is slow, because it reads all rows. ".repeat(200);
    let steps: Vec<&str> = vec![&long; 50];
    for said in [&long, &many] {
        let item = open_turn(1, said, said, &steps);
        let text = render_card(
            &item,
            None,
            CardFocus::Standing("exporter"),
            &[],
            &world.scene(0),
        );
        let chars = text.unwrap().chars().count();
        assert!(chars < 2 * 700 + 4 * 180 + 100, "{chars}");
    }
}

#[test]
fn a_turn_that_only_repeats_its_request_is_no_candidate() {
    let world = World::default();
    let pushed = |completed: &str| {
        let mut item = turn(1, "push the release branch to main", "Done.");
        let detail = item.detail.as_mut().unwrap();
        detail.set_list(DetailList::Completed, [completed]);
        item
    };
    let empty = [
        turn(1, "push the release branch to main", "Done."),
        turn(1, "push the release branch to main", "Great, thanks!"),
        pushed("git push to example.org/a/b: main to main (1a2b3c4..5d6e7f8)"),
    ];
    for item in empty {
        assert!(tells_nothing(&item), "{:?}", item.detail);
        world.add(item);
    }
    assert_eq!(
        names(&world.at(&RecallTrigger::Start)),
        Vec::<String>::new()
    );
    let asked = RecallTrigger::Prompt("how do we push the release branch to main?");
    assert_eq!(names(&world.at(&asked)), Vec::<String>::new());
    let telling = [
        turn(1, "push the release branch only after the tests", "Done."),
        turn(
            1,
            "push it to main",
            "Pushed, but the hook skips signed tags.",
        ),
        pushed("git commit 1a2b3c4 on main: Release 2.0"),
        open_turn(1, "push it to main", "Done.", &["tag the release"]),
    ];
    for item in telling {
        assert!(!tells_nothing(&item), "{:?}", item.detail);
    }
}

#[test]
fn a_card_tells_no_option_as_an_outcome() {
    let world = World::default();
    let mut item = turn(
        1,
        "Where do we keep the queue?",
        "SQLite blocks, because it has one writer.\n\n- Option A: keep SQLite\n- Option B: use Redis instead\n\nWhich one?",
    );
    let detail = item.detail.as_mut().unwrap();
    detail.set_offered([("A", "keep SQLite"), ("B", "use Redis instead")]);
    let card = render_card(
        &item,
        None,
        CardFocus::Best("queue in Redis"),
        &[],
        &world.scene(0),
    )
    .unwrap();
    assert!(
        card.ends_with("outcome: SQLite blocks, because it has one writer."),
        "{card}"
    );
}
