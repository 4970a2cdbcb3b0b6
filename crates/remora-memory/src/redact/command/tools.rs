//! Tools that take a secret on their command line, and how each takes it. A
//! table only.

/// What a word announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) enum Tool {
    /// A command, with the arguments of it that hold secrets.
    Flags(&'static [Arg]),
    /// `FILE USER SECRET` behind flags of which one has a `b`.
    Htpasswd,
    /// `SHARE SECRET /user:NAME`
    NetUse,
    /// `user/SECRET@database`
    Slash,
    /// `user:SECRET@tcp(`, which stands before the word.
    BeforeAt,
    /// The quoted argument of this number in a call, from none on.
    Argument(usize),
    /// `send "SECRET\r"` behind a prompt for it.
    Send,
    /// An object with a cookie's `value`, of which another key is here.
    CookieObject,
    /// A line of a file of cookies, from its fourth column on.
    CookieLine,
    /// `machine .. login .. password ..`
    Netrc,
    /// `host:port:database:user:SECRET`
    Pgpass,
    /// `user:$apr1$..`
    Crypt,
    /// `IDENTIFIED BY 'SECRET'`
    Identified,
    /// `echo user:SECRET | chpasswd`
    Chpasswd,
    /// `requirepass SECRET`
    NextWord,
    /// `echo SECRET | sudo -S`
    Piped,
}

/// An argument that holds a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) enum Arg {
    /// `-pSECRET`
    Joined(&'static str),
    /// `-p SECRET`
    Next(&'static str),
    /// `-u user:SECRET`, joined or apart, with the sign between the two.
    Pair(&'static str, char),
    /// `-b 'name=SECRET; ..'`
    Cookie(&'static str),
    /// The word of this number that is no flag, from none on.
    Word(usize),
}

use Arg::{Cookie, Joined, Next, Pair, Word};
use Tool::{
    Argument, BeforeAt, Chpasswd, CookieLine, CookieObject, Crypt, Flags, Htpasswd, Identified,
    NetUse, Netrc, NextWord, Pgpass, Piped, Send, Slash,
};

/// `-p`, joined and apart.
const SHORT: Tool = Flags(&[Joined("-p"), Next("-p")]);
/// `-P`, joined and apart: tools whose `-p` is a port.
const CAPITAL: Tool = Flags(&[Joined("-P"), Next("-P")]);
/// Archivers join it.
const JOINED: Tool = Flags(&[Joined("-p"), Joined("-hp")]);
const LDAP: Tool = Flags(&[Next("-w")]);
const SMB: Tool = Flags(&[Pair("-U", '%'), Pair("--user", '%')]);
const PUTTY: Tool = Flags(&[Next("-pw")]);
const USER: &[Arg] = &[
    Pair("-u", ':'),
    Pair("--user", ':'),
    Pair("-U", ':'),
    Pair("--proxy-user", ':'),
    Cookie("-b"),
    Cookie("--cookie"),
];

/// Words that announce them, compared without case. A blank at the end says
/// that the tool's name ends there.
pub(in crate::redact) const WORDS: &[(&str, Tool)] = &[
    ("mysql", Flags(&[Joined("-p")])),
    ("mariadb", Flags(&[Joined("-p")])),
    ("sshpass", SHORT),
    ("docker login", SHORT),
    ("podman login", SHORT),
    ("buildah login", SHORT),
    ("skopeo login", SHORT),
    ("nerdctl login", SHORT),
    ("helm registry login", SHORT),
    ("helm repo add", SHORT),
    ("oc login", SHORT),
    ("az login", SHORT),
    ("cf login", SHORT),
    ("az acr login", SHORT),
    ("mongosh", SHORT),
    ("mongo ", SHORT),
    ("mongodump", SHORT),
    ("mongorestore", SHORT),
    ("mongoexport", SHORT),
    ("mongoimport", SHORT),
    ("cqlsh", SHORT),
    ("cypher-shell", SHORT),
    ("beeline", SHORT),
    ("twine upload", SHORT),
    ("evil-winrm", SHORT),
    ("crackmapexec", SHORT),
    ("netexec ", SHORT),
    ("nxc ", SHORT),
    ("unlock-keychain", SHORT),
    ("import-keychain", CAPITAL),
    ("security import", CAPITAL),
    ("zip ", CAPITAL),
    ("unzip ", CAPITAL),
    ("sqlcmd", CAPITAL),
    ("bcp ", CAPITAL),
    ("mosquitto_pub", CAPITAL),
    ("mosquitto_sub", CAPITAL),
    ("ipmitool", CAPITAL),
    ("tsql ", CAPITAL),
    ("ssh-keygen", Flags(&[Next("-N"), Next("-P")])),
    ("7z ", JOINED),
    ("7za ", JOINED),
    ("7zz ", JOINED),
    ("rar ", JOINED),
    ("plink ", PUTTY),
    ("pscp ", PUTTY),
    ("psftp ", PUTTY),
    ("add-generic-password", Flags(&[Next("-w")])),
    ("curl", Flags(USER)),
    ("http ", Flags(&[Pair("-a", ':'), Pair("--auth", ':')])),
    ("https ", Flags(&[Pair("-a", ':'), Pair("--auth", ':')])),
    ("lftp", Flags(&[Pair("-u", ','), Pair("-u", ':')])),
    (
        "redis-cli",
        Flags(&[Next("-a"), Next("--pass"), Joined("-a")]),
    ),
    ("valkey-cli", Flags(&[Next("-a"), Next("--pass")])),
    ("keydb-cli", Flags(&[Next("-a")])),
    ("ldapsearch", LDAP),
    ("ldapmodify", LDAP),
    ("ldapadd", LDAP),
    ("ldapdelete", LDAP),
    ("ldapwhoami", LDAP),
    ("ldappasswd", Flags(&[Next("-w"), Next("-s"), Next("-a")])),
    ("smbclient", SMB),
    ("rpcclient", SMB),
    ("smbmap", Flags(&[Next("-p")])),
    ("winexe", SMB),
    ("smbget", SMB),
    (
        "openssl ",
        Flags(&[Next("-k"), Next("-K"), Joined("pass:")]),
    ),
    ("xfreerdp", Flags(&[Joined("/p:")])),
    ("wlfreerdp", Flags(&[Joined("/p:")])),
    ("cmdkey", Flags(&[Joined("/pass:")])),
    ("rdesktop", SHORT),
    ("rabbitmqctl add_user", Flags(&[Word(1)])),
    ("rabbitmqctl change_password", Flags(&[Word(1)])),
    ("wpa_passphrase", Flags(&[Word(1)])),
    ("mc alias set", Flags(&[Word(3)])),
    ("mc config host add", Flags(&[Word(3)])),
    ("htpasswd", Htpasswd),
    ("net use ", NetUse),
    ("sqlplus ", Slash),
    ("impdp ", Slash),
    ("expdp ", Slash),
    ("sqlldr ", Slash),
    ("jdbc:oracle:thin:", Slash),
    ("@tcp(", BeforeAt),
    ("@unix(", BeforeAt),
    ("new PDO(", Argument(2)),
    ("mysqli(", Argument(2)),
    ("mysqli_connect(", Argument(2)),
    ("mysql_connect(", Argument(2)),
    ("pymysql.connect(", Argument(2)),
    ("MySQLdb.connect(", Argument(2)),
    ("DriverManager.getConnection(", Argument(2)),
    ("smtp.PlainAuth(", Argument(2)),
    (".login(", Argument(1)),
    ("BasicAuth(", Argument(1)),
    ("NetworkCredential(", Argument(1)),
    ("PasswordCredentials(", Argument(1)),
    ("send \"", Send),
    ("send \\\"", Send),
    ("send -- \"", Send),
    ("httpOnly", CookieObject),
    ("\tTRUE\t/", CookieLine),
    ("\tFALSE\t/", CookieLine),
    ("machine ", Netrc),
    (":5432:", Pgpass),
    (":5433:", Pgpass),
    (":6432:", Pgpass),
    (":*:", Pgpass),
    (":$apr1$", Crypt),
    (":$2y$", Crypt),
    (":$2a$", Crypt),
    (":$2b$", Crypt),
    (":$1$", Crypt),
    (":$5$", Crypt),
    (":$6$", Crypt),
    (":$y$", Crypt),
    (":{SHA}", Crypt),
    ("identified by", Identified),
    ("with password", Identified),
    ("chpasswd", Chpasswd),
    ("requirepass ", NextWord),
    ("masterauth ", NextWord),
    ("sudo -S", Piped),
    ("--password-stdin", Piped),
    ("--with-token", Piped),
    ("--passphrase-fd 0", Piped),
];
