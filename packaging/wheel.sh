#!/usr/bin/env bash
# Builds the Python wheel for every x86-64 Linux with glibc 2.17 or later and Python 3.10 or later: the package, the command
# `biela`, and the library that `biela.pack` puts into units. usage: packaging/wheel.sh [FOLDER]    (default: target/wheels)
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

built="${CARGO_TARGET_DIR:-target}/$triple/dist"
# In the profile of packaging/portable_library.sh, whose compiled crates are used again.
cargo zigbuild --profile dist --lib --bin biela --target "$triple.2.17"

maturin build --profile dist --strip --manifest-path python/Cargo.toml --zig --target "$triple" --compatibility manylinux2014 --out "$out"

# The command and the library go in afterwards; `wheel pack` writes the list of files again.
wheel=$(ls -t "$out"/biela-*.whl | head -1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m wheel unpack --dest "$work" "$wheel"
folder=$(echo "$work"/biela-*)
scripts=$folder/$(basename "$folder").data/scripts
mkdir -p "$scripts"
objcopy --strip-unneeded "$built/biela" "$scripts/biela"
objcopy --strip-unneeded "$built/libbiela.so" "$folder/biela/libbiela.so"
rm "$wheel"
python3 -m wheel pack --dest-dir "$out" "$folder"
for file in "$scripts/biela" "$folder/biela/libbiela.so" "$folder"/biela/_biela*.so; do
    python3 packaging/symbol_versions.py "$file" 2.17
done
size=$(stat -c %s "$wheel")
echo "$wheel: $size bytes"
[ "$size" -le "$most" ] || { echo "the wheel is larger than $most bytes" >&2; exit 1; }
