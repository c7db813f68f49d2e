//! `cargo xtask page`: the window's page, built into `ui/dist`, from where the window takes it in.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::prepare::page_folder;
use crate::shell::{self, Outcome};

/// Folders and files that the built page is made of.
const SOURCES: [&str; 7] =
    ["src", "public", "index.html", "package.json", "package-lock.json", "vite.config.ts", "tsconfig.json"];

/// Builds the page, unless it was built from the same sources.
pub fn build() -> Outcome {
    let folder = page_folder();
    let stamp = shell::target().join("page.stamp");
    let state = format!("{:016x} {}", fingerprint(&folder)?, folder.display());
    let built = folder.join("dist").join("assets").is_dir();
    if built && fs::read_to_string(&stamp).is_ok_and(|found| found == state) {
        return Ok(());
    }
    // Whoever builds it on the way to something else may want standard output for that.
    eprintln!("$ npm run build");
    shell::answer_in(&folder, "npm", &["run", "--silent", "build"])
        .ok_or("the page cannot be built: `npm run build` in `ui` says why")?;
    fs::create_dir_all(shell::target())
        .and_then(|()| fs::write(&stamp, state))
        .map_err(|error| format!("`{}`: {error}", stamp.display()))
}

/// Lint and types of the page.
pub fn lint() -> Outcome {
    for script in ["lint", "typecheck", "format:check"] {
        shell::run_in(&page_folder(), "npm", &["run", "--silent", script])?;
    }
    Ok(())
}

/// The page's own tests, in a browser without a screen: first its parts, then the built page over the real backend, which
/// has to be built.
pub fn test() -> Outcome {
    shell::run_in(&page_folder(), "npm", &["run", "--silent", "test"])?;
    let release = std::path::absolute(shell::target().join("release")).map_err(|error| error.to_string())?;
    let variables = [("WORKFLOW_CODE_RELEASE", &*release.to_string_lossy())];
    shell::run_with(&page_folder(), "npm", &["run", "--silent", "test:app"], &variables)
}

fn fingerprint(folder: &Path) -> Outcome<u64> {
    let mut hasher = DefaultHasher::new();
    let mut waiting: Vec<PathBuf> = SOURCES.iter().rev().map(|name| folder.join(name)).collect();
    while let Some(path) = waiting.pop() {
        let failed = |error: std::io::Error| format!("`{}`: {error}", path.display());
        if path.is_dir() {
            let entries = fs::read_dir(&path).map_err(failed)?;
            let mut inner =
                entries.map(|entry| entry.map(|one| one.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
            inner.sort_unstable_by(|one, other| other.cmp(one));
            waiting.extend(inner);
        } else if path.is_file() {
            path.hash(&mut hasher);
            fs::read(&path).map_err(failed)?.hash(&mut hasher);
        }
    }
    Ok(hasher.finish())
}
