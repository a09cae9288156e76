package steps_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/steps"
)

// slow is a Store in which opening a run file blocks until least calls have waited at the same time, and for another
// moment. It counts the waiting calls.
type slow struct {
	*memory
	mu               sync.Mutex
	now, most, least int
}

func (s *slow) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	if strings.HasSuffix(name, ".run") {
		s.mu.Lock()
		s.now++
		s.most = max(s.most, s.now)
		for end := time.Now().Add(20 * time.Second); s.most < s.least && time.Now().Before(end); {
			s.mu.Unlock()
			time.Sleep(time.Millisecond)
			s.mu.Lock()
		}
		s.least = 0
		s.mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}
	return s.memory.Open(ctx, name, offset, length)
}

// TestBuildReads checks that a Build reads several segments at the same time, within Options.Memory, and that the shard
// is the same.
func TestBuildReads(t *testing.T) {
	_, text := lines("key", 20_000)
	in, out := memoryOf("keys", text), memoryOf()
	p, err := steps.NewPlan(t.Context(), in, []string{"keys"},
		steps.Config{Build: bloomery.Config{Spec: "fuse", Sharding: bloomery.Sharding{Shards: 3}}, RangeBytes: 5000})
	check(t, err)
	for i := range p.Ranges {
		if _, err := p.Range(t.Context(), in, out, i, steps.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Gather(t.Context(), out, nil, steps.Options{}); err != nil {
		t.Fatal(err)
	}
	if len(p.Ranges) < 32 {
		t.Fatalf("%d ranges", len(p.Ranges))
	}
	var files []string
	for _, c := range []struct {
		o           steps.Options
		least, most int
	}{
		{steps.Options{Workers: 1}, 8, 16},
		{steps.Options{Workers: 1, Memory: 1 << 20}, 1, 2},
		{steps.Options{Workers: 20, Memory: 1 << 20}, 3, 20},
	} {
		s := &slow{memory: out, least: c.least}
		e, err := p.Build(t.Context(), s, 1, c.o)
		check(t, err)
		if s.most < c.least || s.most > c.most {
			t.Errorf("%+v: %d segments at the same time, want %d to %d", c.o, s.most, c.least, c.most)
		}
		files = append(files, out.objects[e.File])
		delete(out.objects, e.File)
	}
	if files[0] != files[1] || files[0] != files[2] {
		t.Error("the shards differ")
	}
}
