// Package spool is the directory of a traced process on the disk: what the process keeps there while it lives, and what others
// make of it.
//
// The process itself (Spool, behind the c-shared library of tracer/core): in go full record buffers; out come free ones, and
// on the disk the recorder's state. Others (Directory: the sidecar of a pod, or cairn run): in goes the directory; out comes
// the process's trace (Recover, Snapshot), or a smaller directory (Pack, Coarsen, Stored). Names of files and fields of their
// JSON are docs/decisions/0001-seams.md's:
//
//	process.json, lock      who the process is, and whether it lives
//	first-N.seg, N.seg      record buffers
//	state-0, state-1        the last two checkpoints (state_file.go)
//	tables-N                what checkpoints found changed in the recorder's tables (table_log.go)
//	times-N, values-N,      logs of blocks: what grows with the number of calls (block_log.go)
//	chapters-N
//	part-N, left            blocks of the logs, coded as a trace has them (pack.go)
//	stored-N, pieces-N      what stays of a part that is in the store (stored_part.go, joined_parts.go)
//	dictionary, observed    the shim's own (packages record, observed)
//	took                    what tracing takes of the process (usage.go)
//
// What holds at any moment, whoever is killed:
//
//   - A record is in a buffer until a checkpoint that has it is on the disk; only then is the buffer used again.
//   - A checkpoint counts when it is whole. It says how much of the logs and tables counts: what follows there does not.
//   - A block is coded once. It is in a log until it is in a part, and in the spool until the store has it.
//   - Nothing is mapped that is not allocated on the disk: a store to a sparse map on a full disk is a SIGBUS in the
//     application.
//   - The process writes no file beyond RLIMIT_FSIZE, and follows nothing that others put in a file's place.
//   - A reader opens nothing outside the directory, nothing but regular files of a size that the tracer writes, and waits for
//     nothing.
package spool
