//! What the formats share: where an endpoint is.

pub(crate) mod anthropic;
pub(crate) mod openai;

use ureq::http::Uri;

use crate::ApiFormat;

/// A checked address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    url: String,
    host: String,
    tls: bool,
}

impl Endpoint {
    /// The URL of an address, which may lack the path of the format.
    pub fn parse(format: ApiFormat, address: &str) -> Result<Self, String> {
        let bad = |why: &str| format!("models.url: {why}");
        let trimmed = address.trim().trim_end_matches('/');
        let uri: Uri = trimmed
            .parse()
            .map_err(|_| bad("it is not an address such as http://127.0.0.1:8080/v1"))?;
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(bad("it must begin with http:// or https://")),
        };
        let host = uri
            .host()
            .filter(|h| !h.is_empty())
            .ok_or_else(|| bad("it names no host"))?
            .trim_end_matches('.')
            .to_ascii_lowercase();
        if uri.authority().is_some_and(|a| a.as_str().contains('@')) {
            return Err(bad("it holds a user name; a key has a place of its own"));
        }
        if uri.query().is_some() || trimmed.contains('#') {
            return Err(bad("it ends with its path"));
        }
        let path = uri.path().trim_end_matches('/');
        let base = trimmed.strip_suffix(path).unwrap_or(trimmed);
        let base = base.trim_end_matches('/');
        let path = match format {
            ApiFormat::Anthropic => {
                let path = path.strip_suffix("/messages").unwrap_or(path);
                format!("{}/v1/messages", path.strip_suffix("/v1").unwrap_or(path))
            }
            ApiFormat::OpenAi => {
                let path = path.strip_suffix("/chat/completions").unwrap_or(path);
                // The usual place; an address with a path knows better.
                let path = if path.is_empty() { "/v1" } else { path };
                format!("{path}/chat/completions")
            }
        };
        Ok(Self {
            url: format!("{base}{path}"),
            host,
            tls,
        })
    }

    /// Where questions are sent.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its host, in lower case.
    pub fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn has_tls(&self) -> bool {
        self.tls
    }

    /// Whether no stranger can read on the way: TLS, or this machine.
    pub(crate) fn keeps_secrets(&self) -> bool {
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = match bare.parse::<std::net::IpAddr>() {
            Ok(address) => address.is_loopback(),
            Err(_) => bare == "localhost" || bare.ends_with(".localhost"),
        };
        self.tls || is_loopback
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_get_the_path_of_their_format() {
        let url = |format, text| Endpoint::parse(format, text).map(|e| e.url);
        for (format, text, expected) in [
            (
                ApiFormat::Anthropic,
                "https://api.example",
                "https://api.example/v1/messages",
            ),
            (
                ApiFormat::Anthropic,
                "https://api.example/v1/",
                "https://api.example/v1/messages",
            ),
            (
                ApiFormat::Anthropic,
                "http://127.0.0.1:1/x",
                "http://127.0.0.1:1/x/v1/messages",
            ),
            (
                ApiFormat::OpenAi,
                "http://127.0.0.1:1234",
                "http://127.0.0.1:1234/v1/chat/completions",
            ),
            (
                ApiFormat::OpenAi,
                "http://[::1]:1234/",
                "http://[::1]:1234/v1/chat/completions",
            ),
            (
                ApiFormat::OpenAi,
                "https://x.example/api/v1",
                "https://x.example/api/v1/chat/completions",
            ),
            (
                ApiFormat::OpenAi,
                "https://x.example/api/v1/chat/completions",
                "https://x.example/api/v1/chat/completions",
            ),
        ] {
            assert_eq!(url(format, text), Ok(expected.to_owned()), "{text}");
        }
        for text in [
            "",
            "x",
            "ftp://x",
            "http://",
            "http://u:p@x/",
            "http://x/?a=b",
            "http://x/#f",
        ] {
            assert!(url(ApiFormat::OpenAi, text).is_err(), "{text}");
        }
    }

    #[test]
    fn keys_go_over_tls_or_stay_on_this_machine() {
        let safe = |text| {
            let endpoint = Endpoint::parse(ApiFormat::OpenAi, text).unwrap();
            endpoint.keeps_secrets()
        };
        for text in [
            "https://x.example",
            "http://127.0.0.1:1",
            "http://[::1]:1",
            "http://localhost:1",
        ] {
            assert!(safe(text), "{text}");
        }
        for text in [
            "http://x.example",
            "http://192.168.0.7",
            "http://localhost.example",
        ] {
            assert!(!safe(text), "{text}");
        }
    }
}
