//! Operations on uploads.
//!
//! An upload takes three steps. [`expectation()`] looks up the terms. The bytes are checked and
//! stored as an object. [`ReceiveUpload`] writes the shard's row, which commits the upload. A crash
//! before the last step leaves an orphan object, which the sweep deletes.

mod count_stored;
mod expectation;
mod receive;

pub use count_stored::CountStoredBytes;
pub use expectation::{Expectation, expectation};
pub use receive::ReceiveUpload;
