//go:build 386 || amd64 || arm || arm64 || loong64 || mipsle || mips64le || ppc64le || riscv64 || wasm

package bitvec

// LittleEndian reports whether words lie in memory in the byte order of files, lowest byte first. It is a constant, so
// that branches on it cost nothing. This list and the list in endian_big.go have every architecture that Go supports,
// and the big-endian ones that it has reserved names for. On any other, this package does not compile.
const LittleEndian = true
