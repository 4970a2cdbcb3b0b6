//! Tools that take a secret on their command line, and how each takes it. A
//! table only.

/// What a word announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecretTool {
    /// A command, with the arguments of it that hold secrets.
    Flags(&'static [SecretArg]),
    /// `FILE USER SECRET` behind flags of which one has a `b`.
    Htpasswd,
    /// `SHARE SECRET /user:NAME`
    NetUse,
    /// `user/SECRET@database`
    Slash,
    /// `user:SECRET@tcp(`, where the secret precedes the word.
    BeforeAt,
    /// The quoted argument with this index in a call, counted from 0.
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
pub(crate) enum SecretArg {
    /// `-pSECRET`
    Joined(&'static str),
    /// `-p SECRET`
    Next(&'static str),
    /// `-u user:SECRET`, joined or apart, with the sign between the two.
    Pair(&'static str, char),
    /// `-b 'name=SECRET; ..'`
    Cookie(&'static str),
    /// The word with this index among those that are no flags, counted from 0.
    Word(usize),
}

use SecretArg::{Cookie, Joined, Next, Pair, Word};
use SecretTool::{
    Argument, BeforeAt, Chpasswd, CookieLine, CookieObject, Crypt, Flags, Htpasswd, Identified,
    NetUse, Netrc, NextWord, Pgpass, Piped, Send, Slash,
};

/// `-p`, joined and apart.
const SHORT_PASSWORD_FLAG: SecretTool = Flags(&[Joined("-p"), Next("-p")]);
/// `-P`, joined and apart: tools whose `-p` is a port.
const CAPITAL_PASSWORD_FLAG: SecretTool = Flags(&[Joined("-P"), Next("-P")]);
/// Archivers join it.
const JOINED_PASSWORD_FLAG: SecretTool = Flags(&[Joined("-p"), Joined("-hp")]);
const LDAP_FLAGS: SecretTool = Flags(&[Next("-w")]);
const SMB_FLAGS: SecretTool = Flags(&[Pair("-U", '%'), Pair("--user", '%')]);
const PUTTY_FLAGS: SecretTool = Flags(&[Next("-pw")]);
const USER_FLAGS: &[SecretArg] = &[
    Pair("-u", ':'),
    Pair("--user", ':'),
    Pair("-U", ':'),
    Pair("--proxy-user", ':'),
    Cookie("-b"),
    Cookie("--cookie"),
];

/// Words that announce them, compared without case. A blank at the end says
/// that the tool's name ends there.
pub(crate) const TOOL_WORDS: &[(&str, SecretTool)] = &[
    ("mysql", Flags(&[Joined("-p")])),
    ("mariadb", Flags(&[Joined("-p")])),
    ("sshpass", SHORT_PASSWORD_FLAG),
    ("docker login", SHORT_PASSWORD_FLAG),
    ("podman login", SHORT_PASSWORD_FLAG),
    ("buildah login", SHORT_PASSWORD_FLAG),
    ("skopeo login", SHORT_PASSWORD_FLAG),
    ("nerdctl login", SHORT_PASSWORD_FLAG),
    ("helm registry login", SHORT_PASSWORD_FLAG),
    ("helm repo add", SHORT_PASSWORD_FLAG),
    ("oc login", SHORT_PASSWORD_FLAG),
    ("az login", SHORT_PASSWORD_FLAG),
    ("cf login", SHORT_PASSWORD_FLAG),
    ("az acr login", SHORT_PASSWORD_FLAG),
    ("mongosh", SHORT_PASSWORD_FLAG),
    ("mongo ", SHORT_PASSWORD_FLAG),
    ("mongodump", SHORT_PASSWORD_FLAG),
    ("mongorestore", SHORT_PASSWORD_FLAG),
    ("mongoexport", SHORT_PASSWORD_FLAG),
    ("mongoimport", SHORT_PASSWORD_FLAG),
    ("cqlsh", SHORT_PASSWORD_FLAG),
    ("cypher-shell", SHORT_PASSWORD_FLAG),
    ("beeline", SHORT_PASSWORD_FLAG),
    ("twine upload", SHORT_PASSWORD_FLAG),
    ("evil-winrm", SHORT_PASSWORD_FLAG),
    ("crackmapexec", SHORT_PASSWORD_FLAG),
    ("netexec ", SHORT_PASSWORD_FLAG),
    ("nxc ", SHORT_PASSWORD_FLAG),
    ("unlock-keychain", SHORT_PASSWORD_FLAG),
    ("import-keychain", CAPITAL_PASSWORD_FLAG),
    ("security import", CAPITAL_PASSWORD_FLAG),
    ("zip ", CAPITAL_PASSWORD_FLAG),
    ("unzip ", CAPITAL_PASSWORD_FLAG),
    ("sqlcmd", CAPITAL_PASSWORD_FLAG),
    ("bcp ", CAPITAL_PASSWORD_FLAG),
    ("mosquitto_pub", CAPITAL_PASSWORD_FLAG),
    ("mosquitto_sub", CAPITAL_PASSWORD_FLAG),
    ("ipmitool", CAPITAL_PASSWORD_FLAG),
    ("tsql ", CAPITAL_PASSWORD_FLAG),
    ("ssh-keygen", Flags(&[Next("-N"), Next("-P")])),
    ("7z ", JOINED_PASSWORD_FLAG),
    ("7za ", JOINED_PASSWORD_FLAG),
    ("7zz ", JOINED_PASSWORD_FLAG),
    ("rar ", JOINED_PASSWORD_FLAG),
    ("plink ", PUTTY_FLAGS),
    ("pscp ", PUTTY_FLAGS),
    ("psftp ", PUTTY_FLAGS),
    ("add-generic-password", Flags(&[Next("-w")])),
    ("curl", Flags(USER_FLAGS)),
    ("http ", Flags(&[Pair("-a", ':'), Pair("--auth", ':')])),
    ("https ", Flags(&[Pair("-a", ':'), Pair("--auth", ':')])),
    ("lftp", Flags(&[Pair("-u", ','), Pair("-u", ':')])),
    (
        "redis-cli",
        Flags(&[Next("-a"), Next("--pass"), Joined("-a")]),
    ),
    ("valkey-cli", Flags(&[Next("-a"), Next("--pass")])),
    ("keydb-cli", Flags(&[Next("-a")])),
    ("ldapsearch", LDAP_FLAGS),
    ("ldapmodify", LDAP_FLAGS),
    ("ldapadd", LDAP_FLAGS),
    ("ldapdelete", LDAP_FLAGS),
    ("ldapwhoami", LDAP_FLAGS),
    ("ldappasswd", Flags(&[Next("-w"), Next("-s"), Next("-a")])),
    ("smbclient", SMB_FLAGS),
    ("rpcclient", SMB_FLAGS),
    ("smbmap", Flags(&[Next("-p")])),
    ("winexe", SMB_FLAGS),
    ("smbget", SMB_FLAGS),
    (
        "openssl ",
        Flags(&[Next("-k"), Next("-K"), Joined("pass:")]),
    ),
    ("xfreerdp", Flags(&[Joined("/p:")])),
    ("wlfreerdp", Flags(&[Joined("/p:")])),
    ("cmdkey", Flags(&[Joined("/pass:")])),
    ("rdesktop", SHORT_PASSWORD_FLAG),
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
