//! The Debian package: both executables side by side, the desktop's entry and icons.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use xtask::shell::{self, Outcome};

/// The executables in it.
const EXECUTABLES: [&str; 2] = ["workflow-code", "workflow-code-desktop"];
/// Sizes of the icon, in pixels, as they lie in `src-tauri/icons`.
const ICONS: [&str; 4] = ["32", "128", "256", "512"];

/// Makes the package and returns where it is.
pub(crate) fn make() -> Outcome<PathBuf> {
    let place = shell::target().join("package");
    let tree = place.join("tree");
    if tree.exists() {
        fs::remove_dir_all(&tree).map_err(|error| at(&tree, &error))?;
    }
    for name in EXECUTABLES {
        let to = tree.join("usr/bin").join(name);
        copy(&shell::target().join("release").join(name), &to, 0o755)?;
        shell::run("strip", &["--strip-unneeded".as_ref(), to.as_os_str()])?;
    }
    let assets = shell::root().join("assets");
    copy(
        &assets.join("desktop/workflow-code.desktop"),
        &tree.join("usr/share/applications/workflow-code.desktop"),
        0o644,
    )?;
    let icons = tree.join("usr/share/icons/hicolor");
    copy(&assets.join("icon/icon.svg"), &icons.join("scalable/apps/workflow-code.svg"), 0o644)?;
    for size in ICONS {
        let from = shell::root().join("src-tauri/icons").join(format!("{size}.png"));
        copy(&from, &icons.join(format!("{size}x{size}/apps/workflow-code.png")), 0o644)?;
    }
    let documents = tree.join("usr/share/doc/workflow-code");
    let license =
        |name: &str| std::fs::read_to_string(shell::root().join(name)).map_err(|error| format!("{name}: {error}"));
    let copyright = format!(
        "Either of these two licenses, at your option.\n\n{}\n\n{}",
        license("LICENSE-MIT")?,
        license("LICENSE-APACHE")?
    );
    write_file(&documents.join("copyright"), &copyright)?;
    copy(&shell::root().join("CHANGELOG.md"), &documents.join("CHANGELOG.md"), 0o644)?;
    let depends = depends(&place, &tree)?;
    let architecture =
        shell::answer("dpkg", &["--print-architecture"]).ok_or("`dpkg` does not say its architecture")?;
    let version = env!("CARGO_PKG_VERSION");
    let mut control = String::new();
    let _ = write!(
        control,
        "Package: workflow-code\nVersion: {version}\nArchitecture: {}\nMaintainer: The Workflow Code authors <noreply@localhost>\n\
         Installed-Size: {}\nDepends: {depends}\nRecommends: dbus-user-session | dbus-x11, fonts-noto-cjk\n\
         Section: devel\nPriority: optional\nDescription: workflows as tools for AI clients, with a window over every run\n \
         Turns a folder of workflows into tools for AI clients, and records every call.\n \
         The command `workflow-code` serves and runs them without any window; without\n \
         arguments it opens one, to see, run, answer and connect them.\n",
        architecture.trim(),
        kibibytes(&tree)?,
    );
    write_file(&tree.join("DEBIAN/control"), &control)?;
    let package = place.join(format!("workflow-code_{version}_{}.deb", architecture.trim()));
    let arguments =
        ["--root-owner-group".as_ref(), "-Zxz".as_ref(), "--build".as_ref(), tree.as_os_str(), package.as_os_str()];
    shell::run("dpkg-deb", &arguments)?;
    Ok(package)
}

/// The packages that the executables' libraries are in, as Debian's own tool finds them.
fn depends(place: &Path, tree: &Path) -> Outcome<String> {
    // The tool wants to stand in a source package.
    write_file(&place.join("debian/control"), "Source: workflow-code\n\nPackage: workflow-code\nArchitecture: any\n")?;
    let executables = EXECUTABLES.map(|name| tree.join("usr/bin").join(name).to_string_lossy().into_owned());
    let arguments = [&["-O".to_owned()][..], &executables].concat();
    let found =
        shell::answer_in(place, "dpkg-shlibdeps", &arguments).ok_or("`dpkg-shlibdeps` found no dependencies")?;
    let line = found.lines().find_map(|line| line.strip_prefix("shlibs:Depends="));
    line.map(str::to_owned).ok_or_else(|| format!("`dpkg-shlibdeps` answered what was not expected: {found}"))
}

fn kibibytes(folder: &Path) -> Outcome<u64> {
    let mut bytes = 0;
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        for entry in fs::read_dir(&path).map_err(|error| at(&path, &error))? {
            let entry = entry.map_err(|error| at(&path, &error))?;
            let metadata = entry.metadata().map_err(|error| at(&path, &error))?;
            if metadata.is_dir() {
                waiting.push(entry.path());
            } else {
                bytes += metadata.len();
            }
        }
    }
    Ok(bytes.div_ceil(1024))
}

fn copy(from: &Path, to: &Path, mode: u32) -> Outcome {
    make_parent(to)?;
    fs::copy(from, to).map_err(|error| at(from, &error))?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).map_err(|error| at(to, &error))
}

fn write_file(to: &Path, content: &str) -> Outcome {
    make_parent(to)?;
    fs::write(to, content).map_err(|error| at(to, &error))
}

fn make_parent(path: &Path) -> Outcome {
    let Some(parent) = path.parent() else { return Ok(()) };
    fs::create_dir_all(parent).map_err(|error| at(parent, &error))
}

fn at(path: &Path, error: &std::io::Error) -> String {
    format!("`{}`: {error}", path.display())
}
