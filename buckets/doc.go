// Package buckets reads and writes sharded sets in object stores: the Store that package distribute builds into, and a
// Set that fetches shards, or single blocks of them, from a bucket when a query needs them.
//
//	file:///data/set, /data/set, set        a folder
//	s3://bucket/prefix?region=eu-west-1     S3 and its imitations; import buckets/s3
//	gs://bucket/prefix                      Google Cloud Storage; import buckets/gcs
//
// This package imports no client of a cloud. A program imports the kinds of buckets that it uses for their side effect:
// buckets/s3, buckets/gcs, or both with buckets/all. Package buckets/cloud makes a Store of every other bucket of
// gocloud.dev/blob.
package buckets
