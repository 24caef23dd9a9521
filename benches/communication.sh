#!/bin/sh
# Instructions of one communication step of 0.1 ms (set, step, get), counted by valgrind: benches/communication.sh [FOLDER]. Two runs
# that differ only in the number of steps are subtracted. FOLDER: where the libbiela.so is that is counted instead of the one of
# this source.
set -eu
cd "$(dirname "$0")/.."
for tool in valgrind cc; do
    command -v $tool >/dev/null || { echo "SKIP: $tool is not installed, NO STEPS WERE COUNTED" >&2; exit 0; }
done
[ $# -gt 0 ] || cargo build --quiet --release
folder=${1:-${CARGO_TARGET_DIR:-target}/release}
program=$(mktemp)
trap 'rm -f "$program"' EXIT
cc -O2 -Iinclude -o "$program" benches/communication.c -L"$folder" -lbiela

# count CALLS KIND: instructions of the whole program
count() {
    LD_LIBRARY_PATH=$folder valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$program" models/slider_crank.toml "$1" "$2" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

printf '%-12s%14s\n' input "a step"
for kind in unchanged changed; do
    few=$(count 200 $kind)
    many=$(count 1200 $kind)
    [ -n "$few" ] && [ -n "$many" ] || { echo "valgrind counted nothing" >&2; exit 1; }
    printf '%-12s%14d\n' $kind $(((many - few) / 1000))
done
