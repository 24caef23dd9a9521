#!/bin/sh
# Instructions of one step for each body as mechanisms grow, counted by valgrind: benches/scale.sh [N ...]. Two runs that differ only
# in the number of steps are subtracted, so that set-up cancels.
set -eu
cd "$(dirname "$0")/.."

if ! command -v valgrind >/dev/null; then
    echo "SKIP: valgrind is not installed, NO INSTRUCTIONS WERE COUNTED" >&2
    exit 0
fi
[ $# -gt 0 ] || set -- 11 101 1001 10001

bench=$(cargo bench --bench scale --no-run --message-format=json 2>/dev/null |
    sed -n 's/.*"name":"scale".*"executable":"\([^"]*\)".*/\1/p')
[ -x "$bench" ] || { echo "the bench could not be built: cargo bench --bench scale --no-run" >&2; exit 1; }

count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" --one "$@" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

printf '%-8s%8s%16s%16s\n' case bodies "a step" "step/body"
for case in balls loops space; do
    for n in "$@"; do
        few=$(count "$case" "$n" 4)
        many=$(count "$case" "$n" 10)
        [ -n "$few" ] && [ -n "$many" ] || { echo "valgrind counted nothing for $case $n" >&2; exit 1; }
        awk -v c="$case" -v n="$n" -v f="$few" -v m="$many" 'BEGIN {
            printf "%-8s%8d%16.0f%16.0f\n", c, n, (m - f) / 6, (m - f) / 6 / n }'
    done
done
