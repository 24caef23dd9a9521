#!/bin/sh
# Biela beside Exudyn, in turns on this machine: benches/peers.sh [REPEATS] [P1|P2|P3|P4|P6 ...]. What is measured and how stands at the
# top of benches/peers.py; `benches/peers.sh beams` compares the spin-up of a beam (benches/beams.py). Exudyn is fetched with pip into a place of its own below the build directory.
set -eu
cd "$(dirname "$0")/.."

skip() {
    echo "SKIP: $1, NOTHING WAS COMPARED" >&2
    exit 0
}
command -v python3 >/dev/null || skip "python3 is not installed"
python3 -c 'import ensurepip, venv' 2>/dev/null || skip "python3 cannot make a virtual environment"

place=${CARGO_TARGET_DIR:-target}/peers
[ -x "$place/bin/python3" ] || python3 -m venv "$place" || skip "no virtual environment could be made"
"$place/bin/pip" install --quiet --disable-pip-version-check exudyn==1.13.6 numpy || skip "pip could not fetch Exudyn 1.13.6"

if [ "${1:-}" = beams ]; then
    cargo build --release --quiet --bin biela
    exec "$place/bin/python3" benches/beams.py "${CARGO_TARGET_DIR:-target}/release/biela"
fi

bench=$(cargo bench --bench peers --no-run --message-format=json 2>/dev/null |
    sed -n 's/.*"name":"peers".*"executable":"\([^"]*\)".*/\1/p')
[ -x "$bench" ] || { echo "the bench could not be built: cargo bench --bench peers --no-run" >&2; exit 1; }

exec "$place/bin/python3" benches/peers.py "$bench" "$@"
