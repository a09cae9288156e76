package container

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/sums"
)

// Write writes a file to w. The error wraps filter.ErrConfig if FPRPlanned is not a rate. It reads the sections twice,
// because their checksums are written before them. At the end it returns the error of f.Intact.
func Write(w io.Writer, f *File) error {
	h, err := newHeader(f)
	if err != nil {
		return err
	}
	if _, err := w.Write(h.marshal()); err != nil {
		return err
	}

	at := h.dataAt
	for i, s := range f.stored() {
		if _, err := w.Write(make([]byte, h.sections[i].offset-at)); err != nil {
			return err
		}
		if err := bitvec.Pieces(s, func(b []byte) error { _, err := w.Write(b); return err }); err != nil {
			return err
		}
		at = h.sections[i].offset + h.sections[i].length
	}
	if f.Intact != nil {
		return f.Intact()
	}
	return nil
}

// Len returns the length in bytes of the file that Write would write.
func Len(f *File) (uint64, error) {
	_, _, length, err := layout(len(f.Spec.String()), wordsOf(f))
	return length, err
}

// Marshal returns the file as Write writes it.
func Marshal(f *File) ([]byte, error) {
	n, err := Len(f)
	if err != nil {
		return nil, err
	}
	if n > math.MaxInt {
		return nil, fmt.Errorf("%d bytes: %w", n, filter.ErrTooLarge)
	}

	b := bytes.NewBuffer(make([]byte, 0, n))
	if err := Write(b, f); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// wordsOf returns the number of words of each section; the exceptions are last.
func wordsOf(f *File) []uint64 {
	sections := f.stored()
	words := make([]uint64, len(sections))
	for i, s := range sections {
		words[i] = uint64(len(s))
	}
	return words
}

// newHeader returns the header of a file, with the checksums of its sections.
func newHeader(f *File) (*header, error) {
	if !family.ValidRate(f.FPRPlanned) {
		const reason = "want a rate above 0 and below 1, or 0 for none"
		return nil, &filter.ConfigError{Field: "fpr_planned", Value: f.FPRPlanned, Reason: reason}
	}

	h := &header{File: *f}
	var err error
	h.sections, h.dataAt, h.Bytes, err = layout(len(f.Spec.String()), wordsOf(f))
	if err != nil {
		return nil, err
	}

	for i, s := range f.stored() {
		// The function below never fails.
		_ = bitvec.Pieces(s, func(b []byte) error {
			h.sections[i].crc = sums.UpdateCRC(h.sections[i].crc, b)
			return nil
		})
	}
	return h, nil
}

// pieceWords is the number of words that are read at a time: 1 MiB.
const pieceWords = 1 << 17

// WriteFile writes a filter file with WriteAtomic.
func WriteFile(ctx context.Context, path string, f *File) error {
	return writeAtomic(ctx, path, nil, func(w io.Writer) error { return Write(w, f) })
}

// ReplaceFile is WriteFile for a file that was read earlier; was is its os.FileInfo at that time. If the file has been
// replaced or written to since, ReplaceFile leaves it unchanged and returns an error wrapping filter.ErrChanged.
func ReplaceFile(ctx context.Context, path string, f *File, was fs.FileInfo) error {
	return writeAtomic(ctx, path, unchanged(path, was), func(w io.Writer) error { return Write(w, f) })
}

// ReplaceAtomic is WriteAtomic with the check of ReplaceFile.
func ReplaceAtomic(ctx context.Context, path string, was fs.FileInfo, write func(io.Writer) error) error {
	return writeAtomic(ctx, path, unchanged(path, was), write)
}

// unchanged returns a function that returns an error wrapping filter.ErrChanged if the file at path is no longer was.
func unchanged(path string, was fs.FileInfo) func() error {
	return func() error {
		now, err := os.Stat(path)
		if err == nil && !(os.SameFile(was, now) && now.Size() == was.Size() && now.ModTime().Equal(was.ModTime())) {
			err = fmt.Errorf("%s: %w", path, filter.ErrChanged)
		}
		return err
	}
}

// Counter counts the bytes that are written to a Writer.
type Counter struct {
	To io.Writer
	N  int64
}

func (c *Counter) Write(b []byte) (int, error) {
	n, err := c.To.Write(b)
	c.N += int64(n)
	return n, err
}

// writing is the options of WriteAtomic and WriteFile. Contexts carry it.
type writing struct {
	batch, noLinks bool
	mode           fs.FileMode // mode of a new file, before the umask
	like           string
	warn           func(error)
}

type writingKey struct{}

func writingOf(ctx context.Context) writing {
	w, ok := ctx.Value(writingKey{}).(writing)
	if !ok {
		w.mode = 0o666
	}
	return w
}

func withOption(ctx context.Context, set func(*writing)) context.Context {
	w := writingOf(ctx)
	set(&w)
	return context.WithValue(ctx, writingKey{}, w)
}

// Batch returns a context in which WriteAtomic and WriteFile do not sync the folder, and do not look for the temporary
// files of killed writers: for many files of one folder that become valid with one last file, such as a manifest. The
// caller must call SyncFolder before it writes that file, and RemoveAbandoned at any time.
func Batch(ctx context.Context) context.Context {
	return withOption(ctx, func(w *writing) { w.batch = true })
}

// NoLinks returns a context in which WriteAtomic and WriteFile replace a symbolic link at their path, not its target:
// for folders in which other users may put links.
func NoLinks(ctx context.Context) context.Context {
	return withOption(ctx, func(w *writing) { w.noLinks = true })
}

// NewMode returns a context in which a file that WriteAtomic creates has at most these permissions, for any umask.
func NewMode(ctx context.Context, mode fs.FileMode) context.Context {
	return withOption(ctx, func(w *writing) { w.mode = mode })
}

// Like returns a context in which a file that WriteAtomic creates gets the owner, permissions and attributes of the
// file at path, if there is one.
func Like(ctx context.Context, path string) context.Context {
	return withOption(ctx, func(w *writing) { w.like = path })
}

// WithWarnings returns a context in which writers of files call warn with problems that do not prevent writing, such as
// an error wrapping filter.ErrOwner. Without it they drop these errors.
func WithWarnings(ctx context.Context, warn func(error)) context.Context {
	return withOption(ctx, func(w *writing) { w.warn = warn })
}

// statOld describes the file that a write to path replaces. The error wraps fs.ErrNotExist if there is none.
func (w writing) statOld(path string) (fs.FileInfo, error) {
	if !w.noLinks {
		return os.Stat(path)
	}
	old, err := os.Lstat(path)
	if err == nil && old.Mode()&fs.ModeSymlink != 0 {
		return nil, fs.ErrNotExist // the new file takes nothing from the target of the link
	}
	return old, err
}
