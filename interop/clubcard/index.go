package clubcard

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/internal/untrusted"
)

// IndexName is the name of the index in a folder of Clubcards.
const IndexName = "index.bin"

// The index is a header (magic, 2 bytes number of names, 4 bytes number of logs), names of 32 bytes padded with 0
// bytes, and for each log, by id: its id, the offset of its entries (8 bytes) and their number (2 bytes). An entry is
// the number of a name (2 bytes) and the first and last timestamp (8 + 8 bytes).
const (
	indexMagic    = "upkiidx1"
	indexNameSize = 32
	indexLogSize  = HashSize + 8 + 2
	entrySize     = 2 + 8 + 8
)

// index maps timestamps to the files of a folder that cover them.
type index struct {
	names []string
	logs  []indexLog // entries of each log
}

// indexLog is the entries of a log.
type indexLog struct {
	log     [HashSize]byte
	start   uint64 // offset of the entries in the file
	entries []byte // entrySize bytes per entry; checked
}

// readIndex reads an index. The index refers to data, which must not change while the index is in use. It allocates at
// most four times the length of data. On error the index is nil, and the error gives the byte offset and wraps
// ErrIndex, filter.ErrCorrupt or io.ErrUnexpectedEOF.
func readIndex(data []byte) (*index, error) {
	in := &input{data: data}
	if m := in.bytes("magic", uint64(len(indexMagic))); in.err == nil && string(m) != indexMagic {
		in.failAt(0, "magic", ErrIndex)
	}

	names, logs := in.uint("number of names", 2), in.uint("number of logs", 4)
	x := &index{names: make([]string, in.checkCount("names", names, indexNameSize))}
	for i := range x.names {
		x.names[i] = in.fileName()
	}

	x.logs = make([]indexLog, in.checkCount("logs", logs, indexLogSize))
	tables := in.pos + len(x.logs)*indexLogSize // end of the tables
	for i := range x.logs {
		x.logs[i] = in.readLog(uint64(tables))
	}
	if in.err == nil {
		x.checkLogs(in)
	}
	if in.err != nil {
		return nil, in.err
	}
	return x, nil
}

// checkLogs fails if the logs do not ascend, if their entries overlap, or if an entry has no name. Apart from sorting
// the logs, it takes time linear in the length of the file.
func (x *index) checkLogs(in *input) {
	for i := 1; i < len(x.logs); i++ {
		if bytes.Compare(x.logs[i-1].log[:], x.logs[i].log[:]) >= 0 {
			in.corrupt("logs", "logs do not ascend")
		}
	}

	byStart := slices.Clone(x.logs)
	slices.SortFunc(byStart, func(a, b indexLog) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(len(a.entries), len(b.entries)))
	})
	end := uint64(0)
	for _, l := range byStart {
		if l.start < end {
			in.corrupt("logs", "entries of two logs overlap")
			return // overlapping entries would be checked once per log, in quadratic time
		}
		end = l.start + uint64(len(l.entries))
		for b := range slices.Chunk(l.entries, entrySize) {
			if file := entryOf(b).file; file >= len(x.names) {
				in.corrupt("entries", "name %d of %d", file, len(x.names))
			}
		}
	}
}

// fileName returns the name of a file: 1 to 32 letters, digits, hyphens, periods and underscores, but not "." or "..".
func (in *input) fileName() string {
	b := in.bytes("name", indexNameSize)
	if in.err != nil {
		return ""
	}

	name, pad, _ := bytes.Cut(b, []byte{0})
	allowed := func(c byte) bool {
		return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_'
	}

	bad := slices.ContainsFunc(name, func(c byte) bool { return !allowed(c) })
	padded := !slices.ContainsFunc(pad, func(c byte) bool { return c != 0 })
	if s := string(name); bad || !padded || s == "" || s == "." || s == ".." {
		in.corrupt("name", "%q is no name of a file", b)
	}
	return string(name)
}

// readLog returns the next log, whose entries lie after the tables.
func (in *input) readLog(tables uint64) indexLog {
	l := indexLog{log: in.hash("log"), start: in.uint("offset", 8)}
	n := in.uint("number of entries", 2)
	size := uint64(len(in.data))
	if l.start < tables || l.start > size || n > (size-l.start)/entrySize {
		in.corrupt("log", "%d entries at byte %d of %d", n, l.start, size)
	}
	if in.err == nil {
		l.entries = in.data[l.start:][:n*entrySize]
	}
	return l
}

// entry is a file that covers a log from first to last.
type entry struct {
	file        int
	first, last uint64
}

func entryOf(b []byte) entry {
	in := &input{data: b}
	return entry{int(in.uint("", 2)), in.uint("", 8), in.uint("", 8)}
}

// covering returns the names of the files to query for a certificate with these timestamps, each once. All of them must
// be queried, unless one answers Revoked.
func (x *index) covering(scts ...SCT) (names []string) {
	seen := make([]bool, len(x.names))
	for _, t := range scts {
		i, ok := slices.BinarySearchFunc(x.logs, t.Log, func(l indexLog, log [HashSize]byte) int {
			return bytes.Compare(l.log[:], log[:])
		})
		if !ok {
			continue
		}
		for b := range slices.Chunk(x.logs[i].entries, entrySize) {
			e := entryOf(b)
			if e.first <= t.Timestamp && t.Timestamp <= e.last && !seen[e.file] {
				seen[e.file] = true
				names = append(names, x.names[e.file])
			}
		}
	}
	return names
}

// CheckDir returns the answer of a folder of Clubcards, such as os.DirFS(path), for a certificate: the highest answer
// of the files that its index names for the timestamps, or NotCovered if it names none. If a file is missing, because
// an updater has replaced the index meanwhile, CheckDir starts again, up to three times. It returns the error of a
// file, ctx.Err() if ctx ends first, or an error wrapping ErrNoneCovers if the files contradict the index.
func CheckDir(ctx context.Context, folder fs.FS, c Certificate) (s Status, err error) {
	for range 3 {
		// Each attempt reads the index again, so the next one finds the index that the updater has written.
		if s, err = checkDir(ctx, folder, c); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return s, err
}

func checkDir(ctx context.Context, folder fs.FS, c Certificate) (Status, error) {
	if len(c.SCTs) == 0 {
		return NotCovered, nil
	}

	x, err := readFile(ctx, folder, IndexName, readIndex)
	if err != nil {
		return NotCovered, err
	}

	names, answer := x.covering(c.SCTs...), NotCovered
	for _, name := range names {
		f, err := readFile(ctx, folder, name, Read)
		if err != nil {
			return NotCovered, err
		}
		// The specification does not define the result if one file answers NotCovered and another NotEnrolled: we
		// return NotEnrolled.
		// Revoked is the highest answer, so the other files cannot change it.
		if answer = max(answer, f.Check(c)); answer == Revoked {
			break
		}
	}
	if len(names) > 0 && answer == NotCovered {
		return NotCovered, fmt.Errorf("%w: %s", ErrNoneCovers, strings.Join(names, ", "))
	}
	return answer, nil
}

const (
	// maxFile is the largest file that is read, 1 GiB.
	maxFile = 1 << 30
	// headSize is the number of bytes that identify the format of a file.
	headSize = len(indexMagic)
)

// readFile reads a regular file and returns the result of read. It first calls read with the first bytes, and reads the
// rest of the file only if the error does not wrap ErrFormat or ErrIndex.
func readFile[T any](
	ctx context.Context, folder fs.FS, name string, read func([]byte) (T, error),
) (v T, err error) {
	regular := func(st fs.FileInfo, err error) error {
		if err == nil && !st.Mode().IsRegular() {
			err = &fs.PathError{Op: "open", Path: name, Err: untrusted.ErrNotRegular}
		}
		return err
	}
	if err := regular(fs.Stat(folder, name)); err != nil { // opening a pipe would block until it has a writer
		return v, err
	}

	f, err := folder.Open(name)
	if err != nil {
		return v, err
	}
	defer f.Close()
	if err := regular(f.Stat()); err != nil {
		return v, err
	}

	limit := untrusted.Limit{MaxBytes: maxFile, Head: headSize, Check: func(head []byte) error {
		if _, err := read(head); errors.Is(err, ErrFormat) || errors.Is(err, ErrIndex) {
			return err
		}
		return nil // the head may only be too short, and the whole file is checked below
	}}
	data, err := untrusted.Read(ctx, f, limit)
	if err == nil {
		v, err = read(data)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return v, err
}
