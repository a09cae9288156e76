package steps

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// ErrSetChanged means that the set in the output has changed since the plan was saved.
var ErrSetChanged = errors.New("the set in the output has changed since the plan was saved")

// replacesName is the file that records which manifest the output had when the plan was saved: its SHA-256 in
// hexadecimal digits, or noManifest. A plan without that file replaces any set.
const (
	replacesName = "replaces.sha256"
	noManifest   = "none"
)

// manifestSum returns the content of replacesName for the present manifest.
func manifestSum(ctx context.Context, out Source) (string, error) {
	sum, err := hashObject(ctx, out, shard.ManifestName)
	if missing(err) {
		return noManifest, nil
	}
	return hex.EncodeToString(sum[:]), err
}

func hashObject(ctx context.Context, s Source, name string) (sum shard.Sum, err error) {
	r, err := s.Open(ctx, name, 0, -1)
	if err != nil {
		return sum, err
	}
	defer r.Close()
	h := sha256.New()
	_, err = io.Copy(h, r)
	h.Sum(sum[:0])
	return sum, err
}

// replaced is the manifest in the output before Finish.
type replaced struct {
	version string // empty if there is none
	sum     string // as in replacesName, or empty if Save has recorded nothing
	changed bool   // whether it differs from the one that Save has recorded
	record  string // name of the record
}

// replaces examines the manifest in the output. A plan without a record replaces any set.
func (p *Plan) replaces(ctx context.Context, out Source) (r replaced, err error) {
	r.record = p.workName(replacesName)
	st, err := out.Stat(ctx, shard.ManifestName) // before it is read: a later change then has another version
	if err != nil && !missing(err) {
		return r, err
	}

	r.version = st.Version
	recorded, err := readAll(ctx, out, r.record, 1<<10)
	if missing(err) {
		return r, nil
	}
	if err != nil {
		return r, err
	}

	r.sum, err = manifestSum(ctx, out)
	r.changed = r.sum != string(recorded)
	return r, err
}

// checkNext returns an error wrapping ErrSetChanged unless next may replace the manifest. The manifest may already be
// next, if an interrupted Finish has written it.
func (r replaced) checkNext(next []byte) error {
	if sum := sha256.Sum256(next); !r.changed || r.sum == hex.EncodeToString(sum[:]) {
		return nil
	}
	return fmt.Errorf("%w, for example by an added key, which would be lost; to replace the set nevertheless, remove %s",
		ErrSetChanged, r.record)
}

// watchManifest returns the manifest in the output, nil if there is none, and a function that returns an error wrapping
// ErrSetChanged if the manifest of a Conditional Store has changed by then. Other Stores have a lock or no protection.
func watchManifest(ctx context.Context, out Source) (m *shard.Manifest, same func(context.Context) error, err error) {
	c, ok := out.(Conditional)
	if !ok {
		m, err := ReadManifest(ctx, out)
		return m, func(context.Context) error { return nil }, err
	}

	version := func(ctx context.Context) (string, error) {
		st, err := c.Stat(ctx, shard.ManifestName)
		if missing(err) {
			err = nil
		}
		return st.Version, err
	}

	was, err := version(ctx)
	if err != nil {
		return nil, nil, err
	}

	m, err = ReadManifest(ctx, out)
	return m, func(ctx context.Context) error {
		now, err := version(ctx)
		if err == nil && now != was {
			err = fmt.Errorf("%w: another one was finished meanwhile", ErrSetChanged)
		}
		return err
	}, err
}

// clearShards removes the shards in a Conditional Store that its manifest does not name. An abandoned plan has left
// them, and Build would have to use other names.
func clearShards(ctx context.Context, out Store) error {
	if _, ok := out.(Conditional); !ok {
		return nil
	}

	m, same, err := watchManifest(ctx, out)
	if err != nil {
		return err
	}

	leftover := shardset.Leftover{All: true, Keep: []*shard.Manifest{m}}.Func()
	var names []string
	for o, err := range out.List(ctx, "") {
		if err != nil {
			return err
		}
		if leftover(o.Name) {
			names = append(names, o.Name)
		}
	}
	return parallel.Do(ctx, len(names), planReads, func(ctx context.Context, i int) error {
		if err := same(ctx); err != nil {
			return err
		}
		return out.Remove(ctx, names[i])
	})
}
