package main

import (
	"context"
	"sync/atomic"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/keyio"
)

// lookup appends the line about a key to a buffer, if there is one, and reports whether the filter holds the key.
type lookup func(to, key []byte) (line []byte, present bool, err error)

// lookUp prints the output of look for each key of the inputs. It returns errNo if the filter holds none of them.
func (a *app) lookUp(
	ctx context.Context, set *bloomery.Set, in inputFlags, inputs []string, what string, look lookup,
) error {
	var any atomic.Bool
	err := a.pass(ctx, in, inputs, a.answering(what), func(b *keyio.Batch) error {
		for _, k := range b.Keys {
			line, present, err := look(b.Out, k)
			if err != nil {
				return err
			}
			if b.Out = line; present {
				any.Store(true)
			}
		}
		return nil
	}, a.print)
	if err == nil {
		err = set.Err()
	}
	if err == nil && !any.Load() {
		err = errNo
	}
	return err
}
