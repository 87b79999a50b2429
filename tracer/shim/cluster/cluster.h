// Clustering of the ranks while they run: markers, and the votes at them
// (docs/decisions/0060-online-clustering.md).
#ifndef CAIRN_CLUSTER_H
#define CAIRN_CLUSTER_H

#include "../address/modules.h"
#include "../evidence/life.h"
#include "../evidence/watch.h"
#include "../process/abi.h"
#include "../process/state.h"

// cairn_cluster_begin must be called after MPI_Init has succeeded; like MPI_Init it is collective
// over MPI_COMM_WORLD.
void cairn_cluster_begin(void);

// cairn_cluster_end must be called before MPI_Finalize, since a vote of all ranks may be under way.
void cairn_cluster_end(void);

// cairn_cluster_forget ends clustering in a child of fork.
void cairn_cluster_forget(void);

// These report whether a blocking collective on comm, or a fence of win, is a marker. All processes
// of MPI_COMM_WORLD must take part in it, so the answer is the same on all of them. A failed call
// counts only if it is on MPI_COMM_WORLD, since any other handle may be invalid.
bool cairn_comm_counts(MPI_Comm comm, bool succeeded);
bool cairn_win_counts(MPI_Win win, int assert, bool succeeded);

enum { CAIRN_MARKER_LEVEL = 100 }; // of MPI_Pcontrol

// cairn_collective_marker must be called when a collective marker has returned,
// cairn_explicit_marker after MPI_Pcontrol(CAIRN_MARKER_LEVEL).
void cairn_collective_marker(void);
void cairn_explicit_marker(void);

#define CAIRN_COMM_COUNTS(comm, result) \
	(__builtin_expect(cairn_clustered, 0) && cairn_comm_counts(comm, (result) == MPI_SUCCESS))
#define CAIRN_WIN_COUNTS(win, assert, result) \
	(__builtin_expect(cairn_clustered, 0) && cairn_win_counts(win, assert, (result) == MPI_SUCCESS))
#define CAIRN_INITIALIZED(result) \
	do { \
		cairn_life_initialized(); \
		if (__builtin_expect(cairn_clustered, 0) && (result) == MPI_SUCCESS) \
			cairn_cluster_begin(); \
	} while (0)
#define CAIRN_FINALIZES() \
	do { \
		cairn_watch_end(); \
		cairn_modules_retry(true); \
		if (__builtin_expect(cairn_clustered, 0)) \
			cairn_cluster_end(); \
	} while (0)

#endif
