#!/usr/bin/env bash
# Builds the library that goes into units and wheels: for every x86-64 Linux with glibc 2.17 or later, stripped, with the symbols
# in a file of their own. usage: packaging/portable_library.sh [FOLDER [LIBRARY]]    (default: target/portable, and the library is
# built; packaging/wheel.sh has built it already)
#
# Needs cargo-zigbuild and zig: pip install cargo-zigbuild ziglang
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-target/portable}
built=${2:-}
triple=x86_64-unknown-linux-gnu

missing=()
command -v cargo-zigbuild >/dev/null || missing+=("cargo-zigbuild")
python3 -c 'import ziglang' 2>/dev/null || command -v zig >/dev/null || missing+=("ziglang")
command -v objcopy >/dev/null || missing+=("objcopy (binutils)")
if [ ${#missing[@]} -gt 0 ]; then
    echo "SKIP: not installed: ${missing[*]}; pip install cargo-zigbuild ziglang" >&2
    exit 77
fi

# A little less is inlined than by default (225): with the whole library in view that is what makes it larger than 5 MB.
export RUSTFLAGS="${RUSTFLAGS:-} -Cllvm-args=--inline-threshold=150"
if [ -z "$built" ]; then
    cargo zigbuild --profile dist --lib --target "$triple.2.17"
    built="${CARGO_TARGET_DIR:-target}/$triple/dist/libbiela.so"
fi
mkdir -p "$out"
# Symbols and line tables apart: gdb and perf find them by the link.
objcopy --only-keep-debug "$built" "$out/libbiela.so.debug"
objcopy --strip-unneeded --add-gnu-debuglink="$out/libbiela.so.debug" "$built" "$out/libbiela.so"
python3 packaging/symbol_versions.py "$out/libbiela.so" 2.17
ls -l "$out"
echo "biela pack model.toml --library linux64=$out/libbiela.so"
