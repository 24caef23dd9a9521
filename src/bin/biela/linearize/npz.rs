//! NumPy archives: a zip file with one `.npy` file for each array. A `.npy` file (version 1) is a magic number, the length of its
//! header, the header as a Python literal padded to a multiple of 64 bytes, and the values.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{LinearFile, matrices};
use crate::Failure;

/// The archive of a linear model: `A B C D`, `time`, and the names `states`, `inputs`, `outputs`.
pub fn bytes(content: &LinearFile) -> Result<Vec<u8>, Failure> {
    let failure = |error: String| Failure::Simulation(format!("cannot make the archive: {error}"));
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, content: &[u8]| {
        archive
            .start_file(format!("{name}.npy"), SimpleFileOptions::default())
            .map_err(|error| failure(error.to_string()))?;
        archive
            .write_all(content)
            .map_err(|error| failure(error.to_string()))
    };
    for matrix in matrices(content) {
        let shape = format!("({}, {})", matrix.rows, matrix.columns);
        add(matrix.name, &array("<f8", &shape, &numbers(matrix.values)))?;
    }
    add("time", &array("<f8", "()", &numbers(&[content.model.time])))?;
    for (name, list) in content.names() {
        let width = list
            .iter()
            .map(|x| x.chars().count())
            .max()
            .unwrap_or(0)
            .max(1);
        let mut text = Vec::new();
        for line in list {
            let mut letters = line.chars();
            for _ in 0..width {
                text.extend(letters.next().map_or(0, u32::from).to_le_bytes());
            }
        }
        let shape = format!("({},)", list.len());
        add(name, &array(&format!("<U{width}"), &shape, &text))?;
    }
    let archive = archive
        .finish()
        .map_err(|error| failure(error.to_string()))?;
    Ok(archive.into_inner())
}

fn numbers(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// A `.npy` file.
fn array(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    // 10 bytes precede the header, a line feed ends it.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}
