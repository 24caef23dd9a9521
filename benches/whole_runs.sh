#!/bin/sh
# Instructions of whole runs, counted by valgrind inside the integrator: benches/whole_runs.sh [BIELA]. The problems are those of
# models/, at tolerance 1e-6, by default and with each integrator.
set -eu
cd "$(dirname "$0")/.."

if ! command -v valgrind >/dev/null; then
    echo "SKIP: valgrind is not installed, NO INSTRUCTIONS WERE COUNTED" >&2
    exit 0
fi
biela=${1-}
if [ -z "$biela" ]; then
    CARGO_PROFILE_RELEASE_STRIP=none cargo build --release --quiet --bin biela
    biela=${CARGO_TARGET_DIR:-target}/release/biela
fi
copy=$(mktemp --suffix=.toml)
log=$(mktemp)
trap 'rm -f "$copy" "$log"' EXIT

printf '%-18s%6s  %-10s%8s%10s%10s%14s%12s\n' problem "to (s)" integrator steps rejected solves/step instructions "a step"
for case in double_four_bar:10 slider_crank:2 double_pendulum:2 andrews:0.03; do
    model=${case%:*} stop=${case#*:}
    for integrator in hht auto; do
        # Every model has its [solver] table; a line in front of its keys is the integrator.
        sed -e '/^integrator *=/d' -e "s/^\[solver\]/[solver]\nintegrator = \"$integrator\"/" "models/$model.toml" >"$copy"
        grep -q '^integrator' "$copy" || printf '\n[solver]\nintegrator = "%s"\n' "$integrator" >>"$copy"
        counters=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no \
            --toggle-collect='*integrator::step::*advance*' --log-file="$log" \
            "$biela" run "$copy" --stop "$stop" --tolerance 1e-6 --json --out /dev/null)
        instructions=$(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$log")
        [ -n "$instructions" ] || { echo "valgrind counted nothing for $model" >&2; exit 1; }
        number() { printf '%s' "$counters" | sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p"; }
        awk -v m="$model" -v t="$stop" -v i="$integrator" -v n="$(number steps)" -v r="$(number rejected)" \
            -v s="$(number solves)" -v k="$instructions" 'BEGIN {
            printf "%-18s%6s  %-10s%8d%10d%10.1f%14d%12d\n", m, t, i, n, r, s / n, k, k / n }'
    done
done
