//! Parts of command lines that the programs of a coordinator share.

mod log;
mod places;
mod run;
mod signals;

pub use log::Log;
pub use places::Places;
pub use run::run;
pub use signals::stop_signal;
