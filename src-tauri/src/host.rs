//! What only a window can do for its page: pickers, clipboard, file manager, browser, notifications, the title.
//!
//! Everything the page sends is checked here: it shows what runs have written, and runs are not to be trusted.

use std::path::{Path, PathBuf};

use api::ApiError;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tauri::{Manager, WebviewWindow};
use tauri_plugin_clipboard_manager::ClipboardExt;
use tauri_plugin_dialog::{DialogExt, FilePath};
use url::Url;

use crate::notify;
use crate::offered::{Offered, Picked};
use crate::window;

/// What the names of these commands begin with.
pub(crate) const PREFIX: &str = "host_";

/// The longest text that is put on the clipboard, in bytes.
const MOST_COPIED: usize = 64 * 1024 * 1024;
/// The longest name of a file, in characters.
const MOST_NAME: usize = 120;
/// The longest title, in characters.
const MOST_TITLE: usize = 200;
/// The longest link, in bytes.
const MOST_LINK: usize = 8 * 1024;

#[derive(Deserialize)]
struct PickFiles {
    multiple: bool,
}

#[derive(Deserialize)]
struct PickSave {
    name: String,
}

#[derive(Deserialize)]
struct CopyText {
    text: String,
}

#[derive(Deserialize)]
struct Reveal {
    path: PathBuf,
}

#[derive(Deserialize)]
struct OpenLink {
    url: String,
}

#[derive(Deserialize)]
struct SetTitle {
    title: String,
}

/// Answers a command, named without its prefix. May block for as long as a person looks at a dialog.
pub(crate) fn answer(window: &WebviewWindow, command: &str, request: &Value) -> Result<Value, ApiError> {
    match command {
        "pick_folder" => Ok(json!(pick_folder(window))),
        "pick_files" => Ok(json!(pick_files(window, read::<PickFiles>(request)?.multiple))),
        "pick_save" => pick_save(window, &read::<PickSave>(request)?.name),
        "copy_text" => copy(window, read::<CopyText>(request)?.text),
        "reveal" => reveal(window, &read::<Reveal>(request)?.path),
        "open_link" => open_link(&read::<OpenLink>(request)?.url),
        "notify" => notify::show(window, read(request)?),
        "set_title" => set_title(window, &read::<SetTitle>(request)?.title),
        "ready" => Ok(json!(window::page_is_ready(window))),
        _ => Err(ApiError::not_found(format!("this window has no command `{PREFIX}{command}`"))),
    }
}

fn pick_folder(window: &WebviewWindow) -> Option<PathBuf> {
    let chosen = picker(window).blocking_pick_folder().and_then(path);
    if let Some(folder) = &chosen {
        window.state::<Picked>().note_folder(folder);
    }
    chosen
}

fn read<T: DeserializeOwned>(request: &Value) -> Result<T, ApiError> {
    T::deserialize(request).map_err(|error| ApiError::invalid(error.to_string()))
}

fn picker(window: &WebviewWindow) -> tauri_plugin_dialog::FileDialogBuilder<tauri::Wry> {
    window.dialog().file().set_parent(window)
}

fn pick_files(window: &WebviewWindow, multiple: bool) -> Vec<PathBuf> {
    let picked = if multiple {
        picker(window).blocking_pick_files()
    } else {
        picker(window).blocking_pick_file().map(|one| vec![one])
    };
    picked.into_iter().flatten().filter_map(path).collect()
}

/// Asks where a file is to be saved. The dialog asks about one that is there already, so what was picked may be replaced.
fn pick_save(window: &WebviewWindow, name: &str) -> Result<Value, ApiError> {
    let picked = picker(window).set_file_name(plain_name(name)).blocking_save_file().and_then(path);
    if let Some(picked) = &picked {
        window.state::<Picked>().note(picked);
    }
    Ok(json!(picked))
}

/// A file's name that leads nowhere else.
fn plain_name(name: &str) -> String {
    let plain = |one: char| if one.is_control() || matches!(one, '/' | '\\' | ':') { '-' } else { one };
    name.chars().map(plain).take(MOST_NAME).collect()
}

fn path(picked: FilePath) -> Option<PathBuf> {
    picked.into_path().ok()
}

fn copy(window: &WebviewWindow, text: String) -> Result<Value, ApiError> {
    if text.len() > MOST_COPIED {
        return Err(ApiError::invalid("the text is too long for the clipboard"));
    }
    window.clipboard().write_text(text).map_err(|error| failed("the clipboard could not be written", &error))?;
    Ok(Value::Null)
}

fn reveal(window: &WebviewWindow, path: &Path) -> Result<Value, ApiError> {
    if !window.state::<Offered>().allows(path) {
        return Err(ApiError::invalid(format!("`{}` belongs to no project and no run", path.display())));
    }
    if !path.exists() {
        return Err(ApiError::not_found(format!("`{}` is not there any more", path.display())));
    }
    tauri_plugin_opener::reveal_item_in_dir(path)
        .map_err(|error| failed("the folder could not be shown, since no file manager answered", &error))?;
    Ok(Value::Null)
}

fn open_link(link: &str) -> Result<Value, ApiError> {
    let url = allowed(link).ok_or_else(|| ApiError::invalid("only `https` links are opened"))?;
    tauri_plugin_opener::open_url(url.as_str(), None::<&str>)
        .map_err(|error| failed("the link could not be opened, since no browser answered", &error))?;
    Ok(Value::Null)
}

/// Reads a link that may be opened: `https`, with a host, and without a name and password that would disguise it.
fn allowed(link: &str) -> Option<Url> {
    let url = Url::parse(link).ok().filter(|_| link.len() <= MOST_LINK)?;
    let plain = url.scheme() == "https" && url.has_host() && url.username().is_empty() && url.password().is_none();
    plain.then_some(url)
}

fn set_title(window: &WebviewWindow, title: &str) -> Result<Value, ApiError> {
    let title: String = title.chars().filter(|one| !one.is_control()).take(MOST_TITLE).collect();
    window.set_title(&title).map_err(|error| failed("the title could not be set", &error))?;
    Ok(Value::Null)
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> ApiError {
    ApiError::internal(format!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere_else() {
        assert_eq!(plain_name("../../etc/passwd\n"), "..-..-etc-passwd-");
        assert_eq!(plain_name("20261130-zz1c.json"), "20261130-zz1c.json");
    }

    #[test]
    fn only_plain_https_links_are_opened() {
        assert!(allowed("https://example.com/a?b#c").is_some());
        for bad in [
            "http://example.com",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://",
            "https://bank.example@evil.example/",
            "--help",
            "",
        ] {
            assert!(allowed(bad).is_none(), "{bad}");
        }
        assert!(allowed(&format!("https://example.com/{}", "a".repeat(10_000))).is_none());
    }
}
