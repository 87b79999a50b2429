// Package shipper gets the traces of finished ranks out of a spool.
//
// The input is a spool directory (docs/decisions/0001-seams.md), watched while ranks come and go.
// The output is, per MPI world, shards with the pod's ranks (as many in one as memory allows) and
// their manifests in a store, and a heartbeat that lists what is still missing (package
// shard). Package recorder completes the traces of ranks from what they left in the spool, whether
// they ended or were killed. All state is in the spool and the store: a shipper that was killed and
// restarted continues.
//
// RunLocal is the same without pods: it turns a spool into finished traces.
package shipper
