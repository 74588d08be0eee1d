//! Arrays in blocks of one cache line, aligned to it: whole registers on every instruction set.

macro_rules! blocks {
    ($($name:ident: $count:literal of $number:ty, aligned to $align:literal),* $(,)?) => {$(
        #[doc = concat!(stringify!($count), " numbers `", stringify!($number), "`.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(C, align($align))]
        pub(crate) struct $name(pub(crate) [$number; $count]);

        impl $name {
            #[allow(dead_code, reason = "not every kind of block has each")]
            pub(crate) const ZERO: Self = Self([0; $count]);

            /// Splits numbers into blocks, the last padded with zeros.
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
    I8x64: 64 of i8, aligned to 64,
    // The activations of one block of sums with its partner.
    U8x32: 32 of u8, aligned to 32,
}

impl I16x32 {
    /// Packs 16 numbers of 32 bits, in little-endian halves, as registers read them.
    pub(crate) fn of_wide(numbers: &[i32]) -> Self {
        let half = |lane: usize| numbers.get(lane / 2).map_or(0, |number| (number >> (lane % 2 * 16)) as i16);
        Self(std::array::from_fn(half))
    }

    /// Returns one of 16 numbers of 32 bits.
    #[inline]
    pub(crate) fn wide(&self, lane: usize) -> i32 {
        i32::from(self.0[2 * lane + 1]) << 16 | i32::from(self.0[2 * lane] as u16)
    }
}
