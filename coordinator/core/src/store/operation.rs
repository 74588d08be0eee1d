//! Operations: changes of the ledger as values with names.
//!
//! An operation holds its arguments. [`Database::run`](super::Database::run) begins its
//! transaction, passes the time, repeats it after a collision with another coordinator, measures it
//! and traces it by its name. It therefore does nothing but read and write the database.

use std::marker::PhantomData;

use super::{
    connection::{Connection, Dialect, Running},
    error::StoreError,
};
use crate::clock::Time;

/// A change of the ledger, as a value.
pub trait Operation: Send + Sync + 'static {
    /// Its name in logs.
    const NAME: &'static str;

    /// Its result.
    type Output: Send + 'static;

    /// Runs it in a transaction. It may run again, if it collides with another coordinator's.
    fn run(&self, tx: &mut Tx<'_>) -> impl Future<Output = Result<Self::Output, StoreError>> + Send;
}

/// Defines the repository of a table: its struct, its accessor of [`Tx`], and `on` for functions
/// that are no operations.
macro_rules! repository {
    ($(#[$doc:meta])* $name:ident, $accessor:ident) => {
        $(#[$doc])*
        pub struct $name<'t>(pub(super) $crate::store::Connection<'t>);

        impl $crate::store::Tx<'_> {
            #[doc = concat!("The repository [`", stringify!($name), "`].")]
            pub fn $accessor(&mut self) -> $name<'_> {
                $name(self.connection())
            }
        }

        impl<'t> $name<'t> {
            /// The repository, for a function that is no operation.
            #[must_use]
            pub const fn on(connection: $crate::store::Connection<'t>) -> Self {
                Self(connection)
            }
        }
    };
}
pub(super) use repository;

/// A transaction that has begun, and its time. Each table has a repository in this module.
pub struct Tx<'t> {
    connection: Connection<'t>,
    now: Time,
}

impl<'t> Tx<'t> {
    pub(super) const fn new(connection: Connection<'t>, now: Time) -> Self {
        Self { connection, now }
    }

    /// The time of the whole operation.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The kind of database.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.connection.dialect()
    }

    /// The connection, for repositories and for functions that are no operations.
    pub fn connection(&mut self) -> Connection<'_> {
        self.connection.reborrow()
    }
}

/// A function on a connection as an operation without a name of its own.
pub(super) struct Unnamed<T, F> {
    function: F,
    output: PhantomData<fn() -> T>,
}

impl<T, F> Unnamed<T, F> {
    pub(super) const fn new(function: F) -> Self {
        Self { function, output: PhantomData }
    }
}

impl<T, F> Operation for Unnamed<T, F>
where
    T: Send + 'static,
    F: for<'c> Fn(Connection<'c>) -> Running<'c, T> + Send + Sync + 'static,
{
    const NAME: &'static str = "unnamed";
    type Output = T;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<T, StoreError> {
        (self.function)(tx.connection()).await
    }
}
