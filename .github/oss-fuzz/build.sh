#!/bin/bash -eu
# Builds the fuzz targets for OSS-Fuzz: the reader in C, and all targets of Go in the root module. The tools of OSS-Fuzz
# for targets of Go refuse tests with helpers in other files, and external tests. So the tests of a folder become an
# ordinary package here, and fuzzed.go takes the place of testing. It runs in a clone that nobody else uses.
cd "$SRC/bloomery"
git ls-files '*/testdata/*' | tar -c -T - | tar -x -C "$(mkdir -p "$OUT/files" && echo "$OUT/files")"

$CC $CFLAGS -std=c11 -c c/test/fuzz.c -o /tmp/fuzz.o
$CXX $CXXFLAGS $LIB_FUZZING_ENGINE /tmp/fuzz.o -o "$OUT/c_open"
zip -jq "$OUT/c_open_seed_corpus.zip" internal/container/testdata/*.bloom exact/testdata/*.exact

module=$(go list -m)
build() {
  local folder=$1 target=$2 tests package name=${1//\//_}_$2
  git checkout --quiet .
  git clean --quiet -fdx
  mkdir internal/fuzzed "$folder/fuzzmain"
  cp "$SRC/bloomery/.github/oss-fuzz/fuzzed.go" internal/fuzzed
  package=$folder
  if grep -q "^package .*_test$" "$(grep -l "^func $target(" "$folder"/*_test.go)"; then package+=/fuzzmain/external; fi
  for tests in "$folder"/*_test.go; do
    to=$folder
    if grep -q "^package .*_test$" "$tests"; then
      to=$folder/fuzzmain/external
      mkdir -p "$to"
    fi
    file=$(basename "$tests")
    mv "$tests" "$to/tested_${file%_test.go}.go"
    if grep -q 'testing\.F\b' "$to/tested_${file%_test.go}.go"; then
      sed -i -E "s#^(\t|import )\"testing\"#\1testing \"$module/internal/fuzzed\"#" "$to/tested_${file%_test.go}.go"
    fi
  done
  cat >"$folder/fuzzmain/main.go" <<EOF
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
  go build -buildmode=c-archive -trimpath -gcflags=all=-d=libfuzzer -gcflags=runtime/cgo=-d=libfuzzer=0 \
    -gcflags=syscall=-d=libfuzzer=0 -o "/tmp/$name.a" "./$folder/fuzzmain"
  $CXX $CXXFLAGS $LIB_FUZZING_ENGINE "/tmp/$name.a" -o "$OUT/$name"
  rm "/tmp/$name.a"
}
.ci/fuzz --list | while read -r folder target; do build "$folder" "$target" </dev/null; done
