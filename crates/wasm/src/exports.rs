//! The functions that the host calls. Those that can fail write a line that says why.

#![allow(unsafe_code, reason = "exported names could clash; the module is linked alone")]
#![allow(unreachable_pub, reason = "only the host calls them")]

use std::cell::RefCell;

use dataset::Digest;

use crate::{imports, judge, lease, uci};

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Writes the line of an answer or an error; returns 1 or 0.
fn answer(result: Result<String, String>) -> u32 {
    let is_ok = u32::from(result.is_ok());
    imports::write_line(&result.unwrap_or_else(|error| error));
    is_ok
}

/// Returns the address of a buffer for the input of the next call.
#[unsafe(no_mangle)]
pub extern "C" fn buffer(bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        *input = vec![0; bytes];
        input.as_mut_ptr()
    })
}

/// Executes the line of UCI in the buffer, its search included; 0 after `quit`, else 1.
#[unsafe(no_mangle)]
pub extern "C" fn uci() -> u32 {
    u32::from(uci::execute(&String::from_utf8_lossy(&INPUT.take())))
}

/// Lets UCI play with the net in the buffer; writes its hash.
#[unsafe(no_mangle)]
pub extern "C" fn set_net() -> u32 {
    answer(uci::set_net(&INPUT.take()))
}

/// The nodes of the bench at a depth, with the plain evaluation if `plain` is not 0.
#[unsafe(no_mangle)]
pub extern "C" fn bench(depth: u32, plain: u32) -> f64 {
    uci::bench(depth, plain != 0) as f64
}

/// Judges the game in the buffer; writes JSON.
#[unsafe(no_mangle)]
pub extern "C" fn judge() -> u32 {
    answer(judge::judge(&INPUT.take()))
}

/// Takes the lease in the buffer, the body of a server's answer; writes its summary as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn take_lease() -> u32 {
    answer(lease::take(&INPUT.take()))
}

/// Keeps the net in the buffer for leases; writes its hash.
#[unsafe(no_mangle)]
pub extern "C" fn keep_net() -> u32 {
    answer(lease::keep_net(&INPUT.take()))
}

/// Keeps the book in the buffer for leases; writes its hash.
#[unsafe(no_mangle)]
pub extern "C" fn keep_book() -> u32 {
    answer(Ok(lease::keep_book(INPUT.take())))
}

/// Plays the next game of the lease. Returns its nodes, −1 if it was stopped, −2 if it failed.
#[unsafe(no_mangle)]
pub extern "C" fn play() -> f64 {
    match lease::play() {
        Ok(Some(nodes)) => nodes as f64,
        Ok(None) => -1.0,
        Err(error) => {
            imports::write_line(&error);
            -2.0
        }
    }
}

/// Hands over the shard of the games played so far; writes its SHA-256. Pages without TLS cannot
/// compute it.
#[unsafe(no_mangle)]
pub extern "C" fn shard() -> u32 {
    match lease::shard() {
        Ok(bytes) => {
            imports::hand_over(&bytes);
            answer(Ok(Digest::of(&bytes).to_string()))
        }
        Err(error) => answer(Err(error)),
    }
}
