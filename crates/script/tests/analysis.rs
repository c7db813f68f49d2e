//! What a file offers, found without running it, or as little of it as can be.

#![allow(clippy::panic, reason = "a helper of tests may fail a test")]

mod common;

use std::fs;

use common::{Project, TestHost, run, shown};
use serde_json::{Value, json};
use workflow_script::{Analysis, JobKind, SourceError, SourceErrorCode, analyze};

fn look(files: &[(&str, &str)]) -> Result<Analysis, SourceError> {
    analyze(Project::new(files).folder.path(), files[0].0)
}

/// Analyses a module with this `entrypoint` expression.
fn declaration(expression: &str) -> Result<Value, SourceError> {
    look(&[("a.workflow.ts", &format!("export const entrypoint = {expression};\nexport default async () => 1"))])
        .map(|analysis| analysis.declaration)
}

#[test]
fn a_literal_is_read_from_the_syntax_tree() {
    let expected = json!({"title": "T", "params": {"n": {"type": "integer", "minimum": -1, "default": 1.5, "options": ["a", "b"]}, "a b": {"required": true, "x": null}}});
    let literal = "{ title: `T`, params: { n: { type: 'inte' + 'ger', minimum: -1, default: 1.5, options: ['a', \"b\"] }, 'a b': { required: true, x: null } } }";
    for expression in [
        literal.to_owned(),
        format!("{literal} as const"),
        format!("({literal}) satisfies object"),
        format!("<const>{literal}"),
        format!("{literal} as const satisfies Entry"),
    ] {
        // Were the module executed, the loop would be met.
        let source = format!(
            "for (;;) {{}}\ntype Entry = any;\nexport const entrypoint = {expression};\nexport default async function (input, flow) {{}}"
        );
        let found = look(&[("a.ts", &source)]).unwrap_or_else(|error| panic!("{expression}: {error}"));
        assert_eq!((found.kind, found.declaration), (JobKind::Module, expected.clone()), "{expression}");
    }
}

#[test]
fn anything_else_is_evaluated_without_a_host() {
    assert_eq!(
        declaration("{ title: ['A', 'B'].join(' '), params: Object.fromEntries([['x', {type: 'string'}]]) }")
            .expect("a declaration"),
        json!({"title": "A B", "params": {"x": {"type": "string"}}})
    );
    let found = look(&[
        ("a.ts", "import { title } from './b.ts';\nconst entrypoint = { title, n: await Promise.resolve(1) };\nexport { entrypoint };\nexport { main as default } from './b.ts'"),
        ("b.ts", "export const title: string = 'from b'; export function main() {}"),
    ])
    .expect("a declaration");
    assert_eq!(found.declaration, json!({"title": "from b", "n": 1}));
    assert_eq!(found.modules.iter().map(|module| module.path.as_str()).collect::<Vec<_>>(), ["a.ts", "b.ts"]);
    let error = |expression: &str| declaration(expression).expect_err(expression).to_string();
    insta::assert_snapshot!(error("(() => { for (;;) {} })()"), @"a.workflow.ts: `entrypoint` cannot be read: loading the module takes longer than 1 s");
    insta::assert_snapshot!(error("(() => { throw new RangeError('no') })()"), @"a.workflow.ts:1:46: `entrypoint` cannot be read: RangeError: no");
    insta::assert_snapshot!(error("{ title: missing }"), @"a.workflow.ts:1:36: `entrypoint` cannot be read: ReferenceError: missing is not defined");
    insta::assert_snapshot!(error("await new Promise((r) => setTimeout(r, 1))"), @"a.workflow.ts: `entrypoint` cannot be read: the module asks its host for `sleep` while it is loaded");
    insta::assert_snapshot!(error("await new Promise(() => {})"), @"a.workflow.ts: `entrypoint` cannot be read: the script waits for a promise that nothing will settle: no call of it is open any more");
    insta::assert_snapshot!(error("[1].map((x) => x)"), @"a.workflow.ts: `entrypoint` must be an object");
    insta::assert_snapshot!(error("'text'"), @"a.workflow.ts: `entrypoint` must be an object");
    insta::assert_snapshot!(error("(() => { const all = []; for (;;) all.push(new Array(100000).fill(1.5)) })()"), @"a.workflow.ts: `entrypoint` cannot be read: loading the module takes more than 128 MB");
}

#[test]
fn a_module_without_a_declaration_is_one_all_the_same() {
    assert_eq!(look(&[("a.js", "export default () => 1")]).expect("a module").declaration, json!(null));
    assert_eq!(
        look(&[("a.js", "export const meta = {}; export default () => 1")]).expect("a module").kind,
        JobKind::Module
    );
}

#[test]
fn a_script_is_told_by_its_meta() {
    let found = look(&[("a.js", "// head\nexport const meta = { name: 'n', description: 'd', phases: ['P'], version: 1, params: {x: {type: 'string'}} }\nreturn await agent('x')")]).expect("a script");
    assert_eq!(found.kind, JobKind::Script);
    assert_eq!(
        found.declaration,
        json!({"name": "n", "description": "d", "phases": [{"title": "P"}], "params": {"x": {"type": "string"}}})
    );
    assert_eq!(found.notes.len(), 1);
}

#[test]
fn faults_are_told_with_their_place() {
    let mut said = String::new();
    for files in [
        &[("a.ts", "export const entrypoint = { title: 'x' ;")][..],
        &[("a.ts", "export const entrypoint = { title: 'x' };")],
        &[("a.ts", "export default () => 1\nreturn 2")],
        &[("a.js", "export default (x: string) => 1")],
        &[("a.js", "export default () => { let a; let a }")],
        &[("a.ts", "export default () => { let a; let a }")],
        &[("a.ts", "@decorated class A {}\nexport default () => 1")],
        &[("a.ts", "import x from 'lodash'\nexport default () => x")],
        &[("a.ts", "import x from 'node:fs'\nexport default () => x")],
        &[("a.ts", "import x from '/etc/passwd'\nexport default () => x")],
        &[("a.ts", "import x from 'https://a.example/x.js'\nexport default () => x")],
        &[("a.ts", "\nimport x from './gone.ts'\nexport default () => x")],
        &[("a.ts", "import x from '../outside.ts'\nexport default () => x")],
        &[("a.ts", "import x from './b/../../a.ts'\nexport default () => x")],
        &[("a.ts", "import x from './b.txt'\nexport default () => x"), ("b.txt", "")],
        &[("a.ts", "import x from './b'\nexport default () => x"), ("b/index.ts", "")],
        &[("a.ts", "export * from './b.ts'\nexport default () => 1"), ("b.ts", "const = 1")],
        &[("a.ts", "import './b.json'\nexport default () => 1"), ("b.json", "{\"a\": 1,}")],
        &[("a.ts", "import './b.ts'\nexport default () => 1"), ("b.ts", "import './c.ts'"), ("c.ts", "import 'zod'")],
        &[
            ("a.ts", "import def, { b, c as d } from './b.ts'\nexport default () => [def, b, d]"),
            ("b.ts", "export default 1\nexport const { b } = { b: 1 }\nexport type c = 1"),
        ],
        &[("a.ts", "export { x as default } from './b.ts'"), ("b.ts", "export function y() {}")],
        &[("a.js", "export const meta = { name: 'n', description: f() }")],
        &[("a.js", "export const meta = { name: 'n', description: 'd' }\nawait (")],
        &[("a.txt", "export default 1")],
    ] {
        said.push_str(&look(files).expect_err(files[0].1).to_string());
        said.push('\n');
    }
    insta::assert_snapshot!(said, @r#"
    a.ts:1:40: Expected `,` or `}` but found `;`
    a.ts: there is no default export: add `export default async function (input, flow) { … }`
    a.ts:2:1: A 'return' statement can only be used within a function body.
    a.js:1:18: Expected `,` or `)` but found `:`
    a.js:1:37: SyntaxError: invalid redefinition of lexical identifier
    a.ts:1:35: SyntaxError: invalid redefinition of lexical identifier
    a.ts:1:1: SyntaxError: unexpected token in expression: '@'
    a.ts:1:15: cannot import `lodash`: only files of the project can be imported, by a path that begins with ./ or ../
    a.ts:1:15: cannot import `node:fs`: only files of the project can be imported, by a path that begins with ./ or ../
    a.ts:1:15: cannot import `/etc/passwd`: only files of the project can be imported, by a path that begins with ./ or ../
    a.ts:1:15: cannot import `https://a.example/x.js`: only files of the project can be imported, by a path that begins with ./ or ../
    a.ts:2:15: cannot import `./gone.ts`: there is no such file in the project
    a.ts:1:15: cannot import `../outside.ts`: it lies outside the project
    a.ts:1:15: cannot import `./b/../../a.ts`: it lies outside the project
    a.ts:1:15: cannot import `./b.txt`: only .ts, .js, .mjs and .json files can be imported
    a.ts:1:15: cannot import `./b`: there is no such file in the project
    b.ts:1:7: Unexpected token
    b.json:1:9: not valid JSON: trailing comma at line 1 column 9
    c.ts:1:8: cannot import `zod`: only files of the project can be imported, by a path that begins with ./ or ../
    a.ts:1:18: `./b.ts` does not export `c`
    a.ts:1:10: `./b.ts` does not export `x`
    a.js:1:47: meta.description is not a literal
    a.js:2:8: Expected `)` but found `EOF`
    a.txt: not a module: only .ts, .js, .mjs and .json files are
    "#);
}

#[test]
fn names_are_completed_as_people_write_them() {
    let found = look(&[
        ("lib/a.ts", "import { b } from './b'\nimport { c } from '../c.js'\nimport { d } from './d.mjs'\nimport j from './j.json' with { type: 'json' }\nexport default () => [b, c, d, j]"),
        ("lib/b.ts", "export const b = 1"),
        ("c.ts", "export const c = 2"),
        ("lib/d.mjs", "export const d = 3"),
        ("lib/j.json", "[4]"),
    ])
    .expect("a module");
    let mut paths: Vec<_> = found.modules.iter().map(|module| module.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["c.ts", "lib/a.ts", "lib/b.ts", "lib/d.mjs", "lib/j.json"]);
}

#[test]
fn names_are_found_however_they_are_exported() {
    look(&[
        ("a.ts", "import d, * as all from './b.ts'\nimport { E, f, g, x, y, z, ns, passed } from './b.ts'\nimport { deep } from './star.ts'\nexport default () => [d, all, E, f, g, x, y, z, ns, passed, deep]"),
        ("b.ts", "export enum E { A }\nexport function f() {}\nexport class g {}\nexport const [x, { y }] = [1, { y: 2 }]\nlet z = 1\nexport { z, z as default }\nexport * as ns from './c.ts'\nexport { deep as passed } from './c.ts'"),
        ("c.ts", "export const deep = 1"),
        ("star.ts", "export * from './c.ts'"),
    ])
    .expect("a module");
}

#[test]
fn imports_may_go_round() {
    let files = [
        ("a.js", "import { b } from './b.js'\nexport const a = 1\nexport default () => b()"),
        ("b.js", "import { a } from './a.js'\nexport const b = () => a + 1"),
    ];
    look(&files).expect("a module");
    let project = Project::new(&files);
    assert_eq!(shown(&run(&project.job("a.js"), &mut TestHost::silent())), "success: 2");
}

#[test]
fn an_import_of_types_needs_no_file() {
    look(&[(
        "a.ts",
        "import type { T } from 'anything';\nimport { U } from './types.ts';\nexport default (x: T, y: U) => 1",
    )])
    .expect("a module");
}

#[test]
fn imports_on_demand_are_found_if_they_can_be_and_fail_where_they_stand() {
    let files = [
        (
            "a.js",
            "const name = './c.js'\nexport default async () => { const out = [(await import('./b.js')).b, (await import(name)).c]; for (const bad of ['./gone.js', 'fs', '../x.js', './broken.js', '\\0']) out.push(await import(bad).catch((e) => e.message)); return out }",
        ),
        ("b.js", "export const b = 1"),
        ("c.js", "export const c = 2"),
        ("broken.js", "export const = 1"),
    ];
    let found = look(&files).expect("a module");
    assert_eq!(found.modules.len(), 2, "the literal one is known before the run");
    let project = Project::new(&files);
    let mut host = TestHost::silent();
    insta::assert_snapshot!(shown(&run(&project.job("a.js"), &mut host)), @r#"success: [1,2,"cannot import `./gone.js`: there is no such file in the project","cannot import `fs`: only files of the project can be imported, by a path that begins with ./ or ../","cannot import `../x.js`: it lies outside the project","cannot import: broken.js:1:14: Unexpected token","cannot import ``: only files of the project can be imported, by a path that begins with ./ or ../"]"#);
    assert!(host.loaded.iter().any(|module| module.path == "c.js"), "the other is told when it comes");
}

#[cfg(unix)]
#[test]
fn links_and_odd_files_do_not_lead_outside() {
    use std::os::unix::fs::symlink;

    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("x.js"), "export default 1").expect("a file");
    let project = Project::new(&[
        ("out.js", "import x from './link.js'\nexport default () => x"),
        ("far.js", "import x from './folder/x.js'\nexport default () => x"),
        ("in.js", "import x from './inner.js'\nexport default () => x"),
        ("pipe.js", "import x from './fifo.js'\nexport default () => x"),
        ("binary.js", "import x from './bytes.js'\nexport default () => x"),
        ("large.js", "import x from './big.js'\nexport default () => x"),
        ("real.js", "export default 5"),
    ]);
    let root = project.folder.path();
    symlink(outside.path().join("x.js"), root.join("link.js")).expect("a link");
    symlink(outside.path(), root.join("folder")).expect("a link");
    symlink(root.join("real.js"), root.join("inner.js")).expect("a link");
    symlink("loop.js", root.join("loop.js")).expect("a link");
    fs::create_dir(root.join("dir.js")).expect("a folder");
    fs::write(root.join("bytes.js"), [0xff, 0xfe]).expect("a file");
    fs::write(root.join("big.js"), vec![b' '; 8 * 1024 * 1024 + 1]).expect("a file");
    let message = |file: &str| analyze(root, file).expect_err(file).to_string();
    insta::assert_snapshot!(message("out.js"), @"out.js:1:15: cannot import `./link.js`: the file lies outside the project");
    insta::assert_snapshot!(message("far.js"), @"far.js:1:15: cannot import `./folder/x.js`: the file lies outside the project");
    insta::assert_snapshot!(message("link.js"), @"link.js: the file lies outside the project");
    insta::assert_snapshot!(message("dir.js"), @"dir.js: the file cannot be read: it is not a regular file");
    insta::assert_snapshot!(message("gone.js"), @"gone.js: the file does not exist");
    insta::assert_snapshot!(message("binary.js"), @"binary.js:1:15: cannot import `./bytes.js`: the file is not UTF-8 text");
    insta::assert_snapshot!(message("large.js"), @"large.js:1:15: cannot import `./big.js`: the file is larger than 8 MiB");
    rustix::fs::mknodat(rustix::fs::CWD, root.join("fifo.js"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
        .expect("a pipe");
    // Opening it would wait for a writer for ever.
    insta::assert_snapshot!(message("fifo.js"), @"fifo.js: the file cannot be read: it is not a regular file");
    insta::assert_snapshot!(message("pipe.js"), @"pipe.js:1:15: cannot import `./fifo.js`: there is no such file in the project");
    assert_eq!(analyze(root, "loop.js").expect_err("a loop").code, SourceErrorCode::Unreadable);
    assert!(analyze(root, "in.js").is_ok(), "a link inside the project is fine");
}
