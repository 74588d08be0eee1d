//! `cargo bench -p chuhe-dataset`.

fn main() {
    divan::main();
}
