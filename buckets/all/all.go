// Package all registers all clouds of this module with package buckets: S3 and Google Cloud Storage.
package all

import (
	_ "github.com/bloomery/bloomery/buckets/gcs"
	_ "github.com/bloomery/bloomery/buckets/s3"
)
