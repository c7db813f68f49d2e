//! What tasks are made of: starting programs, what must be installed, the page, the product, the tests.
//!
//! Nothing here depends on the product. Tasks that use it are in `xtask/tasks`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tasks speak to whoever runs them")]

pub mod generate;
pub mod page;
pub mod prepare;
pub mod product;
pub mod shell;
pub mod test;
