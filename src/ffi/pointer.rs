//! Arguments from C, checked for NULL, alignment, length, overlap and UTF-8. That the memory exists cannot be checked: it is
//! the caller's promise.

use std::ffi::{CStr, CString, c_char};
use std::mem::MaybeUninit;

use crate::error::{Error, Result};

/// An error that names the argument, its value and the expected value.
#[cold]
pub(crate) fn wrong(name: &str, value: impl ToString, expected: &str) -> Error {
    Error::Argument {
        name: name.to_owned(),
        value: value.to_string(),
        expected: expected.to_owned(),
    }
}

/// Rejects NULL and misaligned pointers.
#[inline]
pub(crate) fn check<T>(name: &str, pointer: *const T) -> Result<()> {
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

/// Rejects NULL, misaligned pointers and lengths that no memory can have.
#[inline]
fn check_array<T>(name: &str, pointer: *const T, length: usize) -> Result<()> {
    check(name, pointer)?;
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

/// `length` elements to be read. With length 0 the pointer is not used.
///
/// # Safety
/// If `length` > 0 and `pointer` is not NULL, it points to `length` elements that nobody writes during `'a`.
#[inline]
pub(crate) unsafe fn slice<'a, T>(name: &str, pointer: *const T, length: usize) -> Result<&'a [T]> {
    if length == 0 {
        return Ok(&[]);
    }
    check_array(name, pointer, length)?;
    // SAFETY: not NULL, aligned, size fits (checked); the memory is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// `length` elements to be written. With length 0 the pointer is not used.
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
    check_array(name, pointer, length)?;
    // SAFETY: not NULL, aligned, size fits (checked); the memory is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, length) })
}

/// Rejects an output array that overlaps an input array.
#[inline]
pub(crate) fn disjoint<A, B>(
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
    let both_exist = a_length > 0 && b_length > 0 && !a.is_null() && !b.is_null();
    match both_exist && a0 < b1 && b0 < a1 {
        true => Err(overlap(input, output, b0)),
        false => Ok(()),
    }
}

#[cold]
fn overlap(input: &str, output: &str, address: usize) -> Error {
    let expected = format!("memory apart from {input}");
    wrong(output, format!("{address:#x}"), &expected)
}

/// An array to be read and a disjoint one to be written; `None` if any check fails. The caller then takes the path whose
/// checks give an error.
///
/// # Safety
/// As [`slice`] and [`slice_mut`].
#[inline]
pub(crate) unsafe fn read_write<'a, A, B>(
    read: *const A,
    read_length: usize,
    write: *mut B,
    write_length: usize,
) -> Option<(&'a [A], &'a mut [B])> {
    if !valid(read, read_length) || !valid(write.cast_const(), write_length) {
        return None;
    }
    // Apart if each begins at least the other's size away from it, going upwards around the address space.
    let (r, w) = (read.addr(), write.addr());
    let (r_size, w_size) = (read_length * size_of::<A>(), write_length * size_of::<B>());
    if w.wrapping_sub(r) < r_size || r.wrapping_sub(w) < w_size {
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

/// Two arrays to be read; `None` if any check fails.
///
/// # Safety
/// As [`slice`].
#[inline]
pub(crate) unsafe fn read_both<'a, A, B>(
    a: *const A,
    b: *const B,
    length: usize,
) -> Option<(&'a [A], &'a [B])> {
    if !valid(a, length) || !valid(b, length) {
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

/// Not NULL, aligned, of a length that memory can have.
#[inline]
fn valid<T>(pointer: *const T, length: usize) -> bool {
    !pointer.is_null() && pointer.is_aligned() && length <= isize::MAX as usize / size_of::<T>()
}

/// An output argument, to be written with `MaybeUninit::write`.
///
/// # Safety
/// `pointer` is NULL or points to one `T` that nobody else uses during `'a`.
#[inline]
pub(crate) unsafe fn out<'a, T>(name: &str, pointer: *mut T) -> Result<&'a mut MaybeUninit<T>> {
    check(name, pointer)?;
    // SAFETY: not NULL, aligned (checked); the memory is the caller's promise.
    Ok(unsafe { &mut *pointer.cast::<MaybeUninit<T>>() })
}

/// Writes an output argument; false, and nothing is written, if a check fails.
///
/// # Safety
/// As [`out`].
#[inline]
pub(crate) unsafe fn write<T>(pointer: *mut T, value: T) -> bool {
    let valid = valid(pointer.cast_const(), 1);
    if valid {
        // SAFETY: not NULL, aligned (checked); the memory is the caller's promise.
        unsafe { pointer.write(value) };
    }
    valid
}

/// A NUL-terminated UTF-8 string.
///
/// # Safety
/// `pointer` is NULL or points to a NUL-terminated string that nobody writes during `'a`.
pub(crate) unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Result<&'a str> {
    check(name, pointer)?;
    // SAFETY: not NULL (checked); termination is the caller's promise.
    utf8(name, unsafe { CStr::from_ptr(pointer) }.to_bytes())
}

/// The bytes as text, or an error with the offset of the first byte that is not UTF-8.
pub(crate) fn utf8<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let value = format!("bytes that are not text at offset {}", error.valid_up_to());
        wrong(name, value, "UTF-8")
    })
}

/// Text as a C string. A NUL inside, which would end it early, is replaced.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{FFFD}")).expect("the NULs have been replaced")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::{null, null_mut};

    fn sentence<T>(result: Result<T>) -> String {
        result.err().expect("an error").to_string()
    }

    #[test]
    fn length_zero_does_not_use_the_pointer() {
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
    fn null_misaligned_and_impossible_arrays_are_errors_that_name_the_argument() {
        let mut room = [0.0_f64; 2];
        let good = room.as_mut_ptr();
        let odd = good.wrapping_byte_add(1);
        let huge = isize::MAX as usize / 8 + 1;
        // SAFETY: all of these are rejected before memory is read.
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
            assert!(sentence(out::<f64>("t", null_mut())).starts_with("t = NULL"));
            assert!(sentence(out("t", odd)).contains("divisible by 8"));
        }
    }

    #[test]
    fn overlapping_arrays_are_rejected_and_adjacent_ones_are_not() {
        let room = [0.0_f64; 4];
        let start = room.as_ptr();
        let references = start.cast::<u32>();
        assert!(
            sentence(disjoint("references", references, 2, "values", start, 2)).contains("apart")
        );
        assert!(
            disjoint(
                "references",
                references,
                2,
                "values",
                start.wrapping_add(1),
                2
            )
            .is_ok()
        );
        assert!(disjoint("references", references, 0, "values", start, 0).is_ok());
        assert!(
            disjoint(
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
            disjoint(
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
    fn text_must_be_utf8_and_not_null() {
        // SAFETY: NULL or a literal.
        unsafe {
            assert_eq!(text("path", c"zwölf".as_ptr()).unwrap(), "zwölf");
            assert!(sentence(text("path", null())).starts_with("path = NULL"));
            assert!(sentence(text("path", c"ab\xff".as_ptr())).contains("offset 2"));
        }
    }

    #[test]
    fn a_nul_inside_a_text_does_not_end_it() {
        assert_eq!(c_string("a\0b").to_str().unwrap(), "a\u{FFFD}b");
    }
}
