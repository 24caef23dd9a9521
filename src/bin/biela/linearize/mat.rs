//! MATLAB files of version 4: for each matrix five 32-bit integers (type, rows, columns, imaginary part, length of the name), the
//! name with a zero, and the values by columns. Type 0 are doubles, 51 is text in bytes, little endian.

use super::{LinearFile, matrices};

const DOUBLES: i32 = 0;
const TEXT: i32 = 51;

/// The file of a linear model: `A B C D`, `time`, and the names as text matrices `states`, `inputs`, `outputs`.
pub fn bytes(content: &LinearFile) -> Vec<u8> {
    let mut file = Vec::new();
    for matrix in matrices(content) {
        header(
            &mut file,
            DOUBLES,
            (matrix.rows, matrix.columns),
            matrix.name,
        );
        for j in 0..matrix.columns {
            for i in 0..matrix.rows {
                let value = matrix.values[i * matrix.columns + j];
                file.extend(value.to_le_bytes());
            }
        }
    }
    header(&mut file, DOUBLES, (1, 1), "time");
    file.extend(content.model.time.to_le_bytes());
    for (name, list) in content.names() {
        let width = list.iter().map(String::len).max().unwrap_or(0);
        header(&mut file, TEXT, (list.len(), width), name);
        for j in 0..width {
            for line in list {
                file.push(line.as_bytes().get(j).copied().unwrap_or(b' '));
            }
        }
    }
    file
}

fn header(file: &mut Vec<u8>, kind: i32, (rows, columns): (usize, usize), name: &str) {
    for number in [kind, rows as i32, columns as i32, 0, name.len() as i32 + 1] {
        file.extend(number.to_le_bytes());
    }
    file.extend(name.as_bytes());
    file.push(0);
}
