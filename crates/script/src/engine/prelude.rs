//! The prelude, compiled ahead: reading its bytecode takes a twentieth of the time that compiling its source does, and
//! every run starts with it.

use rquickjs::module::Declared;
use rquickjs::{Ctx, Function, Module};

/// What the prelude is written as: an expression that gives a function of the host's primitives and the settings.
const SOURCE: &str = include_str!("../../assets/prelude.js");

/// The same as bytecode of the engine that this crate is pinned to. A test keeps it current, and writes it anew if it
/// is not.
static BYTECODE: &[u8] = include_bytes!("../../assets/prelude.bytecode");

/// The name that stacks have for it.
const NAME: &str = "flow:prelude";

/// Returns the prelude's function.
pub(super) fn load<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Function<'js>> {
    let (module, _) = declare(ctx)?.eval()?;
    module.get("default")
}

fn declare<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Module<'js, Declared>> {
    // Bytecode is written for machines of one kind; the others compile.
    if cfg!(all(target_endian = "little", target_pointer_width = "64")) {
        #[expect(unsafe_code, reason = "reading bytecode is unsafe, since the engine trusts it")]
        // SAFETY: the bytes are a part of this program, written by the same version of the engine (which checks that),
        // and live as long as it does.
        let loaded = unsafe { Module::load(ctx.clone(), BYTECODE) };
        match loaded {
            Ok(module) => return Ok(module),
            // Of another version after all.
            Err(_) => drop(ctx.catch()),
        }
    }
    compile(ctx)
}

fn compile<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Module<'js, Declared>> {
    Module::declare(ctx.clone(), NAME, format!("export default {SOURCE}"))
}

#[cfg(all(test, target_endian = "little", target_pointer_width = "64"))]
mod tests {
    use rquickjs::module::WriteOptions;
    use rquickjs::{Context, Runtime};

    use super::*;

    #[test]
    fn the_bytecode_is_that_of_the_source() {
        let runtime = Runtime::new().expect("an engine");
        let context = Context::full(&runtime).expect("a context");
        let current = context.with(|ctx| {
            let options = WriteOptions { strip_source: true, ..WriteOptions::default() };
            compile(&ctx).expect("a prelude that compiles").write(options).expect("bytecode")
        });
        if current != BYTECODE {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/prelude.bytecode");
            std::fs::write(path, &current).expect("a written file");
            panic!("assets/prelude.bytecode was not that of assets/prelude.js and is written anew: build again");
        }
    }
}
