//! Parses one module, takes the types away, and notes what it imports and declares.

use std::collections::HashSet;
use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::{BindingPattern, Declaration, ImportDeclarationSpecifier, Program, Statement, VariableDeclarator};
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::SemanticBuilder;
use oxc_span::{GetSpan as _, SourceType};
use oxc_transformer::{TransformOptions, Transformer};
use serde_json::Value;

use super::line_map::LineMap;
use super::literal::{NotLiteral, fold};
use super::{depth, error_at};
use crate::{SourceError, SourceErrorCode};

/// What a file is written in, told from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// `.js`, `.mjs`.
    JavaScript,
    /// `.ts`.
    TypeScript,
    /// `.json`.
    Json,
}

impl Language {
    /// Tells the language of a file; none for names that no module has.
    pub(crate) fn of(file: &str) -> Option<Self> {
        match Path::new(file).extension()?.to_str()? {
            "js" | "mjs" => Some(Self::JavaScript),
            "ts" => Some(Self::TypeScript),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// An import that is still there when the types are gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Import {
    /// The name as written.
    pub specifier: String,
    /// Byte offset of that name.
    pub offset: usize,
    /// Whether it is an `import(…)` with a literal name.
    pub dynamic: bool,
    /// The names it takes from there, each with its byte offset. Empty for a whole namespace.
    pub names: Vec<(String, usize)>,
}

/// A declaration that may be read without running anything.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Declared {
    /// There is none.
    Absent,
    /// A literal.
    Literal(Value),
    /// Something that would have to be evaluated.
    Computed(NotLiteral),
}

/// One module, ready for the engine.
#[derive(Debug, Clone)]
pub(crate) struct Compiled {
    /// What the engine gets.
    pub code: String,
    /// From places in `code` to places in the source; none where they are the same.
    pub map: Option<LineMap>,
    /// What it imports.
    pub imports: Vec<Import>,
    /// `export const entrypoint`.
    pub entrypoint: Declared,
    /// The names it exports. None if it passes on all that another module exports, whatever that is.
    pub exports: Option<HashSet<String>>,
    /// Whether it has `export const meta`.
    pub has_meta: bool,
    /// Whether it has a default export.
    pub has_default: bool,
}

/// Parses a module and takes its types away.
///
/// `lenient` allows `return` outside functions, for a look at what kind of file it is.
pub(crate) fn compile_module(file: &str, text: &str, lenient: bool) -> Result<Compiled, SourceError> {
    let language = Language::of(file).ok_or_else(|| unknown_language(file))?;
    depth::check(text).map_err(|deep| error_at(SourceErrorCode::TooDeep, file, text, deep.offset, deep.message()))?;
    if language == Language::Json {
        return compile_json(file, text);
    }
    let allocator = Allocator::default();
    let source_type = source_type(language);
    let mut program = parse(&allocator, file, text, source_type, lenient)?;

    let entrypoint = find_entrypoint(&program.0);
    let has_default =
        program.0.body.iter().any(|statement| matches!(statement, Statement::ExportDefaultDeclaration(_)))
            || exports_default_by_name(&program.0);
    let has_meta = program.0.body.iter().any(|statement| exported_const(statement, "meta").is_some());

    let (code, map) = match language {
        Language::TypeScript => {
            let (code, map) = strip_types(&allocator, file, text, &mut program.0)?;
            (code, Some(map))
        }
        Language::JavaScript | Language::Json => (text.to_owned(), None),
    };
    // After the types are gone: an import that only brought types is no import any more.
    let mut imports = static_imports(&program.0);
    imports.extend(program.1);
    let exports = exported_names(&program.0);
    Ok(Compiled { code, map, imports, entrypoint, exports, has_meta, has_default })
}

fn unknown_language(file: &str) -> SourceError {
    SourceError {
        code: SourceErrorCode::Import,
        message: "not a module: only .ts, .js, .mjs and .json files are".into(),
        file: file.to_owned(),
        line: None,
        column: None,
    }
}

/// Returns how the parser is to read a language. Always a module: otherwise a `for await` at the top is refused.
pub(super) fn source_type(language: Language) -> SourceType {
    match language {
        Language::TypeScript => SourceType::ts().with_module(true),
        Language::JavaScript | Language::Json => SourceType::mjs(),
    }
}

/// Parses a source; gives the program and its `import(…)`s with literal names.
pub(super) fn parse<'a>(
    allocator: &'a Allocator,
    file: &str,
    text: &'a str,
    source_type: SourceType,
    return_outside_function: bool,
) -> Result<(Program<'a>, Vec<Import>), SourceError> {
    if u32::try_from(text.len()).is_err() {
        return Err(error_at(SourceErrorCode::TooLarge, file, text, 0, "the source is too large to be parsed"));
    }
    let parsed = Parser::new(allocator, text, source_type)
        .with_options(ParseOptions {
            allow_return_outside_function: return_outside_function,
            ..ParseOptions::default()
        })
        .parse();
    if let Some(first) = parsed.diagnostics.errors().next() {
        let offset = first.labels.first().map_or(0, |label| label.offset() as usize);
        return Err(error_at(SourceErrorCode::Syntax, file, text, offset, first.message.to_string()));
    }
    if parsed.panicked {
        return Err(error_at(SourceErrorCode::Syntax, file, text, 0, "the source cannot be parsed"));
    }
    let dynamic = parsed
        .module_record
        .dynamic_imports
        .iter()
        .filter_map(|import| {
            let (start, end) = (import.module_request.start as usize, import.module_request.end as usize);
            let quoted = text.get(start..end)?;
            let inner = quoted.strip_prefix(['"', '\''])?.strip_suffix(['"', '\''])?;
            (!inner.contains(['\\', '"', '\''])).then(|| Import {
                specifier: inner.to_owned(),
                offset: start,
                dynamic: true,
                names: Vec::new(),
            })
        })
        .collect();
    Ok((parsed.program, dynamic))
}

/// Takes the types away and prints what is left, with a map back.
pub(super) fn strip_types<'a>(
    allocator: &'a Allocator,
    file: &str,
    text: &str,
    program: &mut Program<'a>,
) -> Result<(String, LineMap), SourceError> {
    let semantic = SemanticBuilder::new().with_excess_capacity(1.0).with_enum_eval(true).build(program);
    let scoping = semantic.semantic.into_scoping();
    let options = TransformOptions::default();
    let transformed = Transformer::new(allocator, Path::new(file), &options).build_with_scoping(scoping, program);
    if let Some(first) = transformed.diagnostics.errors().next() {
        let offset = first.labels.first().map_or(0, |label| label.offset() as usize);
        return Err(error_at(SourceErrorCode::Syntax, file, text, offset, first.message.to_string()));
    }
    let printed = Codegen::new()
        .with_options(CodegenOptions { source_map_path: Some(file.into()), ..CodegenOptions::default() })
        .build(program);
    let stretches = printed.map.map_or_else(Vec::new, |map| {
        map.get_tokens()
            .map(|token| (token.get_dst_line(), token.get_dst_col(), token.get_src_line(), token.get_src_col()))
            .collect()
    });
    Ok((printed.code, LineMap::new(stretches)))
}

/// Makes a module of a JSON file, whose default export is the value.
fn compile_json(file: &str, text: &str) -> Result<Compiled, SourceError> {
    let text = text.trim_start_matches('\u{feff}');
    let invalid = |error: &serde_json::Error| SourceError {
        code: SourceErrorCode::Syntax,
        message: format!("not valid JSON: {error}"),
        file: file.to_owned(),
        line: u32::try_from(error.line()).ok(),
        column: u32::try_from(error.column()).ok(),
    };
    crate::json::parse(text).map_err(|error| match error {
        crate::json::ParseError::Syntax(error) => invalid(&error),
        crate::json::ParseError::TooDeep => {
            error_at(SourceErrorCode::TooDeep, file, text, 0, crate::json::ParseError::TooDeep.to_string())
        }
    })?;
    // Through the engine's own JSON.parse, so that a key `__proto__` stays data.
    let quoted = serde_json::to_string(text).map_err(|error| invalid(&error))?;
    // Two characters that JSON leaves bare end a line in old grammars.
    let quoted = quoted.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    Ok(Compiled {
        code: format!("export default JSON.parse({quoted});\n"),
        map: None,
        imports: Vec::new(),
        entrypoint: Declared::Absent,
        exports: Some(HashSet::from(["default".to_owned()])),
        has_meta: false,
        has_default: true,
    })
}

fn static_imports(program: &Program<'_>) -> Vec<Import> {
    program
        .body
        .iter()
        .filter_map(|statement| match statement {
            Statement::ImportDeclaration(import) => {
                let names = import.specifiers.iter().flatten().filter_map(|specifier| match specifier {
                    ImportDeclarationSpecifier::ImportSpecifier(named) => {
                        Some((named.imported.name().to_string(), named.span.start as usize))
                    }
                    ImportDeclarationSpecifier::ImportDefaultSpecifier(default) => {
                        Some(("default".to_owned(), default.span.start as usize))
                    }
                    ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => None,
                });
                Some((&import.source, names.collect()))
            }
            Statement::ExportAllDeclaration(export) => Some((&export.source, Vec::new())),
            Statement::ExportFromDeclaration(export) => {
                let names = export
                    .specifiers
                    .iter()
                    .map(|specifier| (specifier.local.name().to_string(), specifier.span.start as usize));
                Some((&export.source, names.collect()))
            }
            _ => None,
        })
        .map(|(source, names)| Import {
            specifier: source.value.to_string(),
            offset: source.span.start as usize,
            dynamic: false,
            names,
        })
        .collect()
}

/// Collects what a module exports, once the types are gone.
fn exported_names(program: &Program<'_>) -> Option<HashSet<String>> {
    let mut names = HashSet::new();
    for statement in &program.body {
        match statement {
            Statement::ExportDefaultDeclaration(_) => {
                names.insert("default".to_owned());
            }
            Statement::ExportAllDeclaration(export) => {
                names.insert(export.exported.as_ref()?.name().to_string());
            }
            Statement::ExportNamedDeclaration(export) => {
                names.extend(export.specifiers.iter().map(|specifier| specifier.exported.name().to_string()));
            }
            Statement::ExportFromDeclaration(export) => {
                names.extend(export.specifiers.iter().map(|specifier| specifier.exported.name().to_string()));
            }
            Statement::ExportDeclaration(export) => match &export.declaration {
                Declaration::VariableDeclaration(variables) => {
                    for declarator in &variables.declarations {
                        for identifier in declarator.id.get_binding_identifiers() {
                            names.insert(identifier.name.to_string());
                        }
                    }
                }
                declaration => names.extend(declaration.id().map(|identifier| identifier.name.to_string())),
            },
            _ => {}
        }
    }
    Some(names)
}

/// Finds the statement `export const NAME = …`; gives the declarator, and whether it is the statement's only one.
pub(super) fn exported_const<'p, 'a>(
    statement: &'p Statement<'a>,
    name: &str,
) -> Option<(&'p VariableDeclarator<'a>, bool)> {
    let Statement::ExportDeclaration(export) = statement else { return None };
    let Declaration::VariableDeclaration(variables) = &export.declaration else { return None };
    let declarator = variables.declarations.iter().find(|declarator| match &declarator.id {
        BindingPattern::BindingIdentifier(identifier) => identifier.name == name,
        BindingPattern::ObjectPattern(_) | BindingPattern::ArrayPattern(_) | BindingPattern::AssignmentPattern(_) => {
            false
        }
    })?;
    Some((declarator, variables.declarations.len() == 1))
}

fn find_entrypoint(program: &Program<'_>) -> Declared {
    let Some((declarator, _)) = program.body.iter().find_map(|statement| exported_const(statement, "entrypoint"))
    else {
        // `export { entrypoint }` and the like: there is one, but only running the module tells what it is.
        return match exported_by_name(program, "entrypoint") {
            Some(offset) => Declared::Computed(NotLiteral { path: "entrypoint".into(), offset }),
            None => Declared::Absent,
        };
    };
    match &declarator.init {
        Some(init) => fold(init, "entrypoint").map_or_else(Declared::Computed, Declared::Literal),
        None => Declared::Computed(NotLiteral { path: "entrypoint".into(), offset: declarator.span().start as usize }),
    }
}

fn exports_default_by_name(program: &Program<'_>) -> bool {
    exported_by_name(program, "default").is_some()
}

/// Finds `export { x as NAME }`, also from another module.
fn exported_by_name(program: &Program<'_>, name: &str) -> Option<usize> {
    program.body.iter().find_map(|statement| {
        let specifiers = match statement {
            Statement::ExportNamedDeclaration(export) => &export.specifiers,
            Statement::ExportFromDeclaration(export) => &export.specifiers,
            _ => return None,
        };
        specifiers
            .iter()
            .find(|specifier| specifier.exported.name() == name)
            .map(|specifier| specifier.span.start as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn whatever_is_written_is_an_answer(
            text in "(let |x|=|1|'a'|`\\$\\{|\\}|\\{|\\(|\\)|;|\n|: string|<T>|enum |export |default |async |=> |import |from |class |@|/|return |\u{e9}|\\.|, ){0,24}"
        ) {
            for file in ["a.ts", "a.js", "a.json"] {
                if let Err(error) = compile_module(file, &text, true) {
                    proptest::prop_assert!(error.line.is_some(), "{}", error);
                }
                let _ = crate::source::compile_script(file, &text);
            }
        }
    }
}
