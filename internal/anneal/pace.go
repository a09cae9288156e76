package anneal

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/gather"
)

// Workers returns how many goroutines to search with: so many, or GOMAXPROCS for 0, but not more than there are parts.
func Workers(n int, parts uint64) int {
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return int(min(uint64(n), parts))
}

// Each gives the parts of some keys, in any order, to workers that work at once, one for each worker that NewPace was told
// of. worker is called for each of them and returns what it does with a part. Once the Pace is stopped and the search is not
// to be kept, no more parts are given and Each returns the error of the context; if it is to be kept, all parts are given, so
// that no key is lacking. Otherwise Each returns the first error of a worker.
func (p *Pace) Each(keys *gather.Keys, part func(filter.Hash) uint64, worker func() func(part uint64, keys []filter.Hash) error) error {
	type job struct {
		part uint64
		keys []filter.Hash
	}
	jobs := make(chan job, p.workers)
	var once sync.Once
	var failed error
	var wg sync.WaitGroup
	for range p.workers {
		wg.Go(func() {
			work := worker()
			for j := range jobs {
				if err := work(j.part, j.keys); err != nil {
					once.Do(func() { failed = err })
				}
			}
		})
	}
	err := keys.Each(context.WithoutCancel(p.ctx), part, func(part uint64, keys []filter.Hash) error {
		if stopped, keep := p.Stopped(); stopped && !keep {
			return p.ctx.Err()
		}
		jobs <- job{part, keys}
		return nil
	})
	close(jobs)
	wg.Wait()
	if stopped, keep := p.Stopped(); stopped && !keep {
		return p.ctx.Err()
	}
	if err == nil {
		err = failed
	}
	return err
}

// Promise asks for all keys of a part that was searched, for a hundredth of the time, and returns an error if one is lost.
func Promise(f interface{ Has(filter.Hash) bool }, keys []filter.Hash) error {
	for _, h := range keys {
		if !f.Has(h) {
			return errors.New("a key does not answer after the build; this is a fault of the search, please report it")
		}
	}
	return nil
}
