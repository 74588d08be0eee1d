//! Loops compiled for several instruction sets, with dispatch at run time.
//!
//! The loops are written element by element, and Rust never fuses or reorders floating-point
//! operations. `mul_add` rounds once on every processor. So all sets give the same bits.

/// An instruction set of this processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best instruction set available.
    pub(crate) fn best() -> Self {
        Self::all().pop().unwrap_or(Self::Baseline)
    }

    /// All available instruction sets, the best last.
    pub(crate) fn all() -> Vec<Self> {
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut, reason = "other processors have more"))]
        let mut levels = vec![Self::Baseline];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                levels.push(Self::Avx2);
            }
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl");
            if has_avx512 && is_x86_feature_detected!("fma") {
                levels.push(Self::Avx512);
            }
        }
        levels
    }
}

/// Hot loops. `run` must be `#[inline(always)]`, or it is compiled for the baseline.
pub(crate) trait Loops {
    fn run(self);
}

/// Runs loops with an instruction set.
#[allow(unsafe_code, reason = "a level exists only where its instructions do")]
pub(crate) fn run(level: Level, loops: impl Loops) {
    match level {
        Level::Baseline => loops.run(),
        // SAFETY: `Level::all` found the features that the function is compiled with.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2(loops) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512(loops) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2(loops: impl Loops) {
    loops.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl")]
fn avx512(loops: impl Loops) {
    loops.run();
}
