//! Kernels against the scalar one, on numbers of all sizes. Small enough for Miri, which runs the
//! unsafe code whose instructions it supports (`scripts/check-long`).

use super::{
    blocks::{I16x32, U8x32},
    *,
};
use crate::{StackParameters, architecture::Sizes, net::Stack};

/// Deterministic pseudorandom numbers.
struct Numbers(u64);

impl Numbers {
    fn within(&mut self, limit: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as i64 % (2 * limit + 1) - limit
    }

    fn rows(&mut self, count: usize) -> Vec<I16x32> {
        (0..count).map(|_| I16x32(std::array::from_fn(|_| self.within(1 << 15) as i16))).collect()
    }

    /// Returns sums of which some are negative, some are clipped, and some blocks are zero.
    fn sums(&mut self, blocks: usize) -> Vec<I16x32> {
        let block = |numbers: &mut Self| {
            let limit = [0, 60, 300, 32_767][numbers.within(1 << 20).unsigned_abs() as usize % 4];
            I16x32(std::array::from_fn(|_| numbers.within(limit) as i16))
        };
        (0..blocks).map(|_| block(self)).collect()
    }

    fn layer(&mut self, sizes: Sizes, weight: i64, bias: i64) -> StackParameters {
        let (width, first, second) = (sizes.width(), sizes.first(), sizes.second());
        StackParameters {
            first_bias: (0..first).map(|_| self.within(bias) as i32).collect(),
            first: (0..first * width).map(|_| self.within(weight) as i8).collect(),
            second_bias: (0..second).map(|_| self.within(bias) as i32).collect(),
            second: (0..second * 2 * first).map(|_| self.within(weight) as i8).collect(),
            output_bias: self.within(bias) as i32,
            output: (0..second).map(|_| self.within(weight * 256) as i16).collect(),
        }
    }
}

fn widths() -> &'static [usize] {
    if cfg!(miri) { &[128, 320] } else { &[128, 192, 256, 320, 448, 512, 576, 640, 960, 1024] }
}

fn others() -> impl Iterator<Item = Kernel> {
    Kernel::available().filter(|kernel| *kernel != Kernel::SCALAR)
}

#[test]
fn updates_are_equal() {
    let mut numbers = Numbers(1);
    for width in widths() {
        let blocks = width / 32 + 1;
        let rows = numbers.rows(6 * blocks);
        let row = |index: usize| &rows[index * blocks..][..blocks];
        let results = |kernel: Kernel| {
            let mut results = vec![rows[..blocks].to_vec(); 4];
            kernel.add_sub(row(0), &mut results[0], row(1), row(2));
            kernel.add_sub_sub(row(0), &mut results[1], row(1), row(2), row(3));
            kernel.apply(&mut results[2], &rows, &[1, 3, 5], &[4, 2]);
            kernel.apply(&mut results[3], &rows, &[], &[]);
            results
        };
        let expected = results(Kernel::SCALAR);
        for kernel in others() {
            assert!(results(kernel) == expected, "{kernel} {width}");
        }
        // The scalar kernel by hand, the head's block apart.
        let lane = |row: usize| rows[row * blocks + 2].0[17];
        let sum = |plus: &[usize], minus: &[usize]| {
            let plus = plus.iter().fold(lane(0), |sum, row| sum.wrapping_add(lane(*row)));
            minus.iter().fold(plus, |sum, row| sum.wrapping_sub(lane(*row)))
        };
        let by_hand = [sum(&[1], &[2]), sum(&[1], &[2, 3]), sum(&[1, 3, 5], &[4, 2]), lane(0)];
        let head = |row: usize| rows[row * blocks + blocks - 1].wide(15);
        let wide = head(0).wrapping_add(head(1)).wrapping_sub(head(2));
        for (result, by_hand) in expected.iter().zip(by_hand) {
            assert_eq!(result[2].0[17], by_hand);
        }
        assert_eq!(expected[0][blocks - 1].wide(15), wide);
    }
}

#[test]
fn inference_is_equal() {
    let mut numbers = Numbers(2);
    let mut outputs = Vec::new();
    let shapes = [(8, 8, 128, 1 << 30), (24, 40, 60, 9_000), (16, 32, 30, 9_000), (32, 64, 15, 2_000)];
    let shapes = &shapes[..if cfg!(miri) { 2 } else { 4 }];
    for width in widths() {
        for &(first, second, weight, bias) in shapes {
            let sizes = Sizes::new(*width, first, second, 1).unwrap();
            let stack = Stack::build(sizes, &numbers.layer(sizes, weight, bias));
            for _ in 0..if cfg!(miri) { 1 } else { 20 } {
                let (own, enemy) = (numbers.sums(width / 32), numbers.sums(width / 32));
                let infer = |kernel: Kernel| kernel.infer(&stack, &own, &enemy, &mut [U8x32([1; 32]); 32]);
                let expected = infer(Kernel::SCALAR);
                for kernel in others() {
                    assert_eq!(infer(kernel), expected, "{kernel} {sizes}");
                }
                outputs.push(expected);
            }
        }
    }
    let count = outputs.len();
    outputs.sort_unstable();
    outputs.dedup();
    assert!(outputs.len() > count / 2, "{outputs:?}");
}

#[test]
fn the_greatest_sums_are_exact() {
    // All activations 127, all weights alike: no product of two saturates sixteen bits.
    for weight in [127, -128, 1, -1] {
        let sizes = Sizes::new(128, 8, 8, 1).unwrap();
        let mut layer = Numbers(3).layer(sizes, 0, 0);
        layer.first.fill(weight);
        layer.second.fill(64);
        layer.output.fill(1);
        let stack = Stack::build(sizes, &layer);
        let sums = vec![I16x32([i16::MAX; 32]); 4];
        let sum = 127 * 128 * i64::from(weight);
        let square = sum.abs().min(8191).pow(2) >> 19;
        let plain = sum.clamp(0, 8191) >> 6;
        let second = (8 * 64 * (square + plain)).clamp(0, 8191) >> 6;
        for kernel in Kernel::available() {
            let output = kernel.infer(&stack, &sums, &sums, &mut [U8x32::ZERO; 32]);
            assert_eq!(i64::from(output), 8 * second, "{kernel} {weight}");
        }
    }
}

/// `i32::MIN` has no positive counterpart; its square counts as the greatest.
#[test]
fn the_minimum_sum_has_a_square() {
    let sizes = Sizes::new(128, 8, 8, 1).unwrap();
    let mut layer = Numbers(3).layer(sizes, 0, 0);
    layer.first_bias.fill(i32::MIN);
    layer.second.fill(5);
    layer.output.fill(1);
    let stack = Stack::build(sizes, &layer);
    let sums = vec![I16x32([0; 32]); 4];
    // In each neuron of the second layer eight squares of 127, and nothing from the clipped sums.
    let second = (8 * 127 * 5) >> 6;
    for kernel in Kernel::available() {
        let output = kernel.infer(&stack, &sums, &sums, &mut [U8x32::ZERO; 32]);
        assert_eq!(output, 8 * second, "{kernel}");
    }
}

#[test]
fn a_kernel_is_available_or_rejected() {
    assert_eq!("scalar".parse(), Ok(Kernel::SCALAR));
    for set in Set::ALL {
        match set.name().parse::<Kernel>() {
            Ok(kernel) => assert!(set.is_available() && kernel.to_string() == set.name()),
            Err(error) => {
                assert_eq!(error, KernelError::Lacking { name: set.name() });
                let begins = format!("this processor has no {}; it has scalar", set.name());
                assert!(error.to_string().starts_with(&begins));
            }
        }
    }
    let error = "AVX2".parse::<Kernel>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`AVX2` is no instruction set; there are scalar, simd128, neon, avx2, avx512, avx512vnni"
    );
    assert!(Kernel::available().any(|kernel| kernel == Kernel::best()));
    assert_eq!("neon".parse::<Kernel>().is_ok(), cfg!(target_arch = "aarch64"));
}

#[test]
fn the_variable_forces_a_kernel_or_fails() {
    let forced_by = |value: Option<&str>| Kernel::forced_by(value.map(OsStr::new));
    assert_eq!(forced_by(None), Ok(Kernel::best()));
    assert_eq!(forced_by(Some("")), Ok(Kernel::best()));
    assert_eq!(forced_by(Some("scalar")), Ok(Kernel::SCALAR));
    let error = forced_by(Some("fast")).unwrap_err().to_string();
    assert!(error.starts_with("CHUHE_SIMD: `fast` is no instruction set; there are "), "{error}");
    let lacking = if cfg!(target_arch = "aarch64") { "avx2" } else { "neon" };
    let error = forced_by(Some(lacking)).unwrap_err().to_string();
    assert!(error.starts_with(&format!("CHUHE_SIMD: this processor has no {lacking}; it has scalar")), "{error}");
}
