//! Reads a literal from the syntax tree as a JSON value, without running anything.

use model::Limits;
use oxc_ast::ast::{
    ArrayExpressionElement, BinaryOperator, Expression, ObjectExpression, ObjectPropertyKind, PropertyKey,
    PropertyKind, UnaryOperator,
};
use oxc_span::GetSpan as _;
use serde_json::{Map, Number, Value};

/// Which part of an expression is no literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotLiteral {
    /// The way to it from the root: `meta.phases[1].title`.
    pub path: String,
    /// Byte offset of it.
    pub offset: usize,
}

/// Folds an expression: strings and their concatenations, templates without holes, numbers, booleans, `null`, lists
/// and plain objects, also under `as const` and `satisfies`.
pub(crate) fn fold(expression: &Expression<'_>, path: &str) -> Result<Value, NotLiteral> {
    fold_at(expression, path, 0)
}

fn fold_at(expression: &Expression<'_>, path: &str, depth: usize) -> Result<Value, NotLiteral> {
    let refused = || NotLiteral { path: path.to_owned(), offset: expression.span().start as usize };
    if depth > Limits::JSON_DEPTH {
        return Err(refused());
    }
    match expression {
        Expression::StringLiteral(literal) if !literal.lone_surrogates => Ok(Value::from(literal.value.as_str())),
        Expression::TemplateLiteral(template) if template.expressions.is_empty() => {
            let text = template.quasis.first().and_then(|quasi| quasi.value.cooked).ok_or_else(refused)?;
            Ok(Value::from(text.as_str()))
        }
        Expression::NumericLiteral(literal) => number(literal.value).ok_or_else(refused),
        Expression::BooleanLiteral(literal) => Ok(Value::from(literal.value)),
        Expression::NullLiteral(_) => Ok(Value::Null),
        Expression::UnaryExpression(unary) => {
            let value = fold_at(&unary.argument, path, depth + 1)?.as_f64().ok_or_else(refused)?;
            match unary.operator {
                UnaryOperator::UnaryNegation => number(-value).ok_or_else(refused),
                UnaryOperator::UnaryPlus => number(value).ok_or_else(refused),
                UnaryOperator::LogicalNot
                | UnaryOperator::BitwiseNot
                | UnaryOperator::Typeof
                | UnaryOperator::Void
                | UnaryOperator::Delete => Err(refused()),
            }
        }
        Expression::BinaryExpression(_) => concatenate(expression, path),
        Expression::ParenthesizedExpression(inner) => fold_at(&inner.expression, path, depth + 1),
        Expression::TSAsExpression(inner) => fold_at(&inner.expression, path, depth + 1),
        Expression::TSSatisfiesExpression(inner) => fold_at(&inner.expression, path, depth + 1),
        Expression::TSNonNullExpression(inner) => fold_at(&inner.expression, path, depth + 1),
        Expression::TSTypeAssertion(inner) => fold_at(&inner.expression, path, depth + 1),
        Expression::ArrayExpression(array) => array
            .elements
            .iter()
            .enumerate()
            .map(|(index, element)| {
                let path = format!("{path}[{index}]");
                match element {
                    ArrayExpressionElement::SpreadElement(_) | ArrayExpressionElement::Elision(_) => {
                        Err(NotLiteral { path, offset: element.span().start as usize })
                    }
                    _ => element
                        .as_expression()
                        .ok_or_else(|| NotLiteral { path: path.clone(), offset: element.span().start as usize })
                        .and_then(|inner| fold_at(inner, &path, depth + 1)),
                }
            })
            .collect::<Result<Vec<_>, _>>()
            .map(Value::Array),
        Expression::ObjectExpression(object) => fold_object(object, path, depth),
        _ => Err(refused()),
    }
}

/// Folds `'a' + 'b' + …`, however long, without recursion along the chain.
fn concatenate(expression: &Expression<'_>, path: &str) -> Result<Value, NotLiteral> {
    let mut parts = Vec::new();
    let mut rest = expression;
    let refused = |part: &Expression<'_>| NotLiteral { path: path.to_owned(), offset: part.span().start as usize };
    loop {
        match rest {
            Expression::BinaryExpression(binary) if binary.operator == BinaryOperator::Addition => {
                parts.push(&binary.right);
                rest = &binary.left;
            }
            Expression::BinaryExpression(_) => return Err(refused(rest)),
            last => {
                parts.push(last);
                break;
            }
        }
    }
    let mut text = String::new();
    for part in parts.into_iter().rev() {
        match part {
            Expression::StringLiteral(literal) if !literal.lone_surrogates => text.push_str(&literal.value),
            Expression::TemplateLiteral(template) if template.expressions.is_empty() => {
                let cooked = template.quasis.first().and_then(|quasi| quasi.value.cooked);
                text.push_str(cooked.ok_or_else(|| refused(part))?.as_str());
            }
            _ => return Err(refused(part)),
        }
    }
    Ok(Value::from(text))
}

fn fold_object(object: &ObjectExpression<'_>, path: &str, depth: usize) -> Result<Value, NotLiteral> {
    let mut map = Map::new();
    for property in &object.properties {
        let refused = |path: String| NotLiteral { path, offset: property.span().start as usize };
        let ObjectPropertyKind::ObjectProperty(property) = property else { return Err(refused(path.to_owned())) };
        let key = match &property.key {
            PropertyKey::StaticIdentifier(name) if !property.computed => name.name.to_string(),
            PropertyKey::StringLiteral(literal) if !property.computed && !literal.lone_surrogates => {
                literal.value.to_string()
            }
            PropertyKey::NumericLiteral(literal) if !property.computed => literal.value.to_string(),
            _ => return Err(refused(path.to_owned())),
        };
        let inner = format!("{path}.{key}");
        if property.kind != PropertyKind::Init || property.method || property.shorthand || key == "__proto__" {
            return Err(refused(inner));
        }
        map.insert(key, fold_at(&property.value, &inner, depth + 1)?);
    }
    Ok(Value::Object(map))
}

/// Writes a number as JSON has it: whole ones without a fraction; none for what JSON cannot hold.
fn number(value: f64) -> Option<Value> {
    const SAFE: f64 = 9_007_199_254_740_991.0;
    if value.fract() == 0.0 && value.abs() <= SAFE {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be a whole number below 2^53")]
        return Some(Value::from(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}
