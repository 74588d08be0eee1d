//! Recipes derived from another: those with other values.

use toml::{Table, Value};

/// A recipe's text with other values: `over` is TOML too.
///
/// # Errors
///
/// If one of them is not TOML.
///
/// # Panics
///
/// Never: what was parsed can be written.
pub fn with(text: &str, over: &str) -> Result<String, toml::de::Error> {
    let merged = merged(Value::Table(text.parse()?), &Value::Table(over.parse()?));
    Ok(toml::to_string(&merged).expect("what was parsed can be written"))
}

/// The values of a list without its brackets, each as TOML.
///
/// # Errors
///
/// If one is none.
pub fn values(list: &str) -> Result<Vec<String>, toml::de::Error> {
    let table: Table = format!("list = [{list}]").parse()?;
    Ok(table["list"].as_array().into_iter().flatten().map(Value::to_string).collect())
}

/// Tables are merged key by key; other values are replaced.
fn merged(base: Value, over: &Value) -> Value {
    match (base, over) {
        (Value::Table(mut base), Value::Table(over)) => {
            for (key, value) in over {
                let value = match base.remove(key) {
                    Some(old) => merged(old, value),
                    None => value.clone(),
                };
                base.insert(key.clone(), value);
            }
            Value::Table(base)
        }
        (_, over) => over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Recipe;

    const TEXT: &str = "name = \"two\"\n[[data.sources]]\nmanifest = \"gen0.json\"\n\
                        [schedule]\nepochs = 4\npositions_per_epoch = 1_000_000\n";

    #[test]
    fn values_replace_those_of_a_recipe() {
        let recipe = Recipe::from_text(&with(TEXT, "schedule.batch = 4096\nseeds.order = 9").unwrap()).unwrap();
        assert_eq!((recipe.schedule.batch, recipe.schedule.epochs, recipe.seeds.order), (4_096, 4, 9));
        assert_eq!(values("1, 2.5,\"fake\"").unwrap(), ["1", "2.5", "\"fake\""]);
        assert!(values("1]").is_err() && with(TEXT, "schedule").is_err());
    }
}
