//! Tells programs where libtorch lies; a library path in the environment goes before it.

fn main() {
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    if std::env::var_os("CARGO_FEATURE_TORCH").is_none() {
        return;
    }
    if let Some(folder) = std::env::var_os("LIBTORCH") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}/lib", folder.display());
    }
}
