//! A parsed TOML table with the places of its keys and values, for checks and errors.

use std::{
    fmt::Display,
    ops::{Bound, Range, RangeBounds, RangeInclusive},
};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::error::{RecipeError, RecipeFault, quoted};

/// Above 0, at most 1.
pub(super) const ABOVE_0_TO_1: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Included(1.0));

type Read<T> = Result<T, RecipeError>;

/// A table; a missing one reads like an empty one.
pub(super) struct Table<'t> {
    text: &'t str,
    /// The path with a final dot; empty for the whole text.
    path: String,
    /// The place reported for missing keys.
    offset: usize,
    entries: Option<&'t DeTable<'t>>,
    /// The table that has the values of keys that this one lacks.
    base: Option<&'t DeTable<'t>>,
}

impl<'t> Table<'t> {
    pub(super) fn root(text: &'t str, entries: &'t DeTable<'t>) -> Self {
        Self { text, path: String::new(), offset: 0, entries: Some(entries), base: None }
    }

    /// This table, with the values of another for keys that it lacks.
    pub(super) fn over(&self, base: &Self) -> Self {
        Self {
            text: self.text,
            path: self.path.clone(),
            offset: self.offset,
            entries: self.entries,
            base: base.entries,
        }
    }

    /// Rejects every key but these.
    pub(super) fn only(&self, known: &'static [&'static str]) -> Read<()> {
        let unknown = self.entries.into_iter().flatten().map(|(key, _)| key);
        let unknown = unknown.filter(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(first) = unknown.min_by_key(|key| key.span().start) else { return Ok(()) };
        let section = match self.path.strip_suffix('.') {
            None => "a recipe".to_owned(),
            Some(path) => format!("`{path}`"),
        };
        let key = self.path_of(&first.get_ref().escape_debug());
        Err(self.error_at(&first.span(), RecipeFault::Unknown { key, section, known }))
    }

    /// Whether the table itself has the key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.is_some_and(|entries| entries.contains_key(key))
    }

    /// The whole path of a key of this table.
    pub(super) fn path_of(&self, key: &impl Display) -> String {
        format!("{}{key}", self.path)
    }

    pub(super) fn missing(&self, key: &str) -> RecipeError {
        RecipeError::new(self.text, self.offset, RecipeFault::Missing(self.path_of(&key)))
    }

    /// A fault at the value of a key, or at the table if the key is missing.
    pub(super) fn error(&self, key: &str, fault: RecipeFault) -> RecipeError {
        let offset = self.get(key).map_or(self.offset, |value| value.span().start);
        RecipeError::new(self.text, offset, fault)
    }

    /// Rejects a key that has an effect only where another key has one of the words `allowed`.
    pub(super) fn only_with(
        &self,
        key: &str,
        other: &str,
        allowed: &'static [&'static str],
        found: &'static str,
    ) -> Read<()> {
        if !self.has(key) {
            return Ok(());
        }
        let (path, other) = (self.path_of(&key), self.path_of(&other));
        Err(self.error(key, RecipeFault::OnlyWith { key: path, other, allowed, found }))
    }

    /// A nested table.
    pub(super) fn section(&self, key: &str) -> Read<Self> {
        let path = format!("{}{key}.", self.path);
        let base = self.base.and_then(|base| base.get(key)?.get_ref().as_table());
        let Some(value) = self.entries.and_then(|entries| entries.get(key)) else {
            return Ok(Self { text: self.text, path, offset: self.offset, entries: None, base });
        };
        let DeValue::Table(entries) = value.get_ref() else {
            return Err(self.refused(key, value, "a table".to_owned()));
        };
        Ok(Self { text: self.text, path, offset: value.span().start, entries: Some(entries), base })
    }

    /// As [`sections`](Self::sections); none if the key is missing.
    pub(super) fn sections_if_any(&self, key: &str) -> Read<Vec<Self>> {
        self.get(key).map_or_else(|| Ok(Vec::new()), |_| self.sections(key))
    }

    /// A non-empty list of nested tables.
    pub(super) fn sections(&self, key: &str) -> Read<Vec<Self>> {
        let value = self.get(key).ok_or_else(|| self.missing(key))?;
        let refused = || self.refused(key, value, "a list of at least one table".to_owned());
        let DeValue::Array(list) = value.get_ref() else { return Err(refused()) };
        if list.is_empty() {
            return Err(refused());
        }
        let tables = list.iter().enumerate().map(|(number, value)| {
            let name = format!("{key}[{number}]");
            let DeValue::Table(entries) = value.get_ref() else {
                return Err(self.refused(&name, value, "a table".to_owned()));
            };
            let path = format!("{}{name}.", self.path);
            Ok(Self { text: self.text, path, offset: value.span().start, entries: Some(entries), base: None })
        });
        tables.collect()
    }

    /// A text that satisfies `is_allowed`, which `allowed` describes.
    pub(super) fn text(&self, key: &str, allowed: &str, is_allowed: fn(&str) -> bool) -> Read<Option<String>> {
        self.value(
            key,
            || allowed.to_owned(),
            |value| value.as_str().filter(|text| is_allowed(text)).map(ToOwned::to_owned),
        )
    }

    pub(super) fn flag(&self, key: &str) -> Read<Option<bool>> {
        self.value(
            key,
            || "true or false".to_owned(),
            |value| match value {
                DeValue::Boolean(flag) => Some(*flag),
                _ => None,
            },
        )
    }

    /// One of some words, each with its value.
    pub(super) fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Read<Option<T>> {
        let allowed = || quoted(&words.iter().map(|(word, _)| *word).collect::<Vec<_>>());
        self.value(key, allowed, |value| {
            let found = value.as_str()?;
            words.iter().find(|(word, _)| *word == found).map(|(_, meaning)| *meaning)
        })
    }

    pub(super) fn whole<T: Whole>(&self, key: &str, range: RangeInclusive<T>) -> Read<Option<T>> {
        let allowed = || format!("a whole number from {} to {}", range.start(), range.end());
        self.value(key, allowed, |value| whole(value, &range))
    }

    pub(super) fn multiple<T: Whole>(&self, key: &str, of: T, range: RangeInclusive<T>) -> Read<Option<T>> {
        let allowed = || format!("a multiple of {of} from {} to {}", range.start(), range.end());
        self.value(key, allowed, |value| whole(value, &range).filter(|&number| number.into() % of.into() == 0))
    }

    /// A number, with or without a decimal point.
    pub(super) fn number(&self, key: &str, range: impl RangeBounds<f64>) -> Read<Option<f64>> {
        self.value(
            key,
            || format!("a number {}", words_of(&range)),
            |value| {
                let number: f64 = match value {
                    DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix()).ok()? as f64,
                    DeValue::Float(float) => float.as_str().parse().ok()?,
                    _ => return None,
                };
                // Turns −0 into 0.
                range.contains(&number).then_some(number + 0.0)
            },
        )
    }

    /// The value of a key, if the table has it.
    fn value<T>(
        &self,
        key: &str,
        allowed: impl FnOnce() -> String,
        read: impl FnOnce(&DeValue<'_>) -> Option<T>,
    ) -> Read<Option<T>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        read(value.get_ref()).map(Some).ok_or_else(|| self.refused(key, value, allowed()))
    }

    fn get(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.entries.and_then(|entries| entries.get(key)).or_else(|| self.base?.get(key))
    }

    fn refused(&self, key: &str, value: &Spanned<DeValue<'_>>, allowed: String) -> RecipeError {
        let found = match value.get_ref() {
            DeValue::String(text) => format!("{text:?}"),
            DeValue::Array(list) if list.is_empty() => "an empty list".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
            // As written, separators included.
            _ => self.text.get(value.span()).unwrap_or_default().to_owned(),
        };
        self.error_at(&value.span(), RecipeFault::Value { key: self.path_of(&key), found, allowed })
    }

    fn error_at(&self, span: &Range<usize>, fault: RecipeFault) -> RecipeError {
        RecipeError::new(self.text, span.start, fault)
    }
}

/// The integer types of recipes.
pub(super) trait Whole: Copy + Display + Into<i128> + TryFrom<i128> + PartialOrd {}

impl<T: Copy + Display + Into<i128> + TryFrom<i128> + PartialOrd> Whole for T {}

fn whole<T: Whole>(value: &DeValue<'_>, range: &RangeInclusive<T>) -> Option<T> {
    let DeValue::Integer(integer) = value else { return None };
    let number = i128::from_str_radix(integer.as_str(), integer.radix()).ok()?;
    T::try_from(number).ok().filter(|number| range.contains(number))
}

/// Describes a range; all ranges of recipes are bounded.
fn words_of(range: &impl RangeBounds<f64>) -> String {
    match (range.start_bound(), range.end_bound()) {
        (Bound::Included(low), Bound::Included(high)) => format!("from {low} to {high}"),
        (Bound::Included(low), Bound::Excluded(high)) => format!("from {low}, below {high}"),
        (Bound::Excluded(low), Bound::Included(high)) => format!("above {low}, at most {high}"),
        (Bound::Excluded(low), Bound::Excluded(high)) => format!("above {low}, below {high}"),
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => String::new(),
    }
}
