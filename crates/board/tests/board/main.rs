//! A board from outside: what files hold after an operation, and what is refused.

extern crate workflow_board as board;

mod cards;
mod corpora;
mod edge_cases;
mod knowledge;
mod many;
mod place;
mod records;
mod reports;
