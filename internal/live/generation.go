package live

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// Generation is the value of one file. It is released after the last use.
type Generation[T Value] struct {
	Value T
	uses
}

// uses counts the uses of a generation that run. It is not generic so that the compiler inlines Release.
type uses struct {
	counters [stripes]Use
	free     func()        // releases the value, or nil
	gone     chan struct{} // closed when the value has been replaced and all its uses have ended
	once     sync.Once
	old      atomic.Bool
}

// stripes is the number of counters of a generation. Several avoid contention between cores.
const stripes = 16

// Use is one of the counters of a generation.
type Use struct {
	n atomic.Int64
	_ [56]byte // so that two counters do not share a cache line
}

// swap makes value the current one and returns the generation before, or nil.
func (f *File[T]) swap(value T) (old *Generation[T]) {
	g := &Generation[T]{Value: value, uses: uses{gone: make(chan struct{})}}
	if release := f.config.Release; release != nil {
		g.free = func() { release(value) }
	}
	return f.current.Swap(g)
}

// Current returns the value without a use: it may be released at any time, unless Config.Release is nil.
func (f *File[T]) Current() T { return f.current.Load().Value }

// Acquire returns the current generation, whose value is not released until the generation gets the Use back by
// Release.
func (f *File[T]) Acquire() (*Generation[T], *Use) {
	for {
		g := f.current.Load()
		u := &g.counters[rand.Uint32()%stripes]
		u.n.Add(1)
		if f.current.Load() == g {
			return g, u
		}
		g.Release(u) // replaced in the meantime, and perhaps released
	}
}

// View calls do with the current value, which is not released until do returns.
func (f *File[T]) View(do func(value T)) {
	g, u := f.Acquire()
	defer g.Release(u)
	do(g.Value)
}

// Release ends a use. The last one of a generation that was replaced releases its value.
func (s *uses) Release(u *Use) {
	u.n.Add(-1)
	if s.old.Load() {
		s.settle()
	}
}

// retire releases the value as soon as it has no use.
func (s *uses) retire() {
	s.old.Store(true)
	s.settle()
}

// settle releases the value if it has no use. It is called after old is set, by retire and by every Release from then
// on; the last of these finds all counters at 0. A use that is counted later sees that the generation was replaced,
// before it touches the value.
func (s *uses) settle() {
	for i := range s.counters {
		if s.counters[i].n.Load() != 0 {
			return
		}
	}
	s.once.Do(func() {
		if s.free != nil {
			s.free()
		}
		close(s.gone)
	})
}
