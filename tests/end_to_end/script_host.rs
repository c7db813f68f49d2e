//! What scripts may ask of the world around them: programs and requests, by the rules that keep others safe from them.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;

use serde_json::{Value, json};
use workflow_code_tests::Finished;

use crate::fixtures::{UUID, environment, run, script, write};

fn result(done: &Finished) -> Value {
    assert!(!done.stdout.is_empty(), "{}", done.stderr);
    done.json()
}

#[test]
fn an_allowed_program_gets_nothing_of_the_project_s_env_file() {
    let environment = environment();
    let main = script(
        &environment,
        "export default async (input, flow) => {\n\
         const { stdout } = await flow.exec('env', []);\n\
         return [await flow.env('API_KEY'), stdout.split('\\n').filter((line) => /^(API_KEY|BASH_ENV|GIT_)/.test(line))];\n};\n",
    );
    write(&environment, "project/.env", "API_KEY=plain\nBASH_ENV=/evil\nGIT_CONFIG_COUNT=1\n");
    for pattern in ["env", "*"] {
        let done = result(&run(&environment, &["run", &main, "main", "--allow-exec", pattern]));
        assert_eq!(done["output"], json!(["plain", []]), "{done}");
    }
    environment.assert_nothing_left();
}

#[test]
fn a_folder_is_judged_and_shown_where_its_links_lead() {
    let environment = environment();
    let main = script(
        &environment,
        "export default async (input, flow) => (await flow.exec('pwd', [], { cwd: 'link' })).stdout.trim();\n",
    );
    let (inside, outside) = (environment.home().join("project/inside"), environment.home().join("outside"));
    std::fs::create_dir(&inside).unwrap();
    std::fs::create_dir(&outside).unwrap();
    let (inside, outside) = (inside.canonicalize().unwrap(), outside.canonicalize().unwrap());
    let link = environment.home().join("project/link");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let asked = result(&run(&environment, &["run", &main, "main", "--allow-exec", "pwd"]));
    assert_eq!(asked["status"], "interaction_required", "{asked}");
    let message = asked["pending"]["message"].as_str().unwrap();
    assert!(message.contains(&format!("\nin {}", outside.display())), "{message}");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&inside, &link).unwrap();
    let done = result(&run(&environment, &["run", &main, "main", "--allow-exec", "pwd"]));
    assert_eq!(done["output"], json!(inside), "{done}");
    environment.assert_nothing_left();
}

#[test]
fn a_folder_that_is_none_is_what_is_blamed() {
    let environment = environment();
    let main = script(
        &environment,
        "export default async (input, flow) => {\n\
         const tried = async (cwd) => { try { return await flow.exec('true', [], { cwd }); } catch (error) { return error.message; } };\n\
         return [await tried('nosuch'), await tried('main.workflow.ts')];\n};\n",
    );
    let done = result(&run(&environment, &["run", &main, "main", "--allow-exec", "*"]));
    let said = done["output"].as_array().unwrap();
    assert!(said.iter().all(|one| one.as_str().is_some_and(|one| one.contains("`cwd`"))), "{done}");
    environment.assert_nothing_left();
}

/// Answers every request: `/to/PORT` leads to another port, everything else ends well. Gives the requests as they came.
fn server() -> (u16, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, asked) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut request, mut buffer) = (String::new(), [0; 4096]);
            while !request.contains("\r\n\r\n") {
                match stream.read(&mut buffer) {
                    Ok(count @ 1..) => request.push_str(&String::from_utf8_lossy(&buffer[..count])),
                    Ok(0) | Err(_) => break,
                }
            }
            let to = request.split_whitespace().nth(1).and_then(|path| path.strip_prefix("/to/")).map(str::to_owned);
            let head = match to {
                Some(to) => format!("302 Found\r\nlocation: http://127.0.0.1:{to}/end"),
                None => "200 OK\r\nx-a: 1\r\nx-a: 2\r\nset-cookie: a=1\r\nset-cookie: b=2".to_owned(),
            };
            let _ = stream
                .write_all(format!("HTTP/1.1 {head}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").as_bytes());
            if sender.send(request.to_ascii_lowercase()).is_err() {
                return;
            }
        }
    });
    (port, asked)
}

#[test]
fn a_redirect_to_another_origin_takes_no_header_along_that_was_meant_for_the_first() {
    let environment = environment();
    let ((first, _first_asked), (second, second_asked)) = (server(), server());
    let main = script(
        &environment,
        &format!(
            "export default async (input, flow) => {{\n\
             const headers = {{ Authorization: 'Bearer mine', Cookie: 's=1', 'X-Api-Key': 'k', Accept: 'a/b' }};\n\
             for (const url of ['http://127.0.0.1:{first}/to/{second}', 'http://127.0.0.1:{second}/to/{second}'])\n\
             await flow.http({{ url, headers }});\n\
             const answer = await flow.http({{ url: 'http://127.0.0.1:{first}/' }});\n\
             return [answer.headers['x-a'], answer.headers['set-cookie']];\n}};\n"
        ),
    );
    let package = json!({
        "name": "hosts", "id": UUID, "projectType": "workflow",
        "workflow": { "entrypoints": { "main": "./main.workflow.ts" }, "httpHosts": ["127.0.0.1"] },
    });
    write(&environment, "project/package.json", &package.to_string());
    let done = result(&run(&environment, &["run", &main, "main"]));
    assert_eq!(done["output"], json!(["1, 2", "a=1\nb=2"]), "{done}");
    let seen: Vec<(bool, bool)> = second_asked
        .try_iter()
        .map(|request| {
            let own = ["bearer mine", "s=1", "x-api-key"].iter().any(|word| request.contains(word));
            (own, request.contains("accept: a/b"))
        })
        .collect();
    // The last two are of the same origin.
    assert_eq!(seen, [(false, true), (true, true), (true, true)]);
    environment.assert_nothing_left();
}
