//! What the page may not do, whatever is in it: the window's own rules, in the engine that enforces them.

use serde_json::json;
use workflow_code_tests::{Session, desktop_executable};

use crate::desktop;

#[test]
fn the_page_may_ask_for_nothing_but_its_own_commands() {
    let mut desktop = desktop();
    let session = Session::start(&mut desktop, &desktop_executable(), &[]);
    session.find("body");
    for command in [
        "plugin:window|set_title",
        "plugin:webview|create_webview",
        "plugin:dialog|open",
        "plugin:clipboard-manager|read_text",
        "plugin:clipboard-manager|write_text",
        "plugin:opener|open_url",
        "plugin:app|version",
        "plugin:event|emit",
        "plugin:path|resolve_directory",
    ] {
        let answer = session
            .script_async("return await window.__TAURI_INTERNALS__.invoke(arguments[0], {});", &json!([command]));
        let refused = answer["refused"].as_str().unwrap_or_else(|| panic!("{command} was answered: {answer}"));
        assert!(refused.contains("not allowed") || refused.contains("not found"), "{command}: {refused}");
    }
    // Ours is allowed, and refuses what it does not know in the form of its contract.
    for name in ["no_such_command", "host_no_such_command"] {
        let body = "return await window.__TAURI_INTERNALS__.invoke('rpc', { name: arguments[0], request: {} });";
        let answer = session.script_async(body, &json!([name]));
        assert_eq!(answer["refused"]["code"], "not_found", "{answer}");
    }
    let body = "return await window.__TAURI_INTERNALS__.invoke('rpc', { name: arguments[0], request: arguments[1] });";
    for (name, request) in [
        ("host_reveal", json!({ "path": "/etc/passwd" })),
        ("host_open_link", json!({ "url": "file:///etc/passwd" })),
        ("host_open_link", json!({ "url": "http://example.com" })),
        ("host_set_title", json!({})),
    ] {
        let answer = session.script_async(body, &json!([name, request]));
        assert_eq!(answer["refused"]["code"], "invalid_input", "{name} {request}: {answer}");
    }
    session.close();
    desktop.environment.assert_nothing_left();
}

#[test]
fn the_policy_holds_in_the_real_engine() {
    let mut desktop = desktop();
    let mut session = Session::start(&mut desktop, &desktop_executable(), &[]);
    session.find("body");
    session.assert_quiet();
    let refused = session.script_async(
        "const found = [];\n\
         addEventListener('securitypolicyviolation', (event) => found.push(event.effectiveDirective));\n\
         const script = document.createElement('script');\n\
         script.textContent = 'window.inlineRan = true';\n\
         document.head.append(script);\n\
         const image = document.createElement('img');\n\
         image.setAttribute('onerror', 'window.handlerRan = true');\n\
         image.src = 'data:image/png;base64,AAAA';\n\
         document.body.append(image);\n\
         let network = 'open';\n\
         try { await fetch('https://127.0.0.1:9/'); } catch { network = 'refused'; }\n\
         const frame = document.createElement('iframe');\n\
         frame.src = 'https://127.0.0.1:9/';\n\
         document.body.append(frame);\n\
         await new Promise((done) => setTimeout(done, 200));\n\
         const opened = window.open('https://127.0.0.1:9/');\n\
         location.href = 'https://127.0.0.1:9/';\n\
         await new Promise((done) => setTimeout(done, 200));\n\
         return { found: [...new Set(found)].sort(), network, inline: window.inlineRan ?? false,\n\
                  handler: window.handlerRan ?? false, opened: opened !== null, here: location.origin,\n\
                  frozen: Object.isFrozen(Object.prototype), global: typeof window.__TAURI__ };",
        &json!([]),
    );
    let seen = &refused["value"];
    assert_eq!(seen["network"], "refused", "{refused}");
    assert_eq!(seen["inline"], false, "{refused}");
    assert_eq!(seen["handler"], false, "{refused}");
    assert_eq!(seen["opened"], false, "{refused}");
    assert_eq!(seen["here"], "tauri://localhost", "{refused}");
    assert_eq!(seen["frozen"], false, "{refused}");
    assert_eq!(seen["global"], "undefined", "{refused}");
    let found = seen["found"].as_array().unwrap();
    for directive in ["connect-src", "frame-src", "script-src-elem", "script-src-attr"] {
        assert!(found.iter().any(|one| one == directive), "{directive} is missing in {found:?}");
    }
    let evaluated =
        session.script("try { return String(window.eval('1 + 1')); } catch (error) { return error.name; }", &json!([]));
    assert_eq!(evaluated, "EvalError");
}
