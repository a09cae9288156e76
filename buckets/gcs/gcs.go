// Package gcs registers Google Cloud Storage with package buckets: gs://bucket/prefix. Import it for its side effect.
//
// Credentials are the application default credentials. The URL takes the parameters of gocloud.dev/blob/gcsblob.
// Versions are generations: in a bucket with object versioning a replaced object can still be read.
package gcs

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"cloud.google.com/go/storage"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"

	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/cloud"
)

func init() { buckets.Register(gcsblob.Scheme, open) }

func open(ctx context.Context, u *url.URL) (buckets.Store, error) {
	b, err := blob.OpenBucket(ctx, (&url.URL{Scheme: u.Scheme, Host: u.Host, RawQuery: u.RawQuery}).String())
	if err != nil {
		return nil, err
	}
	return New(b, cloud.Prefix(u)), nil
}

// New returns the Store of a bucket of gcsblob, for a client of your own. Names begin after prefix, which is empty or
// ends with a slash.
func New(b *blob.Bucket, prefix string) buckets.Store {
	return cloud.New(b, prefix, cloud.Driver{
		Listed: func(o *blob.ListObject) string {
			var a storage.ObjectAttrs
			if !o.As(&a) {
				return ""
			}
			return strconv.FormatInt(a.Generation, 10)
		},
		Stat: func(o *blob.Attributes) string {
			var a storage.ObjectAttrs
			if !o.As(&a) {
				return ""
			}
			return strconv.FormatInt(a.Generation, 10)
		},
		Pin: func(version string, as func(any) bool) error {
			if version == "" {
				return nil
			}
			generation, err := strconv.ParseInt(version, 10, 64)
			if err != nil {
				return fmt.Errorf("generation %q: %w", version, err)
			}
			var object **storage.ObjectHandle
			if !as(&object) {
				return errors.New("gocloud.dev/blob/gcsblob gives no access to its request")
			}
			*object = (*object).Generation(generation)
			return nil
		},
		If: func(version string, as func(any) bool) error {
			generation, err := strconv.ParseInt(version, 10, 64)
			if err != nil {
				return fmt.Errorf("generation %q: %w", version, err)
			}
			var object **storage.ObjectHandle
			if !as(&object) {
				return errors.New("gocloud.dev/blob/gcsblob gives no access to its upload")
			}
			*object = (*object).If(storage.Conditions{GenerationMatch: generation})
			return nil
		},
	})
}
