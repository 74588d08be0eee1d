//! The macro that defines a list of texts.

/// Defines a list of texts: a struct with a field for each, and its two values.
macro_rules! words {
    ($(#[$doc:meta])* $list:ident { $($name:ident: $english:literal, $chinese:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug)]
        #[allow(missing_docs, reason = "the texts explain themselves")]
        pub struct $list { $(pub $name: &'static str,)* }

        impl $list {
            pub(super) const ENGLISH: Self = Self { $($name: $english,)* };
            pub(super) const CHINESE: Self = Self { $($name: $chinese,)* };
        }
    };
}
pub(super) use words;
