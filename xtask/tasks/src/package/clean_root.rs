//! A small Debian of its own, in which the package is installed and both executables are started.

use std::fs;
use std::path::Path;

use workflow_code_tests::{Desktop, wait_until};

use xtask::shell::{self, Outcome};

/// Installs `package` in a clean system below `root`, and starts what is in it.
pub(crate) fn check(package: &Path, root: &Path) -> Outcome {
    if !rustix::process::geteuid().is_root() {
        return Err("a clean system can only be made by root; `--no-check` leaves that out".into());
    }
    if root.exists() {
        fs::remove_dir_all(root).map_err(|error| format!("`{}`: {error}", root.display()))?;
    }
    let (mirror, release) = source()?;
    let inside = root.to_string_lossy().into_owned();
    println!("a clean `{release}` is made in {inside}");
    shell::run_silently("debootstrap", &["--variant=minbase", &release, &inside, &mirror])?;
    let sources = root.join("etc/apt/sources.list");
    fs::remove_file(&sources).map_err(|error| format!("`{}`: {error}", sources.display()))?;
    // The same sources, so that libraries with security updates are found as they are on this machine.
    for entry in ["etc/apt/sources.list", "etc/apt/sources.list.d", "etc/apt/apt.conf.d", "etc/apt/trusted.gpg.d"] {
        copy_all(&Path::new("/").join(entry), &root.join(entry))?;
    }
    let name = "workflow-code.deb";
    fs::copy(package, root.join(name)).map_err(|error| error.to_string())?;
    within(root, &["apt-get", "-qq", "update"])?;
    within(root, &["apt-get", "-qq", "install", "--yes", "--no-install-recommends", &format!("/{name}")])?;
    println!("installed; now both executables are started in it");
    let version = chroot_answer(root, &["workflow-code", "--version"])?;
    if !version.starts_with("workflow-code ") {
        return Err(format!("`workflow-code --version` answered `{version}`"));
    }
    println!("workflow-code: {}", version.trim());
    let same = chroot_answer(root, &["workflow-code-desktop", "--version"])?;
    if same != version {
        return Err(format!("`workflow-code-desktop --version` answered `{same}`"));
    }
    window(root)
}

/// Colours that an empty window may have.
const COLOURS: u32 = 100;

/// Opens the installed window, by way of the front door, on a screen outside.
fn window(root: &Path) -> Outcome {
    let problem = |error: std::io::Error| error.to_string();
    let desktop = Desktop::start(1400, 900).map_err(problem)?;
    let arguments = [
        "--fork",
        "--pid",
        "--kill-child",
        &format!("--mount-proc={}", root.join("proc").display()),
        // Where Debian has it, which is not on every path.
        "/usr/sbin/chroot",
        &root.to_string_lossy(),
        "env",
        "-i",
        "HOME=/root",
        "PATH=/usr/bin:/bin",
        "LANG=C.UTF-8",
        "RUST_LOG=workflow_code_desktop=info",
        "WEBKIT_DISABLE_DMABUF_RENDERER=1",
        &format!("DISPLAY={}", desktop.display()),
        "workflow-code",
    ]
    .map(str::to_owned);
    let opened = desktop.part("unshare", &arguments).map_err(problem)?;
    let painted = opened.wait_for(|line| line.contains("first paint").then(|| line.to_owned())).map_err(problem)?;
    let titles = desktop.titles().map_err(problem)?;
    let picture = shell::target().join("package").join("installed.png");
    // The page has painted, and the screen follows. An empty window has a handful of colours.
    wait_until("a window with something in it", || {
        desktop.picture(&picture).ok()?;
        let colours: u32 =
            shell::answer("identify", &["-format", "%k", &picture.to_string_lossy()])?.trim().parse().ok()?;
        (colours > COLOURS).then_some(())
    });
    println!("workflow-code-desktop: {painted}; windows {titles:?}; picture {}", picture.display());
    if titles.iter().any(|title| title.contains("Workflow Code")) {
        Ok(())
    } else {
        Err("the installed window has no title".into())
    }
}

/// Where this machine's own packages come from, and which release it is.
fn source() -> Outcome<(String, String)> {
    let listed = shell::answer("apt-get", &["indextargets", "--format", "$(SITE) $(CODENAME)", "Created-By: Packages"]);
    let listed = listed.unwrap_or_default();
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let release =
        release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME=")).unwrap_or_default().to_owned();
    listed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(_, codename)| *codename == release)
        .map(|(site, _)| (site.to_owned(), release))
        .ok_or_else(|| "this system does not say where its packages come from".into())
}

fn within(root: &Path, command: &[&str]) -> Outcome {
    let root = root.to_string_lossy();
    let environment = ["env", "DEBIAN_FRONTEND=noninteractive"];
    shell::run_silently("chroot", &[&[&*root], &environment[..], command].concat())
}

fn chroot_answer(root: &Path, command: &[&str]) -> Outcome<String> {
    let root = root.to_string_lossy();
    let arguments = [&[&*root, "env", "-i", "HOME=/root", "PATH=/usr/bin:/bin"], command].concat();
    shell::answer("chroot", &arguments).ok_or_else(|| format!("`{}` failed in the clean system", command.join(" ")))
}

fn copy_all(from: &Path, to: &Path) -> Outcome {
    let failed = |error: std::io::Error| format!("`{}`: {error}", from.display());
    if from.is_dir() {
        fs::create_dir_all(to).map_err(failed)?;
        for entry in fs::read_dir(from).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            copy_all(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else if from.is_file() {
        fs::copy(from, to).map_err(failed)?;
    }
    Ok(())
}
