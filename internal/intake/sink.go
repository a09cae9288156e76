package intake

import "github.com/bloomery/bloomery/filter"

// To returns a Sink of two functions. Keys with values get the error noValues.
func To(add func(hs []filter.Hash) error, end func() error, noValues error) Sink {
	return &to{add, end, noValues}
}

type to struct {
	add      func(hs []filter.Hash) error
	end      func() error
	noValues error
}

func (t *to) AddMany(hs []filter.Hash) error              { return t.add(hs) }
func (t *to) AddValues(_ []filter.Hash, _ []uint64) error { return t.noValues }
func (t *to) ValueBits() (int, error)                     { return 0, t.noValues }
func (t *to) Close() error                                { return t.end() }

// tee is a Sink with a function that gets all hashes first, those of keys with values only if values is true.
type tee struct {
	Sink
	first  func(hs []filter.Hash) error
	values bool
}

func (t *tee) AddMany(hs []filter.Hash) error {
	if err := t.first(hs); err != nil {
		return err
	}
	return t.Sink.AddMany(hs)
}

func (t *tee) AddValues(hs []filter.Hash, values []uint64) error {
	if t.values {
		if err := t.first(hs); err != nil {
			return err
		}
	}
	return t.Sink.AddValues(hs, values)
}
