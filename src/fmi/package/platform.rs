//! Platforms of binaries: their names in both standards, and the file formats of their libraries.

use crate::error::{Error, Result};
use crate::fmi::types::FmiStandard;

/// A system and an architecture, with the names of FMI 3.0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// `x86_64`, `x86`, `aarch64`, ..
    pub architecture: String,
    /// `linux`, `windows` or `darwin`.
    pub system: String,
}

/// Names of FMI 2.0 and the same platform in FMI 3.0.
const NAMES_OF_FMI2: [(&str, &str, &str); 5] = [
    ("linux64", "x86_64", "linux"),
    ("linux32", "x86", "linux"),
    ("win64", "x86_64", "windows"),
    ("win32", "x86", "windows"),
    ("darwin64", "x86_64", "darwin"),
];

/// Architectures of FMI 3.0.
const ARCHITECTURES: [&str; 8] = [
    "x86_64", "x86", "aarch64", "aarch32", "riscv64", "riscv32", "ppc64", "ppc32",
];

impl Platform {
    /// The platform of the machine that runs this program.
    pub fn host() -> Self {
        use std::env::consts::{ARCH, OS};
        let system = match OS {
            "macos" => "darwin",
            other => other,
        };
        Self {
            architecture: ARCH.to_owned(),
            system: system.to_owned(),
        }
    }

    /// The platform with a name of either standard: `linux64`, `x86_64-linux`.
    pub fn named(name: &str) -> Result<Self> {
        let found = match NAMES_OF_FMI2.iter().find(|(short, _, _)| *short == name) {
            Some((_, architecture, system)) => Some((*architecture, *system)),
            None => name.split_once('-').filter(|(architecture, system)| {
                ARCHITECTURES.contains(architecture)
                    && ["linux", "windows", "darwin"].contains(system)
            }),
        };
        let (architecture, system) = found.ok_or_else(|| Error::Argument {
            name: "platform".to_owned(),
            value: format!("\"{name}\""),
            expected: "linux64, linux32, win64, win32, darwin64, or an architecture and a system as in x86_64-linux, \
                       aarch64-linux, x86_64-windows, aarch64-darwin"
                .to_owned(),
        })?;
        Ok(Self {
            architecture: architecture.to_owned(),
            system: system.to_owned(),
        })
    }

    /// Name of the folder of binaries.
    pub fn folder(&self, standard: FmiStandard) -> Result<String> {
        let Self {
            architecture,
            system,
        } = self;
        if standard == FmiStandard::Three {
            return Ok(format!("{architecture}-{system}"));
        }
        let named = NAMES_OF_FMI2
            .iter()
            .find(|(_, a, s)| a == architecture && s == system);
        named
            .map(|(name, _, _)| (*name).to_owned())
            .ok_or_else(|| Error::Argument {
                name: "platform".to_owned(),
                value: format!("{system} on {architecture}"),
                expected: "a platform that FMI 2.0 has a name for; FMI 3.0 has names for all"
                    .to_owned(),
            })
    }

    /// Ending of the names of its shared libraries.
    pub fn ending(&self) -> &'static str {
        match self.system.as_str() {
            "windows" => ".dll",
            "darwin" => ".dylib",
            _ => ".so",
        }
    }

    /// What the first bytes of a library say that it is for; `None` if it is not a library, or of an architecture not known here.
    pub fn of_library(bytes: &[u8]) -> Option<Self> {
        let (architecture, system) = elf(bytes).or_else(|| pe(bytes)).or_else(|| mach_o(bytes))?;
        Some(Self {
            architecture: architecture.to_owned(),
            system: system.to_owned(),
        })
    }
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u32> {
    let found: [u8; N] = bytes.get(at..at.checked_add(N)?)?.try_into().ok()?;
    Some(
        found
            .iter()
            .rev()
            .fold(0, |n, byte| n << 8 | u32::from(*byte)),
    )
}

/// ELF: class at 4, machine at 18.
fn elf(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    if !bytes.starts_with(b"\x7fELF") {
        return None;
    }
    let architecture = match (bytes.get(4)?, number::<2>(bytes, 18)?) {
        (2, 62) => "x86_64",
        (1, 3) => "x86",
        (2, 183) => "aarch64",
        (1, 40) => "aarch32",
        (2, 243) => "riscv64",
        (1, 243) => "riscv32",
        _ => return None,
    };
    Some((architecture, "linux"))
}

/// PE: offset of the header at 60, machine 4 bytes into it.
fn pe(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let header = number::<4>(bytes, 60).filter(|_| bytes.starts_with(b"MZ"))? as usize;
    if number::<4>(bytes, header)? != u32::from_le_bytes(*b"PE\0\0") {
        return None;
    }
    let architecture = match number::<2>(bytes, header.checked_add(4)?)? {
        0x8664 => "x86_64",
        0x014c => "x86",
        0xaa64 => "aarch64",
        _ => return None,
    };
    Some((architecture, "windows"))
}

/// Mach-O, 64 bits, for one architecture: CPU type at 4.
fn mach_o(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    if number::<4>(bytes, 0)? != 0xfeed_facf {
        return None;
    }
    let architecture = match number::<4>(bytes, 4)? {
        0x0100_0007 => "x86_64",
        0x0100_000c => "aarch64",
        _ => return None,
    };
    Some((architecture, "darwin"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_both_standards_mean_the_same_platforms() {
        for (two, three, ending) in [
            ("linux64", "x86_64-linux", ".so"),
            ("win64", "x86_64-windows", ".dll"),
            ("win32", "x86-windows", ".dll"),
            ("darwin64", "x86_64-darwin", ".dylib"),
        ] {
            let platform = Platform::named(two).unwrap();
            assert_eq!(platform, Platform::named(three).unwrap());
            assert_eq!(platform.folder(FmiStandard::Two).unwrap(), two);
            assert_eq!(platform.folder(FmiStandard::Three).unwrap(), three);
            assert_eq!(platform.ending(), ending);
        }
        let arm = Platform::named("aarch64-linux").unwrap();
        assert!(arm.folder(FmiStandard::Two).is_err());
        for bad in [
            "",
            "linux",
            "linux128",
            "x86_64-",
            "-linux",
            "../x-linux",
            "x86_64-linux/..",
        ] {
            let sentence = Platform::named(bad).unwrap_err().to_string();
            assert!(sentence.contains(&format!("\"{bad}\"")), "{sentence}");
        }
    }

    #[test]
    fn the_first_bytes_of_a_library_say_what_it_is_for() {
        let mut elf = vec![0; 64];
        elf[..4].copy_from_slice(b"\x7fELF");
        (elf[4], elf[18]) = (2, 62);
        let name = |bytes: &[u8]| {
            Platform::of_library(bytes).map(|p| p.folder(FmiStandard::Three).unwrap())
        };
        assert_eq!(name(&elf).as_deref(), Some("x86_64-linux"));
        let mut pe = vec![0; 128];
        pe[..2].copy_from_slice(b"MZ");
        pe[60] = 64;
        pe[64..68].copy_from_slice(b"PE\0\0");
        (pe[68], pe[69]) = (0x64, 0x86);
        assert_eq!(name(&pe).as_deref(), Some("x86_64-windows"));
        let mach = [0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0, 0, 1];
        assert_eq!(name(&mach).as_deref(), Some("aarch64-darwin"));
        pe[60..64].fill(0xff);
        for none in [&b""[..], b"MZ", &pe, b"\x7fELF", &elf[..18]] {
            assert_eq!(name(none), None);
        }
    }
}
