//! A URL taken apart as far as rules and lists compare it. Not a validator.

/// Host and scheme in lower case, without user, password or trailing dot.
pub(crate) struct Url {
    pub(crate) scheme: String,
    pub(crate) host: String,
    /// With its colon; empty when none is written.
    pub(crate) port: String,
    /// From the first slash on.
    pub(crate) path: String,
}

impl Url {
    /// Parses `scheme://host…`; a pattern may have `*` as its port.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        // URL parsers read a backslash as a slash, so a host ends there, too.
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        // `http://good.example@evil.example/` goes to the second host.
        let authority = authority.rsplit('@').next()?;
        let is_port = |port: &str| port.chars().all(|c| c.is_ascii_digit() || c == '*');
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if is_port(port) => (host, format!(":{port}")),
            _ => (authority, String::new()),
        };
        Some(Self {
            scheme: scheme.to_lowercase(),
            host: host.trim_end_matches('.').to_lowercase(),
            port,
            path: path.to_owned(),
        })
    }
}
