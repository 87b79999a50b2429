// Package merger makes one trace of many.
//
// The input is traces of single ranks, or shards, in any order and any grouping. The output is a
// shard (peers absolute, for another merge) or the finished trace of an MPI world (peers relative,
// missing ranks named). What is equal is stored once: call signatures, grammar rules, value
// sequences, call sites and communicators. The result depends only on the content of the inputs,
// not on their order or on the tree in which they were merged, so equal inputs give equal bytes.
//
// Threads with the same shape of grammar share it; what differs between them is in columns
// (shape.go). A final merge writes each column in the cheapest way, as a function of the rank where
// there is one (elastic.go): ScalaTrace II's elastic data elements (Wu and Mueller, ICS '13) on
// Pilgrim's grammar (Wang, Balaji, Snir, SC '21, §3.5). Memory grows with the distinct content, and
// by a row per rank. Parameters that vary from call to call become value streams first
// (varying.go).
package merger
