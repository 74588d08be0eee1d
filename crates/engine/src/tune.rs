//! The tunable parameters of the search.
//!
//! Every margin, divisor and coefficient is a field of [`Parameters`], with default, range and step
//! in [`PARAMETERS`]. `docs/PARAMETERS.md` lists them; a test holds it against the code.
//!
//! A set of parameters has one text: the values that differ from their defaults, as `name=value`,
//! sorted by name, with one blank between. The defaults are the empty text. Games are a function of
//! that text, so their records carry it.
//!
//! Sizes of tables, the grain of keys and the order of the stages are structure, not parameters.

mod table;
#[cfg(test)]
mod tests;

use std::{fmt, str::FromStr};

use xiangqi::text::shortened;

pub use table::{PARAMETERS, Parameters};

/// The description of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name.
    pub name: &'static str,
    /// The default.
    pub default: i32,
    /// The least value.
    pub min: i32,
    /// The greatest value.
    pub max: i32,
    /// A change worth a test.
    pub step: i32,
    /// The effect, for people.
    pub effect: &'static str,
}

/// Declares the parameters: the struct, its defaults, and their descriptions.
macro_rules! parameters {
    ($($name:ident = $default:literal, $min:literal, $max:literal, $step:literal: $effect:literal;)*) => {
        /// A set of parameters; see the [module](crate::tune).
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Parameters {
            $(#[doc = concat!("See [`PARAMETERS`]: ", $effect, ".")] pub(crate) $name: i32,)*
        }

        /// The parameters in the order of the files that read them.
        pub const PARAMETERS: &[super::Parameter] = &[$(super::Parameter {
            name: stringify!($name),
            default: $default,
            min: $min,
            max: $max,
            step: $step,
            effect: $effect,
        },)*];

        impl Parameters {
            /// The defaults.
            pub const DEFAULT: Self = Self { $($name: $default,)* };

            /// The values, in the order of [`PARAMETERS`].
            #[must_use]
            pub const fn values(&self) -> [i32; PARAMETERS.len()] {
                [$(self.$name,)*]
            }

            /// The parameters with these values, in the order of [`PARAMETERS`].
            pub(super) const fn from_values([$($name,)*]: [i32; PARAMETERS.len()]) -> Self {
                Self { $($name,)* }
            }
        }
    };
}
use parameters;

/// An invalid assignment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// It has not the form `name=value`.
    #[error("`{0}` is not `name=value`")]
    Form(String),
    /// There is no such parameter.
    #[error("there is no parameter `{0}` (docs/PARAMETERS.md lists them)")]
    Unknown(String),
    /// The value is out of range.
    #[error("{name}: `{text}` is not a whole number from {min} to {max}")]
    Value {
        /// The parameter.
        name: &'static str,
        /// The given value.
        text: String,
        /// The least value.
        min: i32,
        /// The greatest value.
        max: i32,
    },
    /// The parameter has two values.
    #[error("{0}: it is given twice")]
    Twice(&'static str),
}

impl Parameter {
    /// The parameter with this name; case does not matter.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        PARAMETERS.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(name))
    }

    fn parse(&self, text: &str) -> Result<i32, ParameterError> {
        let &Self { name, min, max, .. } = self;
        let value = text.parse().ok().filter(|value| (min..=max).contains(value));
        value.ok_or_else(|| ParameterError::Value { name, text: shortened(text), min, max })
    }
}

impl Default for Parameters {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Parameters {
    /// Sets one parameter from text.
    ///
    /// # Errors
    ///
    /// If there is no such parameter, or the value is out of its range.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let index = PARAMETERS.iter().position(|parameter| parameter.name.eq_ignore_ascii_case(name));
        let index = index.ok_or_else(|| ParameterError::Unknown(shortened(name)))?;
        let mut values = self.values();
        values[index] = PARAMETERS[index].parse(value)?;
        *self = Self::from_values(values);
        Ok(())
    }

    /// Sets several parameters from `name=value`, separated by blanks.
    ///
    /// # Errors
    ///
    /// If one is invalid, or given twice.
    pub fn apply(&mut self, text: &str) -> Result<(), ParameterError> {
        let mut given = Vec::new();
        for word in text.split_ascii_whitespace() {
            let (name, value) = word.split_once('=').ok_or_else(|| ParameterError::Form(shortened(word)))?;
            self.set(name, value)?;
            if let Some(parameter) = Parameter::find(name) {
                if given.contains(&parameter.name) {
                    return Err(ParameterError::Twice(parameter.name));
                }
                given.push(parameter.name);
            }
        }
        Ok(())
    }
}

impl FromStr for Parameters {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Self, ParameterError> {
        let mut parameters = Self::DEFAULT;
        parameters.apply(text)?;
        Ok(parameters)
    }
}

/// Formats what differs from the defaults; see the [module](self).
impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut overrides: Vec<_> = PARAMETERS
            .iter()
            .zip(self.values())
            .filter(|(parameter, value)| parameter.default != *value)
            .map(|(parameter, value)| (parameter.name, value))
            .collect();
        overrides.sort_unstable();
        for (index, (name, value)) in overrides.into_iter().enumerate() {
            let blank = if index == 0 { "" } else { " " };
            write!(f, "{blank}{name}={value}")?;
        }
        Ok(())
    }
}
