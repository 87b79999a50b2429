#include "describe.h"

#include <stdlib.h>

#include "../bind/bind.h"
#include "../gen/prototypes_gen.h"
#include "ask.h"
#include "length.h"

#define ASK(name, ...) (CAIRN_INNER(name) != NULL && CAIRN_INNER(name)(__VA_ARGS__) == MPI_SUCCESS)

// room ensures that the record has space for n more words. It enlarges the record if nothing
// follows it, since the number of processes behind a port or of a child world is not known
// before the call.
static bool room(struct cairn_record *record, const uint64_t *word, uint64_t n)
{
	struct cairn_thread *t = &cairn_self;
	char *begin = (char *)record->header;
	uint64_t needed = (uint64_t)((const char *)(word + n) - begin);

	if (record->original != NULL)
		needed += CAIRN_EXPLICIT_MORE;
	if (needed <= record->size)
		return true;
	if (t->cursor != begin + record->size || needed > (uint64_t)(t->hard - begin))
		return false;
	t->cursor = begin + needed;
	record->size = needed;
	cairn_reserve(record);
	return true;
}

// world_exists reports whether there is an MPI_COMM_WORLD; with sessions only there is none.
static bool world_exists(void)
{
	int initialized = 0, finalized = 0;
	return ASK(MPI_Initialized, &initialized) && initialized && ASK(MPI_Finalized, &finalized) && !finalized;
}

// A process without MPI_COMM_WORLD uses the process set of the world while a session is open.
enum { SESSIONS = 16 };
static _Atomic(MPI_Session) sessions[SESSIONS];
static _Atomic int session_open[SESSIONS];

static MPI_Group world_group(void)
{
	MPI_Group world = MPI_GROUP_NULL;

	if (world_exists())
		return ASK(MPI_Comm_group, MPI_COMM_WORLD, &world) ? world : MPI_GROUP_NULL;
	for (int i = 0; i < SESSIONS; i++)
		if (atomic_load(&session_open[i]) == 2 && ASK(MPI_Group_from_session_pset, atomic_load(&sessions[i]), "mpi://WORLD", &world))
			return world;
	return MPI_GROUP_NULL;
}

uint64_t *cairn_describe_session(struct cairn_record *record, uint64_t *word, MPI_Session session)
{
	MPI_Group world;
	int rank = -1, size = 0;

	(void)record;
	for (int i = 0; i < SESSIONS; i++) {
		int closed = 0;
		if (atomic_compare_exchange_strong(&session_open[i], &closed, 1)) {
			atomic_store(&sessions[i], session);
			atomic_store(&session_open[i], 2);
			break;
		}
	}
	world = world_group();
	if (world != MPI_GROUP_NULL) {
		if (!ASK(MPI_Group_rank, world, &rank) || !ASK(MPI_Group_size, world, &size))
			rank = -1;
		(void)ASK(MPI_Group_free, &world);
	}
	*word++ = CAIRN_WORD(rank);
	*word++ = CAIRN_WORD(size);
	return word;
}

void cairn_forget_session(MPI_Session session)
{
	for (int i = 0; i < SESSIONS; i++)
		if (atomic_load(&session_open[i]) == 2 && atomic_load(&sessions[i]) == session) {
			atomic_store(&session_open[i], 0);
			return;
		}
}

// world_ranks writes a group as ranks in MPI_COMM_WORLD, −1 for processes that are not in it.
static uint64_t *world_ranks(struct cairn_record *record, uint64_t *word, MPI_Group group, uint64_t after)
{
	MPI_Group world = MPI_GROUP_NULL;
	int n = 0, *ranks = NULL;
	bool known = false;

	if (!ASK(MPI_Group_size, group, &n) || !room(record, word, 1 + (uint64_t)n + after)) {
		*word++ = (uint64_t)CAIRN_NOT_SIGNIFICANT;
		return word;
	}
	// MPI allocates, too, when it creates a communicator.
	ranks = malloc(2 * sizeof(int) * (size_t)(n > 0 ? n : 1));
	if (ranks != NULL) {
		for (int i = 0; i < n; i++)
			ranks[i] = i;
		world = world_group();
		if (world != MPI_GROUP_NULL) {
			known = ASK(MPI_Group_translate_ranks, group, n, ranks, world, ranks + n);
			(void)ASK(MPI_Group_free, &world);
		}
	}
	*word++ = (uint64_t)n;
	for (int i = 0; i < n; i++)
		*word++ = known && ranks[n + i] != MPI_UNDEFINED ? CAIRN_WORD(ranks[n + i]) : (uint64_t)-1;
	free(ranks);
	return word;
}

uint64_t *cairn_describe(struct cairn_record *record, uint64_t *word, MPI_Comm comm)
{
	int rank = -1, size = 0, inter = 0, remote_size = 0, topology = MPI_UNDEFINED, ndims = 0;
	MPI_Group group = MPI_GROUP_NULL;
	enum { FIXED = 6, ARRAYS = 5 }; // words before the arrays, and for their lengths

	if (comm == MPI_COMM_NULL || !room(record, word, FIXED + ARRAYS))
		return word;
	(void)ASK(MPI_Comm_rank, comm, &rank);
	(void)ASK(MPI_Comm_size, comm, &size);
	(void)ASK(MPI_Comm_test_inter, comm, &inter);
	if (inter)
		(void)ASK(MPI_Comm_remote_size, comm, &remote_size);
	else
		(void)ASK(MPI_Topo_test, comm, &topology);
	*word++ = CAIRN_WORD(comm);
	*word++ = CAIRN_WORD(rank);
	*word++ = CAIRN_WORD(size);
	*word++ = CAIRN_WORD(inter);
	*word++ = CAIRN_WORD(remote_size);
	*word++ = topology == MPI_CART ? 1 : topology == MPI_GRAPH ? 2 : topology == MPI_DIST_GRAPH ? 3 : 0;
	if (ASK(MPI_Comm_group, comm, &group)) {
		word = world_ranks(record, word, group, ARRAYS - 1);
		(void)ASK(MPI_Group_free, &group);
	} else {
		*word++ = (uint64_t)CAIRN_NOT_SIGNIFICANT;
	}
	if (inter && ASK(MPI_Comm_remote_group, comm, &group)) {
		word = world_ranks(record, word, group, ARRAYS - 2);
		(void)ASK(MPI_Group_free, &group);
	} else {
		*word++ = 0;
	}
	if (topology == MPI_CART && ASK(MPI_Cartdim_get, comm, &ndims) && room(record, word, 3 * (1 + (uint64_t)ndims))) {
		int grid[3 * (ndims > 0 ? ndims : 1)];
		if (!ASK(MPI_Cart_get, comm, ndims, grid, grid + ndims, grid + 2 * ndims))
			ndims = 0;
		for (int a = 0; a < 3; a++) {
			*word++ = (uint64_t)ndims;
			for (int i = 0; i < ndims; i++)
				*word++ = CAIRN_WORD(grid[a * ndims + i]);
		}
	} else {
		for (int a = 0; a < 3; a++)
			*word++ = 0;
	}
	return word;
}

uint64_t *cairn_describe_world(struct cairn_record *record, uint64_t *word)
{
	int rank = -1, size = 0, provided = 0;

	(void)ASK(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	(void)ASK(MPI_Comm_size, MPI_COMM_WORLD, &size);
	(void)ASK(MPI_Query_thread, &provided);
	*word++ = CAIRN_WORD(rank);
	*word++ = CAIRN_WORD(size);
	*word++ = CAIRN_WORD(provided);
	return cairn_describe(record, word, MPI_COMM_WORLD);
}
