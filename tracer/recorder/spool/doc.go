// Package spool manages the directory of a traced process: the files that the process writes while
// it is alive, and what other programs make of them.
//
// The process itself only writes record buffers. Everything else is done by another program (the
// sidecar of a pod, cairn run), which uses a Directory. It compresses the buffers while the process
// lives (Compress), yields the process's trace (Recover, Snapshot), or makes the directory smaller
// (Pack, Coarsen, Stored). The names of the files and the fields of
// their JSON are specified in docs/decisions/0001-seams.md:
//
//	process.json, lock      the process's identity, and whether it is alive
//	ring-N.seg              record buffers that the process uses again, in slots
//	copies-N.seg            those that it used again before they were released
//	once-N.seg              one that it does not use again
//	compressor              what the compressor tells the process (answer.go)
//	state-0, state-1        the last two checkpoints (state_file.go)
//	tables-N                changes of the recorder's tables, by checkpoint (table_log.go)
//	times-N, values-N,      logs of blocks: the data that grows with the number of calls
//	chapters-N              (block_log.go)
//	part-N, left            blocks of the logs, coded as in a trace (pack.go)
//	stored-N, pieces-N      the index of a part that is in the store (stored_part.go,
//	                        joined_parts.go)
//	dictionary, observed    written by the shim (packages record, observed)
//	took                    the resources that the compressor takes (usage.go)
//
// Invariants, at any time and whichever process is killed:
//
//   - A record is in a buffer until a checkpoint that includes it is on the disk. Before that,
//     a slot of the ring is used again only if its records are in a copy, and that is not removed.
//   - A checkpoint is valid if it is complete. It has the lengths of the valid parts of the logs
//     and tables; what follows them is ignored.
//   - A block is coded once. It is in a log until it is in a part, and in the spool until it
//     is in the store.
//   - Nothing outside the directory is opened, and only regular files of a size that the tracer
//     writes: no link that others put in a file's place is followed. Nothing blocks.
package spool
