//! SIMD kernels for inference, chosen at run time: one file per instruction set, with equal
//! functions:
//!
//! * `add_sub`, `add_sub_sub`: the accumulator after a move or a capture, from the previous one;
//! * `apply`: adds and subtracts any number of rows in place;
//! * `infer`: from both accumulators to the output.
//!
//! An accumulator has the layout of a row of the [`Net`](crate::Net): blocks of the transformer,
//! then one of the head.
//!
//! All kernels are bit-exact: every step is exact ([`architecture`](crate::architecture)), and no
//! sum of a [`Net`](crate::Net) overflows.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod blocks;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(test)]
mod tests;

use std::{env, ffi::OsStr, fmt, str::FromStr};

use crate::net::Stack;
use blocks::{I16x32, U8x32};

/// An instruction set available on this processor. Values exist only for those, so running one is
/// sound.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kernel(Set);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Set {
    Scalar,
    Avx2,
    Avx512,
    Avx512Vnni,
    Neon,
    Simd128,
}

/// The environment variable that [`Kernel::from_env`] reads.
const VARIABLE: &str = "CHUHE_SIMD";

/// An unknown or unavailable kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum KernelError {
    #[error("`{name}` is no instruction set; there are {}", names(Set::ALL))]
    Unknown { name: String },
    #[error("this processor has no {name}; it has {}", names(Kernel::available().map(|kernel| kernel.0)))]
    Lacking { name: &'static str },
    #[error("{VARIABLE}: {0}")]
    Variable(Box<KernelError>),
}

impl Set {
    /// All instruction sets, the best last.
    const ALL: [Self; 6] = [Self::Scalar, Self::Simd128, Self::Neon, Self::Avx2, Self::Avx512, Self::Avx512Vnni];

    const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Avx512Vnni => "avx512vnni",
            Self::Neon => "neon",
            Self::Simd128 => "simd128",
        }
    }

    /// Whether this processor has all features that the kernel is compiled with.
    fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => Self::Avx512.is_available() && is_x86_feature_detected!("avx512vnni"),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            // A module is compiled with it or without: no processor is asked.
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Self::Simd128 => true,
            #[allow(unreachable_patterns, reason = "the other processors' sets")]
            _ => false,
        }
    }
}

impl Kernel {
    /// The portable kernel.
    pub const SCALAR: Self = Self(Set::Scalar);

    /// Returns the kernels available on this processor, the best last.
    pub fn available() -> impl DoubleEndedIterator<Item = Self> {
        Set::ALL.into_iter().filter(|set| set.is_available()).map(Self)
    }

    /// Returns the best kernel available.
    #[must_use]
    pub fn best() -> Self {
        Self::available().next_back().unwrap_or(Self::SCALAR)
    }

    /// Returns the kernel named by `CHUHE_SIMD`, or the best if it is unset or empty. Only for
    /// binaries: nothing else in this crate reads the environment.
    ///
    /// # Errors
    ///
    /// If it is unknown or unavailable; there is no silent fallback.
    pub fn from_env() -> Result<Self, KernelError> {
        Self::forced_by(env::var_os(VARIABLE).as_deref())
    }

    fn forced_by(variable: Option<&OsStr>) -> Result<Self, KernelError> {
        let Some(name) = variable.filter(|name| !name.is_empty()) else { return Ok(Self::best()) };
        name.to_string_lossy().parse().map_err(|error| KernelError::Variable(Box::new(error)))
    }

    /// The name, as in `CHUHE_SIMD`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name()
    }
}

impl FromStr for Kernel {
    type Err = KernelError;

    fn from_str(name: &str) -> Result<Self, KernelError> {
        let set = Set::ALL.into_iter().find(|set| set.name() == name);
        let set = set.ok_or_else(|| KernelError::Unknown { name: name.chars().take(40).collect() })?;
        if set.is_available() { Ok(Self(set)) } else { Err(KernelError::Lacking { name: set.name() }) }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn names(sets: impl IntoIterator<Item = Set>) -> String {
    sets.into_iter().map(Set::name).collect::<Vec<_>>().join(", ")
}

/// The buffer of the first layer's input activations.
pub(crate) type Activations = [U8x32; 32];

/// Sparse input: the first layer processes inputs in chunks of four and skips chunks of zeros. One
/// word holds the non-zero mask of this many chunks. In the net `gen2-256` 6 % of the chunks are
/// zero on the bench positions.
pub(crate) const GROUP: usize = 64;

/// The blocks of activations in a group.
const GROUP_BLOCKS: usize = GROUP * 4 / 32;

macro_rules! dispatch {
    ($(#[$doc:meta] fn $function:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        impl Kernel {$(
            #[$doc]
            #[inline]
            #[allow(unsafe_code, reason = "the instruction set is available")]
            pub(crate) fn $function(self, $($argument: $type),*) $(-> $result)? {
                match self.0 {
                    Set::Scalar => scalar::$function($($argument),*),
                    // SAFETY (this and the next): a `Kernel` of a set exists only where
                    // `Set::is_available` found every feature that the function is compiled with.
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx2 => unsafe { avx2::$function($($argument),*) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx512 => unsafe { avx512::plain::$function($($argument),*) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx512Vnni => unsafe { avx512::vnni::$function($($argument),*) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "aarch64")]
                    Set::Neon => unsafe { neon::$function($($argument),*) },
                    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
                    Set::Simd128 => simd128::$function($($argument),*),
                    #[allow(unreachable_patterns, reason = "the other processors' sets")]
                    _ => unreachable!("a kernel exists only where it is available"),
                }
            }
        )*}
    };
}

dispatch! {
    /// `target` = `source` + `added` − `removed`.
    fn add_sub(source: &[I16x32], target: &mut [I16x32], added: &[I16x32], removed: &[I16x32]);
    /// `target` = `source` + `added` − `removed` − `captured`.
    fn add_sub_sub(
        source: &[I16x32],
        target: &mut [I16x32],
        added: &[I16x32],
        removed: &[I16x32],
        captured: &[I16x32],
    );
    /// Adds the rows `added` of `rows` to `sums` and subtracts `removed`.
    fn apply(sums: &mut [I16x32], rows: &[I16x32], added: &[u16], removed: &[u16]);
    /// Returns the output of a stack, from the accumulators of the side to move and of the other.
    fn infer(stack: &Stack, own: &[I16x32], enemy: &[I16x32], activations: &mut Activations) -> i32;
}
