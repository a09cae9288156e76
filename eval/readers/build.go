package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/family"
)

// subject is a filter on disk with the keys to query.
type subject struct {
	number int
	plan   plan
	spec   string // spec of the stored filter
	path   string // path of the file, or of the folder of a sharded set
	secret string // secret in hexadecimal digits, or "-"
	counts bool   // the family counts
	values bool   // the filter has values
	exact  bool   // an exact set
	// partitioned is true if the command is not queried, because its input would have to be a table.
	partitioned bool
	keys        []key
	held        []bool // keys[i] must be present
	// allowed lists the keys for which the filter has exceptions, if any. Each of them must be absent.
	allowed []key
}

func (s *subject) String() string {
	return fmt.Sprintf("filter %d: %s, %d keys, %s, %d shards: %s", s.number, s.plan.spec, s.plan.keys, s.plan.change,
		s.plan.shards, s.spec)
}

// generator returns the random numbers of one subject of the trial.
func generator(seed uint64, number int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(number)))
}

// newSubject builds the filter with the given number of a seed, and chooses at most ask keys to query. Plans that no
// filter meets, for example with too few bits, are replaced by others.
func (t *trial) newSubject(ctx context.Context, seed uint64, number, mostKeys, ask int) (*subject, error) {
	r := generator(seed, number)
	var err error
	for range 100 {
		s := &subject{number: number, plan: newPlan(r, t.families, mostKeys)}
		s.path = filepath.Join(t.dir, fmt.Sprintf("%d.bloom", number))
		if err = s.build(ctx, r, ask); err == nil {
			return s, nil
		}
		if ctx.Err() != nil || !isUnmet(err) {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
		if err := os.RemoveAll(s.path); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("no filter for 100 random plans, the last with the error: %w", err)
}

// isUnmet reports whether an error says that no filter meets a plan.
func isUnmet(err error) bool {
	var config *filter.ConfigError
	return errors.As(err, &config) || errors.Is(err, filter.ErrFull) || errors.Is(err, filter.ErrTooLarge) ||
		errors.Is(err, filter.ErrConfig) || errors.Is(err, filter.ErrUnsupported) || errors.Is(err, filter.ErrRate)
}

// build makes the filter, saves it and chooses the keys to query.
func (s *subject) build(ctx context.Context, r *rand.Rand, ask int) error {
	source := newKeySource(r)
	source.text = s.plan.family.KeyType == filter.KeyText
	members := make([]key, s.plan.keys)
	for i := range members {
		members[i] = source.key()
	}
	c := bloomery.Config{Spec: s.plan.spec, Hashing: bloomery.Hashing{ID: s.plan.hash}}
	s.secret = "-"
	switch {
	case s.plan.hash != 0 || s.plan.family.Foreign():
	case r.IntN(4) == 0:
		c.Hashing.Secret = s.newSecret(r)
	default:
		c.Hashing.Seed = []uint64{0, 1, r.Uint64(), math.MaxUint64}[r.IntN(4)]
	}
	if r.IntN(5) == 0 && !strings.Contains(s.plan.spec, "fpr=") {
		c.FPR = 1 - math.Exp2(-1-50*r.Float64()) // a rate so high that filters of any size keep it
	}
	left := len(members) // members from number left on need not be present
	var err error
	if s.plan.shards > 0 {
		c.Sharding.Shards = s.plan.shards
		err = s.buildShards(ctx, c, members)
	} else {
		left, err = s.buildOne(ctx, r, c, members, source)
	}
	if err != nil {
		return err
	}
	if err := s.look(c.Hashing.Secret); err != nil {
		return err
	}
	s.choose(r, source, members, left, ask)
	return nil
}

// look reads the properties of the stored filter.
func (s *subject) look(secret *filter.Secret) error {
	set, err := bloomery.Open(context.Background(), s.path, bloomery.WithSecret(secret))
	if err != nil {
		return err
	}
	defer set.Close()
	s.spec = set.Spec().String()
	_, _, err = bloomery.Keyed[filter.Hash](set).Count(filter.Hash{})
	s.counts = err == nil
	_, err = set.ValueBits()
	s.values = err == nil
	return nil
}

// newSecret chooses and returns the secret of the subject.
func (s *subject) newSecret(r *rand.Rand) *filter.Secret {
	secret := new(filter.Secret)
	for i := range secret {
		secret[i] = byte(r.Uint32())
	}
	s.secret = hex.EncodeToString(secret[:])
	return secret
}

// secretBytes returns the secret, or nil if there is none.
func (s *subject) secretBytes() (*filter.Secret, error) {
	if s.secret == "-" {
		return nil, nil
	}
	secret := new(filter.Secret)
	_, err := hex.Decode(secret[:], []byte(s.secret))
	return secret, err
}

// choose sets the keys to query. Half of them are members, if there are enough, and the rest are other keys.
func (s *subject) choose(r *rand.Rand, source *keySource, members []key, left, ask int) {
	n := min(len(members), ask/2)
	for _, i := range r.Perm(len(members))[:n] {
		s.keys, s.held = append(s.keys, members[i]), append(s.held, i < left)
	}
	absent := min(max(n, 200), ask-n)
	for i := range absent {
		k := source.key()
		if i/2 < len(s.allowed) && i%2 == 0 {
			k = s.allowed[i/2]
		}
		s.keys, s.held = append(s.keys, k), append(s.held, false)
	}
	r.Shuffle(len(s.keys), func(i, j int) {
		s.keys[i], s.keys[j] = s.keys[j], s.keys[i]
		s.held[i], s.held[j] = s.held[j], s.held[i]
	})
}

func (s *subject) buildShards(ctx context.Context, c bloomery.Config, members []key) error {
	if _, err := os.Stat(s.path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is in the way: %v", s.path, err)
	}
	c.Sharding.Dir = s.path
	set, err := bloomery.Build(ctx, eachOf(members), c)
	if err != nil {
		return err
	}
	return set.Close()
}

// eachOf ranges over the bytes of keys.
func eachOf(keys []key) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for _, k := range keys {
			if !yield(k.bytes) {
				return
			}
		}
	}
}

// buildOne makes one file. Members from left on need not be present.
func (s *subject) buildOne(
	ctx context.Context, r *rand.Rand, c bloomery.Config, members []key, source *keySource,
) (left int, err error) {
	set, left, err := s.make(ctx, c, members)
	if err != nil {
		return 0, err
	}
	defer set.Close()
	if s.plan.change == addedAgain {
		for i, k := range members {
			for range i % (2 + r.IntN(20)) {
				if err := set.Add(k.bytes); err != nil && !errors.Is(err, filter.ErrFull) {
					return 0, err
				}
			}
		}
	}
	if width, err := set.ValueBits(); err == nil && s.plan.valueBits == 0 {
		for _, k := range members {
			if err := set.Put(k.bytes, r.Uint64()>>(64-width)); err != nil {
				return 0, err
			}
		}
	}
	if s.plan.change == removed {
		left = len(members) / 2
		if err := s.remove(set, members, left); err != nil {
			return 0, err
		}
	}
	if s.plan.change == trimmed {
		set, err = set.Trimmed()
		if err != nil {
			return 0, err
		}
		defer set.Close()
	}
	if r.IntN(10) == 0 {
		if set, err = withoutPlanned(set, c.Hashing.Secret); err != nil {
			return 0, err
		}
	}
	if r.IntN(3) == 0 && !family.Foreign(set.Hasher().ID()) {
		if err := s.allow(ctx, set, members[:left], source); err != nil {
			return 0, err
		}
	}
	return left, set.Save(ctx, s.path)
}

// allow adds exceptions for a list of other keys to a set, unless some of these keys are members, or the set contains
// other keys than members.
func (s *subject) allow(ctx context.Context, set *bloomery.Set, members []key, source *keySource) error {
	a, err := set.Allower(bloomery.JobConfig{})
	if err != nil {
		return err
	}
	list := make([]key, 2000)
	for i := range list {
		list[i] = source.key()
	}
	for _, part := range []struct {
		keys []key
		give func([][]byte) error
	}{{list, a.AllowMany}, {members, a.AddMembers}} {
		for k := range eachOf(part.keys) {
			if err := part.give([][]byte{k}); err != nil {
				return err
			}
		}
	}
	err = a.Commit(ctx)
	if errors.Is(err, filter.ErrAllowed) || errors.Is(err, filter.ErrKeys) {
		return nil
	}
	if s.allowed = list; err != nil {
		return err
	}
	for _, k := range list {
		if set.Contains(k.bytes) {
			return fmt.Errorf("%s: %s is allowed and present", s, k)
		}
	}
	return nil
}

// remove removes each member from number left on once, unless an earlier member has the same bytes.
func (s *subject) remove(set *bloomery.Set, members []key, left int) error {
	keep := map[string]bool{}
	for _, k := range members[:left] {
		keep[string(k.bytes)] = true
	}
	for _, k := range members[left:] {
		if keep[string(k.bytes)] {
			continue
		}
		keep[string(k.bytes)] = true // remove it once
		if err := set.Remove(k.bytes); err != nil && !errors.Is(err, filter.ErrNotFound) {
			return err
		}
	}
	return nil
}

// withoutPlanned returns a set whose file has no planned rate.
func withoutPlanned(set *bloomery.Set, secret *filter.Secret) (*bloomery.Set, error) {
	b, err := set.MarshalBinary()
	if err != nil {
		return nil, err
	}
	file, _, err := container.FromBytes(b, container.Options{})
	if err != nil {
		return nil, err
	}
	file.FPRPlanned = 0
	return setOf(file, secret)
}

// setOf returns the set in a file.
func setOf(file *container.File, secret *filter.Secret) (*bloomery.Set, error) {
	var b bytes.Buffer
	if err := container.Write(&b, file); err != nil {
		return nil, err
	}
	return bloomery.FromBytes(b.Bytes(), bloomery.WithSecret(secret))
}

// make makes a set of members. Members from number left on need not be present.
func (s *subject) make(ctx context.Context, c bloomery.Config, members []key) (set *bloomery.Set, left int, err error) {
	half := len(members) / 2
	switch s.plan.change {
	case added:
		c.Keys = uint64(len(members))
		set, err = filled(c, members)
		return set, len(members), err
	case addedLater:
		if set, err = bloomery.Build(ctx, eachOf(members[:half]), c); err != nil {
			return nil, 0, err
		}
		return set, len(members), addAll(set, members[half:])
	case merged, intersected:
		c.Keys = uint64(len(members))
		first, second := members[:half], members[half:]
		if s.plan.change == intersected { // the first half of the keys is in both
			second = members
		}
		if set, err = filled(c, first); err != nil {
			return nil, 0, err
		}
		other, err := filled(c, second)
		if err != nil {
			return nil, 0, err
		}
		if s.plan.change == merged {
			return set, len(members), set.Merge(other)
		}
		return set, half, set.Intersect(other)
	}
	if s.plan.valueBits > 0 {
		set, err = bloomery.BuildValues(ctx, valued(members, s.plan.valueBits), c)
		return set, len(members), err
	}
	set, err = bloomery.Build(ctx, eachOf(members), c)
	return set, len(members), err
}

// valued ranges over the bytes of keys, each with a value of the given number of bits. Equal keys have equal values.
func valued(keys []key, bits int) iter.Seq2[[]byte, uint64] {
	return func(yield func([]byte, uint64) bool) {
		for _, k := range keys {
			if !yield(k.bytes, uint64(crc32.ChecksumIEEE(k.bytes))>>(32-bits)) {
				return
			}
		}
	}
}

// filled returns a new set to which keys were added.
func filled(c bloomery.Config, keys []key) (*bloomery.Set, error) {
	set, err := bloomery.New(c)
	if err != nil {
		return nil, err
	}
	return set, addAll(set, keys)
}

func addAll(set *bloomery.Set, keys []key) error {
	for _, k := range keys {
		if err := set.Add(k.bytes); err != nil {
			return err
		}
	}
	return nil
}
