// Package steps builds sharded sets in steps: it is the implementation of package distribute, whose comment describes
// the steps, the files and the memory. It also has features for the commands and Apache Beam: several steps at a time
// (RangeAll, BuildAll), a list of unfinished steps (Status), results of ranges that a scheduler passes on (Done), plans
// as values, formats of keys that keyio does not have (Format), and the key of a *ConflictError (NameConflict).
package steps

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/keyio"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/plan"
	"github.com/bloomery/bloomery/shard"
)

// DefaultRangeBytes is the size of a range of plain text: 32 MiB.
const DefaultRangeBytes = 32 << 20

// LeastRangeBytes is the smallest size of a range that the commands accept: 64 KiB. With smaller ranges the files and
// requests of a build take more time than its keys.
const LeastRangeBytes = 64 << 10

// mostItems is the largest number of objects, and of ranges, of a plan. Tests set it.
var mostItems = 1 << 24

// Config describes the set to build. Spec or Needs, FPR, Keys, Capacity, Hashing, Sharding.Shards and Limits of Build
// mean what they mean for bloomery.Build. Build.Sharding.Shards must be set. If Build has Needs or Capacity but no
// Spec, Build.Keys must be set and may be approximate: nothing counts the keys before the plan. Fields that a
// distributed build cannot use, such as Like and Allow, must be zero.
type Config struct {
	Build bloomery.Config
	Keys  KeyFormat
	// RangeBytes is the size of a range of plain text. Small objects share a range. Default: DefaultRangeBytes.
	RangeBytes int64
	// Formats are formats that keyio does not have, for Keys.Name.
	Formats Formats
}

// Plan describes the set and its input. It has no secret. The same Config and input give the same Plan.
type Plan struct {
	Version    int           `json:"version"`
	Spec       filter.Spec   `json:"spec"` // spec of each shard
	Shards     int           `json:"shards"`
	Hash       filter.HashID `json:"hash"`
	Seed       uint64        `json:"seed,string"`
	KeyCheck   uint64        `json:"key_check,string"`   // check of a keyed hash, else 0
	KeyForm    string        `json:"key_form,omitempty"` // form of the keys; empty: zero
	FPRPlanned float64       `json:"fpr_planned,omitempty"`
	MaxFPR     float64       `json:"max_fpr,omitempty"`    // largest rate of the set
	MaxBytes   uint64        `json:"max_bytes,omitempty"`  // largest number of bytes of all shards together
	Capacity   uint64        `json:"capacity,omitempty"`   // capacity of the set: see bloomery.Config.Capacity
	ExactKeys  uint64        `json:"exact_keys,omitempty"` // number of keys in the input; 0: any
	Keys       KeyFormat     `json:"keys"`
	Objects    []Object      `json:"objects"`
	Ranges     []Range       `json:"ranges"`

	formats Formats // formats that keyio does not have
	id      string
	once    sync.Once     // sets id
	earlier manifestCache // manifest of the set that Build replaces
}

// Range is a part of the input: a span of one object, or several whole objects.
type Range struct {
	Object  int `json:"object"`            // the first one, in Plan.Objects
	Objects int `json:"objects,omitempty"` // how many whole objects; 0: the Span of one
	Span
}

const planVersion = 1

// maxPlan is the largest plan in bytes.
const maxPlan = 1 << 30

// checkUnused returns an error if a field is set that no step uses.
func checkUnused(b bloomery.Config) error {
	const own = "each step has its own; set Options"
	of := b.Building
	return cmp.Or(
		family.Refused("allow", b.Allow != nil,
			"a distributed build makes no exceptions; leave it out, or take bloomery.Build"),
		family.Refused("sharding.dir", b.Sharding.Dir != "", "Build and Finish write the set to their Store"),
		family.Refused("building.workers", of.Workers != 0, own),
		family.Refused("building.temp_dir", of.TempDir != "", own),
		family.Refused("building.progress", of.Progress != nil, own),
		family.Refused("building.memory", of.Memory != 0 && b.Spec != "", own), // with needs, the planner uses it
	)
}

// NewPlan divides the objects that match the patterns into ranges; see Match. It reads the first bytes of large
// objects. Errors of Config wrap filter.ErrConfig and come from bloomery.Config.ForShard.
func NewPlan(ctx context.Context, in Source, patterns []string, c Config) (*Plan, error) {
	if err := checkUnused(c.Build); err != nil {
		return nil, err
	}

	build, err := c.Build.ForShard(ctx)
	if err != nil {
		return nil, err
	}

	c.Keys.Name = cmp.Or(c.Keys.Name, string(keyio.Lines))
	p := &Plan{
		Version: planVersion, Shards: c.Build.Sharding.Shards, MaxFPR: c.Build.Limits.FPR,
		MaxBytes: c.Build.Limits.Bytes, Capacity: c.Build.Capacity, Keys: c.Keys, formats: c.Formats,
	}
	if p.Spec, err = filter.ParseSpec(build.Spec); err != nil {
		return nil, err
	}
	// The planner may choose a lower rate than the needs.
	p.FPRPlanned = cmp.Or(family.Reader(p.Spec).Float("fpr"), c.Build.FPR, c.Build.Needs.FPR)
	if planned := c.Build.Needs != (plan.Needs{}) || c.Build.Capacity > 0; c.Build.Spec != "" || !planned {
		p.ExactKeys = c.Build.Keys
	}
	if c.Build.Spec != "" && !family.Given(p.Spec, "fpr") { // the rate is not the size, so Finish must compare with it
		p.MaxFPR = engine.LowerRate(p.MaxFPR, c.Build.FPR)
	}
	if err := p.checkFamily(); err != nil {
		return nil, err
	}

	h, err := hasher(p.Spec, build)
	if err != nil {
		return nil, err
	}

	_, own := c.Formats[p.Keys.Name]
	if p.valueBits() > 0 {
		p.Keys = p.Keys.withValues(own)
	}
	if err := p.Keys.checkValues(p.valueBits(), own); err != nil { // before the input is read
		return nil, err
	}

	p.Hash, p.Seed = h.ID(), h.Seed()
	if p.Hash == filter.SipHash {
		p.KeyCheck = h.KeyCheck()
	}
	if h.Form() != (filter.KeyForm{}) {
		p.KeyForm = h.Form().String()
	}
	if p.Objects, err = Match(ctx, in, patterns); err != nil {
		return nil, err
	}
	if c.RangeBytes <= 0 {
		c.RangeBytes = DefaultRangeBytes
	}
	if err := p.divide(ctx, in, c); err != nil {
		return nil, err
	}
	return p, p.check()
}

// form returns KeyForm, or the zero form if it is invalid.
func (p *Plan) form() filter.KeyForm {
	f, err := filter.ParseKeyForm(p.KeyForm)
	if err != nil {
		return filter.KeyForm{}
	}
	return f
}

func hasher(s filter.Spec, c bloomery.Config) (filter.Hasher, error) {
	f, err := families.ByName(s.Family())
	if err != nil {
		return filter.Hasher{}, err
	}
	return f.Hasher(s, families.Hashing(c.Hashing))
}

func (p *Plan) divide(ctx context.Context, in Source, c Config) error {
	format := p.formats.formatOf(p.Keys)
	spans := make([][]Span, len(p.Objects))
	err := parallel.Do(ctx, len(spans), planReads, func(ctx context.Context, i int) (err error) {
		spans[i], err = format.Split(ctx, in, p.Objects[i], c.RangeBytes)
		return err
	})
	if err != nil {
		return err
	}

	small := c.RangeBytes / 4 // bytes of objects that share a range; few, because they may be compressed
	held := int64(0)          // bytes in the last range, if it consists of whole objects
	for i, all := range spans {
		if size := p.Objects[i].Size; len(all) == 1 && size <= small {
			last := len(p.Ranges) - 1
			if held > 0 && held+size <= small {
				p.Ranges[last].Objects++
				held += size
				continue
			}
			p.Ranges, held = append(p.Ranges, Range{Object: i, Objects: 1}), max(size, 1)
			continue
		}
		held = 0
		for _, s := range all {
			p.Ranges = append(p.Ranges, Range{Object: i, Span: s})
		}
		if len(p.Ranges) > mostItems {
			return &filter.ConfigError{Field: "range_bytes", Value: c.RangeBytes,
				Reason: fmt.Sprintf("the input has more than %d ranges; make them larger", mostItems)}
		}
	}
	return nil
}

// planReads is the number of objects that NewPlan examines at the same time, and of small objects that a step reads at
// the same time.
const planReads = 16

// ID returns 32 hex digits that depend on all fields.
func (p *Plan) ID() string {
	p.once.Do(func() {
		b, err := json.Marshal(p)
		if err != nil {
			panic(err) // no type of these fields can fail
		}
		sum := sha256.Sum256(b)
		p.id = hex.EncodeToString(sum[:16])
	})
	return p.id
}

// Size returns the size of the input in bytes.
func (p *Plan) Size() (n int64) {
	for _, o := range p.Objects {
		n += o.Size
	}
	return n
}

// objectsOf returns the objects of a range, each with its span.
func (p *Plan) objectsOf(r Range) (objects []Object, spans []Span) {
	objects = p.Objects[r.Object : r.Object+max(r.Objects, 1)]
	if r.Objects == 0 {
		return objects, []Span{r.Span}
	}
	for _, o := range objects {
		spans = append(spans, Span{0, o.Size})
	}
	return objects, spans
}

// check returns an error wrapping filter.ErrConfig if the plan contradicts itself.
func (p *Plan) check() error {
	bad := func(field string, value any, reason string) error {
		return &filter.ConfigError{Field: "plan: " + field, Value: value, Reason: reason}
	}

	switch {
	case p.Version > planVersion:
		return bad("version", p.Version, fmt.Sprintf("this program reads %d: use a newer Bloomery", planVersion))
	case p.Version != planVersion:
		return bad("version", p.Version, fmt.Sprintf("this program reads %d", planVersion))
	case p.Shards < 1 || p.Shards > shard.Max:
		return bad("shards", p.Shards, fmt.Sprintf("want 1 to %d", shard.Max))
	case len(p.Objects) > mostItems:
		return bad("objects", len(p.Objects), fmt.Sprintf("want at most %d; put the keys into fewer files", mostItems))
	case len(p.Ranges) > mostItems:
		return bad("ranges", len(p.Ranges), fmt.Sprintf("want at most %d", mostItems))
	case (p.KeyCheck != 0) != (p.Hash == filter.SipHash) || p.Seed != 0 && p.Hash != filter.XXH3:
		return bad("hash", p.Hash, "seed or key check do not belong to it")
	case p.KeyForm != "" && p.KeyForm != p.form().String():
		return bad("key_form", p.KeyForm, "not in the canonical form")
	case utf8.RuneCountInString(p.Keys.Delimiter) > 1:
		return bad("delimiter", p.Keys.Delimiter, "want one character")
	case !family.ValidRate(p.FPRPlanned) || !family.ValidRate(p.MaxFPR):
		return bad("fpr", p.FPRPlanned, "want a rate")
	}

	// The spec is already the spec of a shard. ForShard checks it, and with one shard it changes nothing.
	c := bloomery.Config{Spec: p.Spec.String(), Sharding: bloomery.Sharding{Shards: 1},
		Hashing: bloomery.Hashing{ID: p.Hash, Seed: p.Seed, Form: p.form()}}
	if c.Hashing.ID == filter.SipHash {
		c.Hashing.ID = 0 // a keyed hash would need the secret, which the plan does not contain
	}
	if _, err := c.ForShard(context.Background()); err != nil {
		return err
	}
	if f, err := families.ByName(p.Spec.Family()); err != nil {
		return err
	} else if !f.TakesHash(p.Spec, p.Hash) {
		return bad("hash", p.Hash, "it is not one of the family")
	}

	_, own := p.formats[p.Keys.Name]
	if err := p.Keys.checkValues(p.valueBits(), own); err != nil {
		return err
	}
	if !own {
		if _, err := keyio.OpenReader("", nil, p.Keys.options()); err != nil {
			return err
		}
	}

	for i, o := range p.Objects {
		if o.Size < 0 || o.Size > math.MaxInt64/2 || o.Name == "" {
			return bad("objects", i, "it has no name or no size")
		}
	}

	for i, r := range p.Ranges {
		if r.Object < 0 || r.Objects < 0 || r.Object >= len(p.Objects) || r.Objects > len(p.Objects)-r.Object ||
			r.Offset < 0 || r.Length < 0 || r.Offset > math.MaxInt64/2 || r.Length > math.MaxInt64/2 {
			return bad("ranges", i, "it is not in the objects")
		}
	}
	return nil
}

// hasher returns the hasher of the keys. The error wraps filter.ErrSecret if the plan has another secret, and
// filter.ErrNoSecret if it is missing.
func (p *Plan) hasher(secret *filter.Secret) (filter.Hasher, error) {
	if p.Hash != filter.SipHash {
		secret = nil
	} else if secret == nil {
		return filter.Hasher{}, fmt.Errorf("the plan has a keyed hash: %w", filter.ErrNoSecret)
	}
	h, err := hasher(p.Spec, bloomery.Config{
		Hashing: bloomery.Hashing{ID: p.Hash, Seed: p.Seed, Secret: secret, Form: p.form()}})
	if err == nil && secret != nil && h.KeyCheck() != p.KeyCheck {
		err = fmt.Errorf("the plan has another secret: %w", filter.ErrSecret)
	}
	return h, err
}

// Match returns the objects of the patterns, sorted by name and each once. A pattern is
//
//   - the name of an object, even if it has special characters of patterns,
//   - a pattern of path.Match, in which * does not match a slash,
//   - a prefix that ends in a slash, for all objects below it.
//
// A pattern without an object is an error wrapping fs.ErrNotExist.
func Match(ctx context.Context, in Source, patterns []string) ([]Object, error) {
	var all []Object
	for _, p := range patterns {
		found, err := matchOne(ctx, in, p)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, &fs.PathError{Op: "match", Path: p, Err: fs.ErrNotExist}
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b Object) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b Object) bool { return a.Name == b.Name }), nil
}

func matchOne(ctx context.Context, in Source, pattern string) (found []Object, err error) {
	meta := strings.IndexAny(pattern, `*?[\`)
	if pattern == "" {
		return nil, &fs.PathError{Op: "match", Path: pattern, Err: fs.ErrInvalid}
	}
	if !strings.HasSuffix(pattern, "/") {
		o, err := in.Stat(ctx, pattern)
		if err == nil || meta < 0 || !missing(err) {
			return []Object{o}, err
		}
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%q: %w", pattern, err)
	}
	if g, ok := in.(interface {
		Glob(string) ([]string, error)
	}); ok && meta >= 0 {
		names, err := g.Glob(pattern)
		for _, name := range names {
			o, err := in.Stat(ctx, name)
			if err != nil {
				return nil, err
			}
			found = append(found, o)
		}
		return found, err
	}
	prefix := pattern
	if meta >= 0 {
		prefix = pattern[:meta]
	}
	for o, err := range in.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		if ok, _ := path.Match(pattern, o.Name); (ok || meta < 0) && !strings.HasSuffix(o.Name, "/") {
			found = append(found, o)
		}
	}
	return found, nil
}
