// The end of the whole replay.
#ifndef CAIRN_REPLAY_DIE_H
#define CAIRN_REPLAY_DIE_H

extern int cr_rank; // in MPI_COMM_WORLD

// Prints one line and ends the process; the launcher ends the others. cr_refuse means that the run
// cannot be replayed here, cr_die that something is wrong.
_Noreturn void cr_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void cr_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
