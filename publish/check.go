package publish

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/bloomery/bloomery/shard"
)

// Checked is the result of Check.
type Checked struct {
	Release *Release
	Signers []string // ids of the keys that claim to have signed; Verify checks them
	Objects int      // named objects with the right content
	Bytes   uint64   // their size
	Deltas  int      // deltas that produce the current filter
}

// Check checks the folder of a publisher as a reader would: release.json, the hashes of all objects that it and its
// history name, the filter, and that each delta produces the current filter. It collects all errors; they wrap
// ErrRelease, ErrVersion, ErrObject, or come from bloomery.Open and package delta. pinned keys, if any, must have
// signed the release: see Verify. progress, if not nil, is called after each older release.
func Check(ctx context.Context, dir string, pinned []PublicKey, progress func(done, all int)) (Checked, error) {
	raw, err := readRelease(ctx, filepath.Join(dir, ReleaseName))
	if err != nil {
		return Checked{}, err
	}

	var c checker
	c.objects.dir, c.seen = filepath.Join(dir, ObjectsName), map[shard.Sum]bool{}
	if c.record, err = parseRecord(raw); err != nil {
		return Checked{}, fmt.Errorf("%s: %w", filepath.Join(dir, ReleaseName), err)
	}

	c.report.Release, c.kind = &c.record.Release, kinds[c.record.Kind]
	if c.report.Signers, err = signedBy(raw); err != nil {
		return Checked{}, err
	}
	if len(pinned) > 0 {
		if _, err := Verify(raw, pinned...); err != nil {
			return Checked{}, err
		}
	}
	err = c.checkAll(ctx, progress)
	return c.report, err
}

type checker struct {
	objects
	kind   kind
	seen   map[shard.Sum]bool
	record *record
	report Checked
	errs   []error
}

// failed collects an error and reports whether it is not nil.
func (c *checker) failed(what string, err error) bool {
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("%s: %w", what, err))
	}
	return err != nil
}

// readObject returns the content of an object, or nil if it is not right. It counts each object once.
func (c *checker) readObject(ctx context.Context, what string, o object) []byte {
	b, err := c.read(ctx, o, maxNumber)
	if c.failed(what, err) {
		return nil
	}
	if !c.seen[o.SHA256] {
		c.seen[o.SHA256] = true
		c.report.Objects++
		c.report.Bytes += o.Bytes
	}
	return b
}

// content returns the content of a release and the SHA-256 of its parts, if all are right.
func (c *checker) content(ctx context.Context, what string, o object) ([]byte, map[string]shard.Sum) {
	b := c.readObject(ctx, what, o)
	if b == nil {
		return nil, nil
	}

	parts, err := c.kind.partsOf(b)
	if c.failed(what, err) {
		return nil, nil
	}

	sums := map[string]shard.Sum{}
	for _, p := range parts {
		if c.readObject(ctx, what+": "+p.name, p.object) == nil {
			return nil, nil
		}
		sums[p.name] = p.SHA256
	}
	return b, sums
}

func (c *checker) checkAll(ctx context.Context, progress func(done, all int)) error {
	r := c.record
	file, sums := c.content(ctx, "the filter", r.object())
	if file != nil {
		if err := c.kind.checkContent(file, c.reader(ctx, maxNumber)); err != nil {
			c.errs = append(c.errs, err)
		}
	}

	h, err := c.history(ctx, r)
	if !c.failed("the history", err) && r.History != nil {
		c.readObject(ctx, "the history", *r.History)
	}

	for i, step := range h {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.checkStep(ctx, step, sums)
		if progress != nil {
			progress(i+1, len(h))
		}
	}
	if p := r.Previous; p != nil && p.Delta != nil && !c.seen[p.Delta.SHA256] {
		c.errs = append(c.errs, fmt.Errorf("%w: release.json and its history name other deltas", ErrRelease))
	}
	return errors.Join(c.errs...)
}

// checkStep checks an older release, and that its delta produces the current one, whose parts are in sums.
func (c *checker) checkStep(ctx context.Context, step step, sums map[string]shard.Sum) {
	what := fmt.Sprintf("release %d", step.Number)
	old, _ := c.content(ctx, what, step.object)
	if step.Delta == nil {
		return
	}

	what += ": its delta"
	d := c.readObject(ctx, what, *step.Delta)
	if old == nil || d == nil || c.kind.folder && sums == nil {
		return
	}

	const most = 1 << 62 // no limit: the objects were read, so their sizes are known
	got, err := c.kind.applyDelta(ctx, old, d, most, c.reader(ctx, maxNumber), func(name string, content []byte) error {
		if sums[name] != sha256.Sum256(content) {
			return fmt.Errorf("%w: shard %s", ErrObject, name)
		}
		return nil
	})
	if err == nil && shard.Sum(sha256.Sum256(got)) != c.report.Release.SHA256 {
		err = fmt.Errorf("%w: it gives another filter", ErrObject)
	}
	if !c.failed(what, err) {
		c.report.Deltas++
	}
}
