package job

import (
	"context"
	"strings"

	"github.com/bloomery/bloomery/beam/parquet"
	"github.com/bloomery/bloomery/buckets"
	_ "github.com/bloomery/bloomery/buckets/all" // s3:// and gs://
	"github.com/bloomery/bloomery/internal/steps"
)

// Formats are the formats of keys that keyio does not have.
var Formats = steps.Formats{parquet.Name: parquet.Format{}}

// isURL reports whether a name is the URL of a bucket.
func isURL(name string) bool { return strings.Contains(name, "://") }

// openSource opens the bucket of a URL, or the files of this machine if it is empty.
func openSource(ctx context.Context, url string) (steps.Source, error) {
	if url == "" {
		return steps.Files(), nil
	}
	return buckets.OpenStore(ctx, url)
}

// openStore opens a folder, or a prefix of a bucket.
func openStore(ctx context.Context, where string) (steps.Store, error) {
	return buckets.OpenStore(ctx, where)
}

// split divides a name or pattern of inputs into what openSource opens and a pattern in it.
func split(in string) (source, pattern string) {
	if !isURL(in) {
		return "", in
	}
	return buckets.Split(in)
}
