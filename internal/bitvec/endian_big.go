//go:build armbe || arm64be || mips || mips64 || mips64p32 || ppc || ppc64 || s390 || s390x || sparc || sparc64

package bitvec

// LittleEndian reports whether words in memory have the byte order of files; see endian_little.go.
const LittleEndian = false
