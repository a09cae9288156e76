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

// Never, the largest uint64, is the value of Report.Due if no fresh build is due within 1,000 releases, or if no rate
// was planned.
const Never = drift.Never

// Options are the options of Publish. The zero value publishes unsigned releases, with the defaults noted at fields.
type Options struct {
	// Name is the name of the published filter. It never changes in a folder: if the current release has
	// another one, the error wraps ErrName. Default: the name that State has for the folder, else the name of
	// the current release, or in a new folder the name of the folder.
	Name string
	// Number is the number of the release, above the numbers of the current one and in State; Publish then makes a new
	// release even of the same filter. It is for a folder that was lost: readers accept no number below one that they
	// have seen. If Name and Number are set, Publish replaces an untrusted release.json and ignores its content: see
	// ErrUntrusted. Default: the next number.
	Number uint64
	// Sign lists the keys that sign the release, at most 16. A key in Sign or Rotate must have signed the current
	// release.
	Sign []PrivateKey
	// Rotate lists older keys that may have signed the current release instead: see Report.Rotated.
	Rotate []PublicKey
	// State lists the paths of files that remember the newest release of each list that a key has signed, usually one
	// for each key of Sign: the path of its file, with links resolved, plus StateSuffix. They prevent that a number is
	// used twice after release.json was lost or replaced by an older one. Publish creates them if needed and writes
	// them before it replaces release.json; meanwhile it locks a file for each, its path plus ".lock". A file that is
	// missing and cannot be created is a warning in Report.
	State []string
	// Unsigned allows an unsigned release after a signed one. Readers that pin a key refuse it.
	Unsigned bool
	// Keep is the number of older releases to keep, with a delta from each of them, at most MaxKeep. Publish also keeps
	// the newest release that is at least 7 days old, the newest that is at least 30 days old, and the releases that
	// will replace these. Default: DefaultKeep; negative: none.
	Keep int
	// Lifetime is the time until the release expires, at least a second. Default: DefaultLifetime.
	Lifetime time.Duration
	// Renew signs the current release again, with a new expiry, if the filter has not changed. Without Renew, Publish
	// does so when less than half of the lifetime is left, and when other keys sign.
	Renew bool
	// Trim publishes the trimmed form of the filter. The error wraps errors.ErrUnsupported if the family
	// has none.
	Trim bool
	// Shrink is the largest fraction of the keys that may be lost since the current release, in (0, 1], where 1 also
	// allows an empty filter. For an exact set it applies to the members and to the universe. If more are lost, the
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

// restarts reports whether the options replace a release.json that is lost or cannot be trusted.
func (o *Options) restarts() bool { return o.Name != "" && o.Number != 0 }

// Report is the result of Publish.
type Report struct {
	Release *Release // the current one
	// Same is true if the current release already has this filter, so there is no new release. Renewed is true if the
	// current release got a new expiry or other signatures.
	Same, Renewed bool
	// Rotated is the key of Options.Rotate that signed the previous release, if no key of Options.Sign did. Readers
	// that pin only this key refuse the release.
	Rotated *PublicKey
	// State lists the files of Options.State that have recorded the release.
	State []string
	// Behind is the newest number in Options.State if the folder had an older release or none, because a publisher was
	// killed or the folder was lost or restored. Warnings then has a warning.
	Behind uint64
	// Older lists the kept older releases, newest first.
	Older []Older
	// Daily is the number of bytes that a reader of the previous release loads: release.json, and the delta or the
	// whole filter.
	Daily uint64
	// Trimmed is the size in bytes of the trimmed form, or 0 if it is not smaller or was published.
	Trimmed uint64
	// Drift describes in one line how the false-positive rate of the releases moves relative to the planned rate: builds
	// with Like.Set keep the size of the older filter, so their rate rises until a fresh build. Slope is the change
	// of the rate from release to release, 0 if there is none. Due is the number of releases after which the rate
	// exceeds 1.1 times the planned one if the slope stays the same, so that a fresh build is due: 0 if it is due now;
	// see Never.
	Drift string
	Slope float64
	Due   uint64
	// BuildDue is the reason why an exact set should be rebuilt instead of updated, or empty: see exact.Info.BuildDue.
	BuildDue string
	// Removed is the number of objects that were removed, and RemovedBytes their size.
	Removed      int
	RemovedBytes uint64
	// Warnings are errors that did not prevent the release.
	Warnings []error

	record *record // the Release, and its deltas from older ones
	kept   history // Older, in full
}

// Older is a kept older release.
type Older struct {
	Number    uint64
	Published time.Time
	Same      bool   // it has the same content as the current release, so its readers load nothing
	Delta     uint64 // length of the delta to the current release, 0 if it is not smaller than the whole
}
