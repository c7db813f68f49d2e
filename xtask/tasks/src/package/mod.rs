//! `cargo xtask package`: bundles that people install, and a proof that what is in them starts.

mod clean_root;
mod deb;

use xtask::shell::{self, Outcome};

/// What to make.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Do not install the package into a clean system to try it; that downloads a small Debian
    #[arg(long)]
    no_check: bool,
}

/// Why there is no AppImage; said at every packaging until it is not so any more.
const NO_APPIMAGE: &str = "no AppImage: its runtime (`type2-runtime`, the program at the beginning of every image) and \
    `linuxdeploy`, which collects WebKit's helper processes, are released on GitHub alone; neither Debian nor crates.io, npm \
    or PyPI has them, and this task downloads from nowhere else";

pub(crate) fn run(options: &Options) -> Outcome {
    let package = deb::make()?;
    let size = std::fs::metadata(&package).map_err(|error| error.to_string())?.len();
    println!("{} ({:.1} MB)", package.display(), megabytes(size));
    println!("{NO_APPIMAGE}");
    if options.no_check {
        return Ok(());
    }
    clean_root::check(&package, &shell::target().join("package").join("root"))
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1_000_000.0
}
