// An MPI library of one process, with MPICH's ABI and what stress.c calls: for the thread sanitizer, which needs a
// library whose locks it sees. Messages go to oneself. As in MPICH, all sends that are complete share one request.
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

// BOTH makes MPI_X and PMPI_X one function, as libmpi does.
#define BOTH(name, ...) int name(__VA_ARGS__) __attribute__((alias("P" #name))); int P##name(__VA_ARGS__)

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static int initialized, finalized;

// what tells the shim that this is MPICH
int MPIR_Dup_fn(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag)
{
	(void)comm, (void)keyval, (void)state;
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}
BOTH(MPI_File_c2f, MPI_File file) { (void)file; return 0; }

BOTH(MPI_Initialized, int *flag) { *flag = __atomic_load_n(&initialized, __ATOMIC_ACQUIRE); return MPI_SUCCESS; }
BOTH(MPI_Finalized, int *flag) { *flag = __atomic_load_n(&finalized, __ATOMIC_ACQUIRE); return MPI_SUCCESS; }
// what tells the shim that this is an MPI library
BOTH(MPI_Init, int *argc, char ***argv)
{
	(void)argc, (void)argv;
	__atomic_store_n(&initialized, 1, __ATOMIC_RELEASE);
	return MPI_SUCCESS;
}
BOTH(MPI_Init_thread, int *argc, char ***argv, int required, int *provided)
{
	(void)argc, (void)argv;
	*provided = required;
	__atomic_store_n(&initialized, 1, __ATOMIC_RELEASE);
	return MPI_SUCCESS;
}
BOTH(MPI_Finalize, void) { __atomic_store_n(&finalized, 1, __ATOMIC_RELEASE); return MPI_SUCCESS; }
BOTH(MPI_Query_thread, int *provided) { *provided = MPI_THREAD_MULTIPLE; return MPI_SUCCESS; }
BOTH(MPI_Pcontrol, const int level, ...) { (void)level; return MPI_SUCCESS; }
BOTH(MPI_Get_library_version, char *version, int *length)
{
	strcpy(version, "MPI of one process");
	*length = (int)strlen(version);
	return MPI_SUCCESS;
}

// Communicators: the world, its like, and duplicates.
BOTH(MPI_Comm_rank, MPI_Comm comm, int *rank) { (void)comm; *rank = 0; return MPI_SUCCESS; }
BOTH(MPI_Comm_size, MPI_Comm comm, int *size) { (void)comm; *size = 1; return MPI_SUCCESS; }
BOTH(MPI_Comm_test_inter, MPI_Comm comm, int *flag) { (void)comm; *flag = 0; return MPI_SUCCESS; }
BOTH(MPI_Topo_test, MPI_Comm comm, int *topology) { (void)comm; *topology = MPI_UNDEFINED; return MPI_SUCCESS; }

// Objects are numbers from one list per kind, the lowest free one first, so that handles are reused at once.
enum { OBJECTS = 512 };
static int take(char *used)
{
	int i = 0;
	pthread_mutex_lock(&one);
	while (used[i])
		i++;
	if (i + 1 >= OBJECTS)
		abort();
	used[i] = 1;
	pthread_mutex_unlock(&one);
	return i;
}
static void put(char *used, int i)
{
	pthread_mutex_lock(&one);
	if (i < 0 || i >= OBJECTS || !used[i])
		abort(); // freed twice: the program is wrong
	used[i] = 0;
	pthread_mutex_unlock(&one);
}

enum { COMM = (int)0x84000000, GROUP = (int)0x88000000, TYPE = (int)0x8c000000, OP = (int)0x98000000, REQUEST = (int)0x9c000000 };
static char comms[OBJECTS], groups[OBJECTS], types[OBJECTS], ops[OBJECTS];
static int type_size[OBJECTS];
static MPI_User_function *function[OBJECTS];

BOTH(MPI_Comm_dup, MPI_Comm comm, MPI_Comm *out) { (void)comm; *out = COMM + take(comms); return MPI_SUCCESS; }
BOTH(MPI_Comm_free, MPI_Comm *comm) { put(comms, *comm - COMM); *comm = MPI_COMM_NULL; return MPI_SUCCESS; }
BOTH(MPI_Comm_group, MPI_Comm comm, MPI_Group *out) { (void)comm; *out = GROUP + take(groups); return MPI_SUCCESS; }
BOTH(MPI_Group_incl, MPI_Group group, int n, const int ranks[], MPI_Group *out)
{
	(void)group, (void)n, (void)ranks;
	*out = GROUP + take(groups);
	return MPI_SUCCESS;
}
BOTH(MPI_Group_free, MPI_Group *group) { put(groups, *group - GROUP); *group = MPI_GROUP_NULL; return MPI_SUCCESS; }
BOTH(MPI_Group_rank, MPI_Group group, int *rank) { (void)group; *rank = 0; return MPI_SUCCESS; }
BOTH(MPI_Group_size, MPI_Group group, int *size) { (void)group; *size = 1; return MPI_SUCCESS; }
BOTH(MPI_Group_translate_ranks, MPI_Group a, int n, const int in[], MPI_Group b, int out[])
{
	(void)a, (void)b;
	memcpy(out, in, (size_t)n * sizeof(int));
	return MPI_SUCCESS;
}

static int size_of(MPI_Datatype type)
{
	// a predefined type has its size in its handle
	return type >= TYPE && type < TYPE + OBJECTS ? type_size[type - TYPE] : type >> 8 & 0xff;
}
BOTH(MPI_Type_contiguous, int count, MPI_Datatype old, MPI_Datatype *new)
{
	int i = take(types);
	type_size[i] = count * size_of(old);
	*new = TYPE + i;
	return MPI_SUCCESS;
}
BOTH(MPI_Type_commit, MPI_Datatype *type) { (void)type; return MPI_SUCCESS; }
BOTH(MPI_Type_free, MPI_Datatype *type) { put(types, *type - TYPE); *type = MPI_DATATYPE_NULL; return MPI_SUCCESS; }
BOTH(MPI_Type_size, MPI_Datatype type, int *size) { *size = size_of(type); return MPI_SUCCESS; }

// Operations call the program back.
BOTH(MPI_Op_create, MPI_User_function *f, int commute, MPI_Op *op)
{
	int i = take(ops);
	(void)commute;
	function[i] = f;
	*op = OP + i;
	return MPI_SUCCESS;
}
BOTH(MPI_Op_free, MPI_Op *op) { put(ops, *op - OP); *op = MPI_OP_NULL; return MPI_SUCCESS; }
BOTH(MPI_Reduce_local, const void *in, void *inout, int count, MPI_Datatype type, MPI_Op op)
{
	function[op - OP]((void *)in, inout, &count, &type);
	return MPI_SUCCESS;
}

// Messages: what was sent and not received, and receives that are open.
enum { SENT = REQUEST + OBJECTS };
static struct {
	int tag, bytes;
	char used, data[64];
} sent[OBJECTS];
static struct {
	void *buffer;
	int tag;
} receive[OBJECTS];
static char receives[OBJECTS];

BOTH(MPI_Isend, const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
	int i = 0;
	(void)to, (void)comm;
	pthread_mutex_lock(&one);
	while (sent[i].used)
		i++;
	if (i + 1 >= OBJECTS)
		abort();
	sent[i].used = 1;
	sent[i].tag = tag;
	sent[i].bytes = count * size_of(type);
	memcpy(sent[i].data, buffer, (size_t)sent[i].bytes);
	pthread_mutex_unlock(&one);
	*request = SENT;
	return MPI_SUCCESS;
}
BOTH(MPI_Irecv, void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
	int i = take(receives);
	(void)count, (void)type, (void)from, (void)comm;
	receive[i].buffer = buffer;
	receive[i].tag = tag;
	*request = REQUEST + i;
	return MPI_SUCCESS;
}
static void describe(MPI_Status *status, int source, int tag, int bytes)
{
	if (status == MPI_STATUS_IGNORE)
		return;
	status->MPI_SOURCE = source;
	status->MPI_TAG = tag;
	status->count_lo = bytes;
	status->count_hi_and_cancelled = 0;
}
// complete tries to complete a request.
static int complete(MPI_Request *request, MPI_Status *status)
{
	int r = *request - REQUEST, found = 0;
	if (*request == SENT || *request == MPI_REQUEST_NULL) {
		describe(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
		*request = MPI_REQUEST_NULL;
		return 1;
	}
	pthread_mutex_lock(&one);
	for (int i = 0; i < OBJECTS && !found; i++)
		if (sent[i].used && sent[i].tag == receive[r].tag) {
			memcpy(receive[r].buffer, sent[i].data, (size_t)sent[i].bytes);
			describe(status, 0, sent[i].tag, sent[i].bytes);
			sent[i].used = 0;
			found = 1;
		}
	pthread_mutex_unlock(&one);
	if (found) {
		put(receives, r);
		*request = MPI_REQUEST_NULL;
	}
	return found;
}
#define STATUS(statuses, i) ((statuses) == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &(statuses)[i])
BOTH(MPI_Waitall, int count, MPI_Request requests[], MPI_Status statuses[])
{
	for (int i = 0; i < count; i++)
		while (!complete(&requests[i], STATUS(statuses, i)))
			sched_yield();
	return MPI_SUCCESS;
}
BOTH(MPI_Waitany, int count, MPI_Request requests[], int *index, MPI_Status *status)
{
	for (;; sched_yield()) {
		int pending = 0;
		for (int i = 0; i < count; i++) {
			if (requests[i] == MPI_REQUEST_NULL)
				continue;
			pending = 1;
			if (complete(&requests[i], status)) {
				*index = i;
				return MPI_SUCCESS;
			}
		}
		if (!pending) {
			*index = MPI_UNDEFINED;
			return MPI_SUCCESS;
		}
	}
}
BOTH(MPI_Send, const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
	MPI_Request request;
	return to == MPI_PROC_NULL ? MPI_SUCCESS : PMPI_Isend(buffer, count, type, to, tag, comm, &request);
}
BOTH(MPI_Recv, void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
	MPI_Request request;
	PMPI_Irecv(buffer, count, type, from, tag, comm, &request);
	while (!complete(&request, status))
		sched_yield();
	return MPI_SUCCESS;
}
BOTH(MPI_Sendrecv, const void *out, int n, MPI_Datatype of, int to, int tag, void *in, int room, MPI_Datatype type, int from, int wanted,
	MPI_Comm comm, MPI_Status *status)
{
	MPI_Request request;
	PMPI_Irecv(in, room, type, from, wanted, comm, &request);
	PMPI_Send(out, n, of, to, tag, comm);
	while (!complete(&request, status))
		sched_yield();
	return MPI_SUCCESS;
}

// A Fortran layer, which calls the C functions by their other names, as MPICH's does.
void mpi_send_(void *buffer, int *count, int *type, int *to, int *tag, int *comm, int *error)
{
	*error = PMPI_Send(buffer, *count, *type, *to, *tag, *comm);
}
void mpi_sendrecv_(void *out, int *n, int *of, int *to, int *tag, void *in, int *room, int *type, int *from, int *wanted, int *comm,
	int *status, int *error)
{
	*error = PMPI_Sendrecv(out, *n, *of, *to, *tag, in, *room, *type, *from, *wanted, *comm, (MPI_Status *)(void *)status);
}
BOTH(MPI_Test_cancelled, const MPI_Status *status, int *flag) { (void)status; *flag = 0; return MPI_SUCCESS; }
BOTH(MPI_Get_elements_x, const MPI_Status *status, MPI_Datatype type, MPI_Count *count)
{
	(void)type;
	*count = status->count_lo;
	return MPI_SUCCESS;
}
