//! `cargo xtask prepare`: what the window, its page and their tests need of the system, installed when it is missing.
//!
//! Quick when all is there. Everything but the window builds and passes its tests without any of it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{self, Outcome};

/// Debian's packages, and what each is for.
const PACKAGES: [(&str, &str); 13] = [
    ("libwebkit2gtk-4.1-dev", "what the window is built on: GTK and WebKit"),
    ("webkit2gtk-driver", "drives the real window in its tests"),
    ("xvfb", "the screen they run on"),
    ("dbus", "their session bus"),
    ("openbox", "their window manager"),
    ("x11-utils", "asks the screen about its windows"),
    ("xclip", "reads its clipboard"),
    ("wmctrl", "closes windows as a person does"),
    ("imagemagick", "takes pictures of it"),
    ("fonts-liberation", "letters that the page's own fonts do not have"),
    ("fonts-noto-cjk", "Chinese text in pictures"),
    ("chromium", "the browser that the page's own tests run in"),
    ("gnome-keyring", "a secret service for the tests of the keyring"),
];

/// What making and trying a bundle needs besides.
pub const PACKAGING: [(&str, &str); 3] = [
    ("dpkg-dev", "finds the libraries that the executables need"),
    ("binutils", "strips them"),
    ("debootstrap", "makes the clean system in which the package is tried"),
];

/// What can be built and tested on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prepared {
    /// Everything.
    Everything,
    /// All but the window and its page; why was said.
    NoWindow,
}

/// Runs the task.
pub fn run() -> Outcome {
    match prepare()? {
        Prepared::Everything => println!("prepared: everything that the window and its tests need is there"),
        Prepared::NoWindow => {}
    }
    Ok(())
}

/// Installs what is missing, and says what it does. In CI a machine on which that is not possible is a failure; elsewhere
/// everything else goes on.
pub fn prepare() -> Outcome<Prepared> {
    match install(&PACKAGES).and_then(|()| page()) {
        Ok(()) => Ok(Prepared::Everything),
        Err(why) if is_ci() => Err(why),
        Err(why) => {
            println!("SKIPPED the window and its page: {why}");
            Ok(Prepared::NoWindow)
        }
    }
}

/// Tells whether everything is there, without installing anything.
pub fn is_prepared() -> bool {
    PACKAGES.iter().all(|(name, _)| is_installed(name)) && page_folder().join("node_modules").is_dir()
}

/// Installs those of Debian's packages that are missing.
pub fn install(packages: &[(&str, &str)]) -> Outcome {
    let missing: Vec<&str> = packages.iter().map(|(name, _)| *name).filter(|name| !is_installed(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let command = format!("apt-get install --no-install-recommends {}", missing.join(" "));
    if !is_there("apt-get") {
        return Err(format!("this system has no `apt-get`; the window needs what Debian calls {}", missing.join(", ")));
    }
    if shell::answer("id", &["-u"]).is_none_or(|id| id.trim() != "0") {
        return Err(format!("packages are missing, and only root may install them: `{command}`"));
    }
    for (name, purpose) in packages.iter().filter(|(name, _)| missing.contains(name)) {
        println!("installing {name}: {purpose}");
    }
    // Another installation may be under way on this machine: wait for it.
    let quietly = ["-qq", "-o", "DPkg::Lock::Timeout=600", "-o", "Dpkg::Use-Pty=0"];
    shell::run("apt-get", &[&quietly[..], &["update"]].concat())?;
    let install = ["install", "--yes", "--no-install-recommends"];
    shell::run_with(
        &shell::root(),
        "apt-get",
        &[&quietly[..], &install, &missing].concat(),
        &[("DEBIAN_FRONTEND", "noninteractive")],
    )
}

/// The page's npm packages, of exactly the versions in its lock file.
fn page() -> Outcome {
    let folder = page_folder();
    let lock = folder.join("package-lock.json");
    if !lock.is_file() {
        return Err(format!("there is no `{}`", lock.display()));
    }
    if !is_there("npm") {
        return Err("this system has no `npm`; the page is built with Node.js 20 or later".into());
    }
    let wanted = fs::read_to_string(&lock).map_err(|error| format!("`{}`: {error}", lock.display()))?;
    let done = folder.join("node_modules").join(".installed");
    if fs::read_to_string(&done).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    println!("installing the page's npm packages");
    // Not `npm ci`, which refuses a lock without those optional packages that a registry does not have.
    let quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    shell::run_in(&folder, "npm", &[&["install", "--no-save"][..], &quiet].concat())?;
    fs::write(&done, wanted).map_err(|error| format!("`{}`: {error}", done.display()))
}

/// Where the page is.
pub fn page_folder() -> PathBuf {
    shell::root().join("ui")
}

fn is_installed(package: &str) -> bool {
    shell::answer("dpkg-query", &["--show", "--showformat=${db:Status-Status}", package])
        .is_some_and(|status| status.trim() == "installed")
}

/// Tells whether a program is on the search path.
pub fn is_there(program: &str) -> bool {
    shell::variable("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| Path::new(&folder).join(program).is_file()))
}

fn is_ci() -> bool {
    shell::variable("CI").is_some_and(|value| !value.is_empty() && value != "false")
}
