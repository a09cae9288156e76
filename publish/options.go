package publish

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/bloomery/bloomery/internal/drift"
)

// Defaults of Options.
const (
	DefaultKeep     = 30
	DefaultLifetime = 7 * 24 * time.Hour
	MaxKeep         = 1000
)

// Never, the largest uint64, is the value of Report.Due if no fresh build is in sight: more than 1,000 releases are
// left, or no rate was chosen.
const Never = drift.Never

// Options are the options of Publish. The zero value publishes unsigned releases, with the defaults noted at fields.
type Options struct {
	// Name is the name of the published filter. It never changes in a folder: if the current release has
	// another one, the error wraps ErrName. Default: the name that State has for the folder, else the name of
	// the current release, or in a new folder the name of the folder.
	Name string
	// Number is the number of the release, above the numbers of the current one and in State; a new
	// release is then made even of the same filter. It is for a folder that was lost: readers take no lower
	// number than they have seen. With Name and Number stated, a release.json that cannot be trusted is
	// replaced, and nothing of it is taken over: see ErrUntrusted. Default: the next.
	Number uint64
	// Sign has the keys that sign the release, at most 16. One of them must have signed the current
	// release.
	Sign []PrivateKey
	// Rotate has older keys that may have signed the current release instead: see Report.Rotated.
	Rotate []PublicKey
	// State has the paths of files that remember the newest release of each list that a key has signed,
	// usually one beside the file of each key of Sign: its path, without links, and StateSuffix. With them
	// an older release.json that was put back, or a lost one, does not lead to numbers that are used twice.
	// They are created if needed and written before release.json is replaced; meanwhile a file beside each,
	// its path and ".lock", is locked. A file that is missing and may not be created is a warning in Report.
	State []string
	// Unsigned allows an unsigned release after a signed one. Readers that pin a key refuse it.
	Unsigned bool
	// Keep is the number of older releases that are kept, with a delta from each of them, at most MaxKeep.
	// In addition it keeps the newest release that is at least 7 and at least 30 days old, and the ones
	// that will replace these. Default: DefaultKeep; negative: none.
	Keep int
	// Lifetime is the time until the release expires, at least a second. Default: DefaultLifetime.
	Lifetime time.Duration
	// Renew signs the current release again, with a new expiry, if the filter has not changed. Without it
	// that happens when less than half of the lifetime is left, and when other keys sign.
	Renew bool
	// Trim publishes the trimmed form of the filter. The error wraps errors.ErrUnsupported if the family
	// has none.
	Trim bool
	// Shrink is the largest fraction of the keys that may be lost since the current release, in (0, 1],
	// where 1 allows an empty filter, too; of an exact set, of its members and of its universe. Else the
	// error wraps filter.ErrShrunk. Default: 0.5.
	Shrink float64
	// Now is the time of the release. Default: the time at the call.
	Now time.Time
	// Waiting, if not nil, is called before Publish waits for another publisher of the same folder.
	Waiting func()
	// Progress, if not nil, is called after each delta.
	Progress func(done, deltas int)
}

// check fills in the defaults and returns an error wrapping ErrOptions if a field is out of range.
func (o *Options) check() error {
	o.Keep = max(cmp.Or(o.Keep, DefaultKeep), 0)
	o.Lifetime = cmp.Or(o.Lifetime, DefaultLifetime).Truncate(time.Second)
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	o.Now = wholeSeconds(o.Now)
	switch {
	case o.Keep > MaxKeep:
		return fmt.Errorf("%w: keep %d releases; want at most %d", ErrOptions, o.Keep, MaxKeep)
	case o.Lifetime < time.Second || o.Lifetime > 100*365*24*time.Hour:
		return fmt.Errorf("%w: a lifetime of %v; want 1 second to 100 years", ErrOptions, o.Lifetime)
	case len(o.Sign) > maxSignatures:
		return fmt.Errorf("%w: %d keys; want at most %d", ErrOptions, len(o.Sign), maxSignatures)
	case o.Number > maxNumber:
		return fmt.Errorf("%w: number %d; want at most %d", ErrOptions, o.Number, uint64(maxNumber))
	case len(o.Rotate) > 0 && len(o.Sign) == 0:
		return fmt.Errorf("%w: older keys to rotate from, and no key that signs", ErrOptions)
	}
	var err error
	if o.Shrink, err = drift.AllowedShrink(o.Shrink, drift.ShrinkOfList); err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, err)
	}
	if len(o.Sign) == 0 {
		o.State = nil
	}
	keys := o.signers()
	for i, k := range keys {
		if slices.Contains(keys[:i], k) {
			return fmt.Errorf("%w: key %s is given twice", ErrOptions, k.ID())
		}
	}
	return nil
}

func (o *Options) signers() (keys []PublicKey) {
	for _, k := range o.Sign {
		keys = append(keys, k.Public())
	}
	return keys
}

// restarts reports whether the options say all that a release.json that is lost or cannot be trusted would say.
func (o *Options) restarts() bool { return o.Name != "" && o.Number != 0 }

// Report says what Publish did.
type Report struct {
	Release *Release // the current one
	// Same is true if the current release has this filter: there is no new one. Renewed is true if
	// that got a new expiry or other signatures.
	Same, Renewed bool
	// Rotated is the key of Options.Rotate that signed the release before, if none that signs now did.
	// Readers that pin only that key refuse the release.
	Rotated *PublicKey
	// State has the files of Options.State that know the release.
	State []string
	// Behind is the number that Options.State had, if the folder had an older release or none: a publisher
	// was killed, or the folder was lost or put back. A warning says so.
	Behind uint64
	// Older lists the older releases that are kept, the newest first.
	Older []Older
	// Bytes that a reader loads that had the release before: release.json, and the delta or the whole
	// filter.
	Daily uint64
	// Trimmed is the size in bytes of the trimmed form, or 0 if that is not smaller or was published.
	Trimmed uint64
	// Drift says in a line how the false-positive rate of the releases moves against the chosen one: builds
	// like an older filter keep its size, so their rate rises until a fresh build. Slope is its change from
	// release to release, 0 if the releases show none. Due is the number of releases after which the rate
	// is above 1.1 times the chosen one if the slope stays, so that a fresh build is due: 0 if it is
	// already, Never if it is not in sight.
	Drift string
	Slope float64
	Due   uint64
	// BuildDue says why an exact set should be built anew instead of updated, or is empty: see
	// exact.Info.BuildDue.
	BuildDue string
	// Removed is the number of objects that were removed, and RemovedBytes their size.
	Removed      int
	RemovedBytes uint64
	// Warnings are errors that did not prevent the release.
	Warnings []error

	record *record // Release, and what leads to it from older ones
	kept   history // Older, in full
}

// Older is an older release that is kept.
type Older struct {
	Number    uint64
	Published time.Time
	Same      bool   // it has the content of the current one: its readers load nothing
	Delta     uint64 // length of the delta to the current one, 0 if none is smaller than the whole
}
