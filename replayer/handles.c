#include "handles.h"

#include "constants.h"
#include "die.h"
#include "threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	MOST_IDS = 1 << 28,
	PATIENCE = 600, // seconds that a thread waits for another's handle
};

// A slot has the handles of an id, the newest first: mostly one. An MPI that counts references
// returns the same handle, which has the same id, each time it is asked for it (such as a
// communicator's group), and it must be freed as often. Another MPI returns different handles. And
// an id is given again once its object is freed, which another thread need not have done yet here:
// a thread uses its own handle, or else the oldest one. It must not wait for the other thread,
// which may be in a collective operation that begins only after this thread has gone on.
struct made {
	uint64_t handle;
	struct thread *thread;
	struct made *older;
};

struct slot {
	struct made *newest;
};

struct table {
	const char *kind;
	struct slot *slots;
	int64_t size;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static struct slot *slot_of(struct call *c, struct table *t, int64_t id)
{
	if (id < 0 || id >= MOST_IDS)
		cr_damaged(c, "a handle that there cannot be");
	if (id >= t->size) {
		const int64_t size = 2 * id + 16;
		struct slot *slots = realloc(t->slots, (size_t)size * sizeof(*slots));
		if (slots == NULL)
			cr_die("out of memory");
		memset(slots + t->size, 0, (size_t)(size - t->size) * sizeof(*slots));
		t->slots = slots;
		t->size = size;
	}
	return &t->slots[id];
}

static void wait_for_others(struct call *c, const struct table *t, int64_t id)
{
	struct timespec until;

	if (!cr_several_threads)
		cr_die("call %llu: %s#%lld is not there", (unsigned long long)c->index, t->kind, (long long)id);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE;
	if (pthread_cond_timedwait(&changed, &mutex, &until) == ETIMEDOUT)
		cr_die("call %llu: %s#%lld is not there, and no other thread makes it", (unsigned long long)c->index, t->kind, (long long)id);
}

// chosen returns the link to the handle that a call of this thread means, which is NULL
// if there is none.
static struct made **chosen(struct call *c, struct slot *s)
{
	struct made **link = &s->newest;

	for (struct made **at = &s->newest; *at != NULL; at = &(*at)->older) {
		link = at;
		if ((*at)->thread == c->thread)
			break;
	}
	return link;
}

static uint64_t get(struct call *c, struct table *t, int64_t id)
{
	pthread_mutex_lock(&mutex);
	struct made *m;
	while ((m = *chosen(c, slot_of(c, t, id))) == NULL)
		wait_for_others(c, t, id);
	const uint64_t handle = m->handle;
	pthread_mutex_unlock(&mutex);
	return handle;
}

// put adds a handle; again: it is the present one of the id.
static void put(struct call *c, struct table *t, int64_t id, uint64_t handle, bool again)
{
	if (id < 0)
		return;
	pthread_mutex_lock(&mutex);
	struct slot *s = slot_of(c, t, id);
	struct made *m = again ? *chosen(c, s) : NULL;
	if (m == NULL) {
		m = malloc(sizeof(*m));
		if (m == NULL)
			cr_die("out of memory");
		m->older = s->newest;
		s->newest = m;
	}
	m->handle = handle;
	m->thread = c->thread;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

static void drop(struct call *c, struct table *t, int64_t id)
{
	if (id < 0)
		return;
	pthread_mutex_lock(&mutex);
	struct made **link = chosen(c, slot_of(c, t, id)), *m = *link;
	if (m != NULL)
		*link = m->older;
	free(m);
	pthread_mutex_unlock(&mutex);
}

int64_t cr_new(struct call *c)
{
	const struct value v = cr_value(c);
	return v.form == CR_HANDLE ? v.n : -1;
}

int64_t *cr_news(struct call *c, int64_t *n)
{
	*n = cr_list(c);
	if (*n < 0)
		*n = 0;
	int64_t *ids = cr_allocate(c, *n, sizeof(*ids));
	for (int64_t i = 0; i < *n; i++)
		ids[i] = cr_new(c);
	return ids;
}

// The value of a handle that is not significant on this rank: MPI checks some of them nevertheless.
#define CR_ANY_datatype MPI_INT
#define CR_ANY_op MPI_SUM
#define CR_ANY_comm MPI_COMM_NULL
#define CR_ANY_group MPI_GROUP_NULL
#define CR_ANY_win MPI_WIN_NULL
#define CR_ANY_file MPI_FILE_NULL
#define CR_ANY_info MPI_INFO_NULL
#define CR_ANY_request MPI_REQUEST_NULL
#define CR_ANY_message MPI_MESSAGE_NULL
#define CR_ANY_errhandler MPI_ERRHANDLER_NULL
#define CR_ANY_session CR_NULL_session
#define CR_ANY_keyval MPI_KEYVAL_INVALID

// Handles are numbers or pointers, which fit into a word.
#define CR_HANDLES(kind, type) \
	static struct table table_##kind = {#kind, NULL, 0}; \
	type cr_##kind(struct call *c, int64_t *id) \
	{ \
		const struct value v = cr_value(c); \
		type handle = CR_ANY_##kind; \
		*id = -1; \
		switch (v.form) { \
		case CR_HANDLE: { \
			const uint64_t word = get(c, &table_##kind, v.n); \
			memcpy(&handle, &word, sizeof(handle)); \
			*id = v.n; \
			return handle; \
		} \
		case CR_CONSTANT_FORM: \
			if (!cr_constant_##kind(v.n, &handle)) \
				cr_refuse_constant(c, v.n); \
			return handle; \
		case CR_NOTHING: \
			return handle; \
		} \
		cr_damaged(c, "an argument that is no " #kind); \
	} \
	type *cr_##kind##s(struct call *c, int64_t n, int64_t **ids) \
	{ \
		if (n < 0) \
			n = 0; \
		type *handles = cr_allocate(c, n, sizeof(*handles)); \
		*ids = cr_allocate(c, n, sizeof(**ids)); \
		for (int64_t i = 0; i < n; i++) \
			handles[i] = cr_##kind(c, &(*ids)[i]); \
		return handles; \
	} \
	void cr_keep_##kind(struct call *c, int64_t id, type handle) \
	{ \
		uint64_t word = 0; \
		_Static_assert(sizeof(handle) <= sizeof(word), "a handle is no larger than a word"); \
		memcpy(&word, &handle, sizeof(handle)); \
		put(c, &table_##kind, id, word, false); \
	} \
	void cr_know_##kind(struct call *c, int64_t id, type handle) \
	{ \
		uint64_t word = 0; \
		memcpy(&word, &handle, sizeof(handle)); \
		put(c, &table_##kind, id, word, true); \
	} \
	void cr_drop_##kind(struct call *c, int64_t id, type handle) \
	{ \
		(void)handle; \
		drop(c, &table_##kind, id); \
	} \
	void cr_update_##kind(struct call *c, int64_t id, type handle) \
	{ \
		if (handle == CR_NULL_##kind) \
			drop(c, &table_##kind, id); \
	}
CR_KINDS(CR_HANDLES)
