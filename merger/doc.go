// Package merger makes one trace of many.
//
// In go traces of single ranks, or shards, in any order and any grouping; out
// comes a shard (peers absolute, for another merge) or the finished trace of
// an MPI world (peers relative, missing ranks named). What is equal is kept
// once: call signatures, grammar rules, value sequences, call sites and
// communicators. The result depends on the content of the inputs only, never
// on their order or on the tree in which they were merged, so equal inputs
// give equal bytes.
//
// Threads with one shape of grammar share it; what differs between them is in
// columns (shape.go). A final merge writes each column in the cheapest way, as
// a function of the rank where there is one (elastic.go): ScalaTrace II's
// elastic data elements (Wu and Mueller, ICS '13) on Pilgrim's grammar (Wang,
// Balaji, Snir, SC '21, §3.5). Memory grows with what is distinct, and with a
// row per rank. Parameters that vary from call to call become value streams
// first (varying.go).
package merger
