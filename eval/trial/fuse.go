package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/FastFilter/xorfilter"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/interop"
)

// xorfSystem returns the system of the binary fuse filters of the crate xorf, in bincode.
func xorfSystem() system {
	return programSystem("xorf", "crate xorf 0.13.0, by cargo", rust("xorf"), func(t *trial) exchange {
		return fuseExchange("xorf", t.grid(1, []kind{long}, "8", "16", "32"))
	})
}

// fastFilterSystem returns the system of the binary fuse filters of FastFilter/xorfilter, in Go. They are queried in
// this program.
func fastFilterSystem() system {
	about := "Go module github.com/FastFilter/xorfilter, in this program"
	return system{name: "fastfilter", about: about, alone: true, run: func(t *trial) error {
		return t.exchange(fastFilter{}, fuseExchange("xorfilter", t.grid(1, []kind{long}, "8", "16", "32")))
	}}
}

// pyFuseFilterSystem returns the system of the binary fuse filters of FastFilter's library for C, from Python.
// pyfusefilter hashes strings with XXH64.
func pyFuseFilterSystem() system {
	about := "pyfusefilter 1.3, with FastFilter's library for C, by pip"
	return programSystem("pyfusefilter", about, python("pyfusefilter"), func(t *trial) exchange {
		return fuseExchange("fastfilter", t.grid(1, []kind{xxh64}, "8", "16"))
	})
}

// fuseExchange compares binary fuse filters. The form is the width of a slot in bits, which determines the rate, so
// that cases of several rates differ only in their keys. The format is the name followed by the form.
func fuseExchange(name string, cases []testCase) exchange {
	return exchange{
		format:  func(c testCase) interop.Format { return interop.Format(name + c.form) },
		cases:   cases,
		configs: func(c testCase) []bloomery.Config { return []bloomery.Config{{Spec: "fuse(width=" + c.form + ")"}} },
		static:  true,
	}
}

// fastFilter is FastFilter/xorfilter as a peer.
type fastFilter struct{}

// version returns the version of the module that is compiled in.
func (fastFilter) version() string {
	const module = "github.com/FastFilter/xorfilter"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return module + " " + m.Version
			}
		}
	}
	return module
}

func (fastFilter) Close() error { return nil }

// fuseOf holds the calls for filters with slots of one width.
type fuseOf struct {
	build func(numbers []uint64, out string) error
	ask   func(numbers []uint64, file, answers string) error
	again func(file, out string) error
}

func newFuseOf[T xorfilter.Unsigned]() fuseOf { return fuseOf{buildFuse[T], askFuse[T], againFuse[T]} }

// fuses maps the form of a case to its calls.
var fuses = map[string]fuseOf{"8": newFuseOf[uint8](), "16": newFuseOf[uint16](), "32": newFuseOf[uint32]()}

func (fastFilter) build(c testCase, keys, out string) ([]part, error) {
	numbers, err := readNumbers(keys)
	if err != nil {
		return nil, err
	}
	return []part{{0, -1, -1}}, fuses[c.form].build(numbers, out)
}

func (fastFilter) ask(c testCase, file, keys, answers string) error {
	numbers, err := readNumbers(keys)
	if err != nil {
		return err
	}
	return fuses[c.form].ask(numbers, file, answers)
}

func (fastFilter) again(c testCase, file, out string) error { return fuses[c.form].again(file, out) }

func buildFuse[T xorfilter.Unsigned](numbers []uint64, out string) error {
	f, err := xorfilter.NewBinaryFuse[T](numbers)
	if err != nil {
		return err
	}
	return saveFuse(f, out)
}

func askFuse[T xorfilter.Unsigned](numbers []uint64, file, answers string) error {
	f, err := loadFuse[T](file)
	if err != nil {
		return err
	}
	bits := make([]byte, (len(numbers)+7)/8)
	for i, n := range numbers {
		if f.Contains(n) {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return os.WriteFile(answers, bits, 0o600)
}

func againFuse[T xorfilter.Unsigned](file, out string) error {
	f, err := loadFuse[T](file)
	if err != nil {
		return err
	}
	return saveFuse(f, out)
}

// loadFuse reads a file. It returns an error if the filter ends before the file does.
func loadFuse[T xorfilter.Unsigned](file string) (*xorfilter.BinaryFuse[T], error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := bytes.NewReader(b)
	f, err := xorfilter.LoadBinaryFuse[T](r)
	if err == nil && r.Len() > 0 {
		err = fmt.Errorf("%d bytes after the filter", r.Len())
	}
	return f, err
}

func saveFuse[T xorfilter.Unsigned](f *xorfilter.BinaryFuse[T], out string) error {
	var b bytes.Buffer
	if err := f.Save(&b); err != nil {
		return err
	}
	return os.WriteFile(out, b.Bytes(), 0o600)
}

// readNumbers returns the keys of a file, which are of kind long.
func readNumbers(path string) (numbers []uint64, err error) {
	b, err := os.ReadFile(path)
	for ; err == nil && len(b) > 0; b = b[12:] {
		if len(b) < 12 {
			return nil, io.ErrUnexpectedEOF
		}
		numbers = append(numbers, binary.LittleEndian.Uint64(b[4:]))
	}
	return numbers, err
}
