//! A remote's address becomes the key that all ways of writing it share.
//!
//! The key is a claim, not a proof: the author of a checkout chose its address.
//! What must hold is only that an address never gets the key of a server that
//! git would not ask. Where git's readers differ (its own for `ssh`, curl's for
//! `http`), an address that they could read differently has no key at all.

/// Longer addresses have no key.
const MAX_ADDRESS_BYTES: usize = 2048;

/// How an address of a scheme is read.
struct Scheme {
    name: &'static str,
    /// Left out of a key: `ssh://h:22/x` is `h:x`.
    default_port: u16,
    /// Read by curl: the authority ends at `?` and `#` too, and nothing of it
    /// is decoded first. git reads the others, and decodes them as a whole.
    is_web: bool,
}

const SCHEMES: &[Scheme] = &[
    Scheme::new("https", 443, true),
    Scheme::new("http", 80, true),
    Scheme::new("ftps", 990, true),
    Scheme::new("ftp", 21, true),
    Scheme::new("ssh", 22, false),
    Scheme::new("git+ssh", 22, false),
    Scheme::new("ssh+git", 22, false),
    Scheme::new("git", 9418, false),
];

impl Scheme {
    const fn new(name: &'static str, default_port: u16, is_web: bool) -> Self {
        Self {
            name,
            default_port,
            is_web,
        }
    }
}

/// The key of an address: `host/path` without scheme, user, password, default
/// port, query or `.git`; `host:port/path` for another port; `file:///path` for
/// a repository on this machine, which is no folder's own key. `None` for what
/// is relative, empty, a helper's (`ext::..`) or ambiguous.
pub fn remote_key(address: &str) -> Option<String> {
    let address = address.trim_matches(' ');
    let is_plain = !address.contains('\\') && !address.chars().any(is_deceptive);
    if address.is_empty() || address.len() > MAX_ADDRESS_BYTES || !is_plain {
        return None;
    }
    if let Some((scheme, rest)) = address.split_once("://") {
        return url_key(&scheme.to_ascii_lowercase(), rest);
    }
    if address.starts_with('/') {
        return file_key(address);
    }
    // `transport::address` runs a program.
    let scheme = address.find(|c| !is_scheme_char(c)).unwrap_or(0);
    if address[scheme..].starts_with("::") {
        return None;
    }
    scp_key(address)
}

fn url_key(name: &str, rest: &str) -> Option<String> {
    if name == "file" {
        return file_key(rest);
    }
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_scheme_char) {
        return None;
    }
    let known = SCHEMES.iter().find(|scheme| scheme.name == name);
    let is_web = known.is_some_and(|scheme| scheme.is_web);
    let rest = match rest.find(['?', '#']) {
        Some(end) if is_web => &rest[..end],
        _ => rest,
    };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    // git would decode an escaped slash and end the host there.
    if !is_web && authority.contains(['%', '?', '#']) {
        return None;
    }
    let host = authority.rsplit_once('@').map_or(authority, |(_, h)| h);
    let (host, port) = split_port(host)?;
    let host = host_key(host)?;
    let port = port.filter(|port| known.is_none_or(|scheme| scheme.default_port != *port));
    // Which server an unknown scheme asks is not known here, so its name stays in the key.
    let prefix = match known {
        Some(_) => String::new(),
        None => format!("{name}://"),
    };
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    Some(format!("{prefix}{host}{port}{}", path_key(path)))
}

/// `[user@]host:path`, where the host may be `[v6]` or `[host:port]`.
fn scp_key(address: &str) -> Option<String> {
    let colon = address.find(':')?;
    // git reads a colon behind a slash as part of a path: `./a:b` is no host.
    if address[..colon].contains('/') {
        return None;
    }
    let bracket = address[..colon].find('[');
    let (host, port, path) = match bracket {
        None => {
            let host = &address[..colon];
            (host, None, &address[colon + 1..])
        }
        Some(open) => {
            let user = &address[..open];
            let (inside, path) = address[open + 1..].split_once("]:")?;
            let is_v6 = inside.matches(':').count() > 1;
            let is_whole = (user.is_empty() || user.ends_with('@')) && !inside.contains('/');
            match (is_whole, is_v6) {
                (false, _) => return None,
                (true, true) => (&address[open..=open + 1 + inside.len()], None, path),
                (true, false) => {
                    let (host, port) = split_port(inside)?;
                    (host, port.filter(|port| *port != 22), path)
                }
            }
        }
    };
    let host = host.rsplit_once('@').map_or(host, |(_, h)| h);
    // A drive of Windows is no host.
    let host = host_key(host).filter(|host| host.len() > 1)?;
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    let path = path_key(path);
    (!path.is_empty()).then(|| format!("{host}{port}{path}"))
}

/// A repository on this machine.
fn file_key(path: &str) -> Option<String> {
    let path = path_key(path);
    (!path.is_empty()).then(|| format!("file://{path}"))
}

/// A host and its port; `None` when the port is none.
fn split_port(host: &str) -> Option<(&str, Option<u16>)> {
    let end = host.rfind(']').map_or(0, |end| end + 1);
    let Some(colon) = host[end..].find(':').map(|colon| colon + end) else {
        return Some((host, None));
    };
    let digits = &host[colon + 1..];
    // `host:` means the default port.
    if digits.is_empty() {
        return Some((&host[..colon], None));
    }
    let is_number = digits.bytes().all(|b| b.is_ascii_digit());
    let port = digits.parse().ok().filter(|port| is_number && *port != 0)?;
    Some((&host[..colon], Some(port)))
}

/// A host in one case. Names beyond ASCII stay as they are: what looks alike,
/// or would be folded to the same, is another server.
fn host_key(host: &str) -> Option<String> {
    let is_v6_char = |c: char| c.is_ascii_hexdigit() || ":.".contains(c);
    let is_name_char = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c) || !c.is_ascii();
    let is_host = match host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
        Some(v6) => !v6.is_empty() && v6.chars().all(is_v6_char),
        // git refuses a host that ssh would read as an option.
        None => !host.starts_with(['-', '.']) && host.chars().all(is_name_char),
    };
    let is_host = is_host && !host.is_empty();
    is_host.then(|| host.to_ascii_lowercase())
}

/// `/path` without what does not name the repository; empty for none.
fn path_key(path: &str) -> String {
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let path = path.trim_end_matches('/');
    if path.is_empty() {
        String::new()
    } else {
        format!("/{path}")
    }
}

fn is_scheme_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')
}

/// Characters that are not seen as what they are: they would make one key look
/// like another, or break a line in two.
fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}
