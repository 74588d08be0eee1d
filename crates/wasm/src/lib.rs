//! Engine, arbiter and self-play as WebAssembly: a few functions on bytes, which `npm/chuhe.js`
//! wraps.
//!
//! A caller asks `exports` for a buffer, writes its input there and calls a function. Lines of
//! text and files come back through `imports`.

mod exports;
mod imports;
mod judge;
mod lease;
mod uci;
