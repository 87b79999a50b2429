// Package shipper gets the traces of finished ranks out of a spool.
//
// In goes a spool directory (docs/decisions/0001-seams.md), watched while
// ranks come and go; out come, per MPI world, shards with the pod's ranks (as
// many in one as memory allows) and their manifests in a store, and a heartbeat
// that tells the merge what is still to come (package shard). Ranks are
// finished by package recorder from what they left behind, whether they ended
// or were killed. All state is in the spool and the store: a shipper that is
// killed and started again goes on.
//
// RunLocal is the same without pods: a spool in, finished traces out.
package shipper
