// Package minioadmin creates users on a MinIO server, each limited to the objects below a prefix,
// and removes users that it created. It implements the few admin requests that this needs: MinIO's
// own client library would add more code than the rest of the operator has.
package minioadmin
