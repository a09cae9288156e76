package kernel

import "unsafe"

// Shards finds the shard of a key, as shard.Route does, in slots of ShardSize bytes. The first byte of a slot is 1 if
// the shard is loaded. The slot then has the address of its Probe at ProbeOffset, or nil if the shard is asked in Go.
type Shards struct {
	// The assembly depends on the order of these fields.
	Slots unsafe.Pointer
	Count uint64
}

// The layout of a slot.
const (
	ShardSize   = 64
	ProbeOffset = 56
)

// Probe returns the Probe of s.
func (s *Shards) Probe() Probe { return Probe{howShards, unsafe.Pointer(s)} }

// ProbeInShard returns the Probe of the filter of a shard, or nil if there is none.
func ProbeInShard(f Filter) *Probe {
	p, ok := f.(Prober)
	if !ok || !probes {
		return nil
	}
	probe := p.Probe()
	if probe.how == 0 || probe.how == howChains { // howChains goes on in the filter of the Query
		return nil
	}
	return &probe
}
