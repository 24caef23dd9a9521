//! Matrix Market files: whatever the bytes, the outcome is a matrix or an error with a line.

use biela::linalg::matrix_market::read_matrix_market;

/// One execution.
pub fn run(data: &[u8]) {
    match read_matrix_market(data) {
        Ok(table) => {
            for (row, column, value) in &table.entries {
                assert!((*row as usize) < table.rows && (*column as usize) < table.columns);
                assert!(value.is_finite());
            }
        }
        Err(error) => assert!(!error.message.is_empty()),
    }
}
