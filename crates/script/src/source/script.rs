//! Orchestration scripts: one `export const meta` statement and a body with top-level `await` and `return`.
//!
//! The body runs as one async function, so the file cannot be a module to the engine. It is parsed as one all the
//! same, by a real parser, so that a text that closes the wrapping function early is a syntax error.

use oxc_allocator::Allocator;
use oxc_ast::ast::Statement;
use oxc_span::GetSpan as _;

use super::line_map::LineMap;
use super::literal::fold;
use super::syntax::{Language, exported_const, parse, source_type, strip_types};
use super::{depth, error_at};
use crate::meta::{self, Meta};
use crate::{SourceError, SourceErrorCode};

/// Lines that stand before the body in what the engine gets.
pub(crate) const WRAP_LINES: u32 = 1;

/// What a script may have: four times as much as the longest that people were seen to write.
const SCRIPT_BYTES: usize = 1024 * 1024;

/// A script, ready for the engine.
#[derive(Debug, Clone)]
pub(crate) struct CompiledScript {
    /// The statements of the body, without types.
    pub code: String,
    /// From places in `code`, less [`WRAP_LINES`], to places in the source; none where they are the same.
    pub map: Option<LineMap>,
    /// The meta block.
    pub meta: Meta,
}

impl CompiledScript {
    /// An expression that gives the body as an async function without parameters.
    pub(crate) fn wrapped(&self) -> String {
        format!("(async () => {{\n{}\n}})", self.code)
    }

    /// An expression that gives a function of an object, which gives the body as an async function that sees the
    /// object's properties as its globals.
    pub(crate) fn wrapped_within(&self) -> String {
        format!("(function (scope) {{ with (scope) {{ return (async () => {{\n{}\n}}) }} }})", self.code)
    }
}

/// A body whose meta block travels beside it.
#[derive(Debug, Clone)]
pub(crate) struct CompiledBody {
    code: String,
    /// As in [`CompiledScript::map`].
    pub map: Option<LineMap>,
}

impl CompiledBody {
    /// As [`CompiledScript::wrapped`].
    pub(crate) fn wrapped(&self) -> String {
        format!("(async () => {{\n{}\n}})", self.code)
    }
}

/// Checks a body by the strict contract, in JavaScript or else in TypeScript.
pub(crate) fn compile_body(file: &str, text: &str) -> Result<CompiledBody, SourceError> {
    if text.trim_start().starts_with("export const meta") {
        return Err(SourceError {
            code: SourceErrorCode::Syntax,
            message: "`meta` travels beside the script: remove the statement `export const meta` from it".into(),
            file: file.to_owned(),
            line: Some(1),
            column: Some(1),
        });
    }
    let refused = |error: SourceError| {
        let place = match (error.line, error.column) {
            (Some(line), Some(column)) => format!(" (line {line}, column {column})"),
            _ => String::new(),
        };
        SourceError { message: format!("workflow script does not parse: {}{place}", error.message), ..error }
    };
    depth::check(text)
        .map_err(|deep| refused(error_at(SourceErrorCode::TooDeep, file, text, deep.offset, deep.message())))?;
    let as_written = check_body(file, text, Language::JavaScript);
    let Err(error) = as_written else { return Ok(CompiledBody { code: text.to_owned(), map: None }) };
    // What is no JavaScript may be TypeScript; if it is neither, the first complaint is the one that helps.
    if check_body(file, text, Language::TypeScript).is_err() {
        return Err(refused(error));
    }
    let allocator = Allocator::default();
    let (mut program, _) =
        parse(&allocator, file, text, source_type(Language::TypeScript), true).map_err(|_| refused(error))?;
    let (code, map) = strip_types(&allocator, file, text, &mut program).map_err(refused)?;
    Ok(CompiledBody { code, map: Some(map) })
}

fn check_body(file: &str, text: &str, language: Language) -> Result<(), SourceError> {
    let allocator = Allocator::default();
    let (program, _) = parse(&allocator, file, text, source_type(language), true)?;
    for statement in &program.body {
        let offset = statement.span().start as usize;
        let refuse = |message: &str| error_at(SourceErrorCode::Syntax, file, text, offset, message);
        match statement {
            Statement::ImportDeclaration(_) => return Err(refuse("a script has no imports: agents do such work")),
            Statement::ExportDeclaration(_)
            | Statement::ExportNamedDeclaration(_)
            | Statement::ExportFromDeclaration(_)
            | Statement::ExportAllDeclaration(_)
            | Statement::ExportDefaultDeclaration(_)
            | Statement::TSExportAssignment(_)
            | Statement::TSNamespaceExportDeclaration(_) => return Err(refuse("a script exports nothing")),
            _ => {}
        }
    }
    Ok(())
}

/// Lifts the meta block of a script without running anything, and wraps its body.
pub(crate) fn compile_script(file: &str, text: &str) -> Result<CompiledScript, SourceError> {
    let language = Language::of(file).unwrap_or(Language::JavaScript);
    if text.len() > SCRIPT_BYTES {
        let message = format!("the script is larger than {} MiB", SCRIPT_BYTES / (1024 * 1024));
        return Err(SourceError::of_file(SourceErrorCode::TooLarge, file, message));
    }
    depth::check(text).map_err(|deep| error_at(SourceErrorCode::TooDeep, file, text, deep.offset, deep.message()))?;
    let (meta, blanked) = lift(file, text, language)?;
    let (body, map) = match language {
        Language::TypeScript => {
            let allocator = Allocator::default();
            let (mut program, _) = parse(&allocator, file, &blanked, source_type(language), true)?;
            let (code, map) = strip_types(&allocator, file, &blanked, &mut program)?;
            (code, Some(map))
        }
        Language::JavaScript | Language::Json => (blanked, None),
    };
    Ok(CompiledScript { code: body, map, meta })
}

/// Reads the meta block and blanks what a function body cannot hold, in place, so that lines and columns stay.
fn lift(file: &str, text: &str, language: Language) -> Result<(Meta, String), SourceError> {
    let allocator = Allocator::default();
    let (program, _) = parse(&allocator, file, text, source_type(language), true)?;
    let refuse = |offset: usize, message: String| error_at(SourceErrorCode::Syntax, file, text, offset, message);

    let mut found = None;
    let mut code_before = !program.directives.is_empty();
    for statement in &program.body {
        let offset = statement.span().start as usize;
        if let Some((declarator, alone)) = exported_const(statement, "meta") {
            if found.is_some() || !alone {
                return Err(refuse(offset, "a script has one statement `export const meta = { … }`".into()));
            }
            let Some(init) = &declarator.init else {
                return Err(refuse(offset, "`meta` has no value".into()));
            };
            found = Some((offset, fold(init, "meta"), init.span().start as usize));
            continue;
        }
        match statement {
            Statement::ImportDeclaration(import) => {
                return Err(refuse(
                    import.source.span.start as usize,
                    format!(
                        "a script cannot import `{}`: it has no modules, and agents do such work",
                        import.source.value
                    ),
                ));
            }
            Statement::ExportDeclaration(_)
            | Statement::ExportNamedDeclaration(_)
            | Statement::ExportFromDeclaration(_)
            | Statement::ExportAllDeclaration(_)
            | Statement::ExportDefaultDeclaration(_)
            | Statement::TSExportAssignment(_)
            | Statement::TSNamespaceExportDeclaration(_) => {
                return Err(refuse(offset, "only `meta` may be exported from a script".into()));
            }
            Statement::TSTypeAliasDeclaration(_) | Statement::TSInterfaceDeclaration(_) => {}
            _ => code_before |= found.is_none(),
        }
    }
    let Some((offset, value, value_offset)) = found else {
        return Err(refuse(0, "a script begins with `export const meta = { … }`".into()));
    };
    let value = value.map_err(|part| {
        error_at(SourceErrorCode::Meta, file, text, part.offset, format!("{} is not a literal", part.path))
    })?;
    let mut meta =
        meta::read(&value).map_err(|message| error_at(SourceErrorCode::Meta, file, text, value_offset, message))?;
    if code_before {
        meta.notes.insert(0, meta::note("meta-not-first", None, "code stands before the `meta` statement"));
    }

    let mut blanked = text.to_owned();
    blank(&mut blanked, offset, "export".len());
    if let Some(hashbang) = &program.hashbang {
        blank(&mut blanked, hashbang.span.start as usize, hashbang.span.size() as usize);
    }
    if blanked.starts_with('\u{feff}') {
        // As wide as it was for whoever counts characters.
        blanked.replace_range(..'\u{feff}'.len_utf8(), " ");
    }
    Ok((meta, blanked))
}

/// Puts blanks over a stretch of ASCII text.
fn blank(text: &mut String, start: usize, length: usize) {
    if let Some(stretch) = text.get(start..start + length) {
        let blanks: String = stretch.chars().map(|_| ' ').collect();
        text.replace_range(start..start + length, &blanks);
    }
}
