use super::*;
use crate::testing::item;

fn said(title: &str, time: i64) -> Item {
    Item {
        kind: Kind::Decision,
        time,
        last_time: time,
        ..item(title, title)
    }
}

/// What was said, what was said later, and whether that replaces it.
const CASES: &[(&str, &str, bool)] = &[
    (
        "Let's use SSM Parameter Store for the secrets",
        "We're moving the secrets from SSM to Secrets Manager",
        true,
    ),
    (
        "Let's use SSM Parameter Store for the secrets",
        "We're moving the logs from one bucket to another",
        false,
    ),
    (
        "Let's use tantivy for it",
        "We drop tantivy and write our own index",
        true,
    ),
    (
        "We decided to use tantivy for the search index",
        "Let's drop tantivy",
        true,
    ),
    (
        "We decided to use tantivy for the search index",
        "Stop using tantivy.",
        true,
    ),
    (
        "We decided to use tantivy for the search index",
        "We no longer use tantivy; the index is our own",
        true,
    ),
    (
        "We decided to use tantivy for the search index",
        "Switch from tantivy to our own search index",
        true,
    ),
    (
        "We decided to use tantivy",
        "Actually, let's not use tantivy for the search index, use our own",
        true,
    ),
    (
        "Use Postgres for the job queue",
        "Use Redis for the job queue with one worker",
        true,
    ),
    (
        "The retry limit is 3",
        "The retry limit is 5 from now on",
        true,
    ),
    (
        "Use print for debugging",
        "Never use print, use the logger",
        true,
    ),
    (
        "Redis holds the sessions",
        "Redis goes away next week",
        true,
    ),
    ("我们使用 tantivy 做搜索", "不再使用 tantivy", true),
    ("我们用 redis 存会话", "把 redis 换成 postgres", true),
    (
        "Let's use tantivy for it",
        "Tests go next to the module",
        false,
    ),
    (
        "We decided to use httpx for all HTTP calls",
        "We decided to use UTC everywhere",
        false,
    ),
    (
        "We decided to use exponential backoff with jitter instead of fixed delays",
        "Always use pathlib instead of os.path in this project",
        false,
    ),
    (
        "Never commit directly to the main branch.",
        "Always rebase a feature branch instead of merging it.",
        false,
    ),
    (
        "Use bcrypt for password hashing",
        "Remove the password hint field",
        false,
    ),
    (
        "We decided that the retry limit is 3",
        "We decided to support Python 3.10 and later",
        false,
    ),
    (
        "Never use print for logging, use the logger instead.",
        "We will go with SQLite instead of a JSON file for the cache.",
        false,
    ),
    (
        "Every feature gets a changelog entry",
        "Use feature switches for rollout",
        false,
    ),
    (
        "Use Redis for the job queue",
        "Log every failure of the job queue",
        false,
    ),
    (
        "Use httpx for the API client",
        "Write tests for the API client",
        false,
    ),
    (
        "We drop tantivy",
        "We dropped tantivy because it is big",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Drop JWT, we go back to server side sessions in Postgres",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Remove JWT and use server side sessions in Postgres instead",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Replace JWT by opaque session tokens for session auth",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Get rid of JWT",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Rip out the JWT stuff, sessions live in Postgres now",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Let's move session auth from JWT to cookies",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Migrate session auth off JWT to Postgres sessions",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Use server-side sessions, not JWT",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "We don't want JWT any more",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "We decided against JWT",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "I changed my mind about JWT: use cookies",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Revert the JWT decision",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "JWT was a mistake",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Let us use cookies for session auth after all",
        true,
    ),
    (
        "Always squash commits before merging",
        "Don't squash commits any more, keep the history",
        true,
    ),
    (
        "Never run migrations on deploy; run them by hand",
        "Actually migrations should run on deploy again, we have locks now",
        true,
    ),
    (
        "我们决定用 MySQL 存订单",
        "不用 MySQL 了，订单改用 PostgreSQL 存",
        true,
    ),
    (
        "Wir verwenden ab jetzt MySQL für Bestellungen",
        "Wir verwenden nicht mehr MySQL für Bestellungen, sondern PostgreSQL",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Never remove JWT from the tests",
        false,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Don't replace JWT with anything",
        false,
    ),
    (
        "Every component has a story",
        "Move constants from the component to one file",
        false,
    ),
    (
        "Keep release notes short",
        "We don't sign commits any more",
        false,
    ),
    (
        "Use cargo nextest for tests",
        "Run the tests with both, not only in CI",
        false,
    ),
    (
        "Always run the linter before a commit",
        "Run the linter again after a merge",
        false,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "We drop JWT.",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Replace JWT with cookies",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Use cookies instead of JWT",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Use server-side sessions, not JWT for session auth",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Replace JWT with server side sessions in Postgres",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Use server side sessions in Postgres instead of JWT",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Drop JWT in favour of cookies",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "From now on, drop JWT",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Remove JWT from the project",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "We no longer use JWT in this repo",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Let's drop JWT for good",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "On second thought, drop JWT",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "We go for cookies, not JWT",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Let's move away from JWT",
        true,
    ),
    (
        "Let's use JWT for session auth, signed with RS256",
        "Drop JWT everywhere",
        true,
    ),
    ("We need logins, so we use JWT for them", "Drop JWT", true),
    ("Session auth: JWT with RS256", "Drop JWT", true),
    (
        "Never use print, use the logger",
        "Get rid of the logger",
        true,
    ),
    ("Lint and format with ruff", "Drop ruff", true),
    (
        "We support Python 3.8",
        "We drop support for Python 3.8",
        true,
    ),
    (
        "Use JWT for session auth and sign it with RS256",
        "Drop JWT",
        true,
    ),
    (
        "We decided to use Redis for the session cache.",
        "Replace Redis with Memcached for the session cache",
        true,
    ),
    (
        "We decided to use Redis for the session cache.",
        "Use Memcached for sessions, not Redis",
        true,
    ),
    (
        "In the API, errors are JSON",
        "We no longer use JSON for API errors",
        true,
    ),
    (
        "Always use UTC",
        "Use local time in the reports, not UTC",
        true,
    ),
    (
        "We decided to use Redis for the session cache.",
        "Replace Redis with RabbitMQ for the job queue",
        false,
    ),
    (
        "We decided to use Redis for the session cache.",
        "Use Postgres for the rate limiter, not Redis",
        false,
    ),
    (
        "We decided to use PostgreSQL for orders.",
        "Let's use SQLite instead of PostgreSQL in the unit tests",
        false,
    ),
    (
        "We decided to use React for the web app.",
        "Use plain HTML instead of React for the emails",
        false,
    ),
    (
        "We decided to use mocks for the payment API.",
        "Don't use mocks in integration tests",
        false,
    ),
    (
        "We decided to use Docker for deployment.",
        "Never use Docker in the unit tests",
        false,
    ),
    (
        "We decided to use feature flags for the new checkout.",
        "We no longer use feature flags for the search page",
        false,
    ),
    (
        "Let's use JWT for session auth, signed with RS256.",
        "Drop JWT for service to service calls, mTLS is enough there",
        false,
    ),
    (
        "Let's use JWT for session auth, signed with RS256.",
        "We decided to switch from RS256 to EdDSA for the JWT signature",
        false,
    ),
    (
        "We decided to write the CLI in Rust and the server in Go.",
        "Replace Go with Rust for the server",
        false,
    ),
    (
        "Always use UTC in the database.",
        "Use local time in the reports, not UTC",
        false,
    ),
    (
        "We decided to use PostgreSQL for orders.",
        "Use SQLite in tests instead of PostgreSQL",
        false,
    ),
    (
        "We decided to use PostgreSQL for orders.",
        "For the prototype, use SQLite instead of PostgreSQL",
        false,
    ),
    (
        "We decided to use PostgreSQL for orders.",
        "Migrate search off PostgreSQL to Elasticsearch",
        false,
    ),
    (
        "We decided to use PostgreSQL for orders.",
        "Move search away from PostgreSQL",
        false,
    ),
    (
        "We decided to use React for the web app.",
        "In the emails we no longer use React",
        false,
    ),
    (
        "We decided to use JWT for session auth.",
        "Remove JWT from the webhook endpoint",
        false,
    ),
    (
        "We decided to use JWT for session auth.",
        "JWT was a mistake for the webhooks",
        false,
    ),
    (
        "We support Windows 7",
        "We drop support for Python 3.8",
        false,
    ),
    (
        "Use Redis for the cache and Postgres for orders",
        "Drop Postgres",
        false,
    ),
    ("Use Postgres because MySQL is slow", "Drop MySQL", false),
    (
        "Always use the ORM for queries",
        "Let’s move away from the ORM",
        true,
    ),
    (
        "We decided to use PostgreSQL for orders.",
        "Let’s move the “search” off PostgreSQL",
        false,
    ),
    (
        "We decided to use JWT for session auth.",
        "Drop JWT in favour of mTLS for webhooks",
        false,
    ),
];

#[test]
fn what_a_later_statement_replaces() {
    let wrong: Vec<_> = CASES
        .iter()
        .filter(|(old, new, replaced)| {
            let (old, new) = (said(old, 1), said(new, 9));
            Supersessions::from_items([&new]).is_superseded(&old) != *replaced
                || Supersessions::from_items([&old]).is_superseded(&new)
        })
        .collect();
    assert_eq!(wrong, Vec::<&(&str, &str, bool)>::new());
}

#[test]
fn what_stands_beside_a_statement_takes_back_too() {
    let mut new = said("Our own index is good enough", 9);
    new.detail = Some(serde_json::json!({ "takes_back": "let us drop tantivy then" }).into());
    assert!(Supersessions::from_items([&new]).is_superseded(&said("Use tantivy", 1)));
    assert!(
        Supersessions::from_items([&new]).replace_said("Decision: Use tantivy for the index", 1)
    );
    assert!(
        !Supersessions::from_items([&new]).replace_said("Decision: Use tantivy for the index", 10)
    );
}

#[test]
fn sentences_that_take_something_back_are_found() {
    assert_eq!(
        find_withdrawal("It is too big. Let's drop tantivy then. Good."),
        Some("Let's drop tantivy then".to_owned())
    );
    assert_eq!(
        find_withdrawal("Feature switches and dropdowns are fine"),
        None
    );
}

#[test]
fn a_summary_tells_nothing_that_was_taken_back() {
    let summary = |title: &str, learned: &str, completed: &[&str]| Item {
        kind: Kind::Summary,
        text: format!("Request: {title}"),
        detail: Some(
            serde_json::json!({
                "notes": [format!("Decision: {title}")],
                "learned": [learned],
                "completed": completed,
            })
            .into(),
        ),
        ..said(title, 1)
    };
    let later = Supersessions::from_items([&said("Get rid of JWT", 9)]);
    let cleared = |mut item: Item| {
        let tells = later.clear(&mut item);
        (tells, item.title, item.text, item.detail)
    };
    let title = "Let's use JWT for session auth";
    let whole = summary(title, title, &[]);
    let detail = serde_json::json!({ "notes": [], "learned": [], "completed": [] });
    let marked = "Let's use JWT for session auth (taken back later)".to_owned();
    assert_eq!(
        cleared(whole),
        (false, marked.clone(), String::new(), Some(detail.into()))
    );
    let half = summary(title, "The cookie has no expiry", &["Added a login page"]);
    let detail = serde_json::json!({
        "notes": [],
        "learned": ["The cookie has no expiry"],
        "completed": ["Added a login page"],
    });
    assert_eq!(
        cleared(half),
        (true, marked, String::new(), Some(detail.into()))
    );
    let asked = Item {
        kind: Kind::Summary,
        text: "Request: We use JWT for the sessions".to_owned(),
        detail: Some(serde_json::json!({}).into()),
        ..said("We use JWT for the sessions", 1)
    };
    let marked = "We use JWT for the sessions (taken back later)".to_owned();
    let empty = Some(serde_json::json!({}).into());
    assert_eq!(cleared(asked), (false, marked, String::new(), empty));
    let other = summary("Use tabs", "The formatter knows tabs", &[]);
    let same = (
        true,
        other.title.clone(),
        other.text.clone(),
        other.detail.clone(),
    );
    assert_eq!(cleared(other), same);
}

#[test]
fn the_terms_of_manner_are_those_of_its_words() {
    let terms = crate::words::split_terms(cues::MANNER_WORDS);
    let mut terms: Vec<&str> = terms.split(' ').collect();
    terms.sort_unstable();
    terms.dedup();
    assert_eq!(terms, MANNER_TERMS);
}
