// Package keyio reads keys from files or standard input: the lines of a text or one column of CSV, plain or compressed.
//
// # A pass
//
// Open checks options and names once. Each call of Count or Process is then one pass over all inputs:
//
//	files, stdin ──► reader ──────────────► workers ────────────► emit
//	                 1 goroutine            n goroutines          1 goroutine
//	                 decompresses, cuts     find the keys,        in input order
//	                 blocks at line ends    hash or look up
//	                   ▲                                            │
//	                   └──────────── 2n+2 blocks, reused ◄──────────┘
//
// The blocks are all the memory that a pass takes. A block holds 256 KiB of input, or one key if that is longer, and a
// slice header of 24 bytes a key. A slow emit or work slows the reader down.
//
// # What a key is
//
//   - Compression: an input that begins with the magic bytes of gzip or zstd is decompressed. Its name does not matter.
//   - Lines: a key is a line without its line end, LF or CRLF. The last line needs no line end. One CR before LF is
//     dropped; all other bytes belong to the key: NUL, more CRs, invalid UTF-8, a byte order mark.
//   - CSV: a key is a field as encoding/csv reads it, without its quotes. A byte order mark at the start is dropped.
//   - Empty keys are skipped unless Options.KeepEmpty is set.
//   - The end of an input ends its last line: no key spans two inputs.
//
// # Hostile input
//
//   - A key longer than Options.MaxKey stops the pass with a KeyTooLongError. A block holds at most
//     about 256 KiB + 1.25·MaxKey of input, however long a line is.
//   - A CSV record longer than MaxKey + 1 MiB is an error, so an unclosed quote does not read the whole file.
//   - A zstd window is at most 128 MiB, the most that the zstd tool accepts without a flag.
package keyio
