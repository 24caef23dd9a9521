#!/bin/sh
# Instructions of one step for each body in absolute and in relative coordinates, counted by valgrind:
# benches/relative.sh [N ...]. Only what happens inside of the steps is counted. "direct" has matrices in joint coordinates,
# "relative" and "hybrid" those of the bodies.
set -eu
cd "$(dirname "$0")/.."

if ! command -v valgrind >/dev/null; then
    echo "SKIP: valgrind is not installed, NO INSTRUCTIONS WERE COUNTED" >&2
    exit 0
fi
[ $# -gt 0 ] || set -- 2 4 6 10 16 24 40 100 1000 10000

bench=$(cargo bench --bench relative --no-run --message-format=json 2>/dev/null |
    sed -n 's/.*"name":"relative".*"executable":"\([^"]*\)".*/\1/p')
[ -x "$bench" ] || { echo "the bench could not be built: cargo bench --bench relative --no-run" >&2; exit 1; }

steps=6
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect='*Instance*::step' \
        "$bench" --one "$@" "$steps" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

printf '%-12s%8s%10s%10s%10s%10s\n' topology bodies absolute direct relative hybrid
for topology in ${TOPOLOGIES:-chain tree loops space_chain space_tree}; do
    for n in "$@"; do
        printf '%-12s%8d' "$topology" "$n"
        for formulation in absolute direct bodies hybrid; do
            # Full matrices of more coordinates are of no interest.
            if [ "$formulation" = direct ] && [ "$n" -gt 40 ]; then
                printf '%10s' -
                continue
            fi
            all=$(count "$topology" "$n" "$formulation")
            [ -n "$all" ] || { echo "valgrind counted nothing for $topology $n $formulation" >&2; exit 1; }
            awk -v n="$n" -v s="$steps" -v a="$all" 'BEGIN { printf "%10.0f", a / s / n }'
        done
        echo
    done
done
