// Package shard describes the objects that a pod's sidecar leaves in the store for the merge: keys,
// the manifest of a shard, and the pod's heartbeat.
//
// It reads and writes JSON documents; docs/decisions/0001-seams.md has the contract. A shard itself
// is a trace (package trace) with the pod's ranks of one world.
package shard
