//! An http handler: the event as a POST body, the answer as a JSON body.
//!
//! A status never blocks, a redirect is never followed, and a URL outside the
//! allow-list is never called.

use std::collections::BTreeMap;
use std::time::Instant;

use ureq::Agent;

use super::{HandlerCall, failed_output, run_lookup};
use crate::answer::{HandlerOutput, ProcessExit, js_trim};
use crate::url::Url;
use crate::wildcard::matches_wildcard;

/// The longest reply that is read, the same as for a command's stdout.
const MAX_BODY_BYTES: u64 = 16 << 20;

pub(super) fn run_http(
    call: &HandlerCall<'_>,
    url: &str,
    headers: &BTreeMap<String, String>,
    allowed: &[String],
    deadline: Instant,
) -> HandlerOutput {
    if let Some(list) = &call.layers.http_urls
        && !list.iter().any(|pattern| url_fits(pattern, url))
    {
        return failed_output(format!(
            "allowedHttpHookUrls does not allow {url}, so it is not called"
        ));
    }
    // One limit for connecting, sending and reading together.
    let left = deadline.saturating_duration_since(Instant::now());
    let config = Agent::config_builder()
        .timeout_global(Some(left))
        // A redirect could lead outside the allow-list. It comes back as a status, so that the
        // report can name it.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .build();
    let agent = remora_http::build_agent(config, run_lookup);
    let mut request = agent.post(url).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(
            name,
            interpolate_variables(value, &|name| {
                // Both lists must name the variable: the handler's own, and the one of the
                // settings if there is any. Otherwise a repository could send secrets of the
                // environment to its own server.
                let inner = allowed.iter().any(|a| a == name);
                let outer = call
                    .layers
                    .http_env
                    .as_ref()
                    .is_none_or(|list| list.iter().any(|a| a == name));
                if inner && outer {
                    call.find_variable(name).unwrap_or_default()
                } else {
                    ""
                }
            }),
        );
    }
    let mut response = match request.send(call.line.trim_end()) {
        Ok(response) => response,
        Err(ureq::Error::Timeout(_)) => {
            return HandlerOutput {
                ended: ProcessExit::TimedOut,
                stdout: String::new(),
                stderr: String::new(),
            };
        }
        Err(error) => return failed_output(format!("{url}: {error}")),
    };
    let status = response.status();
    if status.is_redirection() {
        return failed_output(format!(
            "{url} answered {}, and redirects are not followed",
            status.as_u16()
        ));
    }
    if !status.is_success() {
        return failed_output(format!("{url} answered {}", status.as_u16()));
    }
    let body = match response
        .body_mut()
        .with_config()
        .limit(MAX_BODY_BYTES)
        .read_to_vec()
    {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(ureq::Error::Timeout(_)) => {
            return HandlerOutput {
                ended: ProcessExit::TimedOut,
                stdout: String::new(),
                stderr: String::new(),
            };
        }
        Err(error) => return failed_output(format!("{url}: the reply cannot be read ({error})")),
    };
    let text = js_trim(&body);
    // Unlike a command's stdout, a reply never becomes plain-text context.
    let object = text.starts_with('{') && text.ends_with('}');
    if !text.is_empty() && !object {
        return failed_output(format!(
            "{url} answered with text that is not a JSON object"
        ));
    }
    HandlerOutput {
        ended: ProcessExit::Exit(0),
        stdout: body,
        stderr: String::new(),
    }
}

/// `*` matches anything, but a `*` in the host does not reach into the path, or a
/// path could pass for a host. Hosts are compared without case and without a
/// trailing dot; a user name is not part of them.
fn url_fits(pattern: &str, url: &str) -> bool {
    let (Some(wanted), Some(actual)) = (Url::parse(pattern), Url::parse(url)) else {
        // A pattern such as `*` is no URL.
        return matches_wildcard(pattern, url);
    };
    let host = |url: &Url| format!("{}{}", url.host, url.port);
    // In `http://localhost:*` the last star means everything that follows, paths included.
    let any_path = wanted.path.is_empty() && host(&wanted).ends_with('*');
    matches_wildcard(&wanted.scheme, &actual.scheme)
        && matches_wildcard(&host(&wanted), &host(&actual))
        && (any_path || matches_wildcard(&wanted.path, &actual.path))
}

/// Fills in `$NAME` and `${NAME}`. What comes in cannot start a new header.
fn interpolate_variables<'a>(value: &str, lookup: &dyn Fn(&str) -> &'a str) -> String {
    let mut out = String::new();
    let mut rest = value;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let name_end = |text: &str| {
            text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .unwrap_or(text.len())
        };
        let starts_name =
            |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if let Some(inside) = after.strip_prefix('{').filter(|t| starts_name(t))
            && inside[name_end(inside)..].starts_with('}')
        {
            let end = name_end(inside);
            out.push_str(lookup(&inside[..end]));
            rest = &inside[end + 1..];
        } else if starts_name(after) {
            let end = name_end(after);
            out.push_str(lookup(&after[..end]));
            rest = &after[end..];
        } else {
            out.push('$');
            rest = after;
        }
    }
    out.push_str(rest);
    // Over the whole value: a line break that the settings file itself contains would
    // start a new header just as well.
    out.retain(|c| !matches!(c, '\r' | '\n' | '\0'));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_take_only_what_is_allowed_and_no_line_breaks() {
        let lookup = |name: &str| if name == "TOKEN" { "a\r\nX: y" } else { "" };
        assert_eq!(
            interpolate_variables("Bearer $TOKEN", &lookup),
            "Bearer aX: y"
        );
        assert_eq!(
            interpolate_variables("${TOKEN}-${NOPE}-$", &lookup),
            "aX: y--$"
        );
        assert_eq!(interpolate_variables("${bad-name}", &lookup), "${bad-name}");
    }

    #[test]
    fn hosts_are_compared_without_case() {
        assert!(url_fits(
            "https://Hooks.example.com/*",
            "https://hooks.EXAMPLE.com./x"
        ));
        assert!(url_fits(
            "http://127.0.0.1:*/*",
            "http://127.0.0.1:8080/hook"
        ));
        assert!(!url_fits(
            "https://example.com/*",
            "https://example.com.evil.net/x"
        ));
        assert!(!url_fits(
            "http://localhost:*/*",
            "http://localhost:x@127.0.0.1:80/a"
        ));
        assert!(!url_fits(
            "http://*.example.com/*",
            "http://127.0.0.1:80/x.example.com/"
        ));
        assert!(url_fits("*", "http://anything/"));
        assert!(url_fits("http://localhost:*", "http://localhost:80/a/b"));
    }
}
