//! Host names become addresses, without the C library.
//!
//! The release binary is linked statically, and there the C library cannot be
//! asked: what `nsswitch.conf` lists beyond files and DNS it loads from shared
//! modules, which must be of exactly its own version; with others it fails or
//! crashes. So addresses and `localhost`, nearly all that is called, are read
//! here. Any other name is a question to `getent`, which comes with the system's
//! own C library, follows all its rules, and can be ended at the deadline.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::{Duration, Instant};

use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use super::{LookupExit, RunLookup};

/// Where `getent` may be. Not by `PATH`: a project may have chosen that.
const GETENT_PATHS: [&str; 3] = [
    "/usr/bin/getent",
    "/bin/getent",
    "/run/current-system/sw/bin/getent",
];
/// What is kept of a name's addresses, as many as `ureq` has room for.
const MAX_ADDRESSES: usize = 16;
/// The longest name that DNS can carry.
const MAX_NAME_BYTES: usize = 253;
/// The longest lookup where the caller has no deadline.
const MAX_LOOKUP: Duration = Duration::from_mins(10);

/// Reads what needs no name service, and asks `getent` for the rest.
#[derive(Debug)]
pub(super) struct NameResolver {
    /// `getent` and what comes before the name; empty where there is none.
    lookup: Vec<String>,
    run: RunLookup,
}

impl NameResolver {
    pub(super) fn of_system(run: RunLookup) -> Self {
        let found = GETENT_PATHS.iter().find(|path| Path::new(path).is_file());
        let command = |path: &&str| vec![(*path).to_owned(), "ahosts".to_owned()];
        Self {
            lookup: found.map(command).unwrap_or_default(),
            run,
        }
    }

    fn ask_getent(&self, name: &str, timeout: NextTimeout) -> Result<Vec<IpAddr>, Error> {
        // What no name can hold is not worth a process, and an option is no name.
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if name.starts_with('-') || name.len() > MAX_NAME_BYTES || !name.chars().all(is_name) {
            return Err(Error::HostNotFound);
        }
        let Some((program, args)) = self.lookup.split_first() else {
            return Err(Error::Other(
                format!("`getent` is not installed, and it looks up {name}").into(),
            ));
        };
        let deadline = Instant::now() + (*timeout.after).min(MAX_LOOKUP);
        let args = [args, &[name.to_owned()]].concat();
        // Without the environment: `HOSTALIASES` and the like could send a request
        // elsewhere.
        match (self.run)(program, &args, deadline) {
            LookupExit::Exited(0, text) => Ok(parse_addresses(&text)),
            // It has no such name, or no server answered.
            LookupExit::Exited(2, _) => Err(Error::HostNotFound),
            LookupExit::TimedOut => Err(Error::Timeout(timeout.reason)),
            other => Err(Error::Other(
                format!("`getent` could not look up {name}: {other:?}").into(),
            )),
        }
    }
}

impl Resolver for NameResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let (host, port) =
            split_host(uri).ok_or_else(|| Error::BadUri(format!("{uri} names no host")))?;
        let addresses = match read_address(&host) {
            Some(known) => known,
            None => self.ask_getent(&host, timeout)?,
        };
        let with_port = addresses
            .into_iter()
            .map(|address| SocketAddr::new(address, port));
        let mut found = self.empty();
        for address in config
            .ip_family()
            .keep_wanted(with_port)
            .take(MAX_ADDRESSES)
        {
            found.push(address);
        }
        if found.is_empty() {
            return Err(Error::HostNotFound);
        }
        Ok(found)
    }
}

/// Host and port, the scheme's usual one where none is written.
fn split_host(uri: &Uri) -> Option<(String, u16)> {
    let text = DefaultResolver::host_and_port(uri.scheme()?, uri.authority()?)?;
    let (host, port) = text.rsplit_once(':')?;
    Some((host.to_owned(), port.parse().ok()?))
}

/// The addresses of a host that no name service has to be asked about.
fn read_address(host: &str) -> Option<Vec<IpAddr>> {
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    if let Ok(address) = bare.unwrap_or(host).parse() {
        return Some(vec![address]);
    }
    // RFC 6761: these names are this machine, whatever a name server says.
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let is_local = name == "localhost" || name.ends_with(".localhost");
    is_local.then(|| vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()])
}

/// Lines such as `192.0.2.7  STREAM example.org`, one for each kind of socket. The
/// order is that of preference.
fn parse_addresses(text: &str) -> Vec<IpAddr> {
    let mut found = Vec::new();
    for line in text.lines() {
        let first = line.split_whitespace().next();
        if let Some(address) = first.and_then(|word| word.parse().ok())
            && !found.contains(&address)
        {
            found.push(address);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use ureq::Timeout;

    use super::*;

    /// A resolver whose `getent` says this of the one name it is asked for.
    fn scripted(run: RunLookup) -> NameResolver {
        NameResolver {
            lookup: ["getent", "ahosts"].map(Into::into).into(),
            run,
        }
    }

    fn without_getent() -> NameResolver {
        NameResolver {
            lookup: Vec::new(),
            run: |_, _, _| LookupExit::Failed("not there".into()),
        }
    }

    fn resolve(resolver: &NameResolver, url: &str) -> Result<Vec<String>, Error> {
        resolve_with(resolver, url, Duration::from_secs(30))
    }

    fn resolve_with(
        resolver: &NameResolver,
        url: &str,
        limit: Duration,
    ) -> Result<Vec<String>, Error> {
        let timeout = NextTimeout {
            after: limit.into(),
            reason: Timeout::Global,
            ..NextTimeout::default()
        };
        let found = resolver.resolve(&url.parse().unwrap(), &Config::default(), timeout)?;
        Ok(found.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn addresses_and_localhost_need_no_name_service() {
        let loopback = |port| vec![format!("127.0.0.1:{port}"), format!("[::1]:{port}")];
        for (url, expected) in [
            ("http://127.0.0.1:8080/x", vec!["127.0.0.1:8080".to_owned()]),
            ("https://[2001:db8::7]/", vec!["[2001:db8::7]:443".into()]),
            ("http://user:secret@10.0.0.1/", vec!["10.0.0.1:80".into()]),
            ("http://localhost:9/", loopback(9)),
            ("https://LocalHost./", loopback(443)),
            ("http://api.localhost/", loopback(80)),
        ] {
            assert_eq!(resolve(&without_getent(), url).unwrap(), expected, "{url}");
        }
    }

    #[test]
    fn a_name_has_the_addresses_that_getent_prints_each_once() {
        let getent = scripted(|_, args, _| {
            assert_eq!(args, ["ahosts", "hooks.example.org"]);
            let lines = [
                "192.0.2.7       STREAM hooks.example.org",
                "192.0.2.7       DGRAM",
                "fe80::1%eth0    STREAM",
                "2001:db8::7     STREAM",
            ];
            LookupExit::Exited(0, lines.join("\n"))
        });
        assert_eq!(
            resolve(&getent, "https://hooks.example.org/x").unwrap(),
            ["192.0.2.7:443", "[2001:db8::7]:443"]
        );
    }

    #[test]
    fn the_system_is_asked_for_hosts() {
        let lookup = NameResolver::of_system(|_, _, _| LookupExit::TimedOut).lookup;
        let [program, database] = lookup.as_slice() else {
            panic!("no getent: {lookup:?}");
        };
        assert!(program.ends_with("/getent"), "{program}");
        assert_eq!(database, "ahosts");
    }

    #[test]
    fn a_name_that_does_not_exist_is_a_plain_error() {
        let error = resolve(
            &scripted(|_, _, _| LookupExit::Exited(2, String::new())),
            "http://no-such-name.invalid/",
        );
        assert_eq!(error.unwrap_err().to_string(), "host not found");
    }

    #[test]
    fn getent_is_only_asked_for_names_and_never_given_an_option() {
        let getent = scripted(|_, _, _| LookupExit::Exited(0, "192.0.2.7".into()));
        let long = format!("http://{}/", "a".repeat(MAX_NAME_BYTES + 1));
        for url in ["http://--help/", "http://a~b/", &long] {
            let error = resolve(&getent, url).unwrap_err();
            assert!(matches!(error, Error::HostNotFound), "{url}: {error}");
        }
    }

    #[test]
    fn a_lookup_ends_at_the_deadline() {
        let getent = scripted(|_, _, deadline| {
            assert!(deadline <= Instant::now() + Duration::from_millis(50));
            LookupExit::TimedOut
        });
        let limit = Duration::from_millis(50);
        let error = resolve_with(&getent, "http://slow.example/", limit).unwrap_err();
        assert!(matches!(error, Error::Timeout(_)), "{error}");
    }

    #[test]
    fn without_getent_the_error_names_it() {
        let error = resolve(&without_getent(), "http://example.org/").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("`getent` is not installed"), "{text}");
    }
}
