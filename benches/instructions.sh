#!/bin/sh
# Instructions of one step, and of a bare factor and solve of its matrix, counted by valgrind: benches/instructions.sh
# [CASE ...]. Two runs that differ only in the number of steps are subtracted, so that set-up cancels. Steps 11 to 30 are
# counted. Filling and copying memory counts by the byte where the C library uses a string instruction for it.
set -eu
cd "$(dirname "$0")/.."

if ! command -v valgrind >/dev/null; then
    echo "SKIP: valgrind is not installed, NO INSTRUCTIONS WERE COUNTED" >&2
    exit 0
fi
[ $# -gt 0 ] || set -- oscillator double_pendulum double_four_bar chain10 chain100 chain1000

bench=$(cargo bench --bench step --no-run --message-format=json 2>/dev/null |
    sed -n 's/.*"name":"step".*"executable":"\([^"]*\)".*/\1/p')
[ -x "$bench" ] || { echo "the bench could not be built: cargo bench --bench step --no-run" >&2; exit 1; }

# count ARGUMENTS: instructions of the whole program
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" "$@" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

# each MODE CASE [FLAG]: instructions of one
each() {
    few=$(count "$1" "$2" 10 ${3-})
    many=$(count "$1" "$2" 30 ${3-})
    [ -n "$few" ] && [ -n "$many" ] || { echo "valgrind counted nothing for $2" >&2; exit 1; }
    echo $(((many - few) / 20))
}

printf '%-18s%8s |%14s%14s%14s |%10s%10s%10s\n' case bodies bare step "with corr." step/body step/bare corr./bare
for case in "$@"; do
    bare=$(each --bare "$case")
    step=$(each --one "$case")
    auto=$(each --one "$case" --auto)
    bodies=$("$bench" --bodies "$case")
    awk -v n="$case" -v k="$bodies" -v b="$bare" -v s="$step" -v a="$auto" 'BEGIN {
        printf "%-18s%8d |%14d%14d%14d |%10.0f%10.2f%10.2f\n", n, k, b, s, a, s / k, s / b, a / b }'
done
