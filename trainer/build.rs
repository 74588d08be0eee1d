//! Tells programs where libtorch lies; a library path in the environment goes before it.

fn main() {
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    if std::env::var_os("CARGO_FEATURE_TORCH").is_none() {
        return;
    }
    if let Some(folder) = std::env::var_os("LIBTORCH") {
        let libraries = std::path::Path::new(&folder).join("lib");
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", libraries.display());
        // The card's part registers itself when it is loaded; no symbol of it is named, so a linker would leave it out.
        if libraries.join("libtorch_cuda.so").is_file() {
            println!("cargo:rustc-link-arg=-L{}", libraries.display());
            println!("cargo:rustc-link-arg=-Wl,--no-as-needed");
            println!("cargo:rustc-link-arg=-ltorch_cuda");
            println!("cargo:rustc-link-arg=-Wl,--as-needed");
        }
    }
}
