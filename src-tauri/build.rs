//! Checks the window's configuration, and puts a page in place of one that was not built.

use std::fs;
use std::path::Path;

/// What a window without a page shows; `cargo xtask` builds the page before the window.
const STUB: &str = "<!doctype html>\n<html lang=\"en\">\n<title>Workflow Code</title>\n\
    <p>This window was built without its page: <code>cargo xtask page</code> builds it.</p>\n</html>\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let page = Path::new("../ui/dist/index.html");
    if !page.is_file() {
        fs::create_dir_all("../ui/dist")?;
        fs::write(page, STUB)?;
    }
    println!("cargo:rerun-if-changed=../ui/dist");
    let manifest = tauri_build::AppManifest::new().commands(&["rpc"]);
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(manifest))?;
    Ok(())
}
