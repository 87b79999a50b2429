// Package collect is the job of `cairn merge`: it finds the shards of a job in
// a store, waits for those that are still to come, and writes one trace for
// every run.
//
// In go a store with what the sidecars left (package shipper/shard) and the
// attempts that the operator saw; out come <attempt>/<run>/trace.cairn with a
// manifest, written last, and a result that fits a termination message. How
// traces are merged is package merger's.
package collect
