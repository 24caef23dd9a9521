//! Choices of the model file: an enum each of whose variants has a word.

/// Declares an enum whose variants have a word in the model file. `ALL`, `NAMES` and `name()` follow from this list, and
/// the reader, the schema, the manual and every printer use them: no word is written twice.
macro_rules! choice {
    (
        $(#[$outer:meta])*
        pub enum $name:ident {
            $( $(#[$inner:meta])* $variant:ident = $word:literal, )*
        }
    ) => {
        $(#[$outer])*
        pub enum $name {
            $( $(#[$inner])* $variant, )*
        }

        impl $name {
            /// Words of the model file.
            pub const NAMES: [&'static str; [$($word),*].len()] = [$($word),*];
            /// Every choice with its word.
            pub const ALL: [(&'static str, Self); Self::NAMES.len()] =
                [$(($word, Self::$variant)),*];

            /// Word of the model file.
            pub const fn name(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )*
                }
            }
        }
    };
}

pub(super) use choice;
