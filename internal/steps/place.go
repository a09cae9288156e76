package steps

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// A late worker of an abandoned plan must not change a set that another plan has finished. So Build never replaces a
// file beside the manifest:
//
//   - In a folder, and in every Store that is not Conditional, Build writes to work-ID, under a name from the contents.
//     Only Finish moves files to their final names, when it has the lock.
//   - In a Conditional Store, where moving is copying, Build creates the object under its final name, which fails if
//     there is one. It then takes a name with a suffix from the contents, which no other contents can have.

// staged returns the name under which Build writes a shard with that SHA-256 if Finish installs it.
func (p *Plan) staged(s int, sum [sha256.Size]byte) string {
	return p.workName("%s", shardset.HashName(s, p.Shards, sum))
}

// checkPlace returns an error unless a result names a file that this version writes.
func (p *Plan) checkPlace(r result, out Source) error {
	if _, ok := out.(Conditional); ok && shardset.IsName(r.File) || r.File == p.staged(r.Shard, r.SHA256) {
		return nil
	}
	return fmt.Errorf("%s is not where this version of Bloomery writes the shard; build it again", r.File)
}

// placeFile writes the file of a shard, unless it exists, and returns its name. r has its size and its SHA-256.
func (p *Plan) placeFile(ctx context.Context, out Store, r result, set *bloomery.Set) (string, error) {
	write := func(w io.Writer) error {
		_, err := set.WriteTo(w)
		return err
	}

	c, ok := out.(Conditional)
	if !ok {
		r.File = p.staged(r.Shard, r.SHA256)
	} else {
		old, err := p.earlier.readManifest(ctx, out)
		if err != nil {
			return "", err
		}
		r.File = shardset.NewName(old, r.Shard, p.Shards, r.SHA256)
	}

	there, err := r.exists(ctx, out)
	if there || err != nil {
		return r.File, err
	}
	if ok && r.File == shardset.Name(r.Shard, p.Shards, "") {
		err := c.WriteIf(ctx, r.File, "", write)
		if !errors.Is(err, fs.ErrExist) {
			return r.File, err
		}
		if there, err := r.exists(ctx, out); there || err != nil { // another attempt has written the same shard
			return r.File, err
		}
		r.File = shardset.HashName(r.Shard, p.Shards, r.SHA256)
		if there, err := r.exists(ctx, out); there || err != nil {
			return r.File, err
		}
	}
	return r.File, out.Write(ctx, r.File, write) // the name contains the hash, so all writers write the same bytes
}

// exists reports whether the file of a shard exists and is sound.
func (r result) exists(ctx context.Context, out Source) (bool, error) {
	err := r.verifyFile(ctx, out)
	if missing(err) || errors.Is(err, shard.ErrChanged) {
		return false, nil
	}
	return err == nil, err
}

// found is the result of a shard, with the present name of its file and its name in the manifest.
type found struct {
	result
	at, final string
}

// findShard looks for the file of a finished shard: where Build wrote it, and where an interrupted Finish may have
// moved it. old returns the manifest in the output, or nil. check returns an error unless the file belongs to a result.
// The error of find wraps fs.ErrNotExist if the shard is not built; for a damaged shard it is the error of check or
// built.
func (p *Plan) findShard(
	ctx context.Context, out Source, s int, old func() (*shard.Manifest, error), check func(result) error,
) (f found, err error) {
	r, err := p.readResult(ctx, out, s)
	if err != nil {
		return f, err
	}

	f = found{r, r.File, r.File}
	if r.File == p.staged(s, r.SHA256) {
		m, err := old()
		if err != nil {
			return f, err
		}
		f.final = shardset.NewName(m, s, p.Shards, r.SHA256)
	}
	if err = check(r); err == nil || f.at == f.final {
		return f, err
	}

	f.at, f.File = f.final, f.final
	if moved := check(f.result); moved == nil || missing(err) {
		return f, moved
	}
	return f, err
}

func (p *Plan) install(ctx context.Context, out Store, all []found) error {
	var from, to []string
	for _, f := range all {
		if f.at != f.final {
			from, to = append(from, f.at), append(to, f.final)
		}
	}
	if r, ok := out.(Renamer); ok {
		return r.Rename(ctx, from, to)
	}
	return parallel.Do(ctx, len(from), planReads, func(ctx context.Context, i int) error {
		return out.Write(ctx, to[i], func(w io.Writer) error {
			in, err := out.Open(ctx, from[i], 0, -1)
			if err != nil {
				return err
			}
			_, err = io.Copy(w, in)
			return errors.Join(err, in.Close())
		})
	})
}

func (p *Plan) isSaved(ctx context.Context, out Source) (bool, error) {
	_, err := out.Stat(ctx, p.workName(PlanName))
	if missing(err) {
		return false, nil
	}
	return err == nil, err
}

// attempt calls write. If a Finish, of this plan or another one, removes the plan from the output meanwhile, attempt
// removes the working files that names returns, because nothing else would remove them. The error then wraps ErrNoPlan.
func (p *Plan) attempt(ctx context.Context, out Store, write func() error, names func() []string) error {
	before, err := p.isSaved(ctx, out)
	if err != nil {
		return err
	}
	if err = write(); err != nil || !before {
		return err
	}
	if now, err := p.isSaved(ctx, out); now || err != nil {
		return err
	}

	for _, name := range names() {
		if err := out.Remove(ctx, name); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: plan %s was removed from the output while this step ran, by a Finish", ErrNoPlan, p.ID())
}

// isInSet reports whether the set in the output has the shard.
func (r result) isInSet(ctx context.Context, out Source) bool {
	m, err := ReadManifest(ctx, out)
	return err == nil && m != nil && r.Shard < len(m.Shards) && m.Shards[r.Shard].SHA256 == r.SHA256
}
