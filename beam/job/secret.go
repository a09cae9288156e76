package job

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// SecretFileVariable is the environment variable of workers that names the file with the secret, 32 hex digits.
const SecretFileVariable = "BLOOMERY_SECRET_FILE"

// secrets has the secrets of plans that Run of this process builds.
var secrets sync.Map // plan id -> *filter.Secret

// secretOf returns the secret of a plan in a worker.
func secretOf(ctx context.Context, plan string) (*filter.Secret, error) {
	if s, ok := secrets.Load(plan); ok {
		return s.(*filter.Secret), nil
	}
	path := os.Getenv(SecretFileVariable)
	if path == "" {
		return nil, fmt.Errorf("%w: set %s to a file with the secret on every worker", filter.ErrNoSecret,
			SecretFileVariable)
	}
	return ReadSecret(ctx, path)
}

// maxSecret is the largest file with a secret in bytes.
const maxSecret = 4096

// ReadSecret reads a secret from a file or pipe of 32 hex digits. It waits for the writer of a pipe until ctx ends.
func ReadSecret(ctx context.Context, path string) (*filter.Secret, error) {
	text, err := untrusted.ReadFile(ctx, path, untrusted.Limit{MaxBytes: maxSecret, Streams: true})
	if err != nil {
		return nil, fmt.Errorf("reading the secret: %w", err)
	}
	b, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(b) != filter.SecretSize {
		return nil, fmt.Errorf("%s: want a secret of 32 hex digits; make one with: openssl rand -hex %d", path,
			filter.SecretSize)
	}
	return (*filter.Secret)(b), nil
}
