package steps_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bloomery/bloomery/internal/steps"
)

// memory is a Store in memory that can fail. After left operations, each operation returns errCrash. If late is set,
// the first of these still takes effect.
type memory struct {
	mu      sync.Mutex
	objects map[string]string
	limited bool
	left    int
	late    bool
	ops     int
}

var errCrash = errors.New("crash")

// op counts an operation. It reports whether it takes effect, and the error that it returns.
func (m *memory) op() (effect bool, err error) {
	m.ops++
	if !m.limited {
		return true, nil
	}
	m.left--
	switch {
	case m.left >= 0:
		return true, nil
	case m.left == -1:
		return m.late, errCrash
	}
	return false, errCrash
}

func (m *memory) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.op(); err != nil {
		return nil, err
	}
	text, ok := m.objects[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	text = text[min(offset, int64(len(text))):]
	if length >= 0 {
		text = text[:min(length, int64(len(text)))]
	}
	return io.NopCloser(strings.NewReader(text)), ctx.Err()
}

func (m *memory) Stat(_ context.Context, name string) (steps.Object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.op(); err != nil {
		return steps.Object{}, err
	}
	text, ok := m.objects[name]
	if !ok {
		return steps.Object{}, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return steps.Object{Name: name, Size: int64(len(text))}, nil
}

func (m *memory) List(_ context.Context, prefix string) iter.Seq2[steps.Object, error] {
	return func(yield func(steps.Object, error) bool) {
		m.mu.Lock()
		_, err := m.op()
		all := maps.Clone(m.objects)
		m.mu.Unlock()
		if err != nil {
			yield(steps.Object{}, err)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if strings.HasPrefix(name, prefix) && !yield(steps.Object{Name: name, Size: int64(len(all[name]))}, nil) {
				return
			}
		}
	}
}

func (m *memory) Write(ctx context.Context, name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := errors.Join(write(&b), ctx.Err()); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	effect, err := m.op()
	if effect {
		m.objects[name] = b.String()
	}
	return err
}

func (m *memory) Remove(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	effect, err := m.op()
	if effect {
		delete(m.objects, name)
	}
	return err
}

// memoryOf returns a Store with objects, given as name and contents.
func memoryOf(nameText ...string) *memory {
	m := &memory{objects: map[string]string{}}
	for pair := range slices.Chunk(nameText, 2) {
		m.objects[pair[0]] = pair[1]
	}
	return m
}

// fail makes the Store fail after the given number of operations.
func (m *memory) fail(after int, late bool) {
	m.limited, m.left, m.late, m.ops = true, after, late, 0
}

func (m *memory) heal() { m.limited, m.ops = false, 0 }

func (m *memory) String() string { return fmt.Sprintf("%q", slices.Sorted(maps.Keys(m.objects))) }

// conditional is a memory whose objects have versions that follow from the contents, like the ETags of S3. It is a
// steps.Conditional. before, if not nil, is called before each operation except reads of contents and removals.
type conditional struct {
	*memory
	before func()
}

func (c conditional) hook() {
	if c.before != nil {
		c.before()
	}
}

func version(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

func (c conditional) Stat(ctx context.Context, name string) (steps.Object, error) {
	c.hook()
	o, err := c.memory.Stat(ctx, name)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		o.Version = version(c.objects[name])
	}
	return o, err
}

func (c conditional) List(ctx context.Context, prefix string) iter.Seq2[steps.Object, error] {
	c.hook()
	return c.memory.List(ctx, prefix)
}

func (c conditional) Write(ctx context.Context, name string, write func(io.Writer) error) error {
	c.hook()
	return c.memory.Write(ctx, name, write)
}

func (c conditional) WriteIf(ctx context.Context, name, was string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := errors.Join(write(&b), ctx.Err()); err != nil {
		return err
	}
	c.hook()
	c.mu.Lock()
	defer c.mu.Unlock()
	effect, err := c.op()
	if !effect {
		return err
	}
	old, there := c.objects[name]
	if there != (was != "") || there && version(old) != was {
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrExist}
	}
	c.objects[name] = b.String()
	return err
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
