// Package store keeps objects by path: in a directory, or in a bucket of an
// S3-compatible service (minio-go).
//
// What goes in: a URL (a directory, or s3://bucket/prefix), keys relative to
// it, and bytes. What comes out: the bytes again, whole or in ranges, and
// errors that carry one of a few reasons with a sentence on what to do next.
// An object is there entirely or not at all. Nothing here knows what the bytes
// mean.
package store
