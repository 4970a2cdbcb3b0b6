#!/usr/bin/env bash
# What a hook costs beside a bare process, what the worker takes of the memory,
# and how fast events are stored: p50 and p95 as tables. All figures of a line
# are from one run. Arguments: runs of each hook (400), events (20000).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

printf '%s, %s cores, %s\n' "$(uname -sm)" "$(getconf _NPROCESSORS_ONLN)" "$(date -u +%F)"
printf '\n=== hooks and worker ===\n'
cargo bench --quiet -p remora-cli --bench hook -- "${1:-400}"
printf '\n=== spool to store ===\n'
cargo bench --quiet -p remora-server --bench ingest -- "${2:-20000}"
