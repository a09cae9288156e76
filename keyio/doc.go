// Package keyio brings keys in: it reads them from files or standard input, as the lines of a text or as one
// column of CSV, for building filters and for asking them.
//
// # A pass
//
// Open checks names and options once. Each Count or Process is then a pass over all the inputs:
//
//	files, stdin ──► reader ──────────────► workers ────────────► emit
//	                 1 goroutine            n goroutines          1 goroutine
//	                 decompresses, cuts     find the keys,        in input order
//	                 blocks at line ends    hash or look up
//	                   ▲                                            │
//	                   └──────────── 2n+2 blocks, reused ◄──────────┘
//
// The blocks are all the memory that a pass takes: each holds 256 KiB of input, or one key where that is
// longer, and a slice header for each key. A slow emit or work holds the reader back.
//
// # What a key is
//
// An input is decompressed first if it begins with the magic bytes of gzip or zstd; its name does not matter.
// With Lines, a key is a line without its line end, LF or CRLF; the last line needs none. One CR before the
// line end goes, any other byte belongs to the key: NUL, further CRs, what is not UTF-8, and a byte order mark
// at the start of the input. With CSV, a key is a field as encoding/csv reads it, after the quotes are taken
// off, and a byte order mark at the start of the input is dropped. Empty keys are skipped unless
// Options.KeepEmpty. The end of an input ends a line: no key spans two files.
//
// # Hostile input
//
// A key beyond Options.MaxKey stops the pass with a KeyTooLongError, and memory does not grow with it. A CSV record
// is cut off 1 MiB beyond MaxKey, so that a quote that nobody closes does not swallow the file, and a zstd frame
// may ask for a window of 128 MiB, the most that the zstd tool reads without being told to.
package keyio
