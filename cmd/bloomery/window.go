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

// isWindow reports whether open failed since a regular file is of package window. Such a file has no Set: info, verify
// and check read it as it was when it was saved, and the other commands refuse it by name.
func isWindow(path string, err error) bool {
	return errors.Is(err, container.ErrWindow) && path != stdio && !isPipe(path)
}

// openWindow opens a file of package window at the time at which it was saved, and returns its header too. Peak memory:
// the filter and 1 MiB.
func openWindow[K filter.Key](a *app, path string) (*window.Filter[K], windowHeader, error) {
	secret, err := a.secret()
	if err != nil {
		return nil, windowHeader{}, err
	}
	in, st, err := untrusted.Open(path)
	if err != nil {
		return nil, windowHeader{}, err
	}
	defer in.Close()
	defer context.AfterFunc(a.ctx, func() { _ = in.Close() })()
	f, h, err := readWindow[K](in, uint64(st.Size()), secret)
	switch {
	case a.ctx.Err() != nil:
		err = context.Cause(a.ctx)
	case err != nil:
		err = fmt.Errorf("%s: %w", path, err)
	}
	return f, h, err
}

// windowHeader is the header of a file of package window.
type windowHeader struct {
	*container.File
	bits   uint64 // of the sections
	hasher filter.Hasher
}

func readWindow[K filter.Key](
	in *os.File, size uint64, secret *filter.Secret,
) (*window.Filter[K], windowHeader, error) {
	file, places, err := container.ReadPlaces(in, container.Options{Window: true})
	if err != nil {
		return nil, windowHeader{}, err
	}
	if file.Bytes < size { // if it is larger, window.Read says where the file ends
		return nil, windowHeader{}, container.Broken(file.Bytes, "bytes behind the filter", filter.ErrCorrupt)
	}
	h := windowHeader{File: file}
	for _, p := range places {
		h.bits += 8 * p.Bytes
	}
	if h.hasher, err = file.Hasher(secret); err != nil {
		return nil, h, err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, h, err
	}
	c := window.Config{Secret: secret, EventTime: family.Given(file.Spec, "event")}
	if file.Hash != filter.SipHash {
		c.Secret = nil // as other filters, it ignores it
	}
	if !c.EventTime {
		c.Clock = func() time.Time { return time.Time{} } // time does not go back: it stands still
	}
	f, err := window.Read[K](in, c)
	return f, h, err
}

// infoOf describes a filter of package window as filters of families are described.
func infoOf[K filter.Key](f *window.Filter[K], h windowHeader) (filter.Info, window.Info) {
	i := f.Info()
	fill := 0.0
	if i.MaxFPR > 0 {
		fill = i.FPR / i.MaxFPR // of the cells
	}
	return filter.Info{
		Spec: h.Spec, Keys: i.Keys, Bits: h.bits, Capacity: i.Capacity,
		Fill: fill, FPRPrior: i.FPR, FPRPosterior: i.FPR, FPRChosen: i.FPRChosen,
	}, i
}

// describeWindow is describe for a file of package window.
func (a *app) describeWindow(path string) (report, error) {
	f, h, err := openWindow[filter.Hash](a, path)
	if err != nil {
		return report{}, err
	}
	info, own := infoOf(f, h)
	return report{
		Info: info, hasher: h.hasher, file: bloomery.FileInfo{Bytes: h.Bytes}, window: &own,
	}, nil
}

// windowJSON describes what only filters of package window have, nil for others.
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

// verifiedWindow opens a file of package window, to be asked at the time at which it was saved.
func (a *app) verifiedWindow(path string) (verified, error) {
	f, h, err := openWindow[filter.Hash](a, path)
	if err != nil {
		return verified{}, err
	}
	info, _ := infoOf(f, h)
	e := one.New(windowFilter{f, info}, h.hasher)
	if err := engine.SetChosen(e, info.FPRChosen); err != nil {
		return verified{}, err
	}
	return verified{e.Info(), func(c bloomery.JobConfig) (verifier, error) {
		o := bulk.Options{Workers: c.Workers, Memory: c.Memory, TempDir: c.TempDir, Progress: c.Progress}
		return windowVerifier{bulk.NewVerifier(h.hasher, func() engine.Engine { return e }, o, c.Absent)}, nil
	}}, nil
}

// windowVerifier counts as a bloomery.Verifier does.
type windowVerifier struct{ *bulk.Verifier }

func (v windowVerifier) Commit(ctx context.Context) (bloomery.Verification, error) {
	n, err := v.Verifier.Commit(ctx)
	return bloomery.Verification{
		Members: n.Members, FalseNegatives: n.FalseNegatives, WrongValues: n.WrongValues, Rate: bloomery.Rate(n.Rate),
	}, err
}

// windowFilter is a filter of package window, whose time stands still, as a filter of a family.
type windowFilter struct {
	f    *window.Filter[filter.Hash]
	info filter.Info
}

func (w windowFilter) Has(h filter.Hash) bool               { return w.f.Contains(h) }
func (w windowFilter) HasMany(dst []bool, hs []filter.Hash) { w.f.ContainsMany(dst, hs) }
func (w windowFilter) Info() filter.Info                    { return w.info }
func (w windowFilter) Spec() filter.Spec                    { return w.info.Spec }
