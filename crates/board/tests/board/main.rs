//! A board from outside: what files hold after an operation, and what is refused.

mod cards;
mod edge_cases;
mod knowledge;
mod many;
mod place;
mod records;
mod reports;
