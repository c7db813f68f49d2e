//! The dynamic entrypoint, which takes an orchestration script with each call: `{script, meta, args?}`. What is inside
//! `meta` is checked where the script is started; here its outer shape is.

use model::{Param, ParamType};
use serde_json::{Map, Value, json};

use crate::fault::{Fault, Faults};
use crate::json::short;

/// What whoever writes a script has to know of it, short enough for a tool's description.
pub const CONTRACT: &str = "\
Runs an orchestration script: JavaScript (types are allowed) that starts child agents and returns one JSON value. `script` is \
the body of an async function with top-level await and return. It has no import, files, network, timers or environment: \
agents do all work. `meta` {name, description} travels beside it; `args` is a global.\n\
agent(prompt, {label, phase, schema, provider, model}) gives the agent's final text, or with `schema` a value that fits it, \
or null when the agent failed: filter results. parallel([() => …]) runs functions side by side and keeps their order; one that \
throws gives null. pipeline(items, ...stages) takes each item through all stages without waiting for the others; a stage gets \
(previous, item, index), and one that throws makes its item null. phase(title) and log(text) tell how far it is.\n\
A schema is {type: 'object', …}. Known are type (object, array, string, number, integer, boolean, null), properties, required \
(declared names), additionalProperties (true or false), items, enum, const, oneOf (two or more, no type beside it), \
description, title, default, examples; anything else (anyOf, pattern, minimum, $ref …) is refused.\n\
A run may start 1000 agents, a call take 4096 items, and the script compute for 5 s before its first await. Misuse rejects with \
a code (INVALID_ARGUMENT, UNSUPPORTED_OPTION, UNSUPPORTED_SCHEMA, AGENT_CAP, ITEM_CAP) and is not made null by parallel and \
pipeline. The result must be plain JSON: no undefined inside, dates or class instances.\n\
Use it only when the user asked for a workflow or for work on a large scale.";

/// What must be an object.
const OBJECTS: [&str; 2] = ["meta", "args"];

const AN_OBJECT: &str = "an object";

/// The parameters of the dynamic entrypoint.
#[must_use]
pub fn params() -> Vec<Param> {
    let param = |name: &str, kind, required| Param {
        name: name.into(),
        kind,
        required,
        multiple: false,
        default: None,
        title: None,
        description: None,
        options: Vec::new(),
        minimum: None,
        maximum: None,
        min_length: None,
        max_length: None,
        pattern: None,
        format: None,
    };
    vec![
        param("script", ParamType::String, true),
        param("meta", ParamType::Json, true),
        param("args", ParamType::Json, false),
    ]
}

/// The input schema of the dynamic entrypoint.
#[must_use]
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "script": {
                "type": "string",
                "description": "The body of an orchestration script: JavaScript with top-level await and return"
            },
            "meta": {
                "type": "object",
                "description": "Who the script is",
                "properties": {
                    "name": { "type": "string", "description": "A short name in kebab-case" },
                    "description": { "type": "string", "description": "What the script does, in one line" },
                    "whenToUse": { "type": "string", "description": "When it applies" },
                    "phases": {
                        "type": "array",
                        "description": "The phases it will announce",
                        "items": {
                            "type": "object",
                            "properties": {
                                "title": { "type": "string", "description": "The phase's title" },
                                "detail": { "type": "string", "description": "What happens in it" },
                                "provider": { "type": "string", "description": "Its agents' provider" },
                                "model": { "type": "string", "description": "Its agents' model" }
                            },
                            "required": ["title"],
                            "additionalProperties": false
                        }
                    }
                },
                "required": ["name", "description"],
                "additionalProperties": false
            },
            "args": {
                "type": "object",
                "description": "What the script gets as args; a bare list is wrapped in a field",
                "additionalProperties": true
            }
        },
        "required": ["script", "meta"],
        "additionalProperties": false
    })
}

/// Says of `meta` and `args` what they must be: the parameters' own check takes them for any JSON value.
pub(crate) fn in_own_words(mut faults: Faults) -> Faults {
    let any = crate::check::in_words(&params()[1]);
    for fault in faults.faults.iter_mut().filter(|fault| OBJECTS.contains(&fault.name.as_str())) {
        if fault.allowed.as_ref() == Some(&any) {
            fault.message = fault.message.replace(&any, AN_OBJECT);
            fault.allowed = Some(AN_OBJECT.to_owned());
        }
    }
    faults
}

/// Checks that `meta` and `args` are objects.
pub(crate) fn check_shapes(input: Map<String, Value>) -> Result<Map<String, Value>, Faults> {
    let mut faults = Vec::new();
    for name in OBJECTS {
        if let Some(value) = input.get(name)
            && !value.is_object()
        {
            faults.push(Fault::must_be(name, AN_OBJECT, short(value)));
        }
    }
    Faults::unless_any(faults, input)
}
