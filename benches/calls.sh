#!/bin/sh
# Instructions of one call at the C boundary, counted by valgrind: benches/calls.sh [LIBRARY]. Two runs that differ only in the
# number of calls are subtracted. LIBRARY: a libbiela.so to be counted instead of the one of this source.
set -eu
cd "$(dirname "$0")/.."
for tool in valgrind cc unzip; do
    command -v $tool >/dev/null || { echo "SKIP: $tool is not installed, NO CALLS WERE COUNTED" >&2; exit 0; }
done
[ $# -gt 0 ] || cargo build --quiet --release
target=${CARGO_TARGET_DIR:-target}
library=${1:-$target/release/libbiela.so}
biela=$target/release/biela
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cc -O2 -Iinclude -o "$scratch/calls" benches/calls.c -ldl
for standard in 2 3; do
    "$biela" pack models/slider_crank.toml --fmi $standard -o "$scratch/$standard.fmu" >/dev/null
    unzip -q "$scratch/$standard.fmu" -d "$scratch/$standard"
done

# count KIND COUNT: instructions of the whole program
count() {
    folder="$scratch/2/resources"
    case $1 in fmi3*) folder="$scratch/3/resources" ;; esac
    token=$(sed -n 's/.*\(guid\|instantiationToken\)="\([^"]*\)".*/\2/p' "$folder/../modelDescription.xml" | head -1)
    valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$scratch/calls" "$library" "$1" "$2" models/slider_crank.toml "$token" "$folder" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

printf '%-12s%14s\n' call instructions
for kind in fmi2_get fmi2_set fmi2_step fmi3_get fmi3_set c_get c_set c_step; do
    few=$(count $kind 1000)
    many=$(count $kind 3000)
    [ -n "$few" ] && [ -n "$many" ] || { echo "valgrind counted nothing for $kind" >&2; exit 1; }
    echo "$kind $few $many" | awk '{ printf "%-12s%14.1f\n", $1, ($3 - $2) / 2000 }'
done
