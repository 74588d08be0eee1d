//! The HTTP interface, over real connections: what workers do, what others try, and how each is refused.

mod bench;
mod refused;
mod security;
mod whole;
