//! `biela completions`: what a shell needs to complete commands and options, from the argument table.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::output;
use crate::{Arguments, Failure};

/// How to use the text.
pub const HELP: &str = "bash: biela completions bash > ~/.local/share/bash-completion/completions/biela\n\
    zsh:  biela completions zsh > \"${fpath[1]}/_biela\"\n\
    fish: biela completions fish > ~/.config/fish/completions/biela.fish";

/// Prints the completions of a shell.
pub fn completions(shell: Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "biela", &mut text);
    output::print(&String::from_utf8_lossy(&text))
}
