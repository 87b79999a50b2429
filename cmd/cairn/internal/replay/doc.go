// Package replay is `cairn replay`, which executes the MPI calls of a run again, and the commands
// that its processes start: replay-rank, which becomes the replayer for an MPI (replayer/), and
// replay-feed, which decodes calls for it.
package replay
