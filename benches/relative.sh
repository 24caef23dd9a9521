#!/bin/sh
# Instructions of one step for each body in absolute and in relative coordinates, counted by valgrind:
# benches/relative.sh [N ...]. Two runs that differ only in the number of steps are subtracted, so that set-up cancels.
set -eu
cd "$(dirname "$0")/.."

if ! command -v valgrind >/dev/null; then
    echo "SKIP: valgrind is not installed, NO INSTRUCTIONS WERE COUNTED" >&2
    exit 0
fi
[ $# -gt 0 ] || set -- 10 100 1000 10000

bench=$(cargo bench --bench relative --no-run --message-format=json 2>/dev/null |
    sed -n 's/.*"name":"relative".*"executable":"\([^"]*\)".*/\1/p')
[ -x "$bench" ] || { echo "the bench could not be built: cargo bench --bench relative --no-run" >&2; exit 1; }

count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" --one "$@" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

printf '%-12s%8s%12s%12s%12s\n' topology bodies absolute relative hybrid
for topology in chain tree loops space_chain space_tree; do
    for n in "$@"; do
        printf '%-12s%8d' "$topology" "$n"
        for formulation in absolute bodies hybrid; do
            few=$(count "$topology" "$n" "$formulation" 4)
            many=$(count "$topology" "$n" "$formulation" 10)
            [ -n "$few" ] && [ -n "$many" ] || { echo "valgrind counted nothing for $topology $n" >&2; exit 1; }
            awk -v n="$n" -v f="$few" -v m="$many" 'BEGIN { printf "%12.0f", (m - f) / 6 / n }'
        done
        echo
    done
done
