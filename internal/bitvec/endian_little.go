//go:build 386 || amd64 || arm || arm64 || loong64 || mipsle || mips64le || ppc64le || riscv64 || wasm

package bitvec

// LittleEndian reports whether words in memory have the byte order of files, lowest byte first. It is a constant, so
// that branches on it cost nothing. This list and the list in endian_big.go contain every architecture that Go
// supports, and the big-endian architectures whose names Go has reserved. For any other architecture this package does
// not compile.
const LittleEndian = true
