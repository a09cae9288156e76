package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// The JSON form. Numbers with 64 significant bits are text, because JavaScript reads numbers as float64.
type head struct {
	Format    string  `json:"format"`
	Version   int     `json:"version"`
	Plan      string  `json:"plan"`
	Spec      string  `json:"spec"`
	Hash      string  `json:"hash"`
	Seed      string  `json:"seed"`
	KeyCheck  string  `json:"key_check,omitempty"`
	Routing   int     `json:"routing"`
	FPRChosen float64 `json:"fpr_chosen,omitempty"`
	Count     int     `json:"count"`
}

func (m *Manifest) head() head {
	h := head{
		Format: Format, Version: Version, Spec: m.Spec.String(), Hash: m.Hash.String(),
		Seed: strconv.FormatUint(m.Seed, 10), Routing: Routing, FPRChosen: m.FPRChosen, Count: len(m.Shards),
	}
	if m.KeyCheck != 0 {
		h.KeyCheck = strconv.FormatUint(m.KeyCheck, 16)
	}
	return h
}

// WriteTo writes the manifest: one field a line, one shard a line. The error wraps ErrManifest if Check fails.
func (m *Manifest) WriteTo(w io.Writer) (int64, error) {
	if err := m.Check(); err != nil {
		return 0, err
	}
	h := m.head()
	h.Plan = m.ID()
	var b bytes.Buffer
	text, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return 0, err
	}
	b.Write(bytes.TrimSuffix(text, []byte("\n}")))
	b.WriteString(",\n  \"shards\": [")
	for i, e := range m.Shards {
		e.FPRPrior, e.FPRPosterior = Rate(e.FPRPrior), Rate(e.FPRPosterior)
		line, err := json.Marshal(e)
		if err != nil {
			return 0, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		b.Write(line)
	}
	b.WriteString("\n  ]\n}\n")
	return b.WriteTo(w)
}

// ReadManifest reads and checks a manifest of at most 512 MiB. Its memory is bounded by the bytes that arrive, and by
// 256 bytes and the texts of each entry; it stops at the first entry above count, or above Max. The error wraps
// ErrManifest, or is one of r.
func ReadManifest(r io.Reader) (*Manifest, error) {
	limited := &io.LimitedReader{R: r, N: maxManifest + 1}
	var failed error
	d := json.NewDecoder(readerFunc(func(p []byte) (n int, err error) {
		if n, err = limited.Read(p); err != nil && err != io.EOF {
			failed = err
		}
		return n, err
	}))
	d.DisallowUnknownFields()
	var j document
	err := j.decode(d)
	switch {
	case failed != nil:
		return nil, failed
	case limited.N == 0:
		return nil, fmt.Errorf("%w: more than %d bytes", ErrManifest, maxManifest)
	case err == nil:
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("there is text after its end")
		}
	}
	if newer := j.Format == Format && j.Version > Version; newer {
		return nil, fmt.Errorf("%w: version %d; this program reads up to %d: use a newer Bloomery",
			ErrManifest, j.Version, Version)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	return j.head.manifest(j.shards)
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// manifest returns the checked manifest of a JSON form.
func (j head) manifest(shards []Entry) (*Manifest, error) {
	m := &Manifest{FPRChosen: j.FPRChosen, Shards: shards}
	switch {
	case j.Format != Format:
		return nil, fmt.Errorf("%w: its format is %q, want %q", ErrManifest, j.Format, Format)
	case j.Version < 1:
		return nil, fmt.Errorf("%w: version %d", ErrManifest, j.Version)
	case j.Routing != Routing:
		return nil, fmt.Errorf("%w: routing %d; this program knows %d", ErrManifest, j.Routing, Routing)
	case j.Count != len(shards):
		return nil, fmt.Errorf("%w: it lists %d of %d shards", ErrManifest, len(shards), j.Count)
	case len(j.Spec) > maxSpec:
		return nil, fmt.Errorf("%w: a spec of %d bytes", ErrManifest, len(j.Spec))
	}
	var err error
	if m.Spec, err = filter.ParseSpec(j.Spec); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	if m.Hash, err = family.ParseHashID(j.Hash); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	if m.Seed, err = strconv.ParseUint(j.Seed, 10, 64); err != nil {
		return nil, fmt.Errorf("%w: seed %q", ErrManifest, j.Seed)
	}
	if j.KeyCheck != "" {
		if m.KeyCheck, err = strconv.ParseUint(j.KeyCheck, 16, 64); err != nil {
			return nil, fmt.Errorf("%w: key_check %q", ErrManifest, j.KeyCheck)
		}
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	want := m.head()
	if want.Plan = m.ID(); j.Plan != want.Plan {
		return nil, fmt.Errorf("%w: plan %.40q, but its fields give %s: it was edited", ErrManifest, j.Plan, want.Plan)
	}
	if j != want {
		return nil, fmt.Errorf("%w: its spec, seed or key_check is not in the canonical form", ErrManifest)
	}
	return m, nil
}
