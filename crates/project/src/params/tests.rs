use super::*;
use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

fn one(declaration: &Value) -> Param {
    read_params(&json!({ "x": declaration }), Purpose::Entrypoint).unwrap().remove(0)
}

fn faults(declaration: &Value) -> String {
    read_params(&json!({ "x": declaration }), Purpose::Entrypoint).unwrap_err().to_string()
}

#[rstest]
#[case(json!({"type": "string", "format": "date"}), ParamType::Date)]
#[case(json!({"type": "string", "format": "date-time"}), ParamType::DateTime)]
#[case(json!({"type": "string", "format": "time"}), ParamType::Time)]
#[case(json!({"type": "string", "format": "email"}), ParamType::String)]
#[case(json!({"type": "date", "format": "date"}), ParamType::Date)]
#[case(json!({"type": "date-time"}), ParamType::DateTime)]
#[case(json!("integer"), ParamType::Integer)]
#[case(json!({"options": ["a"]}), ParamType::Select)]
fn types(#[case] declaration: Value, #[case] kind: ParamType) {
    assert_eq!(one(&declaration).kind, kind);
}

#[test]
fn every_key_is_read() {
    let param = one(&json!({"type": "string", "required": true, "multiple": true, "default": ["abc"], "title": "T",
        "description": "D", "minLength": 2, "maxLength": 5, "pattern": "^a", "format": "email", "other": 1}));
    assert_eq!(
        serde_json::to_value(&param).unwrap(),
        json!({"name": "x", "type": "string", "required": true, "multiple": true, "default": ["abc"], "title": "T",
            "description": "D", "minLength": 2, "maxLength": 5, "pattern": "^a", "format": "email"})
    );
    let param = one(&json!({"type": "integer", "minimum": 1, "maximum": 9,
        "options": [{"value": 1, "title": "One"}, {"value": 2, "label": "Two"}, 3]}));
    let titles: Vec<_> = param.options.iter().map(|option| option.title.as_deref()).collect();
    assert_eq!(titles, [Some("One"), Some("Two"), None]);
    assert_eq!((param.minimum, param.maximum), (Some(1.0), Some(9.0)));
    assert!(one(&json!({"type": "checkboxes"})).multiple);
}

#[rstest]
#[case::unknown(json!({"type": "strnig"}), "unknown type \"strnig\"; did you mean `string`?")]
#[case::odd(json!({"type": "object"}), "take one of `string`, `positional`")]
#[case::none(json!({}), "has no `type`")]
#[case::type_number(json!({"type": 5}), "has the type 5")]
#[case::json(json!({"type": "json"}), "unknown type \"json\"")]
#[case::secret(json!({"type": "secret"}), "cannot be `secret`")]
#[case::no_object(json!(5), "must be declared by an object")]
#[case::select(json!({"type": "select"}), "`select` without `options`")]
#[case::empty(json!({"type": "string", "options": []}), "has empty `options`")]
#[case::twice(json!({"type": "string", "options": ["a", "a"]}), "has the option \"a\" twice")]
#[case::option_type(json!({"type": "string", "options": ["a", 1]}), "option 2 must be a string, not 1")]
#[case::option_range(json!({"type": "number", "options": [1, 20], "maximum": 9}), "option 2 must be a number of at most 9")]
#[case::option_date(json!({"type": "date", "options": ["2026-02-30"]}), "option 1 must be a date that exists")]
#[case::options_flag(json!({"type": "boolean", "options": ["a"]}), "a `boolean` does not take")]
#[case::options_file(json!({"type": "file", "options": ["a"]}), "a `file` does not take")]
#[case::bounds(json!({"type": "number", "minimum": 3, "maximum": 1}), "has `minimum` 3 above `maximum` 1")]
#[case::lengths(json!({"type": "string", "minLength": 3, "maxLength": 1}), "has `minLength` 3 above `maxLength` 1")]
#[case::length(json!({"type": "string", "minLength": -1}), "a whole number from 0")]
#[case::bound_of_text(json!({"type": "string", "minimum": 1}), "which only numbers take")]
#[case::length_of_number(json!({"type": "number", "maxLength": 1}), "which only texts take")]
#[case::pattern(json!({"type": "string", "pattern": "("}), "cannot be used: unclosed group")]
#[case::look_ahead(json!({"type": "string", "pattern": "(?=a)"}), "look-around")]
#[case::default(json!({"type": "number", "default": "a"}), "has a `default` that does not fit it")]
#[case::default_range(json!({"type": "number", "default": 10, "maximum": 9}), "does not fit")]
#[case::default_option(json!({"type": "string", "options": ["a"], "default": "b"}), "does not fit")]
#[case::default_list(json!({"type": "string", "multiple": true, "default": "b"}), "does not fit")]
#[case::default_file(json!({"type": "file", "default": "/etc/passwd"}), "cannot have a `default`")]
#[case::required(json!({"type": "string", "required": "yes"}), "must be true or false")]
#[case::title(json!({"type": "string", "title": 5}), "has 5 as its `title`")]
#[case::format(json!({"type": "number", "format": "date"}), "only `string` takes")]
fn refused(#[case] declaration: Value, #[case] words: &str) {
    let message = faults(&declaration);
    assert!(message.contains(words), "{message}");
    assert!(message.starts_with("`x` "), "{message}");
}

#[rstest]
#[case("", false)]
#[case("a b", false)]
#[case("-a", false)]
#[case("__proto__", false)]
#[case("a=b", false)]
#[case("名", false)]
#[case("a.b-c_D9", true)]
fn names(#[case] name: &str, #[case] fits: bool) {
    let declarations = json!({ name: {"type": "string"} });
    assert_eq!(read_params(&declarations, Purpose::Entrypoint).is_ok(), fits, "{name}");
}

#[test]
fn all_faults_come_at_once_and_none_hides_another() {
    let declarations = json!({"a": {"type": "x"}, "b": {"type": "string", "pattern": "(", "minimum": 1},
        "no-c": {"type": "string"}, "c": {"type": "boolean"}});
    let found = read_params(&declarations, Purpose::Entrypoint).unwrap_err();
    let names: Vec<_> = found.faults.iter().map(|fault| fault.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "b", "no-c"]);
}

#[test]
fn forms_take_secrets_lists_and_any_visible_name() {
    let form = read_form(&json!({"title": "T", "message": "M", "fields": [
        {"name": "密码", "type": "secret", "required": true}, {"name": "n", "type": "integer"}]}))
    .unwrap();
    assert_eq!(form.fields[0].kind, ParamType::Secret);
    assert_eq!(form.fields[1].name, "n");
    let form = read_form(&json!({"title": "T", "fields": {"b": "string", "a": "string"}})).unwrap();
    assert_eq!(form.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
}

#[rstest]
#[case(json!({"fields": {}}), "`title` must be a text, not missing")]
#[case(json!({"title": "T", "fields": [{"type": "string"}]}), "is no name for a field")]
#[case(json!({"title": "T", "fields": [{"name": "a", "type": "string"}, {"name": "a", "type": "string"}]}), "twice")]
#[case(json!({"title": "T", "fields": {"s": {"type": "secret", "default": "x"}}}), "cannot have a `default`")]
#[case(json!({"title": "T", "fields": {"s": {"type": "secret", "multiple": true}}}), "both `secret` and `multiple`")]
#[case(json!(["x"]), "a form must be an object")]
fn broken_forms(#[case] form: Value, #[case] words: &str) {
    let message = read_form(&form).unwrap_err().to_string();
    assert!(message.contains(words), "{message}");
}

#[test]
fn invisible_letters_do_not_reach_clients() {
    let param = one(&json!({"type": "string", "description": "Ignore\u{202e} \u{200b}me\u{e0041}"}));
    assert_eq!(param.description.as_deref(), Some("Ignore me"));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![Just("string".to_owned()), Just("select".into()), Just("date".into()), any::<String>()]
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let key = prop_oneof![
            Just("type".to_owned()),
            Just("options".into()),
            Just("default".into()),
            Just("multiple".into()),
            Just("value".into()),
            Just("pattern".into()),
            any::<String>()
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_declaration_and_no_input_panics(declarations in any_json(), input in any_json()) {
        let _ = read_form(&declarations);
        for purpose in [Purpose::Entrypoint, Purpose::Form] {
            if let Ok(params) = read_params(&declarations, purpose) {
                let _ = crate::check::check_input(&params, &input);
                let _ = crate::schema::params_schema(&params);
            }
        }
    }

    #[test]
    fn what_is_accepted_is_a_fixed_point(input in any_json()) {
        let declarations = json!({"type": {"type": "string"}, "options": {"type": "integer", "multiple": true},
            "default": {"type": "number"}, "value": {"type": "date"}, "multiple": {"type": "boolean", "default": true}});
        let params = read_params(&declarations, Purpose::Entrypoint).unwrap();
        if let Ok(checked) = crate::check::check_input(&params, &input) {
            let again = crate::check::check_input(&params, &Value::Object(checked.clone())).unwrap();
            prop_assert_eq!(checked, again);
        }
    }
}
