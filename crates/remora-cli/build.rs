//! How the release binary is linked: on Linux with glibc statically, at a fixed
//! address.
//!
//! A hook lives for a millisecond. Linked as usual, the loader spends a third of
//! its instructions on the symbols of the C library, and at a free address it
//! corrects fifteen thousand pointers of ours first; see
//! `docs/design/0008-a-static-binary.md`. Heap, stack and mappings lie where
//! chance puts them all the same.
//!
//! The target stays the usual one (`+crt-static` would be asked of procedural
//! macros as well, which cannot be static). So rustc believes that it links a
//! dynamic program, and this script leads the linker to archives instead.
#![expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script everything by the environment"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// Files that the linker is to find first, and which one of the system's each is.
///
/// rustc asks for shared libraries by name; the linker takes an archive of that
/// name where a folder has nothing else. `libgcc_s` has no archive, its unwinder is
/// `libgcc_eh`. The start-up object for static programs registers all unwind tables
/// at every start, which walks megabytes with newer compilers; the usual one leaves
/// them to be found through the program's headers.
const LINK_FILES: [(&str, &str); 8] = [
    ("crtbeginT.o", "crtbegin.o"),
    ("libgcc_s.a", "libgcc_eh.a"),
    ("libc.a", "libc.a"),
    ("libm.a", "libm.a"),
    ("libpthread.a", "libpthread.a"),
    ("librt.a", "librt.a"),
    ("libutil.a", "libutil.a"),
    ("libdl.a", "libdl.a"),
];

/// An archive's head and nothing after it.
const EMPTY_ARCHIVE_BYTES: u64 = 8;

/// What the standard library uses if it is there. A shared library always has it;
/// of an archive only what a link flag asks for is taken.
const WANTED_SYMBOLS: [&str; 5] = [
    "__cxa_thread_atexit_impl",
    "copy_file_range",
    "getrandom",
    "gettid",
    "statx",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|own| own == value);
    if !(is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("PROFILE", "release"))
    {
        return;
    }
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    if features.split(',').any(|feature| feature == "crt-static") {
        // A build with that target feature is static already.
        return;
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    let linker = env::var_os("RUSTC_LINKER").map_or_else(|| "cc".into(), PathBuf::from);
    let Some(folder) = env::var_os("OUT_DIR").map(|out| Path::new(&out).join("static")) else {
        return;
    };
    if links_static(&linker, &folder) {
        println!("cargo::rustc-link-arg-bins=-static");
        // For start-up objects and libraries alike.
        println!("cargo::rustc-link-arg-bins=-B{}", folder.display());
        for symbol in WANTED_SYMBOLS {
            println!("cargo::rustc-link-arg-bins=-Wl,--undefined={symbol}");
        }
        // The archives need one another, and some linkers read each once.
        println!("cargo::rustc-link-arg-bins=-Wl,--start-group,-lgcc_s,-lgcc,-lc,--end-group");
    }
}

/// Whether the system has what a static program needs; fills the folder with it.
fn links_static(linker: &Path, folder: &Path) -> bool {
    collect_files(linker, folder).is_ok_and(|found| found)
        && try_link(linker, folder).is_ok_and(|linked| linked)
}

fn collect_files(linker: &Path, folder: &Path) -> io::Result<bool> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    for (name, source) in LINK_FILES {
        let Some(path) = find_file(linker, source)? else {
            return Ok(false);
        };
        // Before 2.34 glibc kept threads in an archive of their own, and a static
        // program got only the parts of it that it named.
        if name == "libpthread.a" && fs::metadata(&path)?.len() > EMPTY_ARCHIVE_BYTES {
            return Ok(false);
        }
        // An upgrade of the compiler moves these; a link to nothing would bring the
        // shared library back, into a program that has no loader for it.
        println!("cargo::rerun-if-changed={}", path.display());
        std::os::unix::fs::symlink(path, folder.join(name))?;
    }
    Ok(true)
}

/// A file as the linker finds it. One that it does not have comes back as it was asked for.
fn find_file(linker: &Path, name: &str) -> io::Result<Option<PathBuf>> {
    let output = Command::new(linker)
        .arg(format!("-print-file-name={name}"))
        .output()?;
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    Ok((output.status.success() && path.is_absolute()).then_some(path))
}

/// Links the smallest program there is in the same way.
fn try_link(linker: &Path, folder: &Path) -> io::Result<bool> {
    let source = folder.join("trial.c");
    fs::write(&source, "int main(void) { return 0; }\n")?;
    let output = Command::new(linker)
        .args(["-static", "-no-pie", "-B"])
        .arg(folder)
        .arg(&source)
        .arg("-o")
        .arg(folder.join("trial"))
        .output()?;
    Ok(output.status.success())
}
