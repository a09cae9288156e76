// Package s3 registers S3 and its imitations with package buckets: s3://bucket/prefix. Import it for its side effect.
//
// Credentials and region come from the environment, as for every program with the SDK of AWS. The URL may have the
// parameters of gocloud.dev/blob/s3blob, such as region=, profile=, endpoint=, use_path_style=true and anonymous=true.
// Versions are ETags. A distributed build needs a service that obeys If-None-Match and If-Match in PUT and in the
// completion of uploads in parts, like S3 since 2024: with a service that ignores them, a late worker could replace a
// shard.
package s3

import (
	"context"
	"errors"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	api "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/cloud"
)

func init() { buckets.Register(s3blob.Scheme, openURL) }

func openURL(ctx context.Context, u *url.URL) (buckets.Store, error) {
	b, err := new(s3blob.URLOpener).OpenBucketURL(ctx, &url.URL{Scheme: u.Scheme, Host: u.Host, RawQuery: u.RawQuery})
	if err != nil {
		return nil, err
	}
	return New(b, cloud.Prefix(u)), nil
}

// New returns the Store of a bucket of s3blob, for a client of your own. Names begin after prefix, which is empty or
// ends with a slash.
func New(b *blob.Bucket, prefix string) buckets.Store {
	return cloud.New(b, prefix, cloud.Driver{
		Listed: func(o *blob.ListObject) string {
			var it types.Object
			if !o.As(&it) {
				return ""
			}
			return aws.ToString(it.ETag)
		},
		Stat: func(a *blob.Attributes) string { return a.ETag },
		Opened: func(r *blob.Reader) string {
			var out api.GetObjectOutput
			if !r.As(&out) {
				return ""
			}
			return aws.ToString(out.ETag)
		},
		Pin: func(version string, as func(any) bool) error {
			var in *api.GetObjectInput
			var options *[]func(*api.Options)
			if !as(&in) || !as(&options) {
				return errors.New("gocloud.dev/blob/s3blob gives no access to its request")
			}
			if version != "" {
				in.IfMatch = aws.String(version)
			}
			// Otherwise the SDK writes a line to the log for every object without its own checksum, and for every
			// range.
			*options = append(*options, func(o *api.Options) { o.DisableLogOutputChecksumValidationSkipped = true })
			return nil
		},
		If: func(version string, as func(any) bool) error {
			var in *transfermanager.UploadObjectInput
			if !as(&in) {
				return errors.New("gocloud.dev/blob/s3blob gives no access to its upload")
			}
			in.IfMatch = aws.String(version)
			return nil
		},
		Started: func(as func(any) bool) func(context.Context, error) {
			var in *transfermanager.UploadObjectInput
			var client *api.Client
			if !as(&in) || !b.As(&client) {
				return nil
			}
			return func(ctx context.Context, err error) { abortUpload(ctx, client, in, err) }
		},
		Lost: func(err error) bool { // the completion of an upload in parts that is already complete
			var answer interface{ ErrorCode() string }
			return errors.As(err, &answer) && answer.ErrorCode() == "NoSuchUpload"
		},
	})
}

// abortUpload removes the parts of a failed upload, which otherwise stay and cost money. The SDK tries to remove them
// itself, but with the context of the upload, so that it fails if this context has ended.
func abortUpload(ctx context.Context, client *api.Client, in *transfermanager.UploadObjectInput, err error) {
	var upload transfermanager.MultipartUploadError
	if !errors.As(err, &upload) {
		return // not in parts
	}
	_, _ = client.AbortMultipartUpload(ctx, &api.AbortMultipartUploadInput{
		Bucket: in.Bucket, Key: in.Key, UploadId: aws.String(upload.UploadID()),
	})
}
