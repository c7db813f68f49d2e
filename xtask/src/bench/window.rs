//! What a person waits for who opens the window, and what it takes up.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use workflow_code_tests::{Desktop, desktop_executable, executable};

use crate::bench::samples::Figure;
use crate::bench::servers::own_bytes;
use crate::prepare::page_folder;
use crate::shell::Outcome;

/// Starts of each way.
const STARTS: usize = 7;
/// How long a window is left alone before its memory is looked at. Not a condition to wait for: idling is measured.
const IDLE: Duration = Duration::from_secs(2);

pub(crate) fn measure() -> Outcome<Vec<Figure>> {
    let problem = |error: std::io::Error| error.to_string();
    let mut desktop = Desktop::start(1400, 900).map_err(problem)?;
    desktop.environment.set("RUST_LOG", "workflow_code_desktop=info");
    let (mut front_door, mut direct) = (Vec::new(), Vec::new());
    let (mut resident, mut own) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        for (program, samples) in [(executable(), &mut front_door), (desktop_executable(), &mut direct)] {
            let started = Instant::now();
            let window = desktop.part(program, &[""; 0]).map_err(problem)?;
            window.wait_for(|line| line.contains("first paint").then_some(())).map_err(problem)?;
            samples.push(started.elapsed());
            std::thread::sleep(IDLE);
            let mut pids = vec![window.pid()];
            pids.extend(process::tree::descendants(window.pid()).into_iter().map(|one| one.pid));
            resident.push(pids.iter().filter_map(|pid| process::proc_info::resident_bytes(*pid)).sum());
            own.push(pids.iter().filter_map(|pid| own_bytes(*pid)).sum());
        }
    }
    Ok(vec![
        Figure::times("window: start → first paint", &direct).aim(1500.0),
        Figure::times("window by the front door: start → first paint", &front_door).aim(1500.0),
        Figure::bytes("window, idle at home: resident, with WebKit's processes", &resident),
        Figure::bytes("window, idle at home: its own", &own),
        Figure::bytes("window: executable", &[size(&desktop_executable())?]),
        Figure::bytes("front door: executable", &[size(&executable())?]),
        Figure::bytes("page: all files", &[folder_size(&page_folder().join("dist"))?]),
    ])
}

fn size(path: &Path) -> Outcome<u64> {
    fs::metadata(path).map(|metadata| metadata.len()).map_err(|error| format!("`{}`: {error}", path.display()))
}

fn folder_size(folder: &Path) -> Outcome<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).map_err(|error| format!("`{}`: {error}", folder.display()))? {
        let path = entry.map_err(|error| error.to_string())?.path();
        bytes += if path.is_dir() { folder_size(&path)? } else { size(&path)? };
    }
    Ok(bytes)
}
