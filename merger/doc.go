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
// The union of call signature tables and grammars is Pilgrim's (Wang, Balaji,
// Snir, SC '21, §3.5). Unlike there, grammars are not concatenated: every
// thread keeps a root rule of its own, and equal rules are found by hashing.
package merger
