// Package store keeps objects by path: in a directory, or in a bucket of an S3-compatible service
// (minio-go).
//
// The input is a URL (a directory, or s3://bucket/prefix), keys relative to it, and bytes. The
// output is the bytes again, whole or in ranges, and errors with one of a few reasons and a
// sentence on what to do next. Objects are written atomically. The package does not know what the
// bytes mean.
package store
