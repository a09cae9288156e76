// Package gcs registers Google Cloud Storage with package buckets: gs://bucket/prefix. Import it for its side effect.
//
// Credentials are the application default credentials. The URL may have the parameters of gocloud.dev/blob/gcsblob.
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

func init() { buckets.Register(gcsblob.Scheme, openURL) }

func openURL(ctx context.Context, u *url.URL) (buckets.Store, error) {
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
		Listed: func(o *blob.ListObject) string { return generation(o.As) },
		Stat:   func(o *blob.Attributes) string { return generation(o.As) },
		Pin: func(version string, as func(any) bool) error {
			if version == "" {
				return nil
			}
			return changeHandle(version, as, func(o *storage.ObjectHandle, number int64) *storage.ObjectHandle {
				return o.Generation(number)
			})
		},
		If: func(version string, as func(any) bool) error {
			return changeHandle(version, as, func(o *storage.ObjectHandle, number int64) *storage.ObjectHandle {
				return o.If(storage.Conditions{GenerationMatch: number})
			})
		},
	})
}

// generation returns the generation of an object in decimal digits, or "" if it is unknown.
func generation(as func(any) bool) string {
	var a storage.ObjectAttrs
	if !as(&a) {
		return ""
	}
	return strconv.FormatInt(a.Generation, 10)
}

// changeHandle replaces the object handle of a request by the result of with for this handle and a generation.
func changeHandle(
	version string, as func(any) bool, with func(o *storage.ObjectHandle, number int64) *storage.ObjectHandle,
) error {
	number, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return fmt.Errorf("generation %q: %w", version, err)
	}

	var object **storage.ObjectHandle
	if !as(&object) {
		return errors.New("gocloud.dev/blob/gcsblob gives no access to its request")
	}
	*object = with(*object, number)
	return nil
}
