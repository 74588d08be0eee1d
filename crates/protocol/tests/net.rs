//! Properties of net manifests.

#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

use proptest::{collection::vec, option, prelude::*};
use protocol::{
    net::{
        Architecture, Best, Format, Hardware, NetManifest, Quantisation, RecipeText, Seeds, Sha256, Source, Validation,
        Versions,
    },
    recipe::{Activation, Inputs, Recipe},
};
use serde_json::Value;

fn recipe() -> Recipe {
    let text = "name = \"a\"\n[[data.sources]]\nmanifest = \"set\"\n[schedule]\nepochs = 1\npositions_per_epoch = 9\n";
    Recipe::from_text(text).unwrap()
}

fn sha256() -> impl Strategy<Value = Sha256> {
    any::<[u8; 32]>().prop_map(Sha256::from)
}

fn finite() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("JSON has no others", |number| number.is_finite())
}

fn manifest() -> impl Strategy<Value = NetManifest> {
    let source = (sha256(), any::<u64>(), any::<u64>(), any::<u32>())
        .prop_map(|(manifest, shards, positions, weight)| Source { manifest, shards, positions, weight });
    let names = ("[a-z\"\\\\\u{6cb3}\n]{0,9}", ".{0,9}", ".{0,9}", ".{0,9}");
    let best = option::of((any::<u64>(), finite()).prop_map(|(step, loss)| Best { step, loss }));
    let figures = (option::of(finite()), finite(), finite(), finite(), finite(), best);
    let counts = (any::<[u32; 5]>(), any::<[u64; 6]>(), any::<f32>().prop_filter("finite", |it| it.is_finite()));
    (names, sha256(), vec(sha256(), 0..3), vec(source, 0..3), figures, counts).prop_map(
        |(names, net, parents, data, (training_loss, loss, mean, most, lean, best), (narrow, wide, scale))| {
            let [width, first, second, stacks, threads] = narrow;
            let [weights, order, steps, positions, held_out, compared] = wide;
            let (name, chuhe, backend, instruction_set) = names;
            NetManifest {
                format: Format::One,
                name,
                net,
                architecture: Architecture {
                    inputs: if steps % 2 == 0 { Inputs::Kings } else { Inputs::KingsAttackers },
                    width,
                    first,
                    second,
                    stacks,
                    activation: [Activation::Pairs, Activation::Clipped, Activation::PairsSkip][weights as usize % 3],
                },
                parents,
                data,
                recipe: RecipeText::of(&recipe()),
                seeds: Seeds { weights, order },
                versions: Versions { chuhe, backend },
                hardware: Hardware { instruction_set, threads },
                steps,
                positions,
                scale,
                training_loss,
                validation: Validation { loss, positions: held_out, best },
                quantisation: Quantisation { mean, most, lean, positions: compared },
            }
        },
    )
}

/// The paths of all objects within a value.
fn objects(value: &Value, path: &str, found: &mut Vec<String>) {
    let entries: Vec<(String, &Value)> = match value {
        Value::Object(entries) => {
            found.push(path.to_owned());
            entries.iter().map(|(key, value)| (key.clone(), value)).collect()
        }
        Value::Array(items) => items.iter().enumerate().map(|(place, item)| (place.to_string(), item)).collect(),
        _ => return,
    };
    for (key, value) in entries {
        objects(value, &format!("{path}/{key}"), found);
    }
}

proptest! {
    #[test]
    fn a_manifest_reads_back_as_itself(manifest in manifest()) {
        let text = manifest.to_text();
        let again = NetManifest::from_text(&text).unwrap();
        prop_assert_eq!(again.to_text(), text);
        prop_assert_eq!(again, manifest);
    }

    #[test]
    fn an_unknown_key_is_refused_anywhere(manifest in manifest()) {
        let value: Value = serde_json::from_str(&manifest.to_text()).unwrap();
        let mut found = Vec::new();
        objects(&value, "", &mut found);
        prop_assert!(found.len() >= 8);
        for path in found {
            let mut other = value.clone();
            other.pointer_mut(&path).unwrap()["when"] = Value::from("today");
            let error = NetManifest::from_text(&other.to_string()).unwrap_err().to_string();
            prop_assert!(error.contains("unknown field `when`"), "{} {}", path, error);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}") {
        prop_assert!(NetManifest::from_text(&text).is_err());
    }

    #[test]
    fn a_hash_reads_back_as_itself(sha256 in sha256()) {
        prop_assert_eq!(sha256.to_string().parse(), Ok(sha256));
        let text = sha256.to_string();
        prop_assert!(text[1..].parse::<Sha256>().is_err());
        let wrong = format!("{}G", &text[1..]);
        prop_assert!(wrong.parse::<Sha256>().is_err());
    }

    #[test]
    fn another_recipe_than_that_of_the_hash_is_refused(manifest in manifest()) {
        let text = manifest.to_text().replace("positions_per_epoch = 9", "positions_per_epoch = 8");
        let error = NetManifest::from_text(&text).unwrap_err().to_string();
        prop_assert!(error.starts_with("the recipe in it has the SHA-256 "), "{}", error);
        let mut none = manifest;
        none.recipe.text = "name = 1".to_owned();
        none.recipe.sha256 = Sha256::of(b"name = 1");
        let error = NetManifest::from_text(&none.to_text()).unwrap_err().to_string();
        prop_assert!(error.starts_with("the recipe in it: line 1, column 8: "), "{}", error);
    }
}

#[test]
fn the_hash_is_that_of_other_tools() {
    // `printf abc | sha256sum`
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(Sha256::of(b"abc").to_string(), expected);
}
