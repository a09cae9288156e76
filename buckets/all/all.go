// Package all registers every kind of bucket that this module has with package buckets: S3 and Google Cloud Storage.
package all

import (
	_ "github.com/bloomery/bloomery/buckets/gcs"
	_ "github.com/bloomery/bloomery/buckets/s3"
)
