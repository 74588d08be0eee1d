//! Errors of recipes.

/// An error in a recipe's text, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {fault}")]
pub struct RecipeError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The kind of fault.
    pub fault: RecipeFault,
}

/// The faults of a recipe's text. Keys are named by their whole path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum RecipeFault {
    #[error("the text is not TOML: {0}")]
    NotToml(String),
    #[error("`{key}` is no key of a recipe; {section} may have {}", list(known, "and"))]
    Unknown { key: String, section: String, known: &'static [&'static str] },
    #[error("`{0}` is missing")]
    Missing(String),
    #[error("`{key}` is {found}; it must be {allowed}")]
    Value { key: String, found: String, allowed: String },
    #[error("`{key}` goes with `{other}` {}, not with {found:?}", quoted(allowed))]
    OnlyWith { key: String, other: String, allowed: &'static [&'static str], found: &'static str },
    #[error("{what} needs `{needed}`")]
    Needs { what: String, needed: String },
    #[error("`{key}` is {manifest:?}, which `{other}` is already")]
    ManifestTwice { key: String, manifest: String, other: String },
    #[error("`start.net` and `start.checkpoint` exclude each other")]
    TwoStarts,
    #[error("`{0}` has no source with a weight above 0")]
    NoWeight(String),
    #[error("`{key}` is {warm_up}, but its schedule has {steps} steps")]
    WarmUp { key: String, warm_up: u64, steps: u64 },
    #[error(
        "no weights count in the mean: `average.from_epoch` is {from_epoch} and `average.interval_steps` is \
         {interval_steps}, but the last stage has {epochs} epochs of {steps} steps"
    )]
    EmptyMean { from_epoch: u32, interval_steps: u64, epochs: u32, steps: u64 },
    #[error("`{key}` is {start}, below `{end_key}`, which is {end}{}", if *given { "" } else { " unless given" })]
    LearningRate { key: String, start: String, end_key: String, end: String, given: bool },
}

impl RecipeError {
    pub(super) fn new(text: &str, offset: usize, fault: RecipeFault) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |start| start.chars().count()) + 1;
        Self { line, column, fault }
    }

    /// The parser's message, with the text it refers to.
    pub(super) fn of_parser(text: &str, error: &toml::de::Error) -> Self {
        let span = error.span().unwrap_or_default();
        let mut message = error.message().replace('\n', " ");
        if let Some(found) = text.get(span.clone()).filter(|found| !found.trim().is_empty() && found.len() <= 80) {
            message = format!("{message}, at {found:?}");
        }
        Self::new(text, span.start, RecipeFault::NotToml(message))
    }
}

/// `a, b and c`.
fn list<S: AsRef<str>>(words: &[S], last: &str) -> String {
    let words: Vec<_> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        None => String::new(),
        Some((only, [])) => (*only).to_owned(),
        Some((end, rest)) => format!("{} {last} {end}", rest.join(", ")),
    }
}

/// `"a", "b" or "c"`.
pub(super) fn quoted(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("{word:?}")).collect();
    list(&words, "or")
}
