#!/bin/sh
# Writes test/published anew: three releases of a list, as the Go command publishes them. They have a new key, which
# replaces the old one in pages and tests.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd ../.. && go build -o "$work/bloomery" ./cmd/bloomery)

old=$(cat published/key.pub)
rm -rf published
mkdir published
"$work/bloomery" keygen -q -o "$work/key" >/dev/null
publish() {
  "$work/bloomery" publish -q "$work/blocklist" "$work/list.bloom" --sign "$work/key" --expires 876000h
  cp "$work/blocklist/release.json" "published/release-$1.json"
  cp -r "$work/blocklist/objects" published
}

{
  echo blocked-in-three.example
  for i in $(seq 1999); do echo "blocked-$i.example"; done
} >"$work/keys"
"$work/bloomery" build -q -o "$work/list.bloom" --family rankindexed --fpr 0.4% --capacity 2200 "$work/keys"
publish 1
printf 'blocked-%s.example\n' 1 2 | "$work/bloomery" remove -q "$work/list.bloom"
echo fresh-two.example | "$work/bloomery" add -q "$work/list.bloom"
publish 2
{
  echo fresh-two.example
  printf 'blocked-%s.example\n' 3 4 5 6
} | "$work/bloomery" remove -q "$work/list.bloom"
publish 3
cp "$work/key.pub" published/key.pub
sed -i "s|$old|$(cat published/key.pub)|" options.test.mjs ../README.md ../docs/follow.md
