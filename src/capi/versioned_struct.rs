//! Structs that cross the boundary and may grow: `struct_size` is their first field, new fields come at their end.

use std::mem::MaybeUninit;

use crate::error::Result;
use crate::ffi::pointer;

/// A struct that later versions extend at its end. Its first field is the size in the header its owner was compiled with.
///
/// # Safety
/// The implementing type is `#[repr(C)]` and begins with `struct_size: usize`.
pub(super) unsafe trait VersionedStruct: Copy {
    /// C name of the type, for errors.
    const NAME: &'static str;
    /// Size of its first published version: a smaller size is an error.
    const OLDEST: usize;
}

/// Largest `struct_size` that is taken for a later version; a larger one was not initialised. A convention.
const LARGEST_STRUCT: usize = 1 << 16;

fn check_struct_size<T: VersionedStruct>(size: usize) -> Result<()> {
    if (T::OLDEST..=LARGEST_STRUCT).contains(&size) {
        return Ok(());
    }
    let expected = format!("sizeof({}), as {}_default sets it", T::NAME, T::NAME);
    Err(pointer::wrong(
        &format!("struct_size of {}", T::NAME),
        size,
        &expected,
    ))
}

/// Zeroes `size` bytes of the caller's struct and sets its `struct_size`.
///
/// # Safety
/// `target` is NULL or points to `size` bytes that nobody else uses during the call.
pub(super) unsafe fn default_struct<T: VersionedStruct>(
    name: &str,
    target: *mut T,
    size: usize,
) -> Result<()> {
    pointer::check(name, target)?;
    check_struct_size::<T>(size)?;
    // SAFETY: not NULL, aligned (checked); at least the first field fits (checked); the memory is the caller's promise.
    unsafe {
        target.cast::<u8>().write_bytes(0, size);
        target.cast::<usize>().write(size);
    }
    Ok(())
}

/// The `struct_size` that the owner of the struct has set.
///
/// # Safety
/// `target` is NULL or points to a struct whose first field has been set.
pub(super) unsafe fn struct_size<T: VersionedStruct>(name: &str, target: *mut T) -> Result<usize> {
    pointer::check(name, target)?;
    // SAFETY: not NULL, aligned (checked); the first field is set by the caller's promise.
    let size = unsafe { target.cast::<usize>().read() };
    check_struct_size::<T>(size)?;
    Ok(size)
}

/// Writes the fields of `value` that fit into `size` bytes; `value.struct_size` equals `size`.
///
/// # Safety
/// `target` has passed [`struct_size`], which gave `size`.
pub(super) unsafe fn write_struct<T: VersionedStruct>(target: *mut T, size: usize, value: &T) {
    let common = size.min(size_of::<T>());
    // SAFETY: both sides hold `common` bytes; `value` is ours, so they cannot overlap.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw const *value).cast::<MaybeUninit<u8>>(),
            target.cast::<MaybeUninit<u8>>(),
            common,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence<T>(result: Result<T>) -> String {
        result.err().expect("an error").to_string()
    }

    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Extended {
        struct_size: usize,
        old: f64,
        new: f64,
    }
    // SAFETY: repr(C), begins with struct_size.
    unsafe impl VersionedStruct for Extended {
        const NAME: &'static str = "extended";
        const OLDEST: usize = 16;
    }

    #[test]
    fn an_older_owner_receives_only_its_fields() {
        let mut mine = Extended {
            struct_size: 1,
            old: 1.0,
            new: 2.0,
        };
        let value = Extended {
            struct_size: 16,
            old: 3.0,
            new: 4.0,
        };
        // SAFETY: pointers to locals.
        unsafe {
            default_struct("s", &raw mut mine, 16).unwrap();
            assert_eq!(
                mine,
                Extended {
                    struct_size: 16,
                    old: 0.0,
                    new: 2.0
                }
            );
            let size = struct_size("s", &raw mut mine).unwrap();
            write_struct(&raw mut mine, size, &value);
        }
        assert_eq!(
            mine,
            Extended {
                struct_size: 16,
                old: 3.0,
                new: 2.0
            }
        );
    }

    #[test]
    fn a_newer_owner_keeps_its_other_fields_and_impossible_sizes_are_errors() {
        let mut room = [f64::NAN; 5];
        let mine = room.as_mut_ptr().cast::<Extended>();
        let value = Extended {
            struct_size: 40,
            old: 3.0,
            new: 4.0,
        };
        // SAFETY: 40 bytes are there.
        unsafe {
            default_struct("s", mine, 40).unwrap();
            let size = struct_size("s", mine).unwrap();
            assert_eq!(size, 40);
            write_struct(mine, size, &value);
            assert_eq!(&room[1..], &[3.0, 4.0, 0.0, 0.0]);
            for size in [0, 15, usize::MAX] {
                assert!(sentence(default_struct("s", mine, size)).contains("sizeof(extended)"));
                mine.cast::<usize>().write(size);
                assert!(sentence(struct_size("s", mine)).contains("sizeof(extended)"));
            }
        }
    }
}
