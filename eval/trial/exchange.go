package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/interop"
)

// exchange describes how a system with a format of package interop is compared.
type exchange struct {
	format func(c testCase) interop.Format
	cases  []testCase
	// configs returns configurations of our filter of a case, without hash function and number of keys. The first one
	// that New accepts is used, since a rate may be impossible for few keys.
	configs func(c testCase) []bloomery.Config
	// like returns the configuration of our filter that has the same bytes as a filter of the system with the same
	// keys. nil: the spec of the filter that was read.
	like func(c testCase) bloomery.Config
	// state writes into our file of a case what the format states about the choice of the size. nil: nothing.
	state func(c testCase, file []byte)
	// fresh is true if the system counts only keys that were absent.
	fresh bool
	// static is true if keys cannot be added to a filter. The bytes of our filters may then differ.
	static bool
	// inFile reports whether filters are parts of a larger file. Our filters then overwrite the filters in such a file.
	// nil: no.
	inFile func(c testCase) bool
	// mostAsked is the approximate number of queried keys of a case, present and absent together. 0 is all keys.
	mostAsked int
}

// always returns a function that returns the format.
func always(f interop.Format) func(testCase) interop.Format {
	return func(testCase) interop.Format { return f }
}

// job is a case of a system, with its keys.
type job struct {
	p    peer
	x    exchange
	c    testCase
	f    files
	keys [][]byte // the present keys, then the absent ones, as they are hashed
	step int      // each step-th key is queried
}

// files are the temporary files of a case.
type files struct{ present, asked, theirs, ours, again, answers string }

func (t *trial) files() files {
	at := func(name string) string { return filepath.Join(t.dir, name) }
	return files{at("present.keys"), at("asked.keys"), at("theirs"), at("ours"), at("again"), at("answers")}
}

// exchange compares the system in all cases. It closes the peer.
func (t *trial) exchange(p peer, x exchange) (err error) {
	defer func() { err = errors.Join(err, p.Close()) }()
	t.result.Version = p.version()
	return t.each(x.cases, func(c testCase) error {
		keys := generate(c.kind, c.seed, 0, c.keys+c.absent())
		j := &job{p, x, c, t.files(), hashed(c.kind, keys), 1}
		if x.mostAsked > 0 {
			j.step = (len(keys) + x.mostAsked - 1) / x.mostAsked
		}
		err := errors.Join(writeKeys(j.f.present, keys[:c.keys]), writeKeys(j.f.asked, every(j.step, keys)))
		if err != nil {
			return err
		}
		sets, parts, err := t.theirs(j)
		switch {
		case err != nil:
		case x.inFile != nil && x.inFile(c):
			err = t.placed(j, sets, parts)
		default:
			err = t.ours(j, sets[0].Hasher().ID())
		}
		if err != nil && t.ctx.Err() == nil {
			err = fmt.Errorf("%s: %w", c, err)
		}
		return err
	})
}

// theirs compares a file that the system has written. It reads the file, stores it in our format, and writes it again.
// Our filter with the same spec and keys must have the same bytes. theirs returns our sets and their positions in the
// file.
func (t *trial) theirs(j *job) ([]*bloomery.Set, []part, error) {
	parts, err := j.p.build(j.c, j.f.present, j.f.theirs)
	if err != nil {
		return nil, nil, err
	}
	var sets []*bloomery.Set
	var members []span
	first := 0
	for _, w := range parts {
		theirs, err := w.slice(j.f.theirs)
		if err != nil {
			return nil, nil, err
		}
		set, again, err := throughOurs(j.x.format(j.c), theirs)
		if err != nil {
			return nil, nil, fmt.Errorf("a filter of theirs: %w", err)
		}
		t.same(&t.result.Theirs, j.c, "their filter, written by us again", theirs, again)
		in := span{first, j.c.keys}
		if w.rows >= 0 {
			in.end = first + w.rows
		}
		first = in.end
		if !j.x.static {
			_, built, err := j.build(j.like(set), set.Hasher().ID(), j.keys[in.first:in.end])
			if err != nil {
				return nil, nil, err
			}
			if j.x.state != nil {
				j.x.state(j.c, built)
			}
			t.same(&t.result.Theirs, j.c, "our filter with their spec and keys", theirs, built)
		}
		sets, members = append(sets, set), append(members, in)
	}
	if first != j.c.keys {
		return nil, nil, fmt.Errorf("filters for %d keys", first)
	}
	if err := j.p.ask(j.c, j.f.theirs, j.f.asked, j.f.answers); err != nil {
		return nil, nil, err
	}
	return sets, parts, t.compare(j, &t.result.Theirs, sets, members)
}

// ours compares a file that we write with the hash function of the system, and that the system reads and writes again.
func (t *trial) ours(j *job, hash filter.HashID) error {
	set, file, err := j.build(j.x.configs(j.c), hash, j.keys[:j.c.keys])
	if err != nil {
		return err
	}
	if err := os.WriteFile(j.f.ours, file, 0o600); err != nil {
		return err
	}
	if err := j.p.ask(j.c, j.f.ours, j.f.asked, j.f.answers); err != nil {
		return err
	}
	if err := t.compare(j, &t.result.Ours, []*bloomery.Set{set}, []span{{0, j.c.keys}}); err != nil {
		return err
	}
	if err := j.p.again(j.c, j.f.ours, j.f.again); err != nil {
		return err
	}
	again, err := os.ReadFile(j.f.again)
	t.same(&t.result.Ours, j.c, "our filter, written by the system again", file, again)
	return err
}

// placed overwrites the filters in a file of the system with our filters of the same sizes. They contain the same
// numbers of absent keys, so that all yes answers come from our bytes.
func (t *trial) placed(j *job, theirs []*bloomery.Set, parts []part) error {
	file, err := os.OpenFile(j.f.theirs, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	var sets []*bloomery.Set
	var members []span
	first := j.c.keys
	for i, w := range parts {
		in := span{first, first + j.c.keys/len(parts)}
		first = in.end
		set, ours, err := j.build(j.like(theirs[i]), theirs[i].Hasher().ID(), j.keys[in.first:in.end])
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
	if err := j.p.ask(j.c, j.f.theirs, j.f.asked, j.f.answers); err != nil {
		return err
	}
	return t.compare(j, &t.result.Ours, sets, members)
}

// throughOurs reads a filter, writes it in our format, reads that file and returns the filter with its bytes in the
// other format.
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

// like returns the configurations of our filter that is like a filter of the system.
func (j *job) like(theirs *bloomery.Set) []bloomery.Config {
	if j.x.like != nil {
		return []bloomery.Config{j.x.like(j.c)}
	}
	return []bloomery.Config{{Spec: theirs.Spec().String()}}
}

// build makes our filter from the first configuration that is accepted, and returns it with its bytes in the format.
func (j *job) build(configs []bloomery.Config, hash filter.HashID, keys [][]byte) (set *bloomery.Set, file []byte,
	err error) {
	for _, one := range configs {
		one.Keys, one.Hashing.ID = uint64(max(1, len(keys))), hash
		if j.x.static {
			set, err = bloomery.Build(context.Background(), slices.Values(keys), one)
		} else if set, err = bloomery.New(one); err == nil {
			err = addAll(set, keys, j.x.fresh)
		}
		if err == nil {
			break
		}
	}
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	err = interop.Write(&b, set, j.x.format(j.c))
	return set, b.Bytes(), err
}

func addAll(set *bloomery.Set, keys [][]byte, fresh bool) error {
	for _, k := range keys {
		if fresh && set.Contains(k) {
			continue
		}
		if err := set.Add(k); err != nil {
			return err
		}
	}
	return nil
}
