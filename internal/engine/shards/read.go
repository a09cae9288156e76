package shards

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/live"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// attempt is read that also keeps the error for Err and for the next attempt. The caller holds the lock of the part.
func (t *Set) attempt(i int, inMemory bool) (*one.Set, error) {
	p := &t.parts[i]
	set, err := t.readShard(i, inMemory)
	if err == nil {
		p.failed.Store(nil)
		return set, nil
	}

	f := live.After(p.failed.Load(), t.Fail(i, err), time.Now())
	p.failed.Store(f)
	if f.Final() {
		p.release()
	}
	return nil, f.Err
}

// readShard reads or maps the file of a shard and checks it completely. The caller holds the lock of the part.
func (t *Set) readShard(i int, inMemory bool) (set *one.Set, err error) {
	if t.derive != nil {
		return t.derive(i)
	}

	in := t.parts[i].file
	if in == nil {
		if in, err = t.openShard(i); err != nil {
			return nil, err
		}
	}
	if !inMemory && t.isMapped(i) {
		return t.mapped(i, in)
	}
	// A held file stays open: after a replaced set, its name may be gone, and a transient error is tried again.
	if t.parts[i].file == nil {
		defer in.Close()
	}
	if err := t.options.Open(in.Name()); err != nil {
		return nil, err
	}

	b, err := t.readBytes(i, in)
	if err != nil {
		return nil, err
	}

	f, _, err := container.FromBytes(b, t.reading(i))
	if err == nil {
		err = t.checkSum(i, sha256.Sum256(b))
	}
	if err != nil {
		return nil, err
	}
	return one.Decode(f, nil, t.options)
}

// mapped maps the open file of a shard, which it takes over; if it cannot be mapped, a held file stays open.
func (t *Set) mapped(i int, in *os.File) (*one.Set, error) {
	var f *container.File
	var m *container.Mapping
	err := t.options.Open(in.Name())
	if err == nil {
		f, m, err = container.MapFile(in, t.reading(i))
	}
	if err != nil {
		if in != t.parts[i].file {
			err = errors.Join(err, in.Close())
		}
		return nil, err
	}

	t.parts[i].file = nil
	var sum [sha256.Size]byte
	if err = m.Guard(func() { sum = sha256.Sum256(m.Bytes()) }); err == nil {
		err = t.checkSum(i, sum)
	}

	var set *one.Set
	if err == nil {
		set, err = one.Decode(f, m, t.options)
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return set, nil
}

// checkSum compares the SHA-256 of a file with the manifest.
func (t *Set) checkSum(i int, sum [sha256.Size]byte) error {
	if want := t.manifest.Shards[i].SHA256; sum != want {
		return fmt.Errorf("SHA-256 %x..., want %x...: %w%s", sum[:4], want[:4], shard.ErrChanged, adviceCopy)
	}
	return nil
}

// readBytes reads the open file of a shard into aligned memory.
func (t *Set) readBytes(i int, in *os.File) ([]byte, error) {
	n := t.manifest.Shards[i].Bytes
	words, err := bitvec.Alloc((n + 7) / 8)
	if err != nil {
		return nil, err
	}

	b := bitvec.Bytes(words)[:n]
	if got, err := in.ReadAt(b, 0); err != nil && !(err == io.EOF && got == len(b)) {
		if err == io.EOF {
			err = wrongSize(int64(got), n)
		}
		return nil, err
	}

	// The file may have grown: ReadAt does not notice bytes behind the expected end.
	st, err := in.Stat()
	if err == nil && uint64(st.Size()) != n {
		err = wrongSize(st.Size(), n)
	}
	return b, err
}

// openShard opens the file of a shard and checks its size.
func (t *Set) openShard(i int) (*os.File, error) {
	path := filepath.Join(t.dir, t.manifest.Shards[i].File)
	if err := t.options.Open(path); err != nil {
		return nil, err
	}

	// The number is read before the attempt: if files were closed since, trying again is worth it.
	turn := t.crowd.turns.Load()
	in, st, err := untrusted.Open(path)
	for errors.Is(err, syscall.EMFILE) && t.closeHeld(turn) {
		turn = t.crowd.turns.Load()
		in, st, err = untrusted.Open(path)
	}
	if err != nil {
		return nil, err
	}
	if uint64(st.Size()) != t.manifest.Shards[i].Bytes {
		return nil, errors.Join(wrongSize(st.Size(), t.manifest.Shards[i].Bytes), in.Close())
	}
	return in, nil
}

// closeHeld closes the files that are held open, because the process has too many open files. From then on no file is
// held. It reports whether to try again: it closed a file, or another goroutine has closed one since turn.
func (t *Set) closeHeld(turn uint64) (again bool) {
	t.crowd.mu.Lock()
	defer t.crowd.mu.Unlock()
	if t.crowd.turns.Load() != turn {
		return true
	}

	t.crowd.full.Store(true)
	for i := range t.parts {
		p := &t.parts[i]
		if !p.mu.TryLock() { // it is loaded at this moment
			continue
		}
		if p.file != nil {
			p.release()
			again = true
		}
		p.mu.Unlock()
	}
	t.crowd.turns.Add(1)
	return again
}

// reading returns the options of container that check the header of a shard against the manifest.
func (t *Set) reading(i int) container.Options {
	limit := t.options.Limit()
	return container.Options{MaxBytes: limit, Check: func(f *container.File, words []uint64) error {
		err := shardset.CheckHeader(t.manifest, i, f)
		if bad := (*container.FormatError)(nil); errors.As(err, &bad) {
			bad.Err = fmt.Errorf("%w%s", bad.Err, adviceCopy)
			return bad
		}
		return families.Accept(f.Family, f.Spec, f.Hash, words, limit-f.Bytes)
	}}
}

const adviceCopy = "; copy the folder again, with all of its files, or build the set again"

func wrongSize(have int64, want uint64) error {
	return fmt.Errorf("%d bytes, want %d: %w%s", have, want, shard.ErrChanged, adviceCopy)
}

// Fail returns an error of a shard as a *shard.Error with its path.
func (t *Set) Fail(i int, err error) error {
	var s *shard.Error
	if errors.As(err, &s) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}

	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err // without the path
	}
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("the file is missing: %w%s", err, adviceCopy)
	}
	return &shard.Error{File: filepath.Join(t.dir, t.manifest.Shards[i].File), Err: err}
}
