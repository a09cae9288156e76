package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/window"
)

// isWindow reports whether open failed because a regular file is of package window. Such a file has no Set: info,
// verify and check read it at the time at which it was saved, and other commands refuse it.
func isWindow(path string, err error) bool {
	return errors.Is(err, container.ErrWindow) && path != stdio && !isPipe(path)
}

// windowFile is a filter of package window whose time stands still at the time at which it was saved, so that it can be
// used like other filters.
type windowFile struct {
	*window.Filter[filter.Hash]
	info   filter.Info
	bytes  uint64
	hasher filter.Hasher
}

func (w windowFile) Has(h filter.Hash) bool               { return w.Contains(h) }
func (w windowFile) HasMany(dst []bool, hs []filter.Hash) { w.ContainsMany(dst, hs) }
func (w windowFile) Info() filter.Info                    { return w.info }
func (w windowFile) Spec() filter.Spec                    { return w.info.Spec }

// openWindow opens a file of package window. Peak memory: the filter and 1 MiB.
func (a *app) openWindow(path string) (w windowFile, err error) {
	secret, err := a.secret()
	if err != nil {
		return w, err
	}

	in, st, err := untrusted.Open(path)
	if err != nil {
		return w, err
	}
	defer in.Close()
	defer context.AfterFunc(a.ctx, func() { _ = in.Close() })()

	w, err = readWindow(in, uint64(st.Size()), secret)
	switch {
	case a.ctx.Err() != nil:
		err = context.Cause(a.ctx)
	case err != nil:
		err = fmt.Errorf("%s: %w", path, err)
	}
	return w, err
}

func readWindow(in *os.File, size uint64, secret *filter.Secret) (w windowFile, err error) {
	file, places, err := container.ReadPlaces(in, container.Options{Window: true})
	if err != nil {
		return w, err
	}
	if file.Bytes < size { // if it is larger, window.Read returns the offset of the end of the file
		return w, container.Broken(file.Bytes, "bytes behind the filter", filter.ErrCorrupt)
	}

	w.bytes = file.Bytes
	if w.hasher, err = file.Hasher(secret); err != nil {
		return w, err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return w, err
	}

	c := window.Config{Secret: secret, EventTime: family.Given(file.Spec, "event")}
	if file.Hash != filter.SipHash {
		c.Secret = nil // like other filters, it ignores a secret that it does not need
	}
	if !c.EventTime {
		c.Clock = func() time.Time { return time.Time{} } // time never goes back, so it stands still
	}
	if w.Filter, err = window.Read[filter.Hash](in, c); err != nil {
		return w, err
	}

	i := w.Filter.Info()
	w.info = filter.Info{
		Spec: file.Spec, Keys: i.Keys, Capacity: i.Capacity,
		FPRPrior: i.FPR, FPRPosterior: i.FPR, FPRPlanned: i.FPRPlanned,
	}
	if i.MaxFPR > 0 {
		w.info.Fill = i.FPR / i.MaxFPR // of the cells
	}

	for _, p := range places {
		w.info.Bits += 8 * p.Bytes
	}
	return w, nil
}

// describeWindow is describe for a file of package window.
func (a *app) describeWindow(path string) (report, error) {
	w, err := a.openWindow(path)
	if err != nil {
		return report{}, err
	}
	own := w.Filter.Info()
	return report{Info: w.info, hasher: w.hasher, file: bloomery.FileInfo{Bytes: w.bytes}, window: &own}, nil
}

// windowJSON describes the fields that only filters of package window have, or returns nil for other filters.
func windowJSON(i *window.Info) *object {
	if i == nil {
		return nil
	}

	var now *time.Time
	if !i.Time.IsZero() {
		utc := i.Time.UTC()
		now = &utc
	}
	return &object{
		{"time", now}, {"ttl_seconds", i.TTL.Seconds()}, {"keys_by_age", i.Ages},
		{"refused", i.Refused}, {"shortened", i.Shortened},
	}
}

func writeWindow(w io.Writer, i *window.Info) {
	now := "has not begun"
	if !i.Time.IsZero() {
		now = i.Time.UTC().Format(time.RFC3339Nano) + "; all answers are for this time"
	}
	fmt.Fprintf(w, "time\t%s\n", now)
	fmt.Fprintf(w, "time to live\t%v to %v\n", i.TTL, i.TTL+i.TTL/7)
	fmt.Fprintf(w, "keys by age\t%d, by sevenths of the time to live\n", i.Ages)
	fmt.Fprintf(w, "no room\t%d operations refused, %d keys removed early\n", i.Refused, i.Shortened)
}

// verifiedWindow opens a file of package window for queries at the time at which it was saved.
func (a *app) verifiedWindow(path string) (verified, error) {
	w, err := a.openWindow(path)
	if err != nil {
		return verified{}, err
	}

	e := one.New(w, w.hasher)
	if err := engine.SetPlanned(e, w.info.FPRPlanned); err != nil {
		return verified{}, err
	}
	return verified{e.Info(), func(c bloomery.JobConfig) (verifier, error) {
		o := bulk.Options{Workers: c.Building.Workers, Memory: c.Building.Memory, TempDir: c.Building.TempDir,
			Progress: c.Building.Progress}
		return windowVerifier{bulk.NewVerifier(w.hasher, func() engine.Engine { return e }, o, c.Absent)}, nil
	}}, nil
}

// windowVerifier counts like a bloomery.Verifier.
type windowVerifier struct{ *bulk.Verifier }

func (v windowVerifier) Commit(ctx context.Context) (bloomery.Verification, error) {
	n, err := v.Verifier.Commit(ctx)
	return bloomery.Verification{
		Members: n.Members, FalseNegatives: n.FalseNegatives, WrongValues: n.WrongValues, Rate: bloomery.Rate(n.Rate),
	}, err
}
