package shard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/strictjson"
)

// Values of fields that are the same in every manifest.
const (
	formatName = "bloomery-shards"
	version    = 1 // version of the format that this program writes and reads
	routing    = 1 // of Route; another routing function needs another number
)

// head is the JSON form of a manifest without its list of shards. Numbers with 64 significant bits are text, because
// JavaScript reads numbers as float64.
type head struct {
	Format     string  `json:"format"`
	Version    int     `json:"version"`
	Plan       string  `json:"plan"`
	Spec       string  `json:"spec"`
	Hash       string  `json:"hash"`
	Seed       string  `json:"seed"`
	KeyCheck   string  `json:"key_check,omitempty"`
	KeyForm    string  `json:"key_form,omitempty"`
	Routing    int     `json:"routing"`
	FPRPlanned float64 `json:"fpr_planned,omitempty"`
	Count      int     `json:"count"`
}

// headJSON returns the JSON form of the fields before the list of shards.
func (m *Manifest) headJSON() head {
	h := head{
		Format: formatName, Version: version, Spec: m.Spec.String(), Hash: m.Hash.String(),
		Seed: strconv.FormatUint(m.Seed, 10), Routing: routing, FPRPlanned: m.FPRPlanned, Count: len(m.Shards),
	}
	if m.KeyCheck != 0 {
		h.KeyCheck = strconv.FormatUint(m.KeyCheck, 16)
	}
	if m.Form != (filter.KeyForm{}) {
		h.KeyForm = m.Form.String()
	}

	b, err := json.Marshal(h) // with an empty Plan, which depends on all other fields
	if err != nil {
		panic(err) // every field can be encoded
	}

	sum := sha256.Sum256(b)
	h.Plan = hex.EncodeToString(sum[:16])
	return h
}

// WriteTo writes the manifest with one field per line and one shard per line. If a field is out of range or a file name
// does not match its shard, WriteTo writes nothing and the error wraps ErrManifest.
func (m *Manifest) WriteTo(w io.Writer) (int64, error) {
	if err := m.validate(); err != nil {
		return 0, err
	}

	var b bytes.Buffer
	text, err := json.MarshalIndent(m.headJSON(), "", "  ")
	if err != nil {
		return 0, err
	}

	// MarshalIndent would put each field of an entry on a separate line.
	b.Write(bytes.TrimSuffix(text, []byte("\n}")))
	b.WriteString(",\n  \"shards\": [")
	for i, e := range m.Shards {
		e.FPRPrior, e.FPRPosterior = fourDigits(e.FPRPrior), fourDigits(e.FPRPosterior)
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

// fourDigits rounds a rate, so that manifests from different processors have the same bytes.
func fourDigits(rate float64) float64 {
	rate, _ = strconv.ParseFloat(strconv.FormatFloat(rate, 'g', 4, 64), 64) // the formatted number parses
	return rate
}

// document is the JSON form of a manifest.
type document struct {
	head
	Shards []Entry `json:"shards"`
}

// MaxItems returns the largest number of shards: the count that precedes them in the file, or Max.
func (j *document) MaxItems(string) int {
	if j.Count > 0 {
		return min(j.Count, Max)
	}
	return Max
}

// ReadManifest reads and checks a manifest of at most 512 MiB. It needs memory for the bytes read, and 256 bytes and
// the texts of each entry; it stops at the first entry beyond the count in the file or beyond Max. The error wraps
// ErrManifest, or is an error of r.
func ReadManifest(r io.Reader) (*Manifest, error) {
	limited := &io.LimitedReader{R: r, N: maxManifest + 1} // one byte more, to tell a longer file from a full one
	var j document
	err := strictjson.Decode(limited, &j)

	var invalid *strictjson.Error
	newer := j.Format == formatName && j.Version > version
	switch {
	case err != nil && !errors.As(err, &invalid):
		return nil, err
	case limited.N == 0:
		return nil, fmt.Errorf("%w: more than %d bytes", ErrManifest, maxManifest)
	case newer: // before the other errors, because it may have fields that this program does not know
		return nil, fmt.Errorf("%w: version %d; this program reads %d: use a newer Bloomery",
			ErrManifest, j.Version, version)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	return j.manifest()
}

// manifest returns the manifest, or an error wrapping ErrManifest if its fields contradict each other.
func (j *document) manifest() (*Manifest, error) {
	m := &Manifest{FPRPlanned: j.FPRPlanned, Shards: j.Shards}
	switch {
	case j.Format != formatName:
		return nil, fmt.Errorf("%w: its format is %q, want %q", ErrManifest, j.Format, formatName)
	case j.Routing != routing:
		return nil, fmt.Errorf("%w: routing %d; this program knows %d", ErrManifest, j.Routing, routing)
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

	if m.Form, err = filter.ParseKeyForm(j.KeyForm); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}

	// The comparison with the canonical form below also refuses a text that is not a number.
	m.Seed, _ = strconv.ParseUint(j.Seed, 10, 64)
	m.KeyCheck, _ = strconv.ParseUint(j.KeyCheck, 16, 64)
	if err := m.validate(); err != nil {
		return nil, err
	}

	want := m.headJSON()
	if j.Plan != want.Plan {
		return nil, fmt.Errorf("%w: plan %.40q, but its fields give %s: it was edited", ErrManifest, j.Plan, want.Plan)
	}
	if j.head != want {
		return nil, fmt.Errorf("%w: a field is not in the canonical form", ErrManifest)
	}
	return m, nil
}
