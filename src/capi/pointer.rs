//! What C hands over, checked as far as it can be: NULL, alignment, length, text. What cannot be seen from here (that the
//! memory really is there) stays the caller's promise.

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;

use crate::error::{Error, Result};

/// A wrong pointer as an error that names the argument.
#[cold]
fn wrong(name: &str, value: impl ToString, expected: &str) -> Error {
    Error::Argument {
        name: name.to_owned(),
        value: value.to_string(),
        expected: expected.to_owned(),
    }
}

/// NULL and misaligned pointers are refused.
#[inline]
fn checked<T>(name: &str, pointer: *const T) -> Result<()> {
    match !pointer.is_null() && pointer.is_aligned() {
        true => Ok(()),
        false => Err(wrong_pointer(name, pointer.addr(), align_of::<T>())),
    }
}

#[cold]
fn wrong_pointer(name: &str, address: usize, alignment: usize) -> Error {
    match address {
        0 => wrong(name, "NULL", "a pointer to memory of yours"),
        _ => {
            let expected = format!("an address divisible by {alignment}");
            wrong(name, format!("{address:#x}"), &expected)
        }
    }
}

/// An array that will be looked at: additionally its size in bytes must be one that can exist.
#[inline]
fn checked_array<T>(name: &str, pointer: *const T, length: usize) -> Result<()> {
    checked(name, pointer)?;
    match length <= isize::MAX as usize / size_of::<T>() {
        true => Ok(()),
        false => Err(wrong_count(name, length)),
    }
}

#[cold]
fn wrong_count(name: &str, length: usize) -> Error {
    wrong(
        &format!("count of {name}"),
        length,
        "no more than memory can hold",
    )
}

/// `length` elements to be read. Length 0 never looks at the pointer.
///
/// # Safety
/// If `length` > 0 and `pointer` is not NULL, it points to `length` elements that nobody writes during `'a`.
#[inline]
pub(crate) unsafe fn slice<'a, T>(name: &str, pointer: *const T, length: usize) -> Result<&'a [T]> {
    if length == 0 {
        return Ok(&[]);
    }
    checked_array(name, pointer, length)?;
    // SAFETY: not NULL, aligned, size fits (checked); the memory is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// `length` elements to be written. Length 0 never looks at the pointer.
///
/// # Safety
/// If `length` > 0 and `pointer` is not NULL, it points to `length` elements that nobody else uses during `'a`.
#[inline]
pub(crate) unsafe fn slice_mut<'a, T>(
    name: &str,
    pointer: *mut T,
    length: usize,
) -> Result<&'a mut [T]> {
    if length == 0 {
        return Ok(&mut []);
    }
    checked_array(name, pointer, length)?;
    // SAFETY: not NULL, aligned, size fits (checked); the memory is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, length) })
}

/// Refuses an output array that shares memory with an input array.
#[inline]
pub(crate) fn apart<A, B>(
    input: &str,
    a: *const A,
    a_length: usize,
    output: &str,
    b: *const B,
    b_length: usize,
) -> Result<()> {
    let (a0, b0) = (a.addr(), b.addr());
    let (a1, b1) = (
        a0.saturating_add(a_length.saturating_mul(size_of::<A>())),
        b0.saturating_add(b_length.saturating_mul(size_of::<B>())),
    );
    let there = a_length > 0 && b_length > 0 && !a.is_null() && !b.is_null();
    match there && a0 < b1 && b0 < a1 {
        true => Err(not_apart(input, output, b0)),
        false => Ok(()),
    }
}

#[cold]
fn not_apart(input: &str, output: &str, address: usize) -> Error {
    let expected = format!("memory apart from {input}");
    wrong(output, format!("{address:#x}"), &expected)
}

/// Two arrays that can be looked at as they are: references to be read and values to be written, apart from each other.
/// `None` where anything about them needs a closer look.
///
/// # Safety
/// As [`slice`] and [`slice_mut`].
#[inline]
pub(crate) unsafe fn pair<'a, A, B>(
    read: *const A,
    read_length: usize,
    write: *mut B,
    write_length: usize,
) -> Option<(&'a [A], &'a mut [B])> {
    if !good(read, read_length) || !good(write.cast_const(), write_length) {
        return None;
    }
    let (r0, w0) = (read.addr(), write.addr());
    let (r1, w1) = (
        r0.checked_add(read_length * size_of::<A>())?,
        w0.checked_add(write_length * size_of::<B>())?,
    );
    if r0 < w1 && w0 < r1 {
        return None;
    }
    // SAFETY: not NULL, aligned, sizes fit, apart (checked); the memory is the caller's promise.
    Some(unsafe {
        (
            std::slice::from_raw_parts(read, read_length),
            std::slice::from_raw_parts_mut(write, write_length),
        )
    })
}

/// The same for two arrays to be read.
///
/// # Safety
/// As [`slice`].
#[inline]
pub(crate) unsafe fn two<'a, A, B>(
    a: *const A,
    b: *const B,
    length: usize,
) -> Option<(&'a [A], &'a [B])> {
    if !good(a, length) || !good(b, length) {
        return None;
    }
    // SAFETY: not NULL, aligned, sizes fit (checked); the memory is the caller's promise.
    Some(unsafe {
        (
            std::slice::from_raw_parts(a, length),
            std::slice::from_raw_parts(b, length),
        )
    })
}

/// Not NULL, aligned, of a length that memory can hold.
#[inline]
fn good<T>(pointer: *const T, length: usize) -> bool {
    !pointer.is_null() && pointer.is_aligned() && length <= isize::MAX as usize / size_of::<T>()
}

/// One place for a result. The caller writes it with `MaybeUninit::write`.
///
/// # Safety
/// `pointer` is NULL or points to one `T` that nobody else uses during `'a`.
#[inline]
pub(crate) unsafe fn place<'a, T>(name: &str, pointer: *mut T) -> Result<&'a mut MaybeUninit<T>> {
    checked(name, pointer)?;
    // SAFETY: not NULL, aligned (checked); the memory is the caller's promise.
    Ok(unsafe { &mut *pointer.cast::<MaybeUninit<T>>() })
}

/// NUL-terminated UTF-8.
///
/// # Safety
/// `pointer` is NULL or points to a NUL-terminated string that nobody writes during `'a`.
pub(crate) unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Result<&'a str> {
    checked(name, pointer)?;
    // SAFETY: not NULL (checked); termination is the caller's promise.
    utf8(name, unsafe { CStr::from_ptr(pointer) }.to_bytes())
}

/// The bytes as text, or an error that says where they stop being text.
pub(crate) fn utf8<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let value = format!("bytes that are not text at offset {}", error.valid_up_to());
        wrong(name, value, "UTF-8")
    })
}

/// A struct that may grow: its first field is the size its owner knows.
///
/// # Safety
/// The implementing type is `#[repr(C)]` and begins with `struct_size: usize`.
pub(super) unsafe trait Growing: Copy {
    /// C name of the type, for sentences.
    const NAME: &'static str;
    /// Size of its first published version: less than that is no such struct.
    const OLDEST: usize;
}

/// A size beyond this is an uninitialised `struct_size`, not a later version.
const LARGEST_STRUCT: usize = 1 << 16;

fn checked_struct_size<T: Growing>(size: usize) -> Result<()> {
    if (T::OLDEST..=LARGEST_STRUCT).contains(&size) {
        return Ok(());
    }
    let expected = format!("sizeof({}), as {}_default sets it", T::NAME, T::NAME);
    Err(wrong(
        &format!("struct_size of {}", T::NAME),
        size,
        &expected,
    ))
}

/// Zeroes `size` bytes of the caller's struct and notes the size in it.
///
/// # Safety
/// `pointer` is NULL or points to `size` bytes that nobody else uses during the call.
pub(super) unsafe fn default_struct<T: Growing>(
    name: &str,
    pointer: *mut T,
    size: usize,
) -> Result<()> {
    checked(name, pointer)?;
    checked_struct_size::<T>(size)?;
    // SAFETY: not NULL, aligned (checked); at least the first field fits (checked); the memory is the caller's promise.
    unsafe {
        pointer.cast::<u8>().write_bytes(0, size);
        pointer.cast::<usize>().write(size);
    }
    Ok(())
}

/// The `struct_size` its owner has set.
///
/// # Safety
/// `pointer` is NULL or points to a struct whose first field has been set.
pub(super) unsafe fn struct_size<T: Growing>(name: &str, pointer: *mut T) -> Result<usize> {
    checked(name, pointer)?;
    // SAFETY: not NULL, aligned (checked); the first field is set by the caller's promise.
    let size = unsafe { pointer.cast::<usize>().read() };
    checked_struct_size::<T>(size)?;
    Ok(size)
}

/// Writes as many fields of `value` as an owner with `size` bytes knows; `value.struct_size` is `size` already.
///
/// # Safety
/// `pointer` has passed [`struct_size`], which gave `size`.
pub(super) unsafe fn write_struct<T: Growing>(pointer: *mut T, size: usize, value: &T) {
    let known = size.min(size_of::<T>());
    // SAFETY: both sides hold `known` bytes; `value` is ours, so they cannot overlap.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw const *value).cast::<MaybeUninit<u8>>(),
            pointer.cast::<MaybeUninit<u8>>(),
            known,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::{null, null_mut};

    fn sentence<T>(result: Result<T>) -> String {
        result.err().expect("refused").to_string()
    }

    #[test]
    fn length_zero_never_looks_at_the_pointer() {
        let odd = std::ptr::without_provenance_mut::<f64>(3);
        // SAFETY: no element is promised.
        unsafe {
            assert!(slice::<f64>("x", null(), 0).unwrap().is_empty());
            assert!(slice::<f64>("x", odd, 0).unwrap().is_empty());
            assert!(slice_mut::<f64>("x", null_mut(), 0).unwrap().is_empty());
            assert!(slice_mut::<f64>("x", odd, 0).unwrap().is_empty());
        }
    }

    #[test]
    fn null_misaligned_and_impossible_arrays_are_refused_by_name() {
        let mut room = [0.0_f64; 2];
        let good = room.as_mut_ptr();
        let odd = good.wrapping_byte_add(1);
        let huge = isize::MAX as usize / 8 + 1;
        // SAFETY: all of these are refused before memory is touched.
        unsafe {
            assert!(sentence(slice::<f64>("values", null(), 1)).starts_with("values = NULL"));
            assert!(sentence(slice("values", odd, 1)).contains("divisible by 8"));
            assert!(sentence(slice("values", good, huge)).starts_with("count of values"));
            assert!(sentence(slice("values", good, usize::MAX)).starts_with("count of values"));
            assert!(
                sentence(slice_mut::<f64>("values", null_mut(), 1)).starts_with("values = NULL")
            );
            assert!(sentence(slice_mut("values", odd, 1)).contains("divisible by 8"));
            assert!(sentence(slice_mut("values", good, huge)).starts_with("count of values"));
            assert!(sentence(place::<f64>("t", null_mut())).starts_with("t = NULL"));
            assert!(sentence(place("t", odd)).contains("divisible by 8"));
        }
    }

    #[test]
    fn arrays_that_share_memory_are_refused_and_neighbours_are_not() {
        let room = [0.0_f64; 4];
        let start = room.as_ptr();
        let references = start.cast::<u32>();
        assert!(sentence(apart("references", references, 2, "values", start, 2)).contains("apart"));
        assert!(
            apart(
                "references",
                references,
                2,
                "values",
                start.wrapping_add(1),
                2
            )
            .is_ok()
        );
        assert!(apart("references", references, 0, "values", start, 0).is_ok());
        assert!(
            apart(
                "references",
                references.wrapping_add(4),
                2,
                "values",
                start,
                2
            )
            .is_ok()
        );
        assert!(
            apart(
                "references",
                references.wrapping_add(3),
                2,
                "values",
                start,
                2
            )
            .is_err()
        );
    }

    #[test]
    fn text_must_be_there_and_be_utf8() {
        // SAFETY: NULL or a literal.
        unsafe {
            assert_eq!(text("path", c"zwölf".as_ptr()).unwrap(), "zwölf");
            assert!(sentence(text("path", null())).starts_with("path = NULL"));
            assert!(sentence(text("path", c"ab\xff".as_ptr())).contains("offset 2"));
        }
    }

    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Grown {
        struct_size: usize,
        old: f64,
        new: f64,
    }
    // SAFETY: repr(C), begins with struct_size.
    unsafe impl Growing for Grown {
        const NAME: &'static str = "grown";
        const OLDEST: usize = 16;
    }

    #[test]
    fn a_grown_struct_fills_only_what_an_older_owner_knows() {
        let mut mine = Grown {
            struct_size: 1,
            old: 1.0,
            new: 2.0,
        };
        let value = Grown {
            struct_size: 16,
            old: 3.0,
            new: 4.0,
        };
        // SAFETY: pointers to locals.
        unsafe {
            default_struct("s", &raw mut mine, 16).unwrap();
            assert_eq!(
                mine,
                Grown {
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
            Grown {
                struct_size: 16,
                old: 3.0,
                new: 2.0
            }
        );
    }

    #[test]
    fn a_newer_owner_keeps_the_rest_and_nonsense_sizes_are_refused() {
        let mut room = [f64::NAN; 5];
        let mine = room.as_mut_ptr().cast::<Grown>();
        let value = Grown {
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
                assert!(sentence(default_struct("s", mine, size)).contains("sizeof(grown)"));
                mine.cast::<usize>().write(size);
                assert!(sentence(struct_size("s", mine)).contains("sizeof(grown)"));
            }
        }
    }
}
