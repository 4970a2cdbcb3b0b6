//! Handlers that run, said to the host as they do.

use remora_core::text::truncate_bytes;
use remora_hooks::{HandlerNotice, HandlerObserver, HandlerStage};
use serde_json::{Value, json};

use crate::session::{NoticeWeight, Served};

/// The most of a label: a prompt handler's is its whole prompt.
const MAX_LABEL_BYTES: usize = 256;

/// The most of a reason. The report has all of it.
const MAX_WHY_BYTES: usize = 1024;

/// Follows the handlers of one `fire`.
pub(crate) struct FireObserver<'a> {
    pub(crate) session: &'a Served,
    /// The id of the request.
    pub(crate) request: Option<&'a Value>,
}

impl HandlerObserver for FireObserver<'_> {
    fn observe(&self, notice: &HandlerNotice<'_>) {
        let (method, mut params) = match notice.stage {
            HandlerStage::Started { kind, label } => {
                let label = truncate_bytes(label, MAX_LABEL_BYTES);
                ("handler_started", json!({"type": kind, "label": label}))
            }
            HandlerStage::Progress { stdout, stderr } => (
                "handler_progress",
                json!({"stdout": stdout, "stderr": stderr}),
            ),
            HandlerStage::Finished {
                status,
                why,
                exit_code,
                duration_ms,
            } => (
                "handler_finished",
                json!({
                    "status": status,
                    "why": truncate_bytes(why, MAX_WHY_BYTES),
                    "exit_code": exit_code,
                    "duration_ms": duration_ms,
                }),
            ),
        };
        params["request"] = self.request.cloned().unwrap_or_default();
        params["event"] = notice.event.as_str().into();
        params["handler"] = notice.handler.into();
        let weight = match notice.stage {
            HandlerStage::Progress { .. } => NoticeWeight::Spare,
            HandlerStage::Started { .. } | HandlerStage::Finished { .. } => NoticeWeight::Needed,
        };
        self.session.notify_handler(method, params, weight);
    }
}
