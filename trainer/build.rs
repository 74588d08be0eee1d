//! Links libtorch and embeds its path; a library path in the environment takes precedence.

fn main() {
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    if std::env::var_os("CARGO_FEATURE_TORCH").is_none() {
        return;
    }
    if let Some(folder) = std::env::var_os("LIBTORCH") {
        let libraries = std::path::Path::new(&folder).join("lib");
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", libraries.display());
        // The CUDA library registers itself when it is loaded. No symbol of it is referenced, so a
        // linker would drop it.
        if libraries.join("libtorch_cuda.so").is_file() {
            println!("cargo:rustc-link-arg=-L{}", libraries.display());
            println!("cargo:rustc-link-arg=-Wl,--no-as-needed");
            println!("cargo:rustc-link-arg=-ltorch_cuda");
            println!("cargo:rustc-link-arg=-Wl,--as-needed");
        }
    }
}
