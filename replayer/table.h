// The functions that this MPI has, by their id in the table of the standard (mpi/functions.txt).
#ifndef CAIRN_REPLAY_TABLE_H
#define CAIRN_REPLAY_TABLE_H

struct call;

struct cr_function {
	const char *name;          // NULL: it is not replayed, or this MPI lacks it
	void (*issue)(struct call *); // reads the arguments and makes the call
};

extern const int cr_functions;
extern const struct cr_function cr_table[];

#endif
