// Effects of calls beyond their arguments: requests that fail, are freed, cancelled, restarted and generalized;
// callbacks; communicators created in every way; names and markers.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void largest(void *in, void *inout, int *n, MPI_Datatype *type)
{
	for (int i = 0; i < *n; i++)
		if (((int *)in)[i] > ((int *)inout)[i])
			((int *)inout)[i] = ((int *)in)[i];
}

static void on_error(MPI_Comm *comm, int *code, ...) {}
static int copy_attribute(MPI_Comm c, int k, void *extra, void *in, void *out, int *flag) { *(void **)out = in; *flag = 1; return MPI_SUCCESS; }
static int delete_attribute(MPI_Comm c, int k, void *value, void *extra) { return MPI_SUCCESS; }
static int query(void *state, MPI_Status *s)
{
	MPI_Status_set_elements(s, MPI_INT, *(int *)state);
	MPI_Status_set_cancelled(s, 0);
	s->MPI_SOURCE = MPI_UNDEFINED;
	s->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}
static int release(void *state) { return MPI_SUCCESS; }
static int cancel(void *state, int complete) { return MPI_SUCCESS; }

static void callbacks(void)
{
	MPI_Op op;
	MPI_Errhandler handler;
	MPI_Comm dup;
	int key, in = rank, out = 0;

	MPI_Op_create(largest, 1, &op);
	MPI_Allreduce(&in, &out, 1, MPI_INT, op, MPI_COMM_WORLD);
	MPI_Op_free(&op);
	MPI_Comm_create_errhandler(on_error, &handler);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Comm_set_errhandler(dup, handler);
	MPI_Errhandler_free(&handler);
	MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
	MPI_Comm_set_attr(dup, key, &rank);
	MPI_Comm_free(&dup);
	MPI_Comm_free_keyval(&key);
}

// The message is longer than the buffer: the wait fails and still ends the request. Later requests must not be mistaken
// for it.
static void failures(void)
{
	int big[64] = {0}, small = 0;
	MPI_Request r[2];
	MPI_Status s[2];
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int round = 0; round < 20; round++) {
		MPI_Irecv(&small, 1, MPI_INT, 0, 1, comm, &r[0]);
		MPI_Send(big, 64, MPI_INT, 0, 1, comm);
		MPI_Wait(&r[0], MPI_STATUS_IGNORE);
		MPI_Irecv(big, 64, MPI_INT, 0, 2, comm, &r[0]);
		MPI_Irecv(&small, 1, MPI_INT, 0, 3, comm, &r[1]);
		MPI_Send(&small, 1, MPI_INT, 0, 2, comm);
		MPI_Send(big, 64, MPI_INT, 0, 3, comm);
		MPI_Waitall(2, r, s);
		for (int k = 0; k < 2; k++)
			if (r[k] != MPI_REQUEST_NULL)
				MPI_Wait(&r[k], MPI_STATUS_IGNORE);
	}
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_free(&comm);
}

static void requests(void)
{
	MPI_Request r[8], g;
	MPI_Status s[8];
	int values[8] = {0}, flag, index, n = 3, done, indices[8];

	// many small sends may share one handle
	for (int k = 0; k < 4; k++) {
		MPI_Irecv(&values[k], 1, MPI_INT, rank, k, MPI_COMM_WORLD, &r[k]);
		MPI_Isend(&values[4 + k], 1, MPI_INT, rank, k, MPI_COMM_WORLD, &r[4 + k]);
	}
	MPI_Request_free(&r[7]);
	MPI_Waitany(7, r, &index, s);
	MPI_Testsome(7, r, &done, indices, s);
	MPI_Waitall(7, r, MPI_STATUSES_IGNORE);
	// cancelled
	MPI_Irecv(values, 1, MPI_INT, rank, 99, MPI_COMM_WORLD, &r[0]);
	MPI_Cancel(&r[0]);
	MPI_Wait(&r[0], s);
	MPI_Test_cancelled(s, &flag);
	// persistent: inactive after completion, until it is freed
	MPI_Send_init(&values[0], 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &r[0]);
	MPI_Recv_init(&values[1], 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &r[1]);
	for (int k = 0; k < 5; k++) {
		MPI_Startall(2, r);
		MPI_Waitall(2, r, s);
	}
	MPI_Start(&r[1]);
	MPI_Start(&r[0]);
	MPI_Waitall(2, r, s);
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
	// non-blocking collectives
	for (int k = 0; k < 5; k++) {
		MPI_Ibarrier(MPI_COMM_WORLD, &r[0]);
		MPI_Iallreduce(MPI_IN_PLACE, values, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	// generalized
	for (int k = 0; k < 3; k++) {
		MPI_Grequest_start(query, release, cancel, &n, &g);
		MPI_Test(&g, &flag, s);
		MPI_Grequest_complete(g);
		MPI_Wait(&g, s);
	}
	// one-sided
	MPI_Win win;
	MPI_Win_create(values, sizeof(values), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_lock_all(0, win);
	for (int k = 0; k < 3; k++) {
		MPI_Rput(&n, 1, MPI_INT, rank, 0, 1, MPI_INT, win, &r[0]);
		MPI_Rget(&n, 1, MPI_INT, rank, 0, 1, MPI_INT, win, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	// files
	MPI_File f;
	char name[] = "/tmp/cairn-semantics-XXXXXX";
	int fd = mkstemp(name);
	MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	for (int k = 0; k < 3; k++) {
		MPI_File_iwrite_at(f, 0, values, 8, MPI_INT, &r[0]);
		MPI_Wait(&r[0], s);
		MPI_File_iread_at(f, 0, values, 8, MPI_INT, &r[0]);
		MPI_Wait(&r[0], s);
	}
	MPI_File_close(&f);
#if MPI_VERSION >= 4
	// partitioned, and persistent collectives
	MPI_Psend_init(values, 2, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Precv_init(values + 4, 2, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
	for (int k = 0; k < 3; k++) {
		MPI_Startall(2, r);
		MPI_Pready(0, r[0]);
		MPI_Pready(1, r[0]);
		MPI_Parrived(r[1], 0, &flag);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
	MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
	for (int k = 0; k < 3; k++) {
		MPI_Start(&r[0]);
		MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&r[0]);
#endif
}

static void communicators(void)
{
	MPI_Comm half, dup, later, group_comm, node, cart, row, graph, inter, merged, inter_dup;
	MPI_Group world, even;
	MPI_Request r;
	int dims[2] = {size / 2, 2}, periods[2] = {1, 0}, keep[2] = {0, 1};
	int left = (rank + size - 1) % size, right = (rank + 1) % size;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	MPI_Comm_set_name(half, rank % 2 ? "odd" : "even");
	MPI_Comm_dup(half, &dup);
	MPI_Comm_idup(MPI_COMM_WORLD, &later, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Barrier(later);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	int ranks[2] = {0, 2};
	MPI_Group_incl(world, 2, ranks, &even);
	for (int k = 0; k < 2; k++)
		if (rank == 0 || rank == 2) {
			MPI_Comm_create_group(MPI_COMM_WORLD, even, 11, &group_comm);
			MPI_Barrier(group_comm);
			MPI_Comm_free(&group_comm);
		}
	MPI_Comm_create(MPI_COMM_WORLD, even, &group_comm);
	if (group_comm != MPI_COMM_NULL)
		MPI_Comm_free(&group_comm);
	MPI_Group_free(&even);
	MPI_Group_free(&world);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_free(&node);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
	if (cart != MPI_COMM_NULL) {
		MPI_Cart_sub(cart, keep, &row);
		MPI_Barrier(row);
		MPI_Comm_free(&row);
		MPI_Comm_free(&cart);
	}
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	MPI_Comm_free(&graph);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? (size - 1) / 2 * 2 : (size - 2) / 2 * 2 + 1, 3, &inter);
	MPI_Barrier(inter);
	MPI_Comm_dup(inter, &inter_dup);
	MPI_Intercomm_merge(inter, rank % 2, &merged);
	MPI_Barrier(merged);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&inter_dup);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&dup);
	MPI_Comm_free(&later);
	MPI_Comm_free(&half);
}

static void annotations(void)
{
	MPI_Datatype t;
	MPI_Type_contiguous(3, MPI_INT, &t);
	MPI_Type_set_name(t, "triple");
	MPI_Type_free(&t);
	MPI_Pcontrol(100);
	MPI_Pcontrol(1);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	callbacks();
	failures();
	requests();
	communicators();
	annotations();
	MPI_Finalize();
	return 0;
}
