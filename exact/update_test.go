package exact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
)

// list is a universe and its members, by key. In partitioned sets, the partition of a key is "p" + its last digit.
type list struct {
	random *rand.Rand
	next   int // number of the next new key
	keys   []string
	member map[string]bool
}

// newList returns a list of n keys of which members are members.
func newList(seed uint64, n, members int) *list {
	l := &list{random: rand.New(rand.NewPCG(seed, 19)), member: map[string]bool{}}
	for range n {
		l.add()
	}
	for _, i := range l.random.Perm(n)[:members] {
		l.member[l.keys[i]] = true
	}
	return l
}

func (l *list) add() {
	l.keys = append(l.keys, fmt.Sprintf("key %d", l.next))
	l.next++
}

// change removes the given number of members, makes as many other keys members, and replaces some keys of the universe
// by new ones.
func (l *list) change(members, replaced int) {
	gone, come := members, members
	for _, i := range l.random.Perm(len(l.keys)) {
		switch key := l.keys[i]; {
		case l.member[key] && gone > 0:
			delete(l.member, key)
			gone--
		case !l.member[key] && come > 0:
			l.member[key] = true
			come--
		}
	}
	for range replaced {
		i := l.random.IntN(len(l.keys))
		delete(l.member, l.keys[i])
		l.keys = slices.Delete(l.keys, i, i+1)
		l.add()
	}
}

// built builds a set of pairs of a partition and a key, or of the keys alone if the set has no partitions.
func built(ctx context.Context, members, universe iter.Seq2[[]byte, []byte], c Config) (*Set, error) {
	if c.Base == nil && c.Partitioned || c.Base != nil && c.Base.partitioned() {
		return Build(ctx, members, universe, c)
	}
	return Build(ctx, second(members), second(universe), c)
}

// in calls Contains with the partition as its first argument.
func (s *Set) in(partition, key []byte) bool { return s.Contains(key, partition) }

// manyIn calls ContainsMany with the partitions before the keys.
func (s *Set) manyIn(dst []bool, partitions, keys [][]byte) { s.ContainsMany(dst, keys, partitions...) }

// appendTo appends the file of the set to b.
func (s *Set) appendTo(b []byte) ([]byte, error) {
	buffer := bytes.NewBuffer(b)
	_, err := s.WriteTo(buffer)
	return buffer.Bytes(), err
}

func sequence(keys iter.Seq[string]) iter.Seq2[[]byte, []byte] {
	return func(yield func(partition, key []byte) bool) {
		for k := range keys {
			if !yield([]byte("p"+k[len(k)-1:]), []byte(k)) {
				return
			}
		}
	}
}

// second returns the keys of pairs.
func second(all iter.Seq2[[]byte, []byte]) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, k := range all {
			if !yield(k) {
				return
			}
		}
	}
}

func (l *list) members() iter.Seq2[[]byte, []byte] { return sequence(maps.Keys(l.member)) }

func (l *list) universe() iter.Seq2[[]byte, []byte] { return sequence(slices.Values(l.keys)) }

// build returns the set of the list.
func (l *list) build(t testing.TB, partitioned bool) (s *Set) {
	t.Helper()
	s = must(built(t.Context(), l.members(), l.universe(), Config{Seed: 19, Partitioned: partitioned}))
	return s
}

// update returns the update of a set to the list.
func (l *list) update(t testing.TB, old *Set) (s *Set, u changed) {
	t.Helper()
	s = must(built(t.Context(), l.members(), l.universe(), Config{Base: old, Shrink: 1}))
	return s, s.Info().Changed
}

// wrong returns the number of wrong answers of a set for all keys of the list, one by one and in batches.
func (l *list) wrong(s *Set) (n int) {
	var partitions, keys [][]byte
	for p, k := range l.universe() {
		partitions, keys = append(partitions, p), append(keys, k)
	}
	got := make([]bool, len(keys))
	s.manyIn(got, partitions, keys)
	for i, k := range keys {
		if want := l.member[string(k)]; got[i] != want || s.in(partitions[i], k) != want {
			n++
		}
	}
	return n
}

func bytesOf(t testing.TB, s *Set) []byte {
	t.Helper()
	b := must(s.appendTo(nil))
	return b
}

// reread writes the set, reads it, and returns the result.
func reread(t testing.TB, s *Set) *Set {
	t.Helper()
	s = must(FromBytes(bytesOf(t, s)))
	return s
}

// TestUpdateChain checks after each of many updates that all answers are right, and that the file begins with the
// records of the previous file.
func TestUpdateChain(t *testing.T) {
	for _, c := range []struct {
		name                         string
		n, members, change, replaced int
		partitioned                  bool
	}{
		{"few", 10_000, 100, 2, 0, false},
		{"few, new keys", 10_000, 100, 2, 40, false},
		{"many", 10_000, 1000, 100, 40, false},
		{"most", 3000, 2900, 30, 5, false},
		{"all change", 1000, 500, 490, 900, false},
		{"partitions, few", 10_000, 100, 2, 40, true},
		{"partitions, many", 10_000, 1000, 100, 40, true},
		{"empty", 0, 0, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newList(1, c.n, c.members)
			s := l.build(t, c.partitioned)
			for day := range 4 {
				if c.n > 0 {
					l.change(c.change, c.replaced)
				}
				before, old := recordsOf(t, s), s
				var u changed
				s, u = l.update(t, old)
				after := bytesOf(t, s)
				if !bytes.HasPrefix(after, before) || uint64(len(after)-len(before)) != u.Bytes+container.ExactTrailerSize {
					t.Fatalf("day %d: %d bytes after %d, %+v", day, len(after), len(before), u)
				}
				if again, _ := l.update(t, reread(t, old)); !bytes.Equal(bytesOf(t, again), after) {
					t.Fatalf("day %d: the same update gives other bytes", day)
				}
				s = reread(t, s)
				if n := l.wrong(s); n > 0 {
					t.Fatalf("day %d: %d wrong answers", day, n)
				}
				i := s.Info()
				if i.Universe != uint64(len(l.keys)) || i.Members != uint64(len(l.member)) ||
					i.Bytes != uint64(len(after)) || i.UpdateBytes > i.Bytes {
					t.Fatalf("day %d: %+v", day, i)
				}
				if same, u := l.update(t, s); !bytes.Equal(bytesOf(t, same), bytesOf(t, s)) || u != (changed{}) {
					t.Fatalf("day %d: an update without a change: %+v", day, u)
				}
			}
		})
	}
}

// TestUpdateCounts checks that a record contains only counts if only the counts change.
func TestUpdateCounts(t *testing.T) {
	l := newList(2, 1000, 100)
	s := l.build(t, false)
	for len(l.keys) == 1000 { // remove a key that is not a member
		if i := l.random.IntN(1000); !l.member[l.keys[i]] {
			l.keys = slices.Delete(l.keys, i, i+1)
		}
	}
	s, u := l.update(t, s)
	if i := reread(t, s).Info(); u.Added+u.Removed != 0 || u.Bytes == 0 || u.Bytes > 25 || i.Universe != 999 {
		t.Errorf("%+v, %+v", u, i)
	}
}

func TestUpdateErrors(t *testing.T) {
	l := newList(3, 100, 10)
	s := l.build(t, false)
	next, err := Build(t.Context(), second(l.members()), second(l.universe()), Config{Base: s, Seed: 20})
	if err != nil || next.hasher != s.hasher || !bytes.Equal(bytesOf(t, next), bytesOf(t, s)) {
		t.Errorf("another hash function: %v", err)
	}
	_, err = Build(t.Context(), l.members(), l.universe(), Config{Base: s})
	if !errors.Is(err, filter.ErrConfig) {
		t.Errorf("partitions: %v", err)
	}
	l.member["outside"] = true
	_, err = Build(t.Context(), second(l.members()), second(l.universe()), Config{Base: s})
	var outside *OutsideError
	if !errors.As(err, &outside) || outside.Count != 1 || len(outside.Keys) != 1 {
		t.Errorf("a member outside of the universe: %v", err)
	}
	delete(l.member, "outside")
	for s.Info().Updates < MaxUpdates {
		l.change(1, 0)
		s, _ = l.update(t, s)
	}
	if i := s.Info(); i.BuildDue == "" {
		t.Errorf("no build is due: %+v", i)
	}
	s = reread(t, s)
	if n := l.wrong(s); n > 0 {
		t.Errorf("%d wrong answers after %d updates", n, MaxUpdates)
	}
	l.change(1, 0)
	_, err = Build(t.Context(), second(l.members()), second(l.universe()), Config{Base: s})
	if !errors.Is(err, ErrUpdates) {
		t.Errorf("one update more: %v", err)
	}
	s.records = append(s.records, s.records[MaxUpdates])
	if _, err := FromBytes(bytesOf(t, s)); err == nil {
		t.Error("a file with more updates was read")
	}
}
