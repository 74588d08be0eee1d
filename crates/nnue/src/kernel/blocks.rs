//! Arrays in blocks of a cache line, aligned to it: whole registers on every instruction set.

/// The transformer's sums in a block.
pub(crate) const LANES: usize = 32;

macro_rules! blocks {
    ($($name:ident: $count:literal of $number:ty, aligned to $align:literal),* $(,)?) => {$(
        #[doc = concat!(stringify!($count), " numbers `", stringify!($number), "`.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(C, align($align))]
        pub(crate) struct $name(pub(crate) [$number; $count]);

        impl $name {
            #[allow(dead_code, reason = "not every kind of block has each")]
            pub(crate) const ZERO: Self = Self([0; $count]);

            /// Numbers in blocks, the last filled up with zeros.
            #[allow(dead_code, reason = "not every kind of block has each")]
            pub(crate) fn blocks(numbers: &[$number]) -> Vec<Self> {
                let fill = |numbers: &[$number]| Self(std::array::from_fn(|lane| numbers.get(lane).copied().unwrap_or(0)));
                numbers.chunks($count).map(fill).collect()
            }
        }
    )*};
}

blocks! {
    I16x32: 32 of i16, aligned to 64,
    I32x16: 16 of i32, aligned to 64,
    I32x8: 8 of i32, aligned to 32,
    I8x64: 64 of i8, aligned to 64,
    // The activations that one block of sums gives with its partner.
    U8x32: 32 of u8, aligned to 32,
}

impl I32x8 {
    /// Sums may wrap on the way; see [`architecture`](crate::architecture).
    #[inline]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane].wrapping_add(other.0[lane])))
    }

    #[inline]
    pub(crate) fn minus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane].wrapping_sub(other.0[lane])))
    }
}
