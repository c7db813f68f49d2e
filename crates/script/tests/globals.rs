//! The globals of a module: the language's own, and a few more.

mod common;

use common::{output_of, shown_of};
use serde_json::json;

#[test]
fn the_list_of_globals_is_this() {
    insta::assert_snapshot!(output_of("return Object.getOwnPropertyNames(globalThis).sort().join(' ')").as_str().unwrap_or("?"), @"AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean DOMException DataView Date DisposableStack Error EvalError Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String SuppressedError Symbol SyntaxError TextDecoder TextEncoder TypeError URIError URL URLSearchParams Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakSet atob btoa clearInterval clearTimeout console decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt queueMicrotask setInterval setTimeout structuredClone undefined unescape");
    assert_eq!(
        output_of(
            "return ['WeakRef', 'FinalizationRegistry', 'Atomics', 'SharedArrayBuffer', 'fetch', 'process', 'require', 'performance', 'crypto', 'Intl', 'agent', 'flow', 'args'].filter((n) => n in globalThis)"
        ),
        json!([])
    );
    assert_eq!(
        output_of("return [typeof import.meta, (function () { return this })() === undefined]"),
        json!(["object", true])
    );
    insta::assert_snapshot!(shown_of("fetch('https://a.example')"), @"script_error: ReferenceError: fetch is not defined here: the world is reached through `flow`");
}

#[test]
fn urls_follow_the_standard() {
    assert_eq!(
        output_of(
            "const u = new URL('/x/../y?q=1&q=2#h', 'https://us:pw@Library.Example.org:8443/a');
             const before = [u.href, u.origin, u.protocol, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, u.username, u.password, String(u), JSON.stringify(u)];
             u.searchParams.append('é', ' '); u.port = ''; u.hash = ''; u.pathname = '/z'; u.host = 'b.example';
             const after = [u.href, u.searchParams.getAll('q')];
             u.search = '?only=1';
             return [before, after, u.searchParams.get('only'), URL.canParse('nope'), URL.parse('nope'), u instanceof URL]"
        ),
        json!([
            ["https://us:pw@library.example.org:8443/y?q=1&q=2#h", "https://library.example.org:8443", "https:", "library.example.org:8443", "library.example.org", "8443", "/y", "?q=1&q=2", "#h", "us", "pw", "https://us:pw@library.example.org:8443/y?q=1&q=2#h", "\"https://us:pw@library.example.org:8443/y?q=1&q=2#h\""],
            ["https://us:pw@b.example/z?q=1&q=2&%C3%A9=+", ["1", "2"]],
            "1", false, null, true
        ])
    );
    assert_eq!(
        output_of(
            "const p = new URLSearchParams({b: '2', a: '1'}); p.append('a', '3'); p.sort();
             const q = new URLSearchParams([['x', 'y']]); q.set('x', 'z'); q.delete('gone'); q.set('n', 1);
             return [p.toString(), [...p], p.has('a', '3'), p.size, q.toString(), [...q.keys()], new URLSearchParams('?a=%20b+c').get('a')]"
        ),
        json!(["a=1&a=3&b=2", [["a", "1"], ["a", "3"], ["b", "2"]], true, 3, "x=z&n=1", ["x", "n"], " b c"])
    );
    insta::assert_snapshot!(shown_of("new URL('nope')"), @"script_error: TypeError: Invalid URL");
    insta::assert_snapshot!(shown_of("new URLSearchParams([['a']])"), @"script_error: TypeError: each pair must be a name and a value");
}

#[test]
fn text_is_coded_and_decoded() {
    assert_eq!(
        output_of(
            "const bytes = new TextEncoder().encode('é\\u{1F600}\\ud800');
             return [[...bytes], new TextDecoder().decode(bytes), new TextDecoder('UTF-8').decode(new Uint8Array([0xef, 0xbb, 0xbf, 97, 0xff]).buffer),
               new TextDecoder('utf-8', {ignoreBOM: true}).decode(new Uint8Array([0xef, 0xbb, 0xbf])).length, new TextDecoder().decode(), new TextDecoder().decode(new DataView(bytes.buffer, 0, 2)),
               btoa('hi'), atob('aGk=')]"
        ),
        json!([[195, 169, 240, 159, 152, 128, 239, 191, 189], "é\u{1F600}\u{fffd}", "a\u{fffd}", 1, "", "é", "aGk=", "hi"])
    );
    insta::assert_snapshot!(shown_of("new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array([0xff]))"), @"script_error: TypeError: the bytes are not valid UTF-8");
    insta::assert_snapshot!(shown_of("new TextDecoder('latin1')"), @"script_error: RangeError: unknown encoding: latin1 (only utf-8 is here)");
}

#[test]
fn structured_clones_are_copies() {
    assert_eq!(
        output_of(
            "const a: any = {d: new Date(5), m: new Map([[{k: 1}, new Set([1])]]), r: /x/gi, b: new Uint8Array([1, 2, 3]).subarray(1), n: [1, , 3], big: 5n, u: undefined, e: new RangeError('r', {cause: 7})};
             a.self = a;
             const c = structuredClone(a);
             return [c !== a, c.self === c, c.d instanceof Date && +c.d, [...c.m][0][0].k, [...c.m.values()][0].has(1), String(c.r), [...c.b], c.n.length, 1 in c.n, typeof c.big, 'u' in c,
               c.e instanceof RangeError, c.e.message, c.e.cause]"
        ),
        json!([true, true, 5, 1, true, "/x/gi", [2, 3], 3, false, "bigint", true, true, "r", 7])
    );
    insta::assert_snapshot!(shown_of("structuredClone({f: () => 1})"), @"script_error: TypeError: structuredClone: a function cannot be copied");
    insta::assert_snapshot!(shown_of("structuredClone(Promise.resolve())"), @"script_error: TypeError: structuredClone: a Promise cannot be copied");
    insta::assert_snapshot!(shown_of("let a: any = 1; for (let i = 0; i < 1e5; i++) a = [a]; structuredClone(a)"), @"script_error: RangeError: Maximum call stack size exceeded");
}

#[test]
fn microtasks_run_in_order() {
    assert_eq!(
        output_of(
            "const order = []; queueMicrotask(() => order.push(2)); Promise.resolve().then(() => order.push(3)); order.push(1); await null; await null; return order"
        ),
        json!([1, 2, 3])
    );
}

#[test]
fn modern_language_is_there() {
    assert_eq!(
        output_of(
            "class A { static #n = 1; static { A.#n++ } static n() { return A.#n } }
             async function* g() { yield 1; yield 2 }
             const out = await Array.fromAsync(g());
             return [A.n(), out, Object.groupBy([1, 2, 3], (x) => x % 2 ? 'odd' : 'even'), [3, 1, 2].toSorted(), 'aXbX'.replaceAll('X', '-'), [1, [2, [3]]].flat(Infinity), 'é'.normalize('NFD').length, /(?<y>\\d{4})/.exec('in 2026').groups.y, new Set([1, 2]).union(new Set([3])).size, 1_000, 2n ** 64n > 1n]"
        ),
        json!([2, [1, 2], {"odd": [1, 3], "even": [2]}, [1, 2, 3], "a-b-", [1, 2, 3], 2, "2026", 3, 1000, true])
    );
}
