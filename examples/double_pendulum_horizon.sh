#!/bin/sh
# The double pendulum until it cannot be known any more: its error bars over 32 s, as a table and as a page with bands.
# Usage: examples/double_pendulum_horizon.sh [folder for the results]
set -e
cd "$(dirname "$0")/.."
folder="${1:-.}"
biela="${BIELA:-target/release/biela}"
"$biela" run models/double_pendulum.toml --stop 32 --interval 0.02 --error-bars \
    --out "$folder/double_pendulum_bars.csv" --report "$folder/double_pendulum_bars.html"
