package distribute

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/bloomery/bloomery/shard"
)

// ErrSetChanged means that the set in the output is not the one that was there when the plan was saved.
var ErrSetChanged = errors.New("the set in the output has changed since the plan was saved")

// replacesName is the file that records which manifest the output had when the plan was saved: its SHA-256 in
// hexadecimal digits, or noManifest. A plan without that file replaces any set.
const (
	replacesName = "replaces.sha256"
	noManifest   = "none"
)

// manifestSum returns the content of replacesName for the manifest that is in the output now.
func manifestSum(ctx context.Context, out Source) (string, error) {
	r, err := out.Open(ctx, shard.ManifestName, 0, -1)
	if missing(err) {
		return noManifest, nil
	}
	if err != nil {
		return "", err
	}
	defer r.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// mayReplace returns an error wrapping ErrSetChanged if the manifest in the output is neither the one that Save has
// recorded nor next, which an interrupted Finish has written.
func (p *Plan) mayReplace(ctx context.Context, out Source, next []byte) error {
	recorded, err := readAll(ctx, out, p.work(replacesName), 1<<10)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	now, err := manifestSum(ctx, out)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(next)
	if now == string(recorded) || now == hex.EncodeToString(sum[:]) {
		return nil
	}
	return fmt.Errorf("%w, for example by an added key, which would be lost; to replace the set nevertheless, remove %s",
		ErrSetChanged, p.work(replacesName))
}
