package job

import (
	"context"
	"errors"
	"strings"

	"github.com/bloomery/bloomery/beam/parquet"
	"github.com/bloomery/bloomery/distribute"
)

// Formats are the formats of keys besides those of keyio.
var Formats = distribute.Formats{parquet.Name: parquet.Format{}}

// isURL reports whether a name is the URL of a bucket.
func isURL(name string) bool { return strings.Contains(name, "://") }

// splitURL divides the URL of an object, or a pattern of URLs, into the URL of its bucket, with the query, and the name
// in it. For a path the URL is empty.
func splitURL(in string) (bucket, name string) {
	scheme, rest, ok := strings.Cut(in, "://")
	if !ok {
		return "", in
	}
	return scheme + "://" + rest, ""
}

// openSource opens the bucket of a URL, or the files of this machine if it is empty.
func openSource(_ context.Context, url string) (distribute.Source, error) {
	if url == "" {
		return distribute.Files(), nil
	}
	return nil, errors.ErrUnsupported
}

// openStore opens a folder, or a prefix of a bucket.
func openStore(_ context.Context, where string) (distribute.Store, error) {
	if !isURL(where) {
		return distribute.Dir(where), nil
	}
	return nil, errors.ErrUnsupported
}
