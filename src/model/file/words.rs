//! Fingerprint of a model's own words: the keys and values of its text, whatever the layout, the order of keys and the notation of
//! numbers. It does not change when the types behind the keys are renamed, so that states saved by one build of the library are
//! those of another.
//!
//! Matrices and other files that the text names count with their contents. A key that is left out is not the same as one that is
//! given its default value.

use super::document::{Node, NodeValue};
use crate::linalg::csr::Csr;
use crate::linalg::sorting::sort_by;
use crate::model::Model;

/// Fingerprints of a model at the time it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelWords {
    /// Of the keys and values of the text.
    words: u64,
    /// Of the model that was made of them. It has another if a program has changed the model since.
    meaning: u64,
}

impl ModelWords {
    /// Hash of the words if they are those of a model with this meaning, else the meaning.
    #[inline(never)]
    fn words_of(&self, meaning: u64) -> u64 {
        if self.meaning == meaning {
            self.words
        } else {
            meaning
        }
    }
}

/// 64-bit FNV-1a hash (Fowler, Noll, Vo) of what is added.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn number(&mut self, x: f64) {
        // -0 and 0 are the same number.
        self.add(&(x + 0.0).to_bits().to_le_bytes());
    }

    /// A text with its length, so that neighbours cannot be mistaken for each other.
    fn text(&mut self, text: &str) {
        self.add(&(text.len() as u64).to_le_bytes());
        self.add(text.as_bytes());
    }

    fn node(&mut self, node: &Node) {
        match &node.value {
            NodeValue::Text(text) => {
                self.add(b"t");
                self.text(text);
            }
            NodeValue::Number(x) => {
                self.add(b"n");
                self.number(*x);
            }
            NodeValue::Bool(x) => self.add(if *x { b"y" } else { b"f" }),
            NodeValue::Array(items) => {
                self.add(b"[");
                items.iter().for_each(|item| self.node(item));
                self.add(b"]");
            }
            NodeValue::Table(entries) => {
                let mut sorted: Vec<_> = entries.iter().collect();
                sort_by(&mut sorted, |a, b| a.key.cmp(&b.key));
                self.add(b"{");
                for entry in sorted {
                    self.text(&entry.key);
                    self.node(&entry.node);
                }
                self.add(b"}");
            }
            NodeValue::Other(what) => self.text(what),
        }
    }

    fn matrix(&mut self, matrix: &Csr) {
        for row in 0..matrix.rows() {
            let (columns, values) = matrix.row(row);
            self.add(&(columns.len() as u64).to_le_bytes());
            for (column, value) in columns.iter().zip(values) {
                self.add(&column.to_le_bytes());
                self.number(*value);
            }
        }
    }
}

impl ModelWords {
    /// Of a text, the contents of other files that it names, and the model made of them.
    pub(super) fn new(root: &Node, files: &[Vec<u8>], model: &Model) -> Self {
        let mut hash = Hash::new();
        hash.node(root);
        for file in files {
            hash.add(&(file.len() as u64).to_le_bytes());
            hash.add(file);
        }
        if let Some(system) = &model.system {
            for matrix in [
                &system.mass,
                &system.damping,
                &system.stiffness,
                &system.constraint,
            ] {
                hash.matrix(matrix);
            }
            let vectors = [
                &system.force,
                &system.weight,
                &system.position,
                &system.velocity,
            ];
            vectors
                .iter()
                .for_each(|vector| vector.iter().for_each(|x| hash.number(*x)));
        }
        Self {
            words: hash.0,
            meaning: model.meaning(),
        }
    }
}

impl Model {
    /// Hash of the model without its origin and layout: FNV-1a of its fields as written by `Debug`, which is exact for numbers. It
    /// belongs to this build of the library.
    pub fn meaning(&self) -> u64 {
        let plain = self.without_text_positions();
        let mut hash = Hash::new();
        hash.add(format!("{plain:?}").as_bytes());
        hash.0
    }

    /// Hash of the model's own words, the same in every build, process and machine; that of [`Model::meaning`] for a model that was
    /// not read from a text or was changed since.
    pub fn words(&self) -> u64 {
        let meaning = self.meaning();
        let Some(read) = self.words else {
            return meaning;
        };
        // Behind a call: compared at once, valgrind would see a value that is not there.
        read.words_of(meaning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "format = 1\nname = \"m\"\ndimension = 2\n[solver]\nalpha = 0.1\ntolerance = 1e-5\n[[body]]\nname = \"b\"\n\
                        mass = 2\ninertia = 1\n";

    fn words(text: &str) -> u64 {
        Model::from_text(text, "m.toml").unwrap().words()
    }

    #[test]
    fn layout_order_notation_and_origin_do_not_count_but_every_word_does() {
        let plain = words(TEXT);
        // Never changed by a build: states in files are recognised by it.
        assert_eq!(plain, 0xc49c_f594_d5b2_b713);
        let other = "# comment\nname = 'm'\nformat = 1.0\ndimension = 2\nbody = [{ inertia = 1.0, mass = 2.0e0, name = \"b\" }]\n\
                     solver = { tolerance = 0.00001, alpha = 1e-1 }\n";
        assert_eq!(words(other), plain);
        let json = "{\"name\": \"m\", \"format\": 1, \"dimension\": 2, \"solver\": {\"alpha\": 0.1, \"tolerance\": 1e-5}, \
                    \"body\": [{\"name\": \"b\", \"mass\": 2, \"inertia\": 1}]}";
        assert_eq!(Model::from_text(json, "x.json").unwrap().words(), plain);
        for (from, to) in [
            ("alpha = 0.1", "alpha = 0.2"),
            ("mass = 2", "mass = 3"),
            ("name = \"b\"", "name = \"c\""),
            ("tolerance = 1e-5\n", ""),
        ] {
            assert_ne!(words(&TEXT.replace(from, to)), plain, "{to}");
        }
    }

    #[test]
    fn a_model_that_a_program_changed_has_words_of_its_own() {
        let mut model = Model::from_text(TEXT, "m.toml").unwrap();
        let plain = model.words();
        model.solver.alpha = 0.2;
        assert_ne!(model.words(), plain);
        model.solver.alpha = 0.1;
        assert_eq!(model.words(), plain);
    }

    #[test]
    fn other_contents_of_a_file_are_another_model() {
        let folder = std::env::temp_dir().join(format!("biela-words-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let text = "format = 1\nname = \"s\"\n[system]\nmass = \"mass\"\n";
        let read = |entry: &str| {
            let matrix =
                format!("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 {entry}\n");
            std::fs::write(folder.join("mass"), matrix).unwrap();
            let model = Model::from_text_in(text, "s.toml", Some(&folder)).unwrap();
            model.words()
        };
        let (one, same, two) = (read("1"), read("1.0"), read("2"));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(one, same);
        assert_ne!(one, two);
    }
}
