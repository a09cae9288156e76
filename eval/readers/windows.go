package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/bloomery/bloomery/window"
)

// foreignMagic matches the errors of readers for a file that does not begin like a filter file.
var foreignMagic = regexp.MustCompile(`magic at byte 0|MagicError|not a Bloomery file|a file of package window`)

// windows makes n filters of package window, whose keys expire. Every reader of filters must refuse them with an error
// that says that they are not filter files. The command is not queried, since its subcommand check reads them.
func (t *trial) windows(ctx context.Context, n int) error {
	noKeys := filepath.Join(t.dir, "keys")
	if err := os.WriteFile(noKeys, nil, 0o600); err != nil {
		return err
	}
	for number := range n {
		s, err := t.newWindow(ctx, number)
		if err != nil {
			return err
		}
		refusals := map[string]string{}
		for _, r := range t.readers {
			reply, err := r.answer(ctx, s, noKeys)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				reply.refused = "failed: " + err.Error()
			}
			refusals[r.name()] = reply.refused
		}
		_, err = s.askLibrary()
		refusals["library"] = fmt.Sprint(err)
		for name, why := range refusals {
			if foreignMagic.MatchString(why) {
				continue
			}
			if err := t.fault(s, "%s: %q, want a refusal for its magic", name, why); err != nil {
				return err
			}
		}
		t.report.Windows++
		t.progress("%d of %d filters of package window", t.report.Windows, n)
		if err := os.Remove(s.path); err != nil {
			return err
		}
	}
	return nil
}

// newWindow saves a random filter of package window.
func (t *trial) newWindow(ctx context.Context, number int) (*subject, error) {
	r := generator(t.seed^2, number)
	c := window.Config{
		Keys: 1 + r.Uint64N(2000), TTL: time.Duration(1+r.IntN(1_000_000)) * time.Millisecond,
		FPR: 1 / float64(2+r.IntN(100_000)), EventTime: r.IntN(2) == 0, Overflow: window.Shorten,
	}
	s := &subject{number: number, path: filepath.Join(t.dir, fmt.Sprintf("%d.window", number)), secret: "-"}
	if r.IntN(3) == 0 {
		c.Secret = s.newSecret(r)
	}
	f, err := window.New[uint64](c)
	if err != nil {
		return nil, err
	}
	for range r.IntN(int(c.Keys)) {
		if err := f.Add(r.Uint64()); err != nil {
			return nil, err
		}
	}
	s.plan.spec, s.plan.change = "package window", added
	return s, f.Save(ctx, s.path)
}
