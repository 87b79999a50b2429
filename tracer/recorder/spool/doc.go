// Package spool manages the directory of a traced process: the files that the process writes while
// it is alive, and what other programs make of them.
//
// The process itself uses a Spool, in the c-shared library of tracer/core. It passes in full record
// buffers and gets free ones; the recorder's state is written to the directory. Other programs (the
// sidecar of a pod, cairn run) use a Directory. It yields the process's trace (Recover, Snapshot),
// or makes the directory smaller (Pack, Coarsen, Stored). The names of the files and the fields of
// their JSON are specified in docs/decisions/0001-seams.md:
//
//	process.json, lock      the process's identity, and whether it is alive
//	first-N.seg, N.seg      record buffers
//	state-0, state-1        the last two checkpoints (state_file.go)
//	tables-N                changes of the recorder's tables, by checkpoint (table_log.go)
//	times-N, values-N,      logs of blocks: the data that grows with the number of calls
//	chapters-N              (block_log.go)
//	part-N, left            blocks of the logs, coded as in a trace (pack.go)
//	stored-N, pieces-N      the index of a part that is in the store (stored_part.go,
//	                        joined_parts.go)
//	dictionary, observed    written by the shim (packages record, observed)
//	took                    the resources that tracing takes in the process (usage.go)
//
// Invariants, at any time and whichever process is killed:
//
//   - A record is in a buffer until a checkpoint that includes it is on the disk. The buffer is
//     reused only then.
//   - A checkpoint is valid if it is complete. It has the lengths of the valid parts of the logs
//     and tables; what follows them is ignored.
//   - A block is coded once. It is in a log until it is in a part, and in the spool until it
//     is in the store.
//   - Nothing is mapped that is not allocated on the disk: a store to a sparse mapping on a full
//     disk is a SIGBUS in the application.
//   - The process writes no file beyond RLIMIT_FSIZE, and follows no link that others put
//     in a file's place.
//   - A reader opens nothing outside the directory and only regular files of a size that the tracer
//     writes. It never blocks.
package spool
