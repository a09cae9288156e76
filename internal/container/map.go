package container

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// Mapping is the memory of a mapped file. A nil Mapping stands for memory of the program, which cannot fault: Guard
// calls f, Err returns nil, and Release and Close do nothing.
type Mapping struct {
	data []byte      // the mapped memory
	head []byte      // a copy of the first bytes, from when the file was mapped
	file *os.File    // kept open for Err
	was  fs.FileInfo // the file when it was mapped
}

// mappable is the smallest size in bytes of a file that is mapped. Reading smaller files is as fast, and later changes
// of the file do not matter.
const mappable = 1 << 20

// Map maps the filter in a file into memory. Pages are shared with other processes and loaded on demand. It verifies
// all checksums first, which reads the file once. Writing to the sections changes this process's copy only. If the file
// is smaller than 1 MiB or this machine cannot map it, Map reads it into memory and the Mapping is nil.
//
// The file may be replaced by rename while it is mapped. If it is overwritten or truncated in place, queries may return
// wrong results or fault; see Mapping.Err. Map returns the same errors as ReadFile.
func Map(path string, o Options) (*File, *Mapping, error) {
	in, err := o.openFile(path)
	if err != nil {
		return nil, nil, err
	}
	if !canMapFile(in) { // a pipe must not be opened twice: its writer may be gone by then
		f, err := readFile(in, o)
		return f, nil, err
	}

	f, m, err := MapFile(in, o)
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return f, m, nil
}

// MapFile is Map for an open file, which the Mapping takes over; on error it stays open. The error wraps
// errors.ErrUnsupported if the file is smaller than 1 MiB or this machine cannot map it.
func MapFile(in *os.File, o Options) (*File, *Mapping, error) {
	if !canMapFile(in) {
		return nil, nil, fmt.Errorf("%s cannot be mapped: %w", in.Name(), errors.ErrUnsupported)
	}

	st, err := in.Stat()
	if err != nil {
		return nil, nil, err
	}

	m := &Mapping{file: in, was: st}
	f, err := m.mapAndCheck(o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", in.Name(), errors.Join(err, m.unmap()))
	}
	return f, m, nil
}

func canMapFile(in *os.File) bool {
	st, err := in.Stat()
	return err == nil && st.Mode().IsRegular() && CanMap(uint64(st.Size()))
}

// CanMap reports whether Map maps a regular file of a size in bytes.
func CanMap(bytes uint64) bool {
	return canMap && bitvec.LittleEndian && bytes >= mappable && bytes <= uint64(^uint(0)>>1)
}

// Bytes returns the mapped file. Read it in Guard, and do not write to it.
func (m *Mapping) Bytes() []byte { return m.data }

func (m *Mapping) mapAndCheck(o Options) (f *File, err error) {
	size := m.was.Size() // address space may be short for a large file: the header first
	if _, err := checkHeader(io.NewSectionReader(m.file, 0, size), uint64(size), o); err != nil {
		return nil, err
	}
	if m.data, err = mapFile(m.file, int(size)); err != nil {
		return nil, err
	}
	if fault := m.Guard(func() {
		m.head = bytes.Clone(m.data[:headerSize])
		f, _, err = FromBytes(m.data, o)
	}); fault != nil {
		return nil, fault
	}
	return f, err
}

// Err returns an error wrapping filter.ErrFile if the file was written to or truncated since it was mapped: if its
// size, time of modification or header changed.
func (m *Mapping) Err() error {
	if m == nil {
		return nil
	}
	changed, err := m.changed()
	if err != nil {
		return fmt.Errorf("%s: %w", m.file.Name(), err)
	}
	if !changed && m.Guard(func() { changed = !bytes.Equal(m.data[:headerSize], m.head) }) != nil || changed {
		return fmt.Errorf("%s: %w", m.file.Name(), filter.ErrFile)
	}
	return nil
}

// changed reports whether size or time of modification of the file differ from when it was mapped.
func (m *Mapping) changed() (bool, error) {
	now, err := m.file.Stat()
	if err != nil {
		return false, err
	}
	return now.Size() != m.was.Size() || !now.ModTime().Equal(m.was.ModTime()), nil
}

// Close unmaps the file. Its sections must not be used afterwards.
func (m *Mapping) Close() error {
	if m == nil || m.file == nil {
		return nil
	}
	err := errors.Join(m.unmap(), m.file.Close())
	m.file = nil
	return err
}

// unmap unmaps the file and leaves it open.
func (m *Mapping) unmap() (err error) {
	if m.data != nil {
		err = unmapFile(m.data)
	}
	m.data = nil
	return err
}

// Release returns the pages of the mapping that hold words to the system, where the system supports this. The next use
// of the pages loads them from the file again. A pass over the sections that releases each part after its use keeps
// only one part in memory. It does nothing if words lie elsewhere, such as in memory that a filter keeps besides its
// sections.
func (m *Mapping) Release(words []uint64) {
	if m == nil {
		return
	}
	b := bitvec.Bytes(words)
	if at, ok := bitvec.Offset(m.data, b); ok {
		// The last page may hold words that are read next, so it stays. The first one holds words that were read
		// before.
		page := os.Getpagesize()
		releasePages(m.data[at/page*page : (at+len(b))/page*page])
	}
}

// Guard calls f and turns a fault in the mapping into an error wrapping filter.ErrFile. Reading memory beyond the end
// of a truncated file causes such a fault. Other panics propagate.
func (m *Mapping) Guard(f func()) (err error) {
	if m == nil {
		f()
		return nil
	}
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		err = m.Fault(recover())
	}()
	f()
	return nil
}

// Fault classifies p, the result of recover. It returns nil if p is nil, and an error wrapping filter.ErrFile if p is a
// fault in the mapping. Else, and for a nil or closed mapping, it panics with p.
func (m *Mapping) Fault(p any) error {
	switch {
	case p == nil:
		return nil
	case m == nil || m.file == nil: // not mapped, or closed
		panic(p)
	}
	if fault, ok := p.(interface{ Addr() uintptr }); ok && bitvec.Within(m.data, fault.Addr()) {
		return fmt.Errorf("%s: %w", m.file.Name(), filter.ErrFile)
	}

	// Some systems do not report the address.
	if _, ok := p.(runtime.Error); ok {
		if changed, err := m.changed(); changed || err != nil {
			return fmt.Errorf("%s: %w", m.file.Name(), filter.ErrFile)
		}
	}
	panic(p)
}
