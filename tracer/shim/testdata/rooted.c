// Rooted collectives on intercommunicators, blocking and not: the root passes MPI_ROOT, its group MPI_PROC_NULL, and
// the other group the root's rank. Arguments that are not significant for a caller are arbitrary.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_RANKS = 64 };

static int rank, half, in_root_group, peers;
static MPI_Comm inter;

// on returns a communicator between the lower and the upper ranks.
static MPI_Comm between(int first_of_upper)
{
	MPI_Comm local, made;

	half = rank >= first_of_upper;
	MPI_Comm_split(MPI_COMM_WORLD, half, rank, &local);
	MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, half ? 0 : first_of_upper, 7, &made);
	MPI_Comm_free(&local);
	return made;
}

static void check(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "rank %d: %s\n", rank, what);
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
}

static void complete(int nonblocking, MPI_Request *r)
{
	if (nonblocking)
		MPI_Wait(r, MPI_STATUS_IGNORE);
}

// all makes each rooted collective with a root in the lower group, or in the upper one.
static void all(int root_group, int at, int nonblocking)
{
	int local, root, many[MAX_RANKS], one = 100 + rank, counts[MAX_RANKS], displs[MAX_RANKS], *nothing = NULL;
	MPI_Request r = MPI_REQUEST_NULL;

	MPI_Comm_rank(inter, &local);
	MPI_Comm_remote_size(inter, &peers);
	in_root_group = half == root_group;
	root = !in_root_group ? at : local == at ? MPI_ROOT : MPI_PROC_NULL;
	const int is_root = root == MPI_ROOT;
	// lists and counts that must not be read, and some that the root must read
	int *c = is_root ? counts : nothing, *d = is_root ? displs : nothing;
	const int n = is_root ? 1 : -7 - rank;
	for (int i = 0; i < MAX_RANKS; i++) {
		counts[i] = 1;
		displs[i] = MAX_RANKS - 1 - i;
		many[i] = 1000 + i;
	}
	if (nonblocking)
		MPI_Ibcast(&one, 1, MPI_INT, root, inter, &r);
	else
		MPI_Bcast(&one, 1, MPI_INT, root, inter);
	complete(nonblocking, &r);
	one = 100 + rank;
	if (nonblocking)
		MPI_Igather(&one, 1, MPI_INT, many, n, MPI_INT, root, inter, &r);
	else
		MPI_Gather(&one, 1, MPI_INT, many, n, MPI_INT, root, inter);
	complete(nonblocking, &r);
	if (nonblocking)
		MPI_Igatherv(&one, 1, MPI_INT, many, c, d, MPI_INT, root, inter, &r);
	else
		MPI_Gatherv(&one, 1, MPI_INT, many, c, d, MPI_INT, root, inter);
	complete(nonblocking, &r);
	if (is_root)
		check(many[MAX_RANKS - 1] >= 100 && many[MAX_RANKS - 1] < 1000, "MPI_Gatherv gathered nothing");
	if (nonblocking)
		MPI_Iscatter(many, n, MPI_INT, &one, 1, MPI_INT, root, inter, &r);
	else
		MPI_Scatter(many, n, MPI_INT, &one, 1, MPI_INT, root, inter);
	complete(nonblocking, &r);
	if (nonblocking)
		MPI_Iscatterv(many, c, d, MPI_INT, &one, 1, MPI_INT, root, inter, &r);
	else
		MPI_Scatterv(many, c, d, MPI_INT, &one, 1, MPI_INT, root, inter);
	complete(nonblocking, &r);
	one = 1;
	if (nonblocking)
		MPI_Ireduce(&one, many, 1, MPI_INT, MPI_SUM, root, inter, &r);
	else
		MPI_Reduce(&one, many, 1, MPI_INT, MPI_SUM, root, inter);
	complete(nonblocking, &r);
	if (is_root)
		check(many[0] == peers, "MPI_Reduce gave another sum");
}

int main(int argc, char **argv)
{
	int size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int first = 1; first < size; first++) {
		const int lower = first, upper = size - first;
		inter = between(first);
		for (int nonblocking = 0; nonblocking <= 1; nonblocking++) {
			for (int at = 0; at < lower; at++)
				all(0, at, nonblocking);
			for (int at = 0; at < upper; at++)
				all(1, at, nonblocking);
		}
		MPI_Comm_free(&inter);
	}
	MPI_Finalize();
	return 0;
}
