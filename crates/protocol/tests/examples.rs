//! The published recipes can be parsed, and are named like their files.

use std::{fs, path::Path};

use protocol::recipe::Recipe;

#[test]
fn published_recipes_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nets/recipes");
    let mut read = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let recipe = Recipe::from_text(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(Some(recipe.name.as_str()), path.file_stem().and_then(|stem| stem.to_str()));
        assert_eq!(Recipe::from_text(&recipe.to_text()), Ok(recipe));
        read += 1;
    }
    assert!(read >= 2);
}
