//! Starts a child in a session of its own, with three pipes.
//!
//! On Linux this is `posix_spawn` called directly: the standard library can
//! put a child into its own session only by forking, which costs a quarter of
//! the whole start (`docs/design/0004`). The only file of the crate with unsafe
//! code.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::process::Pid;

/// What to start.
pub(in crate::handler) struct Spawn<'a> {
    pub(in crate::handler) program: &'a str,
    pub(in crate::handler) args: &'a [String],
    pub(in crate::handler) cwd: &'a Path,
    pub(in crate::handler) environment: &'a [(OsString, OsString)],
}

/// A child and our ends of its pipes.
pub(super) struct Started {
    pub(super) pid: Pid,
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// A variable that the child gets besides.
type Mark = (&'static str, String);

#[cfg(not(target_os = "linux"))]
pub(super) fn start(spawn: &Spawn<'_>, mark: Option<Mark>) -> io::Result<Started> {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    let mut command = Command::new(spawn.program);
    command
        .args(spawn.args)
        .current_dir(spawn.cwd)
        .env_clear()
        .envs(spawn.environment.iter().map(|(k, v)| (k, v)))
        .envs(mark)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[expect(
        unsafe_code,
        reason = "setsid is async-signal-safe, and std has no stable call for it"
    )]
    unsafe {
        command.pre_exec(|| rustix::process::setsid().map(drop).map_err(Into::into));
    }
    let mut child = command.spawn()?;
    let missing = || io::Error::other("the child has no pipes");
    Ok(Started {
        stdin: child.stdin.take().ok_or_else(missing)?.into(),
        stdout: child.stdout.take().ok_or_else(missing)?.into(),
        stderr: child.stderr.take().ok_or_else(missing)?.into(),
        pid: Pid::from_child(&child),
    })
}

#[cfg(target_os = "linux")]
pub(super) fn start(spawn: &Spawn<'_>, mark: Option<Mark>) -> io::Result<Started> {
    linux::start(spawn, mark)
}

#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "posix_spawn has no safe wrapper with sessions and directories"
)]
mod linux {
    use std::ffi::{CString, OsStr};
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt;
    use std::ptr;

    use rustix::pipe::{PipeFlags, pipe_with};
    use rustix::process::Pid;

    use super::{Mark, Spawn, Started};

    /// The arguments of `posix_spawn` that C allocates; destroyed with their owner.
    struct FileActions(libc::posix_spawn_file_actions_t);
    struct SpawnAttributes(libc::posix_spawnattr_t);

    impl FileActions {
        fn new() -> io::Result<Self> {
            let mut raw = MaybeUninit::uninit();
            // SAFETY: the call initialises what it points to, or fails.
            check_code(unsafe { libc::posix_spawn_file_actions_init(raw.as_mut_ptr()) })?;
            // SAFETY: initialised above.
            Ok(Self(unsafe { raw.assume_init() }))
        }

        fn connect(&mut self, ours: &OwnedFd, theirs: i32) -> io::Result<()> {
            // SAFETY: both are plain numbers; the list was initialised.
            check_code(unsafe {
                libc::posix_spawn_file_actions_adddup2(&raw mut self.0, ours.as_raw_fd(), theirs)
            })
        }

        fn change_directory(&mut self, path: &CString) -> io::Result<()> {
            // SAFETY: the call copies the text, which ends with a NUL.
            check_code(unsafe {
                libc::posix_spawn_file_actions_addchdir_np(&raw mut self.0, path.as_ptr())
            })
        }
    }

    impl Drop for FileActions {
        fn drop(&mut self) {
            // SAFETY: initialised in `new`, destroyed once.
            unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
        }
    }

    impl SpawnAttributes {
        /// A session of its own, no blocked signals, SIGPIPE as usual (Rust
        /// programs ignore it, their children should not).
        fn new() -> io::Result<Self> {
            let mut raw = MaybeUninit::uninit();
            // SAFETY: the call initialises what it points to, or fails.
            check_code(unsafe { libc::posix_spawnattr_init(raw.as_mut_ptr()) })?;
            // SAFETY: initialised above.
            let mut own = Self(unsafe { raw.assume_init() });
            let mut none = MaybeUninit::<libc::sigset_t>::uninit();
            let mut pipe = MaybeUninit::<libc::sigset_t>::uninit();
            let flags = i32::from(libc::POSIX_SPAWN_SETSID)
                | libc::POSIX_SPAWN_SETSIGDEF
                | libc::POSIX_SPAWN_SETSIGMASK;
            let flags = libc::c_short::try_from(flags).map_err(io::Error::other)?;
            // SAFETY: the sets are initialised by `sigemptyset` before use; the
            // attributes were initialised above and copy the sets.
            unsafe {
                libc::sigemptyset(none.as_mut_ptr());
                libc::sigemptyset(pipe.as_mut_ptr());
                libc::sigaddset(pipe.as_mut_ptr(), libc::SIGPIPE);
                check_code(libc::posix_spawnattr_setsigmask(
                    &raw mut own.0,
                    none.as_ptr(),
                ))?;
                check_code(libc::posix_spawnattr_setsigdefault(
                    &raw mut own.0,
                    pipe.as_ptr(),
                ))?;
                check_code(libc::posix_spawnattr_setflags(&raw mut own.0, flags))?;
            }
            Ok(own)
        }
    }

    impl Drop for SpawnAttributes {
        fn drop(&mut self) {
            // SAFETY: initialised in `new`, destroyed once.
            unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
        }
    }

    pub(super) fn start(spawn: &Spawn<'_>, mark: Option<Mark>) -> io::Result<Started> {
        let program = to_cstring(find(spawn).as_ref())?;
        let mut words = vec![to_cstring(spawn.program.as_ref())?];
        for arg in spawn.args {
            words.push(to_cstring(arg.as_ref())?);
        }
        // `execve` would pass both of two equal names on, and programs differ in which they use.
        let mut environment = Vec::with_capacity(spawn.environment.len());
        for (at, (name, value)) in spawn.environment.iter().enumerate() {
            // The last of equal names counts.
            if spawn.environment[at + 1..]
                .iter()
                .any(|(later, _)| later == name)
            {
                continue;
            }
            let mut entry = name.clone();
            entry.push("=");
            entry.push(value);
            // A variable cannot hold a NUL byte; the others still count.
            environment.extend(to_cstring(&entry).ok());
        }
        // Of equal names a child may read the first; no other one has this name, unless a
        // handler of a handler runs us, and then either is as good.
        if let Some((name, value)) = mark {
            environment.push(to_cstring(format!("{name}={value}").as_ref())?);
        }
        // Close-on-exec, so that another handler started at the same moment in another thread
        // does not inherit our ends; `connect` duplicates the child's without the flag.
        let (in_read, in_write) = pipe_with(PipeFlags::CLOEXEC)?;
        let (out_read, out_write) = pipe_with(PipeFlags::CLOEXEC)?;
        let (err_read, err_write) = pipe_with(PipeFlags::CLOEXEC)?;
        let mut actions = FileActions::new()?;
        actions.change_directory(&to_cstring(spawn.cwd.as_os_str())?)?;
        actions.connect(&in_read, 0)?;
        actions.connect(&out_write, 1)?;
        actions.connect(&err_write, 2)?;
        let attributes = SpawnAttributes::new()?;
        let argv = to_pointers(&words);
        let envp = to_pointers(&environment);
        let mut pid = 0;
        // SAFETY: every pointer is to a live, NUL-terminated value; the lists
        // end with null; the call writes only to `pid`.
        check_code(unsafe {
            libc::posix_spawn(
                &raw mut pid,
                program.as_ptr(),
                &raw const actions.0,
                &raw const attributes.0,
                argv.as_ptr(),
                envp.as_ptr(),
            )
        })?;
        let pid =
            Pid::from_raw(pid).ok_or_else(|| io::Error::other("the system gave no process id"))?;
        Ok(Started {
            pid,
            stdin: in_write,
            stdout: out_read,
            stderr: err_read,
        })
    }

    /// A name without a slash is looked up in the child's own PATH.
    fn find(spawn: &Spawn<'_>) -> std::path::PathBuf {
        if spawn.program.contains('/') {
            return spawn.program.into();
        }
        let path = spawn
            .environment
            .iter()
            .rev()
            .find(|(name, _)| name == "PATH");
        let dirs = path.map(|(_, value)| value.as_os_str()).unwrap_or_default();
        std::env::split_paths(dirs)
            .map(|dir| dir.join(spawn.program))
            .find(|file| file.is_file())
            // Absolute, so that it is not found by accident in the directory.
            .unwrap_or_else(|| std::path::Path::new("/nonexistent").join(spawn.program))
    }

    fn to_cstring(value: &OsStr) -> io::Result<CString> {
        CString::new(value.as_bytes()).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, "an argument holds a NUL byte")
        })
    }

    fn to_pointers(list: &[CString]) -> Vec<*mut libc::c_char> {
        list.iter()
            .map(|text| text.as_ptr().cast_mut())
            .chain([ptr::null_mut()])
            .collect()
    }

    fn check_code(code: libc::c_int) -> io::Result<()> {
        if code == 0 {
            Ok(())
        } else {
            Err(io::Error::from_raw_os_error(code))
        }
    }
}
