// Package collect is the job of `cairn merge`: it finds the shards of a job in a store, waits for
// those that are still being uploaded, and writes one trace for every run.
//
// The input is a store with what the sidecars left (package shipper/shard) and the attempts that
// the operator observed. The output is <attempt>/<run>/trace.cairn with a manifest, which is
// written last, and a result that fits into a termination message. Package merger merges the
// traces.
package collect
