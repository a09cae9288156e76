#!/bin/sh
# Writes test/published and test/published-exact anew: three releases of a list, as the Go command publishes them. They
# have a new key, which replaces the old one in pages and tests.
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
"$work/bloomery" build -q -o "$work/list.bloom" --spec rankindexed --fpr 0.4% --capacity 2200 "$work/keys"
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
sed -i "s|$old|$(cat published/key.pub)|" options.test.mjs ../README.md ../docs/follow.md ../docs/bundling.md

# test/published-exact: three releases of the list of example/revoked. Release 2 revokes two certificates, release 3
# restores the first of them and has a new certificate, which is revoked.
old=$(cat published-exact/key.pub)
rm -rf published-exact
mkdir published-exact
publish_exact() {
  "$work/bloomery" publish -q "$work/revoked" "$work/list.exact" --sign "$work/key" --expires 876000h
  cp "$work/revoked/release.json" "published-exact/release-$1.json"
  cp -r "$work/revoked/objects" published-exact
}
update() {
  "$work/bloomery" exact update -q -o "$work/list.exact" --base "$work/list.exact" --members "$work/revoked.csv" \
    --universe "$work/all.csv" --input-format csv --column serial --partition-column issuer
}

node ../example/revoked/list.js all >"$work/all.csv"
node ../example/revoked/list.js revoked >"$work/revoked.csv"
"$work/bloomery" exact build -q -o "$work/list.exact" --members "$work/revoked.csv" --universe "$work/all.csv" \
  --input-format csv --column serial --partition-column issuer
publish_exact 1
printf '%s\n' 'Alder Web CA,47ba7b953ed2a493' 'Dogwood Device CA,c2a04f2ca8394bdc' >>"$work/revoked.csv"
update
publish_exact 2
sed -i '/^Alder Web CA,47ba7b953ed2a493$/d' "$work/revoked.csv"
echo 'Fir Root CA,00112233aabbccdd' | tee -a "$work/all.csv" >>"$work/revoked.csv"
update
publish_exact 3
cp "$work/key.pub" published-exact/key.pub
sed -i "s|$old|$(cat published-exact/key.pub)|" ../docs/exact.md
