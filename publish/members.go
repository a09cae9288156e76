package publish

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bloomery/bloomery/shard"
)

// Hash is a SHA-256. Its text is 64 lower-case hexadecimal digits.
type Hash = shard.Sum

// timeForm is the only form of a time in a release.
const timeForm = "2006-01-02T15:04:05Z"

// object reads the members of a JSON object by their exact names, as other languages do; encoding/json would ignore
// their case. It keeps the first error.
type object struct {
	all    map[string]json.RawMessage
	failed *error
}

// members returns the members of a JSON object. Of several with one name the last one counts.
func members(b []byte) (object, error) {
	o := object{failed: new(error)}
	if err := json.Unmarshal(b, &o.all); err != nil {
		return o, fmt.Errorf("%w: %w", ErrRelease, err)
	}
	return o, nil
}

// err returns the first error, wrapping ErrRelease.
func (o object) err() error { return *o.failed }

func (o object) fail(name string, err error) {
	if *o.failed == nil {
		*o.failed = fmt.Errorf("%w: member %s: %w", ErrRelease, name, err)
	}
}

// value decodes a member that must be there.
func (o object) value(name string, v any) {
	raw, ok := o.all[name]
	if !ok || bytes.Equal(raw, []byte("null")) {
		o.fail(name, fmt.Errorf("it is missing"))
		return
	}
	if err := json.Unmarshal(raw, v); err != nil {
		o.fail(name, err)
	}
}

func (o object) text(name string, s *string)   { o.value(name, s) }
func (o object) number(name string, n *uint64) { o.value(name, n) }
func (o object) hash(name string, h *Hash)     { o.value(name, h) }

func (o object) time(name string, t *time.Time) {
	var s string
	o.value(name, &s)
	got, err := time.Parse(timeForm, s)
	if err != nil || got.Format(timeForm) != s {
		o.fail(name, fmt.Errorf("time %.40q; want the form %s", s, timeForm))
		return
	}
	*t = got
}

// object decodes the members sha256 and bytes.
func (o object) object(to *Object) {
	o.hash("sha256", &to.SHA256)
	o.number("bytes", &to.Bytes)
}

// within returns the members of a member that is an object, or nil if there is none.
func (o object) within(name string) *object {
	raw, ok := o.all[name]
	if !ok {
		return nil
	}
	inner := object{failed: o.failed}
	if err := json.Unmarshal(raw, &inner.all); err != nil || inner.all == nil {
		o.fail(name, fmt.Errorf("want an object"))
	}
	return &inner
}

// optional returns a member that is an Object, or nil if there is none.
func (o object) optional(name string) *Object {
	inner := o.within(name)
	if inner == nil {
		return nil
	}
	to := new(Object)
	inner.object(to)
	return to
}

// format checks the members format and version.
func (o object) format(want string) error {
	var format string
	var version uint64
	o.text("format", &format)
	o.number("version", &version)
	switch {
	case o.err() != nil:
		return o.err()
	case format != want:
		return fmt.Errorf("%w: format %.40q; want %q", ErrRelease, format, want)
	case version != formatVersion:
		return fmt.Errorf("%w: version %d of %s", ErrVersion, version, want)
	}
	return nil
}
