package container

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/sums"
)

// testdata/refused.json is a list of edits of files of testdata. Every reader must refuse or accept each result, as
// stated. Readers in other languages also apply them. The secret of files with hash 2 is 01 02 03 and thirteen zeros.

// edited is an entry of refused.json. A file is edited in the order of the fields.
type edited struct {
	Name   string  `json:"name"`
	File   string  `json:"file"`             // file from testdata
	Length *int    `json:"length,omitempty"` // first the file is cut to this length, or filled with zeros up to it
	Edits  []patch `json:"edits"`            // then these bytes are overwritten, all below the length
	// If Checksums is true, the CRC-32C of each section whose entry and bytes are in the file is then recomputed, and
	// after that the checksum of the header, if its bytes are in the file.
	Checksums bool `json:"checksums,omitempty"`
	Refused   bool `json:"refused"`
	// Unknown is true if every reader must return its error for an unknown family.
	Unknown bool `json:"unknown,omitempty"`
	// Newer is true if every reader must return its error for a file that is newer than itself.
	Newer bool `json:"newer,omitempty"`

	reason string // the errors of Go must contain this text
}

// patch overwrites bytes of a file.
type patch struct {
	Offset int    `json:"offset"`
	Hex    string `json:"hex"`
}

// apply returns the edited file.
func (e edited) apply(file []byte) ([]byte, error) {
	b := bytes.Clone(file)
	if e.Length != nil {
		b = append(b, make([]byte, max(0, *e.Length-len(b)))...)[:*e.Length]
	}
	for _, p := range e.Edits {
		content, err := hex.DecodeString(p.Hex)
		if err != nil || p.Offset+len(content) > len(b) {
			return nil, fmt.Errorf("%s: edit at %d: %v", e.Name, p.Offset, err)
		}
		copy(b[p.Offset:], content)
	}
	if e.Checksums {
		mend(b)
	}
	return b, nil
}

// mend recomputes the checksums of a file, as far as their bytes are in the file.
func mend(b []byte) {
	le := binary.LittleEndian
	if len(b) < headerSize {
		return
	}
	n, specLen := uint64(b[14]), uint64(le.Uint32(b[56:]))
	for i := range n {
		at := headerSize + sectionSize*i
		if at+sectionSize > uint64(len(b)) {
			break
		}
		offset, length := le.Uint64(b[at:]), le.Uint64(b[at+8:])
		if offset <= uint64(len(b)) && length <= uint64(len(b))-offset {
			le.PutUint32(b[at+16:], sums.CRC(b[offset:][:length]))
		}
	}
	if end := headerSize + sectionSize*n + specLen; end <= uint64(len(b)) {
		le.PutUint32(b[60:], headerCRC(b, int(end)))
	}
}

// difference returns the edits that change one file into another.
func difference(from, to []byte) (length *int, patches []patch) {
	if len(from) != len(to) {
		n := len(to)
		length = &n
		from = append(bytes.Clone(from), make([]byte, max(0, n-len(from)))...)[:n]
	}
	patches = []patch{}
	for i := 0; i < len(to); {
		if from[i] == to[i] {
			i++
			continue
		}
		end := i + 1
		for j := end; j < len(to) && j < end+4; j++ { // join edits that are close to each other
			if from[j] != to[j] {
				end = j + 1
			}
		}
		patches = append(patches, patch{i, hex.EncodeToString(to[i:end])})
		i = end
	}
	return length, patches
}

// TestRefused writes refused.json with -update and checks all ways of reading a file against it.
func TestRefused(t *testing.T) {
	cases := refusedCases(t)
	var b strings.Builder
	for i, c := range cases {
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s  %s", map[bool]string{true: "[\n", false: ",\n"}[i == 0], line)
	}
	compare(t, "testdata/refused.json", []byte(b.String()+"\n]\n"))

	names, perFamily := map[string]bool{}, map[string][2]int{}
	for _, c := range cases {
		if names[c.Name] {
			t.Errorf("two cases have the name %q", c.Name)
		}
		names[c.Name] = true
		file, err := os.ReadFile(filepath.Join("testdata", c.File))
		if err != nil {
			t.Fatal(err)
		}
		changed, err := c.apply(file)
		if err != nil {
			t.Fatal(err)
		}
		for how, err := range readings(t, changed) {
			if (err != nil) != c.Refused {
				t.Errorf("%s: %s: refused is %t, the error %v", c.Name, how, c.Refused, err)
			} else if err != nil && !strings.Contains(err.Error(), c.reason) {
				t.Errorf("%s: %s: refused without %q: %v", c.Name, how, c.reason, err)
			} else if c.Unknown && !errors.Is(err, filter.ErrFamily) {
				t.Errorf("%s: %s: %v, want an unknown family", c.Name, how, err)
			} else if c.Newer && !errors.Is(err, filter.ErrVersion) {
				t.Errorf("%s: %s: %v, want a newer file", c.Name, how, err)
			}
		}
		for _, f := range families.Names() {
			if strings.HasPrefix(c.Name, f+": ") {
				n := perFamily[f]
				n[map[bool]int{true: 0, false: 1}[c.Refused]]++
				perFamily[f] = n
			}
		}
	}
	for _, f := range families.Names() {
		if n := perFamily[f]; n[0] < 8 || n[1] < 1 {
			t.Errorf("family %s has %d cases to refuse and %d to accept, want 8 and 1", f, n[0], n[1])
		}
	}
	if len(cases) < 150 {
		t.Errorf("%d cases, want at least 150", len(cases))
	}
}

// readings returns the errors of all ways of reading a file.
func readings(t *testing.T, file []byte) map[string]error {
	o := reading{Secret: &secret}
	path := filepath.Join(t.TempDir(), "edited.bloom")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	errs := map[string]error{}
	_, errs["FromBytes"] = filterFromBytes(alignedCopy(file), o)
	_, errs["ReadFile"] = readFilterFile(path, o)
	_, m, err := mapFilter(path, o)
	if errs["Map"] = err; m != nil {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return errs
}

// forger makes cases of one file.
type forger struct {
	t      *testing.T
	family string
	path   string // path from testdata
	file   []byte
	cases  *[]edited
}

// forgery holds the parts of a file, which can be assembled with another layout.
type forgery struct {
	head     []byte // the first 64 bytes
	spec     string
	sections [][]byte
}

func (f forger) with(family, path string) forger {
	file, err := os.ReadFile(filepath.Join("testdata", path))
	if err != nil {
		f.t.Fatal(err)
	}
	f.family, f.path, f.file = family, path, file
	return f
}

// parts splits the file into its parts.
func (f forger) parts() forgery {
	h, err := readHeader(bytes.NewReader(f.file), true)
	if err != nil {
		f.t.Fatal(err)
	}
	p := forgery{head: bytes.Clone(f.file[:headerSize]), spec: h.Spec.String()}
	for _, s := range h.sections {
		p.sections = append(p.sections, bytes.Clone(f.file[s.offset:][:s.length]))
	}
	return p
}

// bytes assembles the file, without checksums.
func (p forgery) bytes() []byte {
	le := binary.LittleEndian
	b := bytes.Clone(p.head)
	b[14] = byte(len(p.sections))
	le.PutUint32(b[56:], uint32(len(p.spec)))
	at := alignUp(uint64(headerSize + sectionSize*len(p.sections) + len(p.spec)))
	for _, s := range p.sections {
		at = alignUp(at)
		b = le.AppendUint64(b, at)
		b = le.AppendUint64(b, uint64(len(s)))
		b = append(b, make([]byte, 8)...)
		at += uint64(len(s))
	}
	b = append(b, p.spec...)
	b = append(b, make([]byte, alignUp(uint64(len(b)))-uint64(len(b)))...)
	for _, s := range p.sections {
		b = append(b, make([]byte, alignUp(uint64(len(b)))-uint64(len(b)))...)
		b = append(b, s...)
	}
	le.PutUint64(b[40:], uint64(len(b)))
	return b
}

// add adds a case: the file with these bytes.
func (f forger) add(name string, refused, checksums bool, changed []byte) {
	base := f.file
	if checksums { // the reader of the test recomputes checksums, so the edits need not contain them
		changed = slices.Clone(changed)
		mend(changed)
		base = slices.Clone(base)
	}
	e := edited{Name: f.family + ": " + name, File: f.path, Checksums: checksums, Refused: refused}
	e.Length, e.Edits = difference(base, changed)
	*f.cases = append(*f.cases, e)
}

// edit adds a case with correct checksums.
func (f forger) edit(name string, refused bool, change func(b []byte)) {
	b := bytes.Clone(f.file)
	change(b)
	f.add(name, refused, true, b)
}

// newer adds a case with correct checksums that must be refused as newer.
func (f forger) newer(name string, change func(b []byte)) {
	f.edit(name, true, change)
	(*f.cases)[len(*f.cases)-1].Newer = true
}

// raw adds a case that must be refused, with unchanged checksums.
func (f forger) raw(name string, change func(b []byte)) {
	b := bytes.Clone(f.file)
	change(b)
	f.add(name, true, false, b)
}

// cut adds a case that must be refused: the file truncated or extended to a length.
func (f forger) cut(name string, n int) {
	f.add(name, true, false, append(bytes.Clone(f.file), make([]byte, max(0, n-len(f.file)))...)[:n])
}

// build adds a case that is assembled from changed parts.
func (f forger) build(name string, refused bool, change func(p *forgery)) {
	p := f.parts()
	change(&p)
	f.add(name, refused, true, p.bytes())
}

// spec adds a case with another spec and unchanged sections.
func (f forger) spec(refused bool, spec string) {
	name := spec
	if len(name) > 80 {
		name = name[:77] + "..."
	}
	f.build("spec "+name, refused, func(p *forgery) { p.spec = spec })
}

// empty adds a case with another spec, no keys, and sections of the given numbers of zero words.
func (f forger) empty(refused bool, spec string, words ...int) {
	f.build(fmt.Sprintf("empty %s, %d words", spec, words), refused, func(p *forgery) {
		p.spec, p.sections = spec, nil
		clear(p.head[32:40])
		for _, n := range words {
			p.sections = append(p.sections, make([]byte, 8*n))
		}
	})
}

// bit adds a case with a bit of a section inverted.
func (f forger) bit(name string, refused bool, section, at int) {
	f.build(name, refused, func(p *forgery) { p.sections[section][at/8] ^= 1 << (at % 8) })
}

// word adds a case with another word of a section.
func (f forger) word(name string, refused bool, section, at int, v uint64) {
	f.build(name, refused, func(p *forgery) { binary.LittleEndian.PutUint64(p.sections[section][8*at:], v) })
}

// keys adds a case with another number of keys.
func (f forger) keys(refused bool, n uint64) {
	f.edit(fmt.Sprintf("%d keys", n), refused, func(b []byte) { binary.LittleEndian.PutUint64(b[32:], n) })
}
