//! `biela man`: manual pages in roff, from the argument table.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::output;
use crate::{Arguments, Failure};

/// How to use the pages.
pub const HELP: &str =
    "Read it:     biela man | man -l -\nInstall all: biela man --dir ~/.local/share/man/man1";

/// Prints one page, or writes all of them into a folder.
pub fn man(command: Option<&str>, folder: Option<&Path>) -> Result<(), Failure> {
    let mut root = Arguments::command();
    root.build();
    if let Some(folder) = folder {
        output::write(&folder.join("biela.1"), &page(root.clone())?)?;
        for command in commands(&root) {
            let name = format!("biela-{}.1", command.get_name());
            output::write(&folder.join(name), &page(titled(command))?)?;
        }
        return Ok(());
    }
    let shown = match command {
        None => root.clone(),
        Some(name) => match commands(&root).find(|command| command.get_name() == name) {
            Some(command) => titled(command),
            None => {
                let names: Vec<&str> = commands(&root).map(Command::get_name).collect();
                return Err(Failure::Input(format!(
                    "there is no command \"{name}\": expected one of {}",
                    names.join(", ")
                )));
            }
        },
    };
    output::print(&String::from_utf8_lossy(&page(shown)?))
}

fn commands(root: &Command) -> impl Iterator<Item = &Command> {
    root.get_subcommands()
        .filter(|command| command.get_name() != "help")
}

/// A command under the name of its page, which lives as long as the program.
fn titled(command: &Command) -> Command {
    let name: &'static str = format!("biela-{}", command.get_name()).leak();
    command.clone().name(name)
}

fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    Man::new(command)
        .render(&mut text)
        .map_err(|error| Failure::Simulation(format!("the page cannot be written: {error}")))?;
    Ok(text)
}
