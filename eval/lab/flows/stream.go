package flows

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/bloomery/bloomery/eval/lab/capture"
	"github.com/bloomery/bloomery/eval/lab/experiment"
)

// States of a flow.
const (
	unknown uint64 = iota // the flow is not in the table
	opening               // a SYN was seen
	open
	closing // one side has sent a FIN
)

// event is what a packet tells about its flow.
type event uint8

const (
	data event = iota
	syn
	synAck
	fin
	reset
)

// next returns the state of a flow after a packet.
func (e event) next(state uint64) uint64 {
	switch {
	case e == reset, e == fin && state == closing:
		return unknown
	case e == fin:
		return closing
	case e == syn && state == unknown:
		return opening
	case e == synAck, e == data && state < open:
		return open
	}
	return state
}

// stream is a sequence of packets.
type stream struct {
	keys    [][]byte // the key of each flow
	packets []packet // packets in the order of their times
}

// packet is a packet of flow number flow.
type packet struct {
	at    float64 // time in periods
	flow  uint32
	event event
}

// period is the time between two rotations for captured packets.
const period = 20 * time.Second

// captured returns the packets of Config.Packets or of the capture in the lab, and a name for their source. The key of
// a flow is the protocol and the address and port of both ends, the smaller end first.
func captured(c experiment.Config) (s stream, from string, err error) {
	number := map[string]uint32{}
	var begin time.Time
	from, err = capture.Packets(c.Packets, func(p gopacket.Packet, at time.Time) bool {
		network, transport := p.NetworkLayer(), p.TransportLayer()
		if network == nil {
			return true
		}
		end := func(address, port gopacket.Endpoint) []byte { return append(bytes.Clone(address.Raw()), port.Raw()...) }
		n, t := network.NetworkFlow(), transport.TransportFlow()
		a, b := end(n.Src(), t.Src()), end(n.Dst(), t.Dst())
		if bytes.Compare(a, b) > 0 {
			a, b = b, a
		}
		key := binary.BigEndian.AppendUint16(append(a, b...), uint16(transport.LayerType()))

		flow, seen := number[string(key)]
		if !seen {
			flow = uint32(len(number))
			number[string(key)] = flow
			s.keys = append(s.keys, key)
		}
		if begin.IsZero() {
			begin = at
		}
		s.packets = append(s.packets, packet{at.Sub(begin).Seconds() / period.Seconds(), flow, eventOf(transport)})
		return true
	})
	return s, from, err
}

// eventOf returns the event of a packet. Packets of protocols other than TCP are data.
func eventOf(l gopacket.TransportLayer) event {
	switch tcp, ok := l.(*layers.TCP); {
	case !ok:
		return data
	case tcp.RST:
		return reset
	case tcp.FIN:
		return fin
	case tcp.SYN && tcp.ACK:
		return synAck
	case tcp.SYN:
		return syn
	}
	return data
}

// synthetic returns the packets of n flows that begin during the given number of periods. A flow lasts one period in
// the mean and has six packets with data in the mean. Of the flows 7 in 10 end by two FINs and 1 in 10 by a reset; the
// others fall silent.
func synthetic(r *rand.Rand, n, periods int) (s stream) {
	for flow := range n {
		key := make([]byte, 13) // two addresses, two ports and the protocol
		experiment.FillRandom(r, key)
		s.keys = append(s.keys, key)
		begin := r.Float64() * float64(periods)
		length := r.ExpFloat64()
		add := func(at float64, e event) { s.packets = append(s.packets, packet{begin + at*length, uint32(flow), e}) }
		add(0, syn)
		add(0, synAck)
		for range int(6 * r.ExpFloat64()) {
			add(r.Float64(), data)
		}
		switch end := r.IntN(10); {
		case end < 7:
			add(1, fin)
			add(1, fin)
		case end < 8:
			add(1, reset)
		}
	}
	slices.SortStableFunc(s.packets, func(a, b packet) int { return cmp.Compare(a.at, b.at) })
	return s
}

// truth is what an exact map with the timeouts of the table holds.
type truth struct {
	states      []uint64 // state of the flow of each packet, before the packet
	young, held uint64   // the largest numbers of flows: in the young generation, and in both at the end of a period
}

// exact sends the packets to an exact map.
func (s stream) exact() (t truth) {
	state := make([]uint64, len(s.keys))
	last := make([]int, len(s.keys)) // the period of the last packet
	young, now := uint64(0), 0
	for _, p := range s.packets {
		if at := int(p.at); at != now {
			t.held = max(t.held, held(state, last, now))
			now, young = at, 0
		}
		before := &state[p.flow]
		switch {
		case last[p.flow] < now-1:
			*before = unknown // it timed out
		case last[p.flow] == now && *before != unknown:
			young--
		}
		t.states = append(t.states, *before)
		*before = p.event.next(*before)
		if last[p.flow] = now; *before != unknown {
			young++
			t.young = max(t.young, young)
		}
	}
	t.held = max(t.held, held(state, last, now))
	return t
}

// held returns the number of flows with a state and a packet in this or the last period.
func held(state []uint64, last []int, now int) (n uint64) {
	for flow := range state {
		if state[flow] != unknown && last[flow] >= now-1 {
			n++
		}
	}
	return n
}
