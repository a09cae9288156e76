package exact

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/drift"
)

// TestUpdateShrunk checks that an update from a truncated list is refused, unless Config.Shrink allows it.
func TestUpdateShrunk(t *testing.T) {
	for _, partitioned := range []bool{false, true} {
		l := newList(28, 1000, 100)
		s := l.build(t, partitioned)
		before := bytesOf(t, s)
		update := func(l *list, most float64) error {
			t.Helper()
			next, err := built(t.Context(), l.members(), l.universe(), Config{Base: s, Shrink: most})
			if err == nil {
				if n := l.wrong(next); n > 0 {
					t.Errorf("%d wrong answers", n)
				}
				return nil
			}
			if next != nil {
				t.Errorf("a set besides the error %v", err)
			}
			return err
		}
		for _, c := range []struct {
			members, others int // that remain of 100 and 900
			most            float64
			refused         string
			before, after   uint64
		}{
			{100, 900, 0, "", 0, 0},
			{90, 910, 0, "", 0, 0},
			{89, 911, 0, "members", 100, 89},
			{89, 911, .11, "", 0, 0},
			{89, 911, .1, "members", 100, 89},
			{0, 1000, .99, "members", 100, 0},
			{0, 1000, 1, "", 0, 0},
			{100, 899, 0, "keys of the universe", 1000, 999},
			{100, 899, .001, "", 0, 0},
			{98, 882, .02, "", 0, 0},
			{98, 881, .02, "keys of the universe", 1000, 979},
			{0, 0, .5, "members", 100, 0},
			{0, 0, 1, "", 0, 0},
			{150, 900, 0, "", 0, 0},
		} {
			now := &list{member: map[string]bool{}}
			for _, key := range l.keys {
				if in := l.member[key]; in && c.members > 0 {
					now.keys, now.member[key] = append(now.keys, key), true
					c.members--
				} else if !in && c.others > 0 {
					now.keys = append(now.keys, key)
					c.others--
				}
			}
			for now.next = 5000; c.members+c.others > 0; {
				if now.add(); c.members > 0 {
					now.member[now.keys[len(now.keys)-1]] = true
					c.members--
				} else {
					c.others--
				}
			}
			err := update(now, c.most)
			var shrunk *drift.ShrinkError
			if errors.As(err, &shrunk) != (c.refused != "") || (err == nil) != (c.refused == "") {
				t.Fatalf("partitioned %t, %+v: %v", partitioned, c, err)
			}
			if err != nil && (shrunk.What != c.refused || shrunk.Before != c.before || shrunk.After != c.after ||
				!errors.Is(err, filter.ErrShrunk)) {
				t.Errorf("partitioned %t, %+v: %v", partitioned, c, err)
			}
		}
		if !slices.Equal(bytesOf(t, s), before) {
			t.Error("the old set has changed")
		}
	}
}

// TestConfigRefused checks that numbers out of range are refused before a key is added.
func TestConfigRefused(t *testing.T) {
	for _, c := range []Config{
		{Shrink: -.1}, {Shrink: 1.1}, {Shrink: math.NaN()}, {Memory: -1}, {Workers: -1},
		{Seed: 1, Secret: &vectorSecret},
	} {
		if _, err := NewBuilder(c); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
