#!/usr/bin/env bash
# Vets and tests the modules of this repository that have their own go.mod: those that are named, by default all.
# Usage: .ci/modules.sh [MODULE...] [-- FLAGS OF GO TEST...], such as: .ci/modules.sh eval/lab eval/readers -- -race
set -euo pipefail
cd "$(dirname "$0")/.."
modules=()
while [ $# != 0 ] && [ "$1" != -- ]; do
  modules+=("$1")
  shift
done
[ $# = 0 ] || shift # the dashes
[ "${#modules[@]}" != 0 ] ||
  modules=(eval eval/beam eval/bench buckets beam examples otel pebblefilter pebblefilter/next)
for module in "${modules[@]}"; do
  printf '\n== %s\n' "$module"
  go -C "$module" vet ./...
  go -C "$module" test -vet=off "$@" ./...
done
