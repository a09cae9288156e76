package bulk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/internal/stat"
)

// Verifier implements bloomery.Verifier. It keeps 16 bytes for each absent key of AddAbsent, and 16 for each member
// that may be one of them: members are first looked up in a table of about two bytes per absent key. Without AddAbsent
// it keeps nothing.
type Verifier struct {
	hasher filter.Hasher
	now    func() engine.Engine // returns the Engine of the Set
	keys   *hashes.Sorted
	sieve  sieve
	absent atomic.Bool // AddAbsent was called
	asked  atomic.Bool // AskMembers was called
	ended  atomic.Bool // Commit or Close was called

	members, missing     atomic.Uint64
	wrong                atomic.Uint64
	random, randomErrors atomic.Uint64
}

// Verification is the counts of a Verifier.
type Verification struct {
	Members, FalseNegatives uint64 // keys of AskMembers, and how many of them the Set does not contain
	WrongValues             uint64 // keys of AskValues for which the Set has another value
	Rate                    Rate   // the rate of the distinct keys that are not members
}

// verifierHash hashes keys independently of filters, so that a false positive is not taken for a member and left out.
// Its seed is a constant that no user is likely to choose.
var verifierHash = filter.NewHasher(0xB1003E12_5E9A7A7E)

// The two lowest bits of a hash that a Verifier keeps are the kind of the key. Members come first in the order of
// hashes.
const (
	keptMember = iota
	keptAbsent
	keptFalsePositive
	keptBits = 3
)

var (
	errVerifierOrder = errors.New("bloomery: AddAbsent after AskMembers; a Verifier takes the absent keys first")
	errVerifierEnded = fmt.Errorf("bloomery: the Verifier is %w, and takes no more keys", filter.ErrClosed)
	answerBuffers    = sync.Pool{New: func() any { return new([]bool) }}
)

// NewVerifier returns a Verifier of a Set with that hasher; now returns its Engine. It keeps keys beyond o.Memory, if
// that is not 0, in a temporary file. absent is the expected number of keys of AddAbsent, or 0.
func NewVerifier(h filter.Hasher, now func() engine.Engine, o Options, absent uint64) *Verifier {
	v := &Verifier{hasher: h, now: now, sieve: newSieve(absent, o.Memory)}
	if o.Memory > 0 {
		// A limit of 0 would mean the default, so at least one byte remains.
		o.Memory = max(o.Memory-int64(len(v.sieve.words))*8, 1)
	}
	v.keys = hashes.NewSorted(hashes.Config{Memory: o.Memory, Dir: o.TempDir, Expect: absent})
	return v
}

// AddAbsent queries keys that should not be members. It returns an error if keys beyond the limit cannot be written, or
// after AskMembers.
func (v *Verifier) AddAbsent(keys [][]byte) error {
	v.absent.Store(true)
	// Members are looked up in the sieve of the absent keys, so the sieve must be complete before the first of them.
	if v.asked.Load() && !v.ended.Load() {
		return errVerifierOrder
	}
	return v.queryKeys(keys, func(h filter.Hash, hit bool) (filter.Hash, bool) {
		v.sieve.addHash(h)
		if h.Lo = h.Lo&^keptBits | keptAbsent; hit {
			h.Lo = h.Lo&^keptBits | keptFalsePositive
		}
		return h, true
	}, true)
}

// AskMembers queries keys that the Set was built from. A key counts each time that it comes. It returns an error if
// keys beyond the limit cannot be written.
func (v *Verifier) AskMembers(keys [][]byte) error {
	v.asked.Store(true)
	v.members.Add(uint64(len(keys)))
	var missing uint64
	err := v.queryKeys(keys, func(h filter.Hash, hit bool) (filter.Hash, bool) {
		if !hit {
			missing++
		}
		kept := v.sieve.mayContain(h)
		h.Lo &^= keptBits
		return h, kept
	}, v.absent.Load())
	v.missing.Add(missing)
	return err
}

// AskValues is AskMembers for keys with values, and compares them: values[i] belongs to keys[i]. The error wraps
// errors.ErrUnsupported if the Set stores no values. It panics if keys and values differ in length.
func (v *Verifier) AskValues(keys [][]byte, values []uint64) error {
	intake.CheckPairs(keys, values)
	for i, k := range keys {
		h := v.hasher.Sum(k)
		one, err := v.now().At(h, false)
		if err != nil {
			return err
		}
		value, ok, err := one.Get(h)
		if err != nil {
			return err
		}
		if ok && value != values[i] {
			v.wrong.Add(1)
		}
	}
	return v.AskMembers(keys)
}

// queryKeys queries the Set for keys, and gathers the hashes that keep selects. If hashed is false, keep gets zero
// hashes and its result is ignored.
func (v *Verifier) queryKeys(keys [][]byte, keep func(h filter.Hash, hit bool) (filter.Hash, bool), hashed bool) error {
	if v.ended.Load() {
		return errVerifierEnded
	}

	answers := answerBuffers.Get().(*[]bool)
	defer answerBuffers.Put(answers)
	if cap(*answers) < len(keys) {
		*answers = make([]bool, len(keys))
	}

	hits := (*answers)[:len(keys)]
	v.now().ContainsMany(hits, engine.Keys{Bytes: keys})
	if !hashed {
		for _, hit := range hits {
			keep(filter.Hash{}, hit)
		}
		return nil
	}
	return intake.Hash(verifierHash, keys, func(hs []filter.Hash) error {
		kept := hs[:0]
		for i, h := range hs {
			if h, ok := keep(h, hits[i]); ok {
				kept = append(kept, h)
			}
		}
		return v.keys.AddMany(kept)
	})
}

// AskRandom queries the first n keys of RandomKeys(seed). It returns the cause of ctx when ctx is done. progress, if
// not nil, is called with the number of keys so far.
func (v *Verifier) AskRandom(ctx context.Context, n, seed uint64, progress func(keys uint64)) error {
	if ctx.Err() == nil && v.ended.Load() {
		return errVerifierEnded
	}

	next := randomKeys(seed)
	batch := make([][]byte, 4096)
	hits := make([]bool, len(batch))
	for done := uint64(0); done < n; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part := batch[:min(uint64(len(batch)), n-done)]
		for i := range part {
			part[i] = next(part[i][:0])
		}
		v.now().ContainsMany(hits[:len(part)], engine.Keys{Bytes: part})
		for _, hit := range hits[:len(part)] {
			if hit {
				v.randomErrors.Add(1)
			}
		}
		done += uint64(len(part))
		v.random.Add(uint64(len(part)))
		if progress != nil {
			progress(done)
		}
	}
	return nil
}

// Commit sorts the keys on all cores and returns the counts. It returns an error if keys beyond the limit cannot be
// written or read back, if ctx ends, or Set.Err. Call it when no other method runs. A second call returns an error.
func (v *Verifier) Commit(ctx context.Context) (Verification, error) {
	if v.ended.Swap(true) {
		return Verification{}, errVerifierEnded
	}

	r := Verification{
		Members: v.members.Load(), FalseNegatives: v.missing.Load(), WrongValues: v.wrong.Load(),
		Rate: Rate{Trials: v.random.Load(), FalsePositives: v.randomErrors.Load()},
	}
	if v.absent.Load() {
		if err := v.countAbsent(ctx, &r.Rate); err != nil {
			return Verification{}, err
		}
	}
	if err := v.now().Err(); err != nil {
		return Verification{}, err
	}
	r.Rate.Observed, r.Rate.Low, r.Rate.High = Interval(r.Rate.FalsePositives, r.Rate.Trials)
	return r, nil
}

// countAbsent counts the stored absent keys that are not members.
func (v *Verifier) countAbsent(ctx context.Context, r *Rate) error {
	n, err := v.keys.Finish(ctx)
	if err != nil {
		return err
	}

	// A part has about 4096 keys, and all entries of a key are in one part: they have the same Hi.
	shift := 64 - max(bits.Len64(n)-12, 0)
	return v.keys.Each(ctx, func(h filter.Hash) uint64 { return h.Hi >> shift }, func(_ uint64, hs []filter.Hash) error {
		var member filter.Hash
		found := false // a member was seen, and it is in member
		for _, h := range hs {
			kind := h.Lo & keptBits
			h.Lo &^= keptBits
			switch {
			case kind == keptMember:
				member, found = h, true
			case found && h == member:
			default:
				r.Trials++
				if kind == keptFalsePositive {
					r.FalsePositives++
				}
			}
		}
		return nil
	})
}

// Close frees the memory and removes the temporary file.
func (v *Verifier) Close() error {
	v.ended.Store(true)
	return v.keys.Close()
}

// sieve is a table of bits in which keys are looked up before they are kept. It has no false negatives.
type sieve struct {
	words []uint64
	shift int // the bit of a hash is Hi >> shift
}

// newSieve returns a sieve with 8 to 16 bits per key, at least 128 KiB and at most 64 MiB, and of at most an eighth of
// a memory limit. With twice as many keys as expected, its false-positive rate is 20%.
func newSieve(keys uint64, memory int64) sieve {
	const least, most = 20, 29 // logarithms of the number of bits
	if keys == 0 {
		keys = 1 << 20
	}
	size := min(max(bits.Len64(min(keys, 1<<most))+3, least), most)
	if memory > 0 {
		size = max(min(size, bits.Len64(uint64(memory))-1), 6)
	}
	return sieve{make([]uint64, 1<<(size-6)), 64 - size}
}

// addHash may be called from several goroutines at once.
func (s sieve) addHash(h filter.Hash) {
	at := h.Hi >> s.shift
	// The plain load skips the atomic write if the bit is already set, so the cache line stays shared between cores.
	if word, bit := &s.words[at>>6], uint64(1)<<(at&63); atomic.LoadUint64(word)&bit == 0 {
		atomic.OrUint64(word, bit)
	}
}

// mayContain reports whether h may have been added.
func (s sieve) mayContain(h filter.Hash) bool {
	at := h.Hi >> s.shift
	return s.words[at>>6]>>(at&63)&1 != 0
}

// Rate is an observed false-positive rate: see bloomery.Rate.
type Rate struct {
	Trials, FalsePositives uint64
	Observed, Low, High    float64
}

// Interval returns the observed rate of false positives among trials absent keys, 0 without trials, and the exact 95%
// interval (Clopper and Pearson) of the true rate.
func Interval(falsePositives, trials uint64) (observed, low, high float64) {
	if trials > 0 {
		observed = float64(falsePositives) / float64(trials)
	}
	low, high = stat.Interval(falsePositives, trials, 0.95)
	return observed, low, high
}

// Holds reports whether an observation agrees with a promised rate. It is false if a filter with the promised rate
// would have this many or more false positives with a probability below 1 in 10,000.
func Holds(falsePositives, trials uint64, promised float64) bool {
	return stat.UpperTail(falsePositives, trials, promised) >= 1e-4
}

// HoldsPlanned reports whether an observation agrees with the planned rate of a filter with that Info, by the test of
// Holds. While the filter has not Exceeded its planned rate, its FPRPosterior, which can be higher in a filter of few
// keys, is allowed too. HoldsPlanned is true without a planned rate.
func HoldsPlanned(falsePositives, trials uint64, i filter.Info) bool {
	allowed := i.FPRPlanned
	if !i.Exceeded() {
		allowed = max(allowed, i.FPRPosterior)
	}
	return i.FPRPlanned == 0 || Holds(falsePositives, trials, allowed)
}

// RandomKeys returns an endless sequence of random names of 24 letters and digits. A name has 120 random bits, so it is
// in no list of keys. The memory of a name is reused for the next one.
func RandomKeys(seed uint64) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		next := randomKeys(seed)
		for key := next(nil); yield(key); {
			key = next(key[:0])
		}
	}
}

// randomKeys returns a function that appends the next random name to a slice.
func randomKeys(seed uint64) func(to []byte) []byte {
	r := rand.New(rand.NewPCG(seed, 0x616273656e74))
	const letters = "abcdefghijklmnopqrstuvwxyz012345"
	return func(to []byte) []byte {
		for range 2 {
			x := r.Uint64()
			for range 12 {
				to = append(to, letters[x&31])
				x >>= 5
			}
		}
		return to
	}
}
