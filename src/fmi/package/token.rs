//! The token of an FMU (`guid`, `instantiationToken`): a hash of its resources. Instantiation fails if the model has been
//! changed after packing or belongs to another FMU.
//!
//! FNV-1a with 128 bits over the standard, the version of this library, and names and bytes of all resources.

const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// The token of a list of resources: names and bytes.
pub fn token<'a>(
    standard: &str,
    resources: impl IntoIterator<Item = (&'a str, &'a [u8])>,
) -> String {
    let mut hash = BASIS;
    let mut take = |bytes: &[u8]| {
        // The length first: the bytes of different lists differ.
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            hash = (hash ^ u128::from(*byte)).wrapping_mul(PRIME);
        }
    };
    take(standard.as_bytes());
    take(env!("CARGO_PKG_VERSION").as_bytes());
    for (name, bytes) in resources {
        take(name.as_bytes());
        take(bytes);
    }
    let digits = format!("{hash:032x}");
    format!(
        "{{{}-{}-{}-{}-{}}}",
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..]
    )
}

/// Are the tokens equal up to braces and case? Some importers change both.
pub fn same(a: &str, b: &str) -> bool {
    let bare = |text: &str| {
        text.trim()
            .trim_start_matches('{')
            .trim_end_matches('}')
            .to_ascii_lowercase()
    };
    bare(a) == bare(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basis_and_prime_are_those_of_fnv_1a() {
        // Published test vector: FNV-1a, 128 bits, of "a".
        let hash = (BASIS ^ u128::from(b'a')).wrapping_mul(PRIME);
        assert_eq!(hash, 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }

    #[test]
    fn any_change_of_the_contents_changes_the_token() {
        let of = |standard, list: &[(&'static str, &'static [u8])]| {
            token(standard, list.iter().copied())
        };
        let plain = of("2.0", &[("a", b"xy"), ("b", b"z")]);
        assert_eq!(plain, of("2.0", &[("a", b"xy"), ("b", b"z")]));
        for other in [
            of("3.0", &[("a", b"xy"), ("b", b"z")]),
            of("2.0", &[("a", b"x"), ("b", b"yz")]),
            of("2.0", &[("a", b"xy"), ("c", b"z")]),
            of("2.0", &[("a", b"xy")]),
            of("2.0", &[("b", b"z"), ("a", b"xy")]),
        ] {
            assert_ne!(plain, other);
        }
        assert_eq!(plain.len(), 38);
    }

    #[test]
    fn braces_and_case_are_ignored() {
        assert!(same("{AB-1}", "ab-1"));
        assert!(!same("{ab-1}", "{ab-2}"));
        assert!(!same("", "{ab-2}"));
    }
}
