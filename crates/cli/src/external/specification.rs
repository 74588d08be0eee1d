//! The specification of an external engine on the command line: `COMMAND[;option=value…]`.

use std::{env, fs, path::Path};

use dataset::Digest;
use xiangqi::text::shortened;

use super::Dialect;
use crate::one_line::one_line;

/// The protocol of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Uci,
    Ucci,
}

/// An external engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Specification {
    pub(crate) protocol: Protocol,
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// The options to set, in order.
    pub(crate) options: Vec<(String, String)>,
    /// The numbering of ranks, if it need not be detected.
    pub(crate) dialect: Option<Dialect>,
    /// The name in records, if not the engine's own.
    pub(crate) name: Option<String>,
}

impl Specification {
    /// Parses `COMMAND[;option=value…]`. Two options are ours: `ranks=0` or `ranks=1` sets the
    /// numbering of ranks, and `name=…` the name in records.
    pub(crate) fn parse(protocol: Protocol, text: &str) -> Result<Self, String> {
        let mut parts = text.split(';');
        let command = words(parts.next().unwrap_or_default())?;
        if command.is_empty() {
            return Err("no command; an outside engine is `uci:COMMAND[;option=value…]`".to_owned());
        }
        let mut specification = Self { protocol, command, options: Vec::new(), dialect: None, name: None };
        for part in parts {
            let (name, value) = part.split_once('=').ok_or_else(|| format!("`{part}`: an option is `name=value`"))?;
            match name.trim() {
                "" => return Err(format!("`{part}`: an option is `name=value`")),
                "ranks" => {
                    specification.dialect = Some(value.trim().parse().map_err(|why| format!("`{part}`: {why}"))?);
                }
                "name" => {
                    let name = one_line(value).map_err(|why| format!("`name={}`: {why}", shortened(value)))?;
                    specification.name = Some(name.trim().to_owned());
                }
                name => specification.options.push((name.to_owned(), value.trim().to_owned())),
            }
        }
        Ok(specification)
    }

    /// The digest of the command and the options. A word that names a file stands for the file's
    /// content, wherever it is: the program, a script, a net.
    pub(crate) fn digest(&self) -> Digest {
        let content = |path: &Path| fs::read(path).ok().map(|bytes| Digest::of(&bytes).to_string());
        let word = |word: &String| content(Path::new(word)).unwrap_or_else(|| word.clone());
        let on_path = |name: &String| {
            let folders = env::var_os("PATH").unwrap_or_default();
            env::split_paths(&folders).find_map(|folder| content(&folder.join(name)))
        };
        let mut words: Vec<String> = self.command.iter().map(word).collect();
        if let (Some(first), Some(program)) = (words.first_mut(), self.command.first().and_then(on_path)) {
            *first = program;
        }
        let options: Vec<_> = self.options.iter().map(|(name, value)| (name, word(value))).collect();
        Digest::of(format!("{:?} {words:?} {options:?} {:?}", self.protocol, self.dialect).as_bytes())
    }
}

/// Splits a command at blanks; quotes group words.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in text.chars() {
        match quote {
            Some(open) if open == letter => quote = None,
            None if letter == '"' || letter == '\'' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            Some(_) | None => word.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        return Err(format!("`{text}`: a quote is not closed"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_options_are_read() {
        let text = "'my engine' -x \"a b\" c;UCI_Variant=xiangqi;Skill Level = 3 ;ranks=1;name=Fairy;Path=a=b";
        let read = Specification::parse(Protocol::Uci, text).unwrap();
        assert_eq!(read.command, ["my engine", "-x", "a b", "c"]);
        let options = [("UCI_Variant", "xiangqi"), ("Skill Level", "3"), ("Path", "a=b")];
        assert_eq!(read.options, options.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!((read.dialect, read.name.as_deref()), (Some(Dialect::FromOne), Some("Fairy")));
    }

    #[test]
    fn digests_are_those_of_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        let digest = |path: &Path, options: &str| {
            Specification::parse(Protocol::Uci, &format!("'{}'{options}", path.display())).unwrap().digest()
        };
        fs::write(&one, "version 1").unwrap();
        fs::write(&other, "version 1").unwrap();
        let before = digest(&one, "");
        assert_eq!(digest(&other, ""), before, "the same program elsewhere");
        assert_ne!(digest(&one, ";Threads=2"), before);
        fs::write(&one, "version 2").unwrap();
        assert_ne!(digest(&one, ""), before);
    }

    #[test]
    fn a_malformed_specification_is_reported() {
        let error = |text| Specification::parse(Protocol::Ucci, text).unwrap_err();
        assert_eq!(error(" ;a=b"), "no command; an outside engine is `uci:COMMAND[;option=value…]`");
        assert_eq!(error("x;a"), "`a`: an option is `name=value`");
        assert_eq!(error("x;=a"), "`=a`: an option is `name=value`");
        assert_eq!(error("x;ranks=2"), "`ranks=2`: ranks are counted from `0` or from `1`");
        assert_eq!(error("x 'y"), "`x 'y`: a quote is not closed");
        assert_eq!(error("x;name=a\nb"), "`name=a\\nb`: a name is one line of letters that can be seen");
        assert_eq!(error("x;name= "), "`name= `: a name is one line of letters that can be seen");
    }
}
