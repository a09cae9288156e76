package publish

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Step is an older release in a History.
type Step struct {
	Number       uint64
	Published    time.Time
	SHA256       Hash
	Bytes        uint64 // of the filter file, or of the manifest of a set
	Keys         uint64
	FPRPosterior float64
	Delta        *Object // from it to the current release; nil if there is none smaller than the whole file
}

// History lists the older releases that are kept, the newest first.
type History []Step

// check returns an error if a field of a step is out of range.
func (s *Step) check() error {
	if s.Number == 0 || s.Number > maxNumber || s.Keys > maxNumber || !isRate(s.FPRPosterior) {
		return fmt.Errorf("%w: history: release %d with %d keys, rate %v", ErrRelease, s.Number, s.Keys, s.FPRPosterior)
	}
	return errors.Join((&Object{Bytes: s.Bytes}).check(maxNumber), s.Delta.check(maxNumber))
}

// stepJSON is the JSON form of a Step, for writing.
type stepJSON struct {
	Number       uint64      `json:"release"`
	Published    string      `json:"published"`
	SHA256       Hash        `json:"sha256"`
	Bytes        uint64      `json:"bytes"`
	Keys         uint64      `json:"keys"`
	FPRPosterior float64     `json:"fpr_posterior"`
	Delta        *objectJSON `json:"delta,omitempty"`
}

// Marshal returns the history object: one release a line. The error wraps ErrRelease if it is too large.
func (h History) Marshal() ([]byte, error) {
	out := fmt.Appendf(nil, `{"format":%q,"version":%d,"releases":[`, historyFormat, formatVersion)
	for i, s := range h {
		line, err := json.Marshal(stepJSON{s.Number, s.Published.UTC().Format(timeForm), s.SHA256, s.Bytes, s.Keys,
			s.FPRPosterior, (*objectJSON)(s.Delta)})
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, '\n'), line...)
	}
	if out = append(out, "\n]}\n"...); len(out) > MaxHistory {
		return nil, fmt.Errorf("%w: a history of %d bytes; want at most %d: keep fewer releases",
			ErrRelease, len(out), MaxHistory)
	}
	return out, h.check()
}

// ParseHistory returns the content of a history object. The error wraps ErrRelease or ErrVersion.
func ParseHistory(b []byte) (History, error) {
	if len(b) > MaxHistory {
		return nil, fmt.Errorf("%w: a history of %d bytes; want at most %d", ErrRelease, len(b), MaxHistory)
	}
	m, err := members(b)
	if err != nil {
		return nil, err
	}
	if err := m.format(historyFormat); err != nil {
		return nil, err
	}
	var all []json.RawMessage
	m.value("releases", &all)
	if err := m.err(); err != nil {
		return nil, err
	}
	var h History
	for _, raw := range all {
		m, err := members(raw)
		if err != nil {
			return nil, err
		}
		var s Step
		m.number("release", &s.Number)
		m.time("published", &s.Published)
		m.hash("sha256", &s.SHA256)
		m.number("bytes", &s.Bytes)
		m.number("keys", &s.Keys)
		m.value("fpr_posterior", &s.FPRPosterior)
		s.Delta = m.optional("delta")
		if err := m.err(); err != nil {
			return nil, err
		}
		h = append(h, s)
	}
	return h, h.check()
}

// check returns an error unless the numbers descend and all steps are valid.
func (h History) check() error {
	for i := range h {
		if i > 0 && h[i].Number >= h[i-1].Number {
			return fmt.Errorf("%w: history: release %d after %d; want the newest first", ErrRelease, h[i].Number,
				h[i-1].Number)
		}
		if err := h[i].check(); err != nil {
			return err
		}
	}
	return nil
}
