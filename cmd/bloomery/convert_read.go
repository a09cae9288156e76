package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/klauspost/compress/gzip"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/interop"
)

// readAny reads a filter in the format from, or if that is empty in the format that it detects. From a Parquet file it
// reads the filter of a column.
func (a *app) readAny(
	ctx context.Context, path string, from interop.Format, column columnFlags,
) (*bloomery.Set, interop.Format, error) {
	if err := column.check(from); err != nil {
		return nil, "", err
	}
	if from != "" && from != ownFormat && !slices.Contains(interop.Formats(), from) {
		_, err := interop.Read(nil, from, 0) // the error lists the formats
		return nil, "", fmt.Errorf("--from: %w and %s", err, ownFormat)
	}
	if path == stdio && column.name != "" {
		return nil, "", errors.New("--column needs a file, not standard input: the end of the file says where filters are")
	}
	if path == stdio {
		return a.readAnyStdin(from, column.form)
	}

	switch st, err := os.Stat(path); {
	case err != nil:
		return nil, "", err
	case st.IsDir():
		return nil, "", fmt.Errorf("%s is a folder, and no other system has sharded sets; name a file in it", path)
	case !st.Mode().IsRegular() && from == "":
		return nil, "", fmt.Errorf("%s is not a regular file, whose format could be recognised; name it with --from", path)
	case !st.Mode().IsRegular() && from == ownFormat:
		set, err := a.open(path) // the pipe is opened only once
		return set, from, err
	}

	f, err := untrusted.OpenStream(ctx, path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, "", err
	}

	limit := uint64(math.MaxInt64)
	if st.Mode().IsRegular() {
		limit = uint64(st.Size())
	}
	if column.name != "" || st.Mode().IsRegular() && (from == "" || from == interop.Parquet) && isParquetFile(f) {
		set, err := readColumn(path, f, st, column)
		return set, interop.Parquet, err
	}
	var in readerAt = f
	if st.Mode().IsRegular() && from != ownFormat && isGzip(f) {
		if in, limit, err = inflate(f, max(mostInflated, mostInflation*limit)); err != nil {
			return nil, "", cli.Advise(fmt.Errorf("%s: %w", path, err), "Decompress it first: zcat FILE > FILTER")
		}
	}
	if from == "" {
		if from, err = recognise(in, limit); err != nil {
			return nil, "", refusal(path, in, "", err)
		}
	}
	if from == ownFormat {
		set, err := a.open(path, bloomery.InMemory())
		return set, from, err
	}
	set, err := untrusted.Interruptible(ctx, func() (*bloomery.Set, error) {
		return a.readForeign(path, in, from, limit, st.Mode().IsRegular(), column.form)
	})
	return set, from, err
}

// stdinHead is the number of bytes of standard input that are read to recognise the format.
const stdinHead = 64 << 10

// readAnyStdin is readAny for standard input. It first reads the whole input if the input may be a filter of another
// system, since the length is needed to detect the format.
func (a *app) readAnyStdin(from interop.Format, form *filter.KeyForm) (*bloomery.Set, interop.Format, error) {
	const name = "standard input"
	if err := a.takeStdin(); err != nil {
		return nil, "", err
	}

	secret, err := a.secret()
	if err != nil {
		return nil, "", err
	}

	var own *bloomery.Set
	content, err := untrusted.Interruptible(a.ctx, func() ([]byte, error) {
		head, err := io.ReadAll(io.LimitReader(a.stdin, stdinHead))
		rest := io.MultiReader(bytes.NewReader(head), a.stdin)
		switch {
		case err != nil:
			return nil, err
		case from == ownFormat || from == "" && container.HasMagic(bytes.NewReader(head)):
			own, err = readWhole(rest, bloomery.WithSecret(secret))
			return nil, err
		}
		most := min(interop.MaxSize(head), math.MaxInt64-1) + 1 // one more byte is an error of the format
		return io.ReadAll(io.LimitReader(rest, int64(max(most, stdinHead))))
	})
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	if own != nil {
		return own, ownFormat, nil
	}

	in := bytes.NewReader(content)
	if from == "" {
		if from, err = recognise(in, uint64(len(content))); err != nil {
			return nil, "", refusal(name, in, "", err)
		}
	}
	set, err := a.readForeign(name, in, from, uint64(len(content)), true, form)
	return set, from, err
}

// readerAt is an input. Its ReaderAt has at least the first bytes.
type readerAt interface {
	io.Reader
	io.ReaderAt
}

// A filter in gzip data has at most mostInflated bytes, or mostInflation times the bytes of the file, so that a small
// file cannot take all memory: gzip shrinks an empty filter to a thousandth, and a full one not at all.
const (
	mostInflated  = 1 << 30
	mostInflation = 16
)

// isGzip reports whether f begins with gzip data.
func isGzip(f io.ReaderAt) bool {
	var magic [3]byte
	_, err := f.ReadAt(magic[:], 0)
	return err == nil && string(magic[:]) == "\x1f\x8b\x08"
}

// inflate returns the content of the gzip data in r, and its largest possible length, which is an error above most.
func inflate(r io.Reader, most uint64) (content readerAt, limit uint64, err error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, 0, err
	}
	head, err := io.ReadAll(io.LimitReader(z, stdinHead))
	if err != nil {
		return nil, 0, err
	}

	if limit = interop.MaxSize(head); len(head) < stdinHead {
		limit = uint64(len(head))
	}
	if limit > most {
		return nil, 0, fmt.Errorf("%d bytes in gzip data: %w", limit, filter.ErrTooLarge)
	}
	start := bytes.NewReader(head)
	return struct {
		io.Reader
		io.ReaderAt
	}{io.MultiReader(start, z), bytes.NewReader(head)}, limit, nil
}

// readForeign reads a filter of another system that must end where f ends, unless it is a filter of DCSO, which data
// may follow. limit is the length of f, or if that is not known its largest possible length.
func (a *app) readForeign(
	name string, f readerAt, from interop.Format, limit uint64, known bool, form *filter.KeyForm,
) (set *bloomery.Set, err error) {
	in := &io.LimitedReader{R: f, N: math.MaxInt64} // counts
	if form == nil {
		set, err = interop.Read(in, from, limit)
	} else {
		set, err = interop.ReadAs(in, from, *form, limit)
	}
	if err != nil {
		if errors.Is(err, filter.ErrTooLarge) && known {
			const what = "end of the file, whose header tells of more"
			err = container.Broken(limit, what, io.ErrUnexpectedEOF)
		}
		return nil, refusal(name, f, from, err)
	}

	n, err := io.ReadFull(f, make([]byte, 1))
	switch {
	case n > 0 && from == interop.DCSO:
		a.note("note: %s: the data attached to the filter (bloom get-data) is left out", name)
		_, err = io.Copy(io.Discard, f) // the checksum of gzip data is at its end
	case n > 0:
		return nil, cli.Advise(fmt.Errorf("%s: there are bytes behind the %s filter: %w", name, from, filter.ErrCorrupt),
			fmt.Sprintf("If it is whole, give it alone, its first %[1]d bytes: head -c %[1]d", math.MaxInt64-in.N))
	}
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return set, nil
}

// refusal adds a hint to the error about a file that cannot be read. from is empty if the format was not recognised.
func refusal(path string, f io.ReaderAt, from interop.Format, err error) error {
	named := fmt.Errorf("%s: %w", path, err)
	var other interface{ Advice() string } // the error describes the file and has its own hint
	var start [8]byte
	switch n, _ := f.ReadAt(start[:], 0); {
	case errors.Is(container.OtherKind(start[:n]), container.ErrWindow):
		return fmt.Errorf("%s: %w", path, container.ErrWindow)
	case string(start[:4]) == "PAR1" && (from == "" || from == interop.Parquet):
		return cli.Advise(fmt.Errorf("%s is a whole Parquet file: %w", path, err),
			"Name the file itself and a column: bloomery convert FILE --column NAME; or give one filter alone:\n"+
				cutOut)
	case errors.As(err, &other):
		return named
	case from == "" && errors.Is(err, io.ErrUnexpectedEOF):
		return cli.Advise(named, "If it is such a filter, the file is cut off: copy it again.")
	case errors.Is(err, interop.ErrForm):
		return cli.Advise(named,
			"Filters of that form cannot be converted: let the other system make a new one from the keys.")
	case from == "":
		return cli.Advise(named,
			"If you know which system wrote it, --from FORMAT tells what is wrong with it; see convert --help.")
	}
	return named
}

// recognise returns the format of a file of the given size in bytes.
func recognise(f io.ReaderAt, size uint64) (interop.Format, error) {
	if container.HasMagic(io.NewSectionReader(f, 0, int64(size))) {
		return ownFormat, nil
	}
	return interop.Detect(f, int64(size))
}
