#!/usr/bin/env bash
# Builds the Python wheel for every x86-64 Linux with glibc 2.17 or later and Python 3.10 or later, and on the way the portable
# library. usage: packaging/wheel.sh [FOLDER]    (default: target/wheels)
#
# One compiled file has the package, the command `biela` and the C interface, so that the solver is in the wheel once: it is also what
# `biela.pack` puts into units. Hosts of units have no Python, so its symbols of Python are weak.
#
# Needs maturin, wheel, cargo-zigbuild and zig: pip install maturin wheel cargo-zigbuild ziglang
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-target/wheels}
triple=x86_64-unknown-linux-gnu
most=6000000                   # bytes of the wheel

missing=()
command -v maturin >/dev/null || missing+=("maturin")
command -v cargo-zigbuild >/dev/null || missing+=("cargo-zigbuild")
command -v objcopy >/dev/null || missing+=("objcopy (binutils)")
python3 -c 'import wheel' 2>/dev/null || missing+=("wheel")
python3 -c 'import ziglang' 2>/dev/null || command -v zig >/dev/null || missing+=("ziglang")
if [ ${#missing[@]} -gt 0 ]; then
    echo "SKIP: not installed: ${missing[*]}; pip install maturin wheel cargo-zigbuild ziglang" >&2
    exit 77
fi

# A little less is inlined than by default (225): with the whole library in view that is what makes it larger than 5 MB.
export RUSTFLAGS="${RUSTFLAGS:-} -Cllvm-args=--inline-threshold=150"
maturin build --profile dist --strip --manifest-path python/Cargo.toml --zig --target "$triple" --compatibility manylinux2014 --out "$out"
packaging/portable_library.sh target/portable "${CARGO_TARGET_DIR:-target}/$triple/dist/deps/libbiela.so"

wheel=$(ls -t "$out"/biela-*manylinux*.whl | head -1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m wheel unpack --dest "$work" "$wheel"
folder=$(echo "$work"/biela-*)
library=_biela.abi3.so
python3 packaging/weak_symbols.py "$folder/biela/$library"
python3 packaging/symbol_versions.py "$folder/biela/$library" 2.17
# Tells the package which file goes into units; what `pip install ./python` builds needs Python.
echo "$library" > "$folder/biela/library_of_units.txt"
rm "$wheel"
python3 -m wheel pack --dest-dir "$out" "$folder"
size=$(stat -c %s "$wheel")
echo "$wheel: $size bytes"
[ "$size" -le "$most" ] || { echo "the wheel is larger than $most bytes" >&2; exit 1; }
