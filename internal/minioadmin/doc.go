// Package minioadmin makes users on a MinIO server, each limited to the objects
// below a prefix, and removes those that it made. It speaks the few admin requests that this takes: MinIO's own
// client library would bring more code than the rest of the operator.
package minioadmin
