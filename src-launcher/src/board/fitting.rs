//! Making an answer fit into what one may be: rows are dropped from the end, a body is cut, and what is left out is marked.

use std::collections::HashSet;

use ::board::BoardError;
use serde_json::{Map, Value, json};

/// How much of a body is kept when it has to be cut, in characters.
const KEPT_BODY: usize = 2000;
/// How much is kept of Markdown that says the same as rows.
const KEPT_MARKDOWN: usize = 200;
/// Lists whose rows may be dropped.
const ROWS: [&str; 4] = ["records", "issues", "fragments", "consumedFragments"];
/// Members that are a record.
const RECORDS: [&str; 2] = ["record", "replacement"];
/// What names a record that cannot be sent whole.
const NAMING: [&str; 7] = ["id", "kind", "recordType", "title", "path", "status", "revision"];

fn size(value: &Value) -> usize {
    serde_json::to_string(value).map_or(usize::MAX, |text| text.len())
}

fn cut_body(body: &str, most: usize) -> Option<String> {
    let (end, _) = body.char_indices().nth(most)?;
    Some(format!("{}…", &body[..end]))
}

/// Makes an answer fit: rows are dropped from the end, a body is cut. What is marked is marked in `resultTruncated`.
///
/// # Errors
///
/// `MCP_TOOL_RESULT_TOO_LARGE`. After a write it says so, with the record's id and revision.
pub(crate) fn fit(mut answer: Value, most: usize, wrote: bool) -> Result<Value, BoardError> {
    let bytes = size(&answer);
    if bytes <= most {
        return Ok(answer);
    }
    let Value::Object(map) = &mut answer else { return Err(too_large(bytes, most, None)) };
    let mut left_out = Map::new();
    if let Some(name) = ROWS.into_iter().find(|name| map.get(*name).is_some_and(Value::is_array)) {
        drop_rows(map, name, most, &mut left_out);
    }
    if size(&answer) <= most {
        return Ok(answer);
    }
    let Value::Object(map) = &mut answer else { return Err(too_large(bytes, most, None)) };
    let body = map.get("record").and_then(|record| record.get("body")).and_then(Value::as_str).map(str::to_owned);
    let cut: usize = RECORDS.iter().filter_map(|name| cut_record(map.get_mut(*name)?)).sum();
    if cut > 0 {
        left_out.insert("bodyBytes".into(), json!(cut));
        map.insert("resultTruncated".into(), json!(left_out));
        if size(&answer) <= most {
            return Ok(answer);
        }
    }
    if !wrote {
        return Err(too_large(bytes, most, None));
    }
    let written = answer.get("record").cloned().unwrap_or(Value::Null);
    // A body that is never cut is the whole of it: only its record can be named.
    if body
        .as_deref()
        .is_some_and(|body| !body.is_empty() && body.chars().count() <= KEPT_BODY && body.len() > most / 2)
    {
        return Err(too_large(bytes, most, Some(&written)));
    }
    let short = shortened(&answer, body.map_or(0, |body| body.len()));
    if size(&short) <= most { Ok(short) } else { Err(too_large(bytes, most, Some(&written))) }
}

/// Makes a refusal fit: the record as it stands now may be of any length.
pub(crate) fn fit_refusal(mut error: BoardError, most: usize) -> BoardError {
    if size(&error.to_json()) <= most {
        return error;
    }
    let current = error.details.as_mut().and_then(|details| details.get_mut("current"));
    let Some(current) = current.filter(|current| current.is_object()) else { return error };
    if let Some(bytes) = cut_record(current) {
        current["bodyBytes"] = json!(bytes);
    }
    if size(&error.to_json()) > most
        && let Some(current) = error.details.as_mut().and_then(|details| details.get_mut("current"))
    {
        *current = named(current);
    }
    error
}

/// Drops rows of a list until the answer fits, or none is left.
fn drop_rows(map: &mut Map<String, Value>, name: &str, most: usize, left_out: &mut Map<String, Value>) {
    // The same in Markdown would leave no room for a single row. Of a preview it is what was asked for.
    let markdown = map.get("markdown").and_then(Value::as_str).and_then(|text| cut_body(text, KEPT_MARKDOWN));
    let is_preview = name == "fragments";
    if let Some(markdown) = markdown.clone().filter(|_| !is_preview) {
        map.insert("markdown".into(), json!(markdown));
    }
    let Some(Value::Array(rows)) = map.insert(name.to_owned(), json!([])) else { return };
    // Groups hold the same rows again.
    let groups = map.remove("groups");
    let of_groups = groups.as_ref().map_or(0, |groups| size(&with_rows(groups, &HashSet::new(), true)) + 11);
    let times = if groups.is_some() { 2 } else { 1 };
    let count = rows.len();
    map.insert("resultTruncated".into(), json!({ "records": count }));
    let frame = |map: &Map<String, Value>| size(&Value::Object(map.clone())) + of_groups;
    if is_preview
        && frame(map) > most
        && let Some(markdown) = markdown
    {
        let bytes = map.get("markdown").and_then(Value::as_str).map_or(0, str::len);
        left_out.insert("bodyBytes".into(), json!(bytes));
        map.insert("markdown".into(), json!(markdown));
        map.insert("resultTruncated".into(), json!({ "records": count, "bodyBytes": bytes }));
    }
    let mut left = most.saturating_sub(frame(map));
    let mut kept = Vec::new();
    for row in rows {
        let need = (size(&row) + 1) * times;
        if need > left {
            break;
        }
        left -= need;
        kept.push(row);
    }
    if let Some(groups) = groups {
        let ids: HashSet<&str> = kept.iter().filter_map(|row| row.get("id")?.as_str()).collect();
        map.insert("groups".into(), with_rows(&groups, &ids, false));
    }
    let dropped = count - kept.len();
    map.insert(name.to_owned(), Value::Array(kept));
    if dropped > 0 {
        left_out.insert("records".into(), json!(dropped));
    }
    if left_out.is_empty() {
        map.remove("resultTruncated");
    } else {
        map.insert("resultTruncated".into(), json!(left_out));
    }
}

/// Groups with those of their rows that are kept; one without any goes, unless `all` are wanted.
fn with_rows(groups: &Value, kept: &HashSet<&str>, all: bool) -> Value {
    let is_kept = |row: &&Value| row.get("id").and_then(Value::as_str).is_some_and(|id| kept.contains(id));
    let groups = groups.as_array().into_iter().flatten().filter_map(|group| {
        let rows: Vec<&Value> = group.get("fragments")?.as_array()?.iter().filter(is_kept).collect();
        (all || !rows.is_empty()).then(|| json!({ "type": group.get("type"), "fragments": rows }))
    });
    groups.collect()
}

/// Cuts a record's body, and says how many bytes it had.
fn cut_record(record: &mut Value) -> Option<usize> {
    let body = record.get("body").and_then(Value::as_str)?;
    let (bytes, short) = (body.len(), cut_body(body, KEPT_BODY)?);
    record["body"] = json!(short);
    Some(bytes)
}

/// What names a record, and nothing else of it.
fn named(record: &Value) -> Value {
    let named = NAMING.iter().filter_map(|key| Some(((*key).to_owned(), record.get(*key)?.clone())));
    Value::Object(named.collect())
}

/// An answer with every member it must have, and as little in each as there may be.
fn shortened(answer: &Value, body_bytes: usize) -> Value {
    let mut short = Map::new();
    let mut left_out = Map::new();
    let mut dropped = answer["resultTruncated"]["records"].as_u64().unwrap_or(0);
    for (name, value) in answer.as_object().into_iter().flatten() {
        if RECORDS.contains(&name.as_str()) {
            short.insert(name.clone(), named(value));
        } else if ROWS.contains(&name.as_str()) {
            dropped += value.as_array().map_or(0, Vec::len) as u64;
            short.insert(name.clone(), json!([]));
        }
    }
    if dropped > 0 {
        left_out.insert("records".into(), json!(dropped));
    }
    if body_bytes > 0 {
        left_out.insert("bodyBytes".into(), json!(body_bytes));
    }
    short.insert("resultTruncated".into(), Value::Object(left_out));
    Value::Object(short)
}

fn too_large(bytes: usize, most: usize, written: Option<&Value>) -> BoardError {
    let mut details = Map::from_iter([("bytes".to_owned(), json!(bytes)), ("maximumBytes".to_owned(), json!(most))]);
    let mut message = format!("the answer has {bytes} bytes, and at most {most} are sent; ask for less");
    if let Some(written) = written {
        message = format!("it was written; only the answer of {bytes} bytes does not fit into {most}");
        details.insert("written".into(), json!(true));
        for key in ["id", "revision"] {
            if let Some(value) = written.get(key) {
                details.insert(key.into(), value.clone());
            }
        }
    }
    BoardError::new("MCP_TOOL_RESULT_TOO_LARGE", message).with(Value::Object(details))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_dropped_and_the_tools_own_mark_stays() {
        let rows: Vec<Value> =
            (0..50).map(|at| json!({ "id": format!("T-{at:04}"), "title": "x".repeat(40) })).collect();
        let answer = json!({ "records": rows, "total": 50, "truncated": true, "markdown": "m".repeat(5000) });
        let fitted = fit(answer, 2048, false).expect("rows fit");
        assert!(size(&fitted) <= 2048);
        let kept = fitted["records"].as_array().map_or(0, Vec::len);
        assert_eq!(
            (fitted["truncated"].as_bool(), fitted["resultTruncated"]["records"].as_u64()),
            (Some(true), Some(50 - kept as u64))
        );
        assert!(kept > 5);
    }

    #[test]
    fn a_write_that_happened_is_never_told_as_if_it_had_not() {
        let record = |body: &str| json!({ "record": { "id": "T-0001", "title": "t", "revision": "sha256:1", "body": body, "tags": ["t".repeat(3000)] } });
        assert_eq!(fit(record("x"), 2048, true).expect("short")["record"]["id"], "T-0001");
        assert_eq!(fit(record("x"), 2048, false).expect_err("read").code, "MCP_TOOL_RESULT_TOO_LARGE");
        let wide = json!({ "record": { "id": "T-0002", "revision": "r", "body": "é".repeat(1900) } });
        let error = fit(wide, 2048, true).expect_err("its body is never cut");
        assert_eq!(error.details.expect("details")["written"], true);
        let long = json!({ "record": { "id": "T-0003", "body": "y".repeat(5000) } });
        let cut = fit(long, 4096, false).expect("cut");
        assert_eq!(
            (
                cut["resultTruncated"]["bodyBytes"].as_u64(),
                cut["record"]["body"].as_str().map(|body| body.chars().count())
            ),
            (Some(5000), Some(2001))
        );
    }

    #[test]
    fn findings_and_fragments_are_rows_too() {
        let issues: Vec<Value> =
            (0..200).map(|at| json!({ "code": "x", "file": format!("f{at}"), "message": "m" })).collect();
        let report = json!({ "ok": false, "counts": { "error": 200 }, "issues": issues });
        let fitted = fit(report, 2048, false).expect("rows fit");
        let kept = fitted["issues"].as_array().map_or(0, Vec::len) as u64;
        assert!(size(&fitted) <= 2048 && kept > 20);
        assert_eq!(
            (fitted["resultTruncated"]["records"].as_u64(), &fitted["counts"]["error"]),
            (Some(200 - kept), &json!(200))
        );

        let row = |at: usize| json!({ "id": format!("CHG-{at:04}"), "type": if at < 5 { "added" } else { "fixed" }, "body": "b".repeat(100) });
        let rows = |from: usize, to: usize| (from..to).map(row).collect::<Vec<_>>();
        let preview = |markdown: usize| {
            json!({
                "fragments": rows(0, 40), "markdown": "m".repeat(markdown),
                "groups": [{ "type": "added", "fragments": rows(0, 5) }, { "type": "fixed", "fragments": rows(5, 40) }],
            })
        };
        let fitted = fit(preview(500), 4096, false).expect("rows fit");
        let kept = fitted["fragments"].as_array().map_or(0, Vec::len);
        assert!(size(&fitted) <= 4096 && kept > 5 && fitted["markdown"].as_str().map(str::len) == Some(500));
        let grouped: usize =
            [0, 1].iter().filter_map(|at| fitted["groups"][*at]["fragments"].as_array()).map(Vec::len).sum();
        assert_eq!((grouped, fitted["resultTruncated"]["records"].as_u64()), (kept, Some(40 - kept as u64)));
        let fitted = fit(preview(9000), 2048, false).expect("its Markdown is cut");
        assert!(size(&fitted) <= 2048 && fitted["fragments"].as_array().is_some_and(|rows| !rows.is_empty()));
        assert_eq!(fitted["resultTruncated"]["bodyBytes"], 9000);
        let released =
            json!({ "record": { "id": "REL-0001", "revision": "r", "body": "" }, "consumedFragments": rows(0, 40) });
        let fitted = fit(released, 1024, true).expect("rows fit");
        assert!(fitted["record"]["revision"] == "r" && fitted["consumedFragments"].is_array());
        assert!(fitted["resultTruncated"].get("bodyBytes").is_none());
    }

    #[test]
    fn a_short_answer_has_every_member_that_it_must_have() {
        let long = |id: &str| json!({ "id": id, "revision": "r", "body": "", "tags": ["t".repeat(3000)] });
        let short =
            fit(json!({ "record": long("LRN-0001"), "replacement": long("LRN-0002") }), 2048, true).expect("short");
        assert_eq!(
            short,
            json!({
                "record": { "id": "LRN-0001", "revision": "r" }, "replacement": { "id": "LRN-0002", "revision": "r" },
                "resultTruncated": {},
            })
        );
        let short = fit(json!({ "record": long("REL-0001"), "consumedFragments": [long("CHG-0001")] }), 2048, true);
        assert_eq!(
            short.expect("short"),
            json!({
                "record": { "id": "REL-0001", "revision": "r" }, "consumedFragments": [], "resultTruncated": { "records": 1 },
            })
        );
    }

    #[test]
    fn what_a_conflict_shows_of_the_record_is_bounded() {
        let conflict = |current: Value| {
            BoardError::new("CARD_WRITE_CONFLICT", "changed").with(json!({ "id": "T-0001", "current": current }))
        };
        let body = fit_refusal(conflict(json!({ "id": "T-0001", "body": "x".repeat(9000) })), 4096);
        let current = body.details.expect("details")["current"].clone();
        assert_eq!(
            (&current["bodyBytes"], current["body"].as_str().map(|text| text.chars().count())),
            (&json!(9000), Some(2001))
        );
        let tags = fit_refusal(conflict(json!({ "id": "T-0001", "revision": "r", "tags": ["t".repeat(9000)] })), 4096);
        assert_eq!(tags.details.expect("details")["current"], json!({ "id": "T-0001", "revision": "r" }));
    }
}
