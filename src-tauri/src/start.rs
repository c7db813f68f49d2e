//! From a command line to an open window, and to the process's end.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use launcher::desktop::{self, Desktop};
use sha2::{Digest, Sha256};
use tauri::{AppHandle, ExitRequestApi, Manager, RunEvent};
use tauri_plugin_window_state::StateFlags;

use crate::feed::{self, Watching};
use crate::offered::{Offered, Picked};
use crate::problem::Refusal;
use crate::window::{self, Page};
use crate::{address, environment, lock, rpc};

/// Between two looks whether runs that were started here still work.
const STILL_AT_WORK: Duration = Duration::from_millis(250);

/// Opens the window and stays until it is closed and no run that was started in it is at work.
#[expect(clippy::exit, reason = "a macro of Tauri's ends the process where what was built into it cannot be read")]
pub(crate) fn run() -> Result<ExitCode, Refusal> {
    let started = Instant::now();
    let arguments: Vec<String> = std::env::args_os().map(|one| one.to_string_lossy().into_owned()).collect();
    if !environment::has_display() {
        return Err(Refusal::NoDisplay);
    }
    #[cfg(target_os = "linux")]
    gtk::init().map_err(|_| Refusal::NoDisplay)?;
    desktop::start_logging();
    let desktop = desktop::open(launcher::wanted_profile().as_deref())?;
    let (data_dir, profile) = (desktop.data_dir(), desktop.profile().to_owned());
    let app = tauri::Builder::default()
        // First, so that a second start ends before it does anything.
        .plugin(
            tauri_plugin_single_instance::Builder::new()
                .dbus_id(bus_name(&data_dir))
                .callback(|app, arguments, _| window::show(app, address::asked(&arguments)))
                .build(),
        )
        .plugin(
            tauri_plugin_window_state::Builder::new()
                .with_state_flags(StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED)
                .with_filename(format!("window-{profile}.json"))
                .build(),
        )
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_clipboard_manager::init())
        .manage(desktop)
        .manage(Offered::default())
        .manage(Picked::default())
        .manage(Watching::default())
        .manage(Page::new(started, address::asked(&arguments)))
        .invoke_handler(tauri::generate_handler![rpc::rpc])
        .build(tauri::generate_context!())
        .map_err(|error| Refusal::of("the window could not be made", &error))?;
    // After the plugin has looked for another window: it brings that one to the front, the lock can only refuse.
    let _lock = lock::take(&data_dir)?;
    window::open(app.handle()).map_err(|error| Refusal::of("the window could not be opened", &error))?;
    feed::start(app.handle()).map_err(|error| Refusal::of("changes cannot be watched", &error))?;
    let code = app.run_return(|app, event| {
        if let RunEvent::ExitRequested { code: None, api, .. } = event {
            stay_for_runs(app, &api);
        }
    });
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

/// The last window was closed: goes on without one while runs that were started in it are at work.
fn stay_for_runs(app: &AppHandle, exit: &ExitRequestApi) {
    if app.state::<Desktop>().at_work() == 0 {
        return;
    }
    exit.prevent_exit();
    let app = app.clone();
    thread::spawn(move || {
        while app.state::<Desktop>().at_work() > 0 {
            thread::park_timeout(STILL_AT_WORK);
        }
        // A second start may have opened the window again.
        if app.get_webview_window(window::LABEL).is_none() {
            app.exit(0);
        }
    });
}

/// The name on the session bus by which a second start finds the first: one to a data folder.
fn bus_name(data_dir: &std::path::Path) -> String {
    let digest = Sha256::digest(data_dir.as_os_str().as_encoded_bytes());
    let short: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("dev.workflow_code.window_{short}")
}
