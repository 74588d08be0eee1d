//! Man pages and shell completions, made from a program's command line.

use std::{
    fs::{self, File},
    path::PathBuf,
};

use anyhow::{Context as _, Result};
use clap_complete::Shell;

/// Write the man pages and the shell completions of this program
#[derive(Clone, Debug, clap::Args)]
pub struct Manual {
    /// Folder for them, laid out like /usr/share; created if missing
    folder: PathBuf,
}

impl Manual {
    /// Writes the manual of the program with this command line.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written to.
    pub fn run(&self, mut command: clap::Command) -> Result<()> {
        let program = command.get_name().to_owned();
        let pages = self.folder.join("man/man1");
        let written = fs::create_dir_all(&pages).and_then(|()| clap_mangen::generate_to(command.clone(), &pages));
        written.with_context(|| pages.display().to_string())?;
        for (shell, place) in [
            (Shell::Bash, format!("bash-completion/completions/{program}")),
            (Shell::Fish, format!("fish/vendor_completions.d/{program}.fish")),
            (Shell::PowerShell, format!("powershell/{program}.ps1")),
            (Shell::Zsh, format!("zsh/site-functions/_{program}")),
        ] {
            let path = self.folder.join(place);
            let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| File::create(&path));
            let mut file = made.with_context(|| path.display().to_string())?;
            clap_complete::generate(shell, &mut command, &program, &mut file);
        }
        Ok(())
    }
}
