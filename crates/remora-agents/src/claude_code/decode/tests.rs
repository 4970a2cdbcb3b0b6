use remora_core::agent_event::EventKind;
use remora_core::ids::Timestamp;
use remora_core::{Event, EventName};
use serde_json::{Value, json};

use crate::{decode_event, read_header};

fn event(name: EventName, fields: Value) -> Event {
    let Value::Object(fields) = fields else {
        panic!("an event is an object");
    };
    Event { name, fields }
}

#[test]
fn an_event_of_an_unknown_agent_is_read_as_the_default_one() {
    let stop = event(
        EventName::Stop,
        json!({ "last_assistant_message": "Done." }),
    );
    let decoded = decode_event("some-platform", &stop, Timestamp(7));
    assert_eq!(decoded.agent, "some-platform");
    assert_eq!(decoded.session, "unknown");
    assert_eq!(decoded.at, Timestamp(7));
    assert_eq!(
        decoded.kind,
        EventKind::TurnEnded {
            last_message: "Done.".to_owned(),
            continued: false,
        }
    );
    assert_eq!(read_header("some-platform", &stop).session, None);
}
