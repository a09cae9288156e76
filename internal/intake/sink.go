package intake

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/spool"
)

// To returns a Sink of two functions. Keys with values get the error noValues.
func To(add func(hs []filter.Hash) error, end func() error, noValues error) Sink {
	return &to{add, end, noValues}
}

type to struct {
	add      func(hs []filter.Hash) error
	end      func() error
	noValues error
}

func (t *to) Add(hs []filter.Hash) error                  { return t.add(hs) }
func (t *to) AddValues(_ []filter.Hash, _ []uint64) error { return t.noValues }
func (t *to) ValueBits() (int, error)                     { return 0, t.noValues }
func (t *to) Close() error                                { return t.end() }

// kept is a Sink that keeps all keys in a spool too.
type kept struct {
	Sink
	spool *spool.Spool
}

func (k *kept) Add(hs []filter.Hash) error {
	if err := k.spool.Add(hs); err != nil {
		return err
	}
	return k.Sink.Add(hs)
}

func (k *kept) AddValues(hs []filter.Hash, values []uint64) error {
	if err := k.spool.Add(hs); err != nil {
		return err
	}
	return k.Sink.AddValues(hs, values)
}

// watched is a Sink with a function that gets all keys without values too.
type watched struct {
	Sink
	see func(hs []filter.Hash)
}

func (w *watched) Add(hs []filter.Hash) error {
	w.see(hs)
	return w.Sink.Add(hs)
}

// ended is a Sink that takes no more keys.
type ended struct {
	Sink
	err error
}

func (e *ended) Add([]filter.Hash) error                 { return e.err }
func (e *ended) AddValues([]filter.Hash, []uint64) error { return e.err }
func (e *ended) ValueBits() (int, error)                 { return 0, e.err }
