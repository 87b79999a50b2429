// The ranks of MPI_COMM_WORLD vote at markers on which of them keep the times of their calls.
// docs/decisions/0060-online-clustering.md explains why this cannot hang. A rank's ballot comes
// from the compressor, and the ranks' decision is written as a record, from which the recorder reads it.
// The few calls of MPI are libmpi's own PMPI functions, on a communicator of our own.
#include "cluster.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "../bind/bind.h"
#include "../gen/prototypes_gen.h"
#include "../process/config.h"
#include "../record/buffers.h"
#include "../record/record.h"
#include "vote.h"

enum {
	SPINS = 20,           // tests of the request before the first sched_yield
	YIELDS = 100,         // tests with sched_yield before the first sleep
};

// Wanted time between two markers. A 16th of it is good enough (CAIRN_MAX_DEVIATION).
static const uint64_t INTERVAL_NS = 100000000;

static bool able;
static bool world_only; // markers are collectives on MPI_COMM_WORLD itself
static int rank;
static MPI_Comm comm;
static MPI_Datatype type;
static MPI_Op op;
static MPI_Group world;
static int ranks; // in MPI_COMM_WORLD
static int comm_key = MPI_KEYVAL_INVALID, win_key = MPI_KEYVAL_INVALID;
static char has_all, has_some; // their addresses are the values of the attributes
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static uint64_t count[CAIRN_MARKER_KINDS], counted[CAIRN_MARKER_KINDS]; // number of markers, now and at the last cut
static uint64_t last_ns;
static struct cairn_votes votes;
static int lead = -1;
// MPI may write to them until the vote is complete.
static struct cairn_ballot mine, all;
// The interval that has ended and has no outcome yet.
static struct {
	enum { NO_INTERVAL, ENDED, VOTE_UNDER_WAY } stage;
	unsigned kind; // of the marker that ended it
	uint64_t ordinal;
	uint64_t markers;    // in it
	bool asked;          // the compressor
	unsigned begun_kind; // of the marker at which the vote began
	MPI_Request request;
} pending;

// The words of a record with the outcome of a vote; the lead ranks follow.
struct outcome {
	uint64_t step, number, kind, ordinal, state, lead_times, factor, lead, overhead, leads;
};
CAIRN_LAYOUT_OUTCOME(struct outcome);

static void join(void *more, void *sum, int *n, MPI_Datatype *of)
{
	(void)of;
	for (int i = 0; i < *n; i++)
		cairn_join_ballots((const struct cairn_ballot *)more + i, (struct cairn_ballot *)sum + i);
}

#define DO(name, ...) (CAIRN_INNER(name) != NULL && CAIRN_INNER(name)(__VA_ARGS__) == MPI_SUCCESS)

// prepare_markers determines, together with all ranks, which calls are markers. If no rank calls
// MPI from several threads at once, the blocking collectives of all processes are in the same order
// on all ranks, whatever their communicators: in another order they would deadlock wherever
// collectives synchronize. With MPI_THREAD_MULTIPLE this is only true of those on one communicator.
static bool prepare_markers(void)
{
	int level = MPI_THREAD_MULTIPLE, highest = MPI_THREAD_MULTIPLE;

	if (!DO(MPI_Query_thread, &level))
		level = MPI_THREAD_MULTIPLE;
	if (!DO(MPI_Allreduce, &level, &highest, 1, MPI_INT, MPI_MAX, comm))
		return false;
	world_only = highest == MPI_THREAD_MULTIPLE;
	return DO(MPI_Comm_size, comm, &ranks) && DO(MPI_Comm_group, comm, &world) &&
		DO(MPI_Comm_create_keyval, (MPI_Comm_copy_attr_function *)MPI_COMM_NULL_COPY_FN,
			(MPI_Comm_delete_attr_function *)MPI_COMM_NULL_DELETE_FN, &comm_key, NULL) &&
		DO(MPI_Win_create_keyval, (MPI_Win_copy_attr_function *)MPI_WIN_NULL_COPY_FN,
			(MPI_Win_delete_attr_function *)MPI_WIN_NULL_DELETE_FN, &win_key, NULL);
}

void cairn_cluster_begin(void)
{
	const int saved = errno;

	if (able || CAIRN_INNER(MPI_Iallreduce) == NULL)
		return;
	able = DO(MPI_Comm_dup, MPI_COMM_WORLD, &comm) && DO(MPI_Comm_set_errhandler, comm, MPI_ERRORS_RETURN) &&
		DO(MPI_Comm_rank, comm, &rank) && DO(MPI_Type_contiguous, (int)sizeof(struct cairn_ballot), MPI_BYTE, &type) &&
		DO(MPI_Type_commit, &type) && DO(MPI_Op_create, join, 1, &op) && prepare_markers();
	cairn_votes_begin(&votes);
	last_ns = cairn_clock_ns(CLOCK_MONOTONIC);
	errno = saved;
}

void cairn_cluster_forget(void)
{
	able = false;
	pending.stage = NO_INTERVAL;
}

// add_answer adds what the compressor says about the interval to the ballot. It has no answer if
// tracing has stopped, or if it is too far behind.
static void add_answer(void)
{
	struct cairn_ballot_answer answer;

	if (!pending.asked || !cairn_ballot_read(votes.number, &answer))
		return;
	mine.answered = 1;
	mine.unchanged = (uint32_t)answer.unchanged;
	mine.cluster[0].signature = answer.signature;
	if (pending.begun_kind == CAIRN_COLLECTIVE)
		mine.period = (uint32_t)answer.period;
	if (answer.calls > 0) {
		mine.max_wanted = pending.markers * CAIRN_INTERVAL_CALLS / answer.calls;
		if (mine.max_wanted == 0)
			mine.max_wanted = 1;
	}
}

// wait_for_outcome waits for the outcome; false if the other ranks do not arrive in time. A long
// wait yields the processor to the ranks that are waited for.
static bool wait_for_outcome(void)
{
	const uint64_t limit = cairn_clock_ns(CLOCK_MONOTONIC) + (uint64_t)cairn_config.wait_seconds * 1000000000;
	const struct timespec pause = {0, 50000};
	int done = 0;

	for (uint64_t looks = 0;; looks++) {
		if (!DO(MPI_Test, &pending.request, &done, MPI_STATUS_IGNORE))
			return false;
		if (done)
			return true;
		if (looks < SPINS)
			continue;
		if (cairn_clock_ns(CLOCK_MONOTONIC) > limit)
			return false;
		if (looks < SPINS + YIELDS)
			sched_yield();
		else
			nanosleep(&pause, NULL);
	}
}

// write_record writes a record for the recorder, followed by the leads of an outcome; false if that
// is not possible.
static bool write_record(uint64_t step, const uint64_t *words, unsigned n, uint32_t leads)
{
	struct cairn_record record;
	uint64_t *word = cairn_open(&record, CAIRN_VOTE_RECORD, CAIRN_HEADER + CAIRN_OUTCOME_BYTES + 8 * (uint64_t)leads, cairn_self.code_begin, CAIRN_FRAME);

	if (word == NULL)
		return false;
	word = cairn_enter(&record, word);
	if ((word = cairn_exit(&record, word, 0)) == NULL)
		return false;
	*word++ = step;
	for (unsigned i = 0; i < n; i++)
		*word++ = words[i];
	for (uint32_t i = 0; i < leads; i++)
		*word++ = all.cluster[i].lead;
	cairn_commit(&record, word);
	return true;
}

// cut ends an interval and asks the compressor about it.
static void cut(unsigned kind)
{
	const uint64_t ns = cairn_clock_ns(CLOCK_MONOTONIC) - last_ns, began = cairn_now(), markers = count[kind] - counted[kind];
	int over = 0;

	// MPI_Pcontrol may be called after MPI_Finalize.
	if (!DO(MPI_Finalized, &over) || over) {
		able = false;
		return;
	}
	pending.stage = ENDED;
	pending.kind = kind;
	pending.ordinal = count[kind];
	pending.markers = markers;
	pending.asked = write_record(CAIRN_VOTE_CUT, &votes.number, 1, 0) && atomic_load(&cairn_state) == CAIRN_ON && cairn_self.depth == 0;
	if (pending.asked)
		cairn_ballot_request(votes.number);
	mine = (struct cairn_ballot){.unchanged = 1, .max_wanted = UINT64_MAX, .clusters = 1};
	mine.wanted = ns > INTERVAL_NS / 1024 ? markers * INTERVAL_NS / ns : markers * 1024;
	if (mine.wanted == 0)
		mine.wanted = 1;
	mine.cluster[0] = (struct cairn_cluster){0, (uint32_t)rank, 1};
	if (kind == CAIRN_EXPLICIT)
		votes.next[CAIRN_COLLECTIVE] = UINT64_MAX;
	for (unsigned k = 0; k < CAIRN_MARKER_KINDS; k++)
		counted[k] = count[k];
	last_ns = cairn_clock_ns(CLOCK_MONOTONIC);
	write_record(CAIRN_VOTE_OVERHEAD, (const uint64_t[]){cairn_now() - began}, 1, 0);
	cairn_self.returned = 0; // the time until the next call is not only the program's
}

// begin starts the vote on the interval that has ended. The outcome is read at the next marker of
// the kind; until then MPI combines the ballots while the program continues.
static void begin(unsigned kind)
{
	const uint64_t began = cairn_now();

	pending.begun_kind = kind;
	mine.least_marker = mine.greatest_marker = cairn_marker_word(kind, count[kind]);
	mine.period = kind == CAIRN_EXPLICIT;
	add_answer();
	if (DO(MPI_Iallreduce, &mine, &all, 1, type, op, comm, &pending.request)) {
		pending.stage = VOTE_UNDER_WAY;
	} else {
		pending.stage = NO_INTERVAL;
		cairn_votes_end(&votes);
	}
	if (kind == CAIRN_EXPLICIT)
		votes.next[CAIRN_COLLECTIVE] = UINT64_MAX;
	write_record(CAIRN_VOTE_OVERHEAD, (const uint64_t[]){cairn_now() - began}, 1, 0);
	cairn_self.returned = 0;
}

// finish reads the outcome of the vote that is under way.
static void finish(void)
{
	const uint64_t began = cairn_now();
	const bool complete = wait_for_outcome();

	pending.stage = NO_INTERVAL;
	if (complete)
		cairn_votes_decide(&votes, &all);
	else
		cairn_votes_end(&votes);
	if (votes.state == CAIRN_CLUSTERING) {
		lead = -1;
		for (uint32_t i = 0; i < all.clusters; i++)
			if (all.cluster[i].signature == mine.cluster[0].signature)
				lead = (int)all.cluster[i].lead;
	} else if (votes.state != CAIRN_LEAD) {
		lead = -1;
	}
	const uint32_t leads = votes.state == CAIRN_CLUSTERING ? all.clusters : 0;
	const struct outcome outcome = {
		.number = votes.number - 1, .kind = pending.kind, .ordinal = pending.ordinal, .state = votes.state, .lead_times = votes.lead_times,
		.factor = votes.factor, .lead = CAIRN_WORD(lead), .overhead = cairn_now() - began, .leads = leads,
	};
	write_record(CAIRN_VOTE_OUTCOME, &outcome.number, CAIRN_OUTCOME_BYTES / 8 - 1, leads);
	cairn_self.returned = 0;
}

// marker handles a marker. Several threads may reach explicit markers concurrently. The first
// explicit marker ends what collective ones have begun: it is where the vote on their last interval
// begins if that is still to come, since no collective one counts any more.
static void marker(unsigned kind)
{
	const int saved = errno;

	if (!able)
		return;
	pthread_mutex_lock(&counting);
	count[kind]++;
	const bool first_explicit = kind == CAIRN_EXPLICIT && count[kind] == CAIRN_FIRST_EXPLICIT;
	if (pending.stage == VOTE_UNDER_WAY && (kind == pending.begun_kind || first_explicit))
		finish();
	else if (pending.stage == ENDED && (first_explicit || (kind == pending.kind && count[kind] == pending.ordinal + votes.delay)))
		begin(kind);
	if (able && pending.stage == NO_INTERVAL && count[kind] == votes.next[kind])
		cut(kind);
	pthread_mutex_unlock(&counting);
	errno = saved;
}

void cairn_cluster_end(void)
{
	const int saved = errno;

	pthread_mutex_lock(&counting);
	if (able && pending.stage == VOTE_UNDER_WAY)
		finish();
	able = false;
	pthread_mutex_unlock(&counting);
	errno = saved;
}

// is_world reports whether a group has exactly the processes of MPI_COMM_WORLD, in any order. It
// frees the group.
static bool is_world(MPI_Group *group)
{
	int result = MPI_UNEQUAL;
	const bool compared = DO(MPI_Group_compare, *group, world, &result);

	(void)DO(MPI_Group_free, group);
	return compared && result != MPI_UNEQUAL;
}

// comm_has_all reports whether a communicator, or one group of an intercommunicator, has exactly
// the processes of MPI_COMM_WORLD.
static bool comm_has_all(MPI_Comm on)
{
	MPI_Group group, remote, both;
	int size = 0, more = 0, inter = 0;

	if (!DO(MPI_Comm_size, on, &size) || !DO(MPI_Comm_test_inter, on, &inter) || (inter && !DO(MPI_Comm_remote_size, on, &more)))
		return false;
	if (size + more != ranks || !DO(MPI_Comm_group, on, &group))
		return false;
	if (!inter)
		return is_world(&group);
	bool joined = DO(MPI_Comm_remote_group, on, &remote);
	if (joined) {
		joined = DO(MPI_Group_union, group, remote, &both);
		(void)DO(MPI_Group_free, &remote);
	}
	(void)DO(MPI_Group_free, &group);
	return joined && is_world(&both);
}

static bool win_has_all(MPI_Win win)
{
	MPI_Group group;
	int size = 0;

	if (!DO(MPI_Win_get_group, win, &group))
		return false;
	if (DO(MPI_Group_size, group, &size) && size == ranks)
		return is_world(&group);
	(void)DO(MPI_Group_free, &group);
	return false;
}

// The result is cached as an attribute of the communicator or window, which ends with the object
// and is not duplicated.
bool cairn_comm_counts(MPI_Comm on, bool succeeded)
{
	const int saved = errno;
	void *known = NULL;
	int there = 0;

	if (!able || on == MPI_COMM_WORLD)
		return able;
	if (world_only || !succeeded || !DO(MPI_Comm_get_attr, on, comm_key, &known, &there))
		return false;
	if (!there) {
		known = comm_has_all(on) ? &has_all : &has_some;
		(void)DO(MPI_Comm_set_attr, on, comm_key, known);
	}
	errno = saved;
	return known == &has_all;
}

// A fence that ends no epoch need not synchronize; either all ranks assert that or none
// (MPI 4.1, 12.5.1).
bool cairn_win_counts(MPI_Win win, int assert, bool succeeded)
{
	const int saved = errno;
	void *known = NULL;
	int there = 0;

	if (!able || world_only || !succeeded || (assert & MPI_MODE_NOPRECEDE) != 0 || !DO(MPI_Win_get_attr, win, win_key, &known, &there))
		return false;
	if (!there) {
		known = win_has_all(win) ? &has_all : &has_some;
		(void)DO(MPI_Win_set_attr, win, win_key, known);
	}
	errno = saved;
	return known == &has_all;
}

void cairn_collective_marker(void)
{
	marker(CAIRN_COLLECTIVE);
}

void cairn_explicit_marker(void)
{
	marker(CAIRN_EXPLICIT);
}
