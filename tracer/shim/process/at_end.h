// What the C library calls at the end of the process, and in the child of a fork.
#ifndef CAIRN_AT_END_H
#define CAIRN_AT_END_H

enum { CAIRN_CODE_UNKNOWN = -1 };

// cairn_at_exit has a function called when the process ends by exit, with the exit code, which only
// glibc tells, and data.
void cairn_at_exit(void (*function)(int code, void *data), void *data);

// cairn_at_fork has a function called in the child of a fork.
void cairn_at_fork(void (*in_child)(void));

#endif
