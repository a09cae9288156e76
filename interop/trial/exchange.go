package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/interop"
)

// exchange is how a system with a format of package interop is compared.
type exchange struct {
	format interop.Format
	cases  []testCase
	// configs returns configurations of our filter of a case. The first one that New accepts is taken: a rate may be
	// out of reach for few keys.
	configs func(c testCase) []bloomery.Config
	// hash is Config.Hash of a filter with the spec of one of theirs.
	hash config
	// inFile is true if filters lie in a larger file. Ours are then written over theirs in such a file.
	inFile bool
	// differs is true if the system does not give the same bytes for the same size and keys.
	differs bool
	// noAgain is true if the system cannot write a filter that it has read.
	noAgain bool
}

// config is what a spec needs beside it.
type config = bloomery.Config

// files are the temporary files of a case.
type files struct{ present, all, theirs, ours, again, answers string }

func (t *trial) files() files {
	at := func(name string) string { return filepath.Join(t.dir, name) }
	return files{at("present.keys"), at("all.keys"), at("theirs"), at("ours"), at("again"), at("answers")}
}

// exchange compares the system in all cases. It closes the peer.
func (t *trial) exchange(p peer, x exchange) (err error) {
	defer func() { err = errors.Join(err, p.close()) }()
	t.result.Version = p.version()
	return t.each(x.cases, func(c testCase) error {
		keys := generate(c.kind, c.seed, 0, c.keys+c.absent())
		f := t.files()
		err := errors.Join(writeKeys(f.present, keys[:c.keys]), writeKeys(f.all, keys))
		if err != nil {
			return err
		}
		keys = hashed(c.kind, keys)
		sets, parts, err := t.theirs(p, x, c, f, keys)
		switch {
		case err != nil:
		case x.inFile:
			err = t.placed(p, x, c, f, keys, sets, parts)
		default:
			err = t.ours(p, x, c, f, keys)
		}
		if err != nil && t.ctx.Err() == nil {
			err = fmt.Errorf("%s: %w", c, err)
		}
		return err
	})
}

// theirs compares a file that the system has written: it is read, kept as a file of ours, and written again; and our
// filter with the same spec and keys must have the same bytes. It returns our sets and where they lie in the file.
func (t *trial) theirs(p peer, x exchange, c testCase, f files, keys [][]byte) ([]*bloomery.Set, []part, error) {
	parts, err := p.build(c, f.present, f.theirs)
	if err != nil {
		return nil, nil, err
	}
	var sets []*bloomery.Set
	var members []span
	first := 0
	for _, w := range parts {
		theirs, err := w.slice(f.theirs)
		if err != nil {
			return nil, nil, err
		}
		set, again, err := throughOurs(x.format, theirs)
		if err != nil {
			return nil, nil, fmt.Errorf("a filter of theirs: %w", err)
		}
		t.same(&t.result.Theirs, c, "their filter, written by us again", theirs, again)
		in := span{first, c.keys}
		if w.rows >= 0 {
			in.end = first + w.rows
		}
		first = in.end
		if !x.differs {
			x.hash.Spec = set.Spec().String()
			_, built, err := buildOurs(x.format, []config{x.hash}, keys[in.first:in.end])
			if err != nil {
				return nil, nil, err
			}
			t.same(&t.result.Theirs, c, "our filter with their spec and keys", theirs, built)
		}
		sets, members = append(sets, set), append(members, in)
	}
	if first != c.keys {
		return nil, nil, fmt.Errorf("filters for %d keys", first)
	}
	if err := p.ask(c, f.theirs, f.all, f.answers); err != nil {
		return nil, nil, err
	}
	return sets, parts, t.compare(&t.result.Theirs, c, sets, members, keys, f.answers)
}

// ours compares a file of ours that the system reads, and writes again.
func (t *trial) ours(p peer, x exchange, c testCase, f files, keys [][]byte) error {
	set, file, err := buildOurs(x.format, x.configs(c), keys[:c.keys])
	if err != nil {
		return err
	}
	if err := os.WriteFile(f.ours, file, 0o600); err != nil {
		return err
	}
	if err := p.ask(c, f.ours, f.all, f.answers); err != nil {
		return err
	}
	if err := t.compare(&t.result.Ours, c, []*bloomery.Set{set}, []span{{0, c.keys}}, keys, f.answers); err != nil {
		return err
	}
	if x.noAgain {
		return nil
	}
	if err := p.again(c, f.ours, f.again); err != nil {
		return err
	}
	again, err := os.ReadFile(f.again)
	t.same(&t.result.Ours, c, "our filter, written by the system again", file, again)
	return err
}

// placed writes filters of ours over those in a file of the system. They have the sizes of theirs, but other keys: as
// many of the absent keys. So all yes answers come from our bytes.
func (t *trial) placed(
	p peer, x exchange, c testCase, f files, keys [][]byte, theirs []*bloomery.Set, parts []part,
) error {
	file, err := os.OpenFile(f.theirs, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	var sets []*bloomery.Set
	var members []span
	first := c.keys
	for i, w := range parts {
		in := span{first, first + c.keys/len(parts)}
		first = in.end
		x.hash.Spec = theirs[i].Spec().String()
		set, ours, err := buildOurs(x.format, []config{x.hash}, keys[in.first:in.end])
		if err == nil && int64(len(ours)) != w.length {
			err = fmt.Errorf("our filter has %d bytes, theirs %d", len(ours), w.length)
		}
		if err == nil {
			_, err = file.WriteAt(ours, w.offset)
		}
		if err != nil {
			return errors.Join(err, file.Close())
		}
		sets, members = append(sets, set), append(members, in)
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := p.ask(c, f.theirs, f.all, f.answers); err != nil {
		return err
	}
	return t.compare(&t.result.Ours, c, sets, members, keys, f.answers)
}

// throughOurs reads a filter, writes it as a file of ours, reads that and returns it with its bytes in the format.
func throughOurs(format interop.Format, file []byte) (*bloomery.Set, []byte, error) {
	set, err := interop.Read(bytes.NewReader(file), format, uint64(len(file)))
	if err != nil {
		return nil, nil, err
	}
	own, err := set.MarshalBinary()
	if err != nil {
		return nil, nil, err
	}
	if set, err = bloomery.FromBytes(own); err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	err = interop.Write(&b, set, format)
	return set, b.Bytes(), err
}

// buildOurs makes a filter of ours from the first of the configurations that New accepts, and returns it with its bytes
// in the format.
func buildOurs(format interop.Format, configs []config, keys [][]byte) (set *bloomery.Set, file []byte, err error) {
	for _, one := range configs {
		one.Keys = uint64(max(1, len(keys)))
		if set, err = bloomery.New(one); err == nil {
			break
		}
	}
	if err != nil {
		return nil, nil, err
	}
	for _, k := range keys {
		if err := set.Add(k); err != nil {
			return nil, nil, err
		}
	}
	var b bytes.Buffer
	err = interop.Write(&b, set, format)
	return set, b.Bytes(), err
}

// span is a range of keys: those from first up to, but not including, end.
type span struct{ first, end int }

// compare compares the answers of our sets with those in a file. A set must have all keys of its span.
func (t *trial) compare(
	d *direction, c testCase, sets []*bloomery.Set, members []span, keys [][]byte, path string,
) error {
	bits, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if want := (len(sets)*len(keys) + 7) / 8; len(bits) != want {
		return fmt.Errorf("%d bytes of answers, want %d", len(bits), want)
	}
	ours := make([]bool, len(keys))
	for i, set := range sets {
		bloomery.Keyed[[]byte](set).ContainsMany(ours, keys)
		d.Filters++
		for j, key := range keys {
			at := i*len(keys) + j
			theirs := bits[at/8]>>(at%8)&1 == 1
			single := set.Contains(key)
			if c.kind == long {
				single = bloomery.Keyed[uint64](set).Contains(binary.LittleEndian.Uint64(key))
			}
			in := members[i].first <= j && j < members[i].end
			d.Answers++
			switch {
			case theirs != ours[j] || theirs != single:
				t.fault(d, "%s: filter %d, key %q: theirs %t, ours %t and %t", c, i, key, theirs, ours[j], single)
			case in && !theirs:
				t.fault(d, "%s: filter %d, key %q: a false negative on both sides", c, i, key)
			case theirs && !in:
				d.FalsePositives++
			}
		}
	}
	return nil
}

// same notes whether two files are equal.
func (t *trial) same(d *direction, c testCase, what string, want, got []byte) {
	if bytes.Equal(want, got) {
		d.EqualFiles++
		return
	}
	t.fault(d, "%s: %s has other bytes: %d, want %d", c, what, len(got), len(want))
}
