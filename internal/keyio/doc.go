// Package keyio reads keys from files or standard input: the lines of a text, strings separated by NUL bytes, one
// column of CSV or TSV, or one member of JSON Lines, plain or compressed.
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
// A pass takes no memory besides its blocks. A block holds 256 KiB of input, or one key if that is longer, and a slice
// header of 24 bytes per key, or two with Options.Rows. A slow emit or work slows the reader down.
//
// # What a key is
//
//   - Compression: an input that begins with the magic bytes of gzip, zstd or bzip2 is decompressed, once. Its name
//     does not matter. If it ends too early, even within the magic bytes, the pass fails. Zeros behind gzip data are
//     ignored.
//   - A UTF-8 byte-order mark at the start of an input, or of its decompressed data, is dropped.
//   - Other formats: an input that begins with the magic bytes of xz, lz4, zip, Parquet, SQLite, UTF-16 and others,
//     or a filter of Bloomery, is an UnsupportedError. A row with a NUL byte is bad, except in the format Null.
//   - Lines: a key is a line without its line end, LF or CRLF. The last line needs no line end. One CR before LF is
//     dropped; all other bytes belong to the key: more CRs, invalid UTF-8.
//   - Null: a key ends in a NUL byte, which is optional after the last key. All other bytes belong to the key.
//   - CSV: a key is a field as encoding/csv reads it, without its quotes, which follow RFC 4180.
//   - Hex: a key is the bytes of the hexadecimal digits of a line, two digits per byte, in upper or lower case.
//   - TSV: a key is the bytes between two tabs or line ends. Quotes and escapes have no meaning. For fields in quotes
//     that are separated by tabs, use CSV with a tab as Options.Delimiter.
//   - JSONL: a row is a JSON object (RFC 8259) in one line. Its key is the member at the path Options.Column: the
//     decoded characters of a string, or a number, true or false as it is written. The values of an array are several
//     keys. A row whose key is missing, null or an empty array is skipped and counted. If a name is there twice, the
//     last one counts, as in encoding/json.
//   - Empty keys are skipped unless Options.KeepEmpty is set.
//   - The end of an input ends its last line: no key spans two inputs.
//
// # Bad rows
//
// Options.BadRows selects whether a bad row stops the pass, is skipped, or is a key with its NUL bytes. If it stops the
// pass, work and emit get all keys before it, then Process returns its error. The same holds for an input that cannot
// be read to its end.
//
// # Hostile input
//
//   - A row with a key longer than Options.MaxKey is bad: KeyTooLongError. A block holds at most
//     about 256 KiB + 1.25·MaxKey of input, however long a line is.
//   - A row of TSV or JSONL longer than MaxKey + 1 MiB is bad, and one of JSONL nested deeper than 10,000. A longer row
//     of CSV is always an error, so an unclosed quote does not read the whole file.
//   - A row of JSONL has at most (MaxKey + 1 MiB)/2 keys, whose slice headers take 24 to 56 MiB of a block.
//   - An input that is compressed twice is an UnsupportedError. One that decompresses to more than 256 MiB and more
//     than 2,000 times its size is an error.
//   - A zstd window is at most 128 MiB, the most that the zstd tool accepts without a flag.
package keyio
