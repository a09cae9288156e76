package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/window"
)

// isWindow reports whether open failed since a regular file is of package window. Such a file has no Set: info, verify
// and check read it as it was when it was saved, and the other commands refuse it by name.
func isWindow(path string, err error) bool {
	return errors.Is(err, family.ErrWindow) && path != stdio && !isPipe(path)
}

// openWindow opens a file of package window at the time at which it was saved.
func (a *app) openWindow(path string) (*window.Filter[[]byte], *container.File, error) {
	secret, err := a.secret()
	if err != nil {
		return nil, nil, err
	}
	file, err := container.ReadFile(path, container.Options{Context: a.ctx, Regular: true})
	if err != nil {
		return nil, nil, err
	}
	c := window.Config{Secret: secret, EventTime: family.Given(file.Spec, "event")}
	if file.Hash != filter.SipHash {
		c.Secret = nil // as other filters, it ignores it
	}
	if !c.EventTime {
		c.Clock = func() time.Time { return time.Time{} } // time does not go back: it stands still
	}
	f, err := window.Open[[]byte](a.ctx, path, c)
	return f, file, err
}

// describeWindow is describe for a file of package window.
func (a *app) describeWindow(path string) (report, error) {
	f, file, err := a.openWindow(path)
	if err != nil {
		return report{}, err
	}
	secret, err := a.secret()
	if err != nil {
		return report{}, err
	}
	h, err := file.Hasher(secret)
	if err != nil {
		return report{}, err
	}
	i := f.Info()
	words, fill := 0, 0.0
	if i.MaxFPR > 0 {
		fill = i.FPR / i.MaxFPR // of the cells
	}
	for _, s := range file.Sections {
		words += len(s)
	}
	return report{
		Info: filter.Info{
			Spec: file.Spec, Keys: i.Keys, Bits: 64 * uint64(words), Capacity: i.Capacity,
			Fill: fill, FPRPrior: i.FPR, FPRPosterior: i.FPR, FPRChosen: i.FPRChosen,
		},
		hasher: h, file: engine.Stored{Bytes: file.Bytes, Version: file.Version}, window: &i,
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

// windowSet returns the keys that a file of package window had when it was saved, as a Set of its table.
func (a *app) windowSet(path string) (*bloomery.Set, error) {
	_, file, err := a.openWindow(path) // checks everything
	if err != nil {
		return nil, err
	}
	secret, err := a.secret()
	if err != nil {
		return nil, err
	}
	const name = "rankindexed"
	table, err := families.FormatOf(name)
	if err != nil {
		return nil, err
	}
	spec := family.NewSpec(name, "value_bits", 3)
	for _, p := range file.Spec.Params() {
		switch p.Name {
		case "burst", "event", "keys", "ttl":
		default:
			spec = spec.With(p.Name, p.Value)
		}
	}
	file.Spec, file.Family, file.Sections = spec, table.ID, file.Sections[:3]
	var b bytes.Buffer
	if err := container.Write(&b, file); err != nil {
		return nil, err
	}
	return bloomery.FromBytes(b.Bytes(), bloomery.WithSecret(secret))
}
