//! A folder with real games and a recipe for them.

use std::{fs, path::PathBuf};

use dataset::manifest::Manifest;

/// A temporary folder.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// Creates a folder with sixty-four self-play games, their manifest, and a recipe that ends
    /// with `rest`.
    pub(crate) fn new(name: &str, schedule: &str, rest: &str) -> Self {
        let folder = Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("trainer-{name}")));
        let _ = fs::remove_dir_all(&folder.0);
        fs::create_dir_all(&folder.0).unwrap();
        let games = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/dataset/tests/data/selfplay-64.chuhe");
        fs::copy(games, folder.0.join("games.chuhe")).unwrap();
        let manifest = Manifest::of_files(&[folder.0.join("games.chuhe")]).unwrap();
        fs::write(folder.0.join("set.json"), manifest.to_text()).unwrap();
        let recipe = format!(
            "name = \"test\"\n[architecture]\nwidth = 128\nfirst = 8\nsecond = 16\nstacks = 2\n\
             [data]\nvalidation_one_in = 4\npool_blocks = 2\n[[data.sources]]\nmanifest = \"set.json\"\n\
             [schedule]\n{schedule}\n{rest}"
        );
        fs::write(folder.0.join("recipe.toml"), recipe).unwrap();
        folder
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
