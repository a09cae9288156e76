package flows

import (
	"errors"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// table maps flows to small states. It forgets a flow one to two periods after its last packet.
type table struct {
	spec       string // such as rankindexed(fpr=0.001,value_bits=2)
	flows      uint64 // the largest number of flows in a period
	young, old *bloomery.Set
}

// rotate begins a period. Call it twice before the first packet.
func (t *table) rotate() (err error) {
	t.old = t.young
	t.young, err = bloomery.New(bloomery.Config{Spec: t.spec, Keys: t.flows})
	return err
}

// packet replaces the state of a flow by next(state). State 0 stands for a flow that the table does not contain.
func (t *table) packet(flow []byte, next func(state uint64) uint64) error {
	state, found, err := t.young.Get(flow)
	if err == nil && !found {
		state, _, err = t.old.Get(flow)
	}
	if err != nil {
		return err
	}
	if state = next(state); state > 0 {
		return t.young.Upsert(flow, state) // moves the flow into the young generation
	}
	for _, set := range []*bloomery.Set{t.young, t.old} {
		if err := set.Remove(flow); err != nil && !errors.Is(err, filter.ErrNotFound) {
			return err
		}
	}
	return nil
}
