// Package hosts is `cairn exec`: tracing under any launcher, on any number of hosts.
//
// Each task of a job is started by `cairn exec`, which becomes the program. The first task of a
// host starts the host's compressor, a process that is nobody's child. It has a folder on the host
// with the tracer and the spool, and ends after the host's tasks. Then it writes the host's part,
// an archive of the spool, to the run's folder, if the host sees that.
//
//   - Which tasks belong together is what the launcher says of them, the run's folder, and the
//     host. The lock of the host's folder decides who is first.
//   - What a compressor that was killed leaves is complete: whoever gets the lock makes the part.
//   - `cairn run` fetches parts that are on other hosts by means of the launcher: it starts
//     `cairn send` in the place of the program.
package hosts
