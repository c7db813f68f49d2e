//! The one command of the page: `rpc`, with a name of `api`'s list or of the window's own ([`crate::host`]).

use api::ApiError;
use launcher::desktop::Desktop;
use serde_json::Value;
use tauri::async_runtime;
use tauri::ipc::{InvokeResponseBody, Response};
use tauri::{AppHandle, Manager, WebviewWindow};

use crate::host;
use crate::offered::{Offered, Picked};

/// Answers a request of the page. What takes time is done on threads for that, never on the one that draws.
#[tauri::command]
pub(crate) async fn rpc(
    app: AppHandle,
    window: WebviewWindow,
    name: String,
    request: Value,
) -> Result<Response, ApiError> {
    async_runtime::spawn_blocking(move || {
        if let Some(command) = name.strip_prefix(host::PREFIX) {
            let answer = host::answer(&window, command, &request)?;
            return json(&answer);
        }
        let writes = name == "save_as" || name == "export_run" && request.get("to").is_some();
        if name == "project_make" {
            app.state::<Picked>().check_folder(&request)?;
        }
        let request = if writes { app.state::<Picked>().check(request)? } else { request };
        let response = app.state::<Desktop>().api.call(&name, request)?;
        app.state::<Offered>().note(&name, &response);
        json(&response)
    })
    .await
    .unwrap_or_else(|error| Err(ApiError::internal(format!("the request ended before its answer: {error}"))))
}

fn json(value: &Value) -> Result<Response, ApiError> {
    let text = serde_json::to_string(value).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(Response::new(InvokeResponseBody::Json(text)))
}
