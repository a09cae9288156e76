#!/bin/bash -eu
# Builds the fuzz targets for OSS-Fuzz: the reader in C, and all targets of Go. Its tools for targets of Go refuse those
# with helpers in other files or in external tests. So here the tests of a folder become an ordinary package, and
# fuzzed.go takes the place of testing. It changes the clone in $SRC.
cd "$SRC/bloomery"
module=$(go list -m)
targets=$(.ci/fuzz --list)
mkdir -p "$OUT/files" # of the seeds that targets add, which they read when they start
git ls-files '*/testdata/*' | tar -c -T - | tar -x -C "$OUT/files"

# shellcheck disable=SC2086 # $CFLAGS and its like are lists
{
  $CC $CFLAGS -std=c11 -c c/test/fuzz.c -o /tmp/fuzz.o
  $CXX $CXXFLAGS $LIB_FUZZING_ENGINE /tmp/fuzz.o -o "$OUT/c_open"
}
zip -jq "$OUT/c_open_seed_corpus.zip" internal/container/testdata/*.bloom exact/testdata/*.exact

while read -r folder target; do
  git checkout --quiet .
  git clean --quiet -fdx
  main=$folder/fuzzmain name=${folder//\//_}_$target
  mkdir -p internal/fuzzed "$main/external"
  cp .github/oss-fuzz/fuzzed.go internal/fuzzed
  for test in "$folder"/*_test.go; do
    to=$folder
    ! grep -q '^package .*_test$' "$test" || to=$main/external
    name_of_file=$(basename "$test" _test.go).go # keeps the suffix of a system
    mv "$test" "$to/tested_$name_of_file"
    ! grep -q 'testing\.F\b' "$to/tested_$name_of_file" ||
      sed -i -E "s#^(\t|import )\"testing\"#\1testing \"$module/internal/fuzzed\"#" "$to/tested_$name_of_file"
    ! grep -q "^func $target(" "$to/tested_$name_of_file" || package=$to
  done
  cat >"$main/main.go" <<EOF
package main

// #include <stddef.h>
// #include <stdint.h>
import "C"

import (
	"unsafe"

	"$module/internal/fuzzed"
	target "$module/$package"
)

func init() { fuzzed.Start(target.$target, "$folder") }

//export LLVMFuzzerTestOneInput
func LLVMFuzzerTestOneInput(data *C.uint8_t, size C.size_t) C.int {
	fuzzed.One(unsafe.Slice((*byte)(data), int(size)))
	return 0
}

func main() {}
EOF
  go build -buildmode=c-archive -trimpath -tags=libfuzzer -gcflags=all=-d=libfuzzer \
    -gcflags=runtime/cgo=-d=libfuzzer=0 -gcflags=syscall=-d=libfuzzer=0 -o /tmp/target.a "./$main"
  # shellcheck disable=SC2086
  $CXX $CXXFLAGS $LIB_FUZZING_ENGINE /tmp/target.a -o "$OUT/$name"

  # The corpora of targets with one argument, of bytes.
  inputs=("$folder/testdata/fuzz/$target"/*)
  if [[ $(sed 's/(.*//' "${inputs[0]}") = $'go test fuzz v1\n[]byte' ]]; then
    rm -rf /tmp/corpus
    python3 c/test/corpus.py "$folder/testdata/fuzz/$target" /tmp/corpus
    zip -jq "$OUT/${name}_seed_corpus.zip" /tmp/corpus/*
  fi
done <<<"$targets"
