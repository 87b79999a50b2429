#include "core.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../evidence/context.h"
#include "../evidence/life.h"
#include "../evidence/usage.h"
#include "../process/clock.h"
#include "../process/config.h"
#include "../process/loader.h"
#include "../process/state.h"
#include "../spool/budget.h"
#include "../spool/spool.h"

enum {
	// number of buffers created here, the last one included, at which the core is
	// started: 4 MiB, before which no checkpoint would free a buffer. A buffer of twice the
	// usual size counts as two.
	START_OWN = 32,
	LARGE = 2, // size factor of a thread's buffers after its first one, since creating a file costs as much as filling it
	MAX_OWN = 64, // number of buffers at which threads wait for the core
	MAX_WAIT_MS = 1000, // maximal wait in ms: the thread that needs a buffer may hold the loader's lock
};

static int (*start)(const char *directory);
static void (*adopt)(struct cairn_event *events);
static int (*ballot)(uint64_t *words, uint64_t wait_ns);
typedef void *buffer_function(uint32_t thread, void *full, uint64_t minimum, uint64_t *capacity);
static _Atomic(buffer_function *) core_buffer; // not NULL: the core is loaded

static _Atomic uint32_t wanted;   // futex of our thread
static _Atomic bool failed;       // tracing has ended
static _Atomic bool without_core; // tracing continues, but the core will never be loaded

// The events of our own buffers, for the core to adopt.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cairn_event *first, **last = &first;
static uint64_t own; // number of buffers of the usual size

static void add_event(struct cairn_event *e, struct cairn_buffer *s, uint32_t thread, uint32_t full)
{
	e->next = NULL;
	e->buffer = s;
	e->thread = thread;
	e->full = full;
	*last = e;
	last = &e->next;
}

// fits reports whether the address space has room for the core. The Go runtime reserves more than a
// gigabyte. It ends the process if an allocation fails, now or later, so a process with a tight
// limit runs without the core.
static bool fits(void)
{
	const uint64_t needed = (uint64_t)4 << 30;
	struct rlimit limit;
	char text[64] = "";
	int file;

	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return true;
	file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	const ssize_t n = read(file, text, sizeof(text) - 1);
	close(file);
	const uint64_t used = n > 0 ? strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : UINT64_MAX;
	return used < limit.rlim_cur && limit.rlim_cur - used >= needed;
}

// stop ends tracing. It writes the reason where that needs no disk space: to the buffers that
// the core does not have, and to the full buffer of the calling thread, if any. The caller
// must hold the lock.
static void stop(const char *why, struct cairn_buffer *full)
{
	if (full != NULL)
		snprintf(full->stopped, sizeof(full->stopped), "%s", why);
	for (struct cairn_event *e = first; e != NULL; e = e->next) {
		struct cairn_buffer *s = e->buffer;
		snprintf(s->stopped, sizeof(s->stopped), "%s", why);
	}
	if (own == 0 && !cairn_life_counts())
		cairn_budget_refused(); // no file shows that this process made calls
	atomic_store(&failed, true);
	cairn_stop(why);
}

// load loads and starts the core, and passes it our buffers. Threads continue to fill buffers of
// our own until then.
static const char *load(void)
{
	static char why[512];
	buffer_function *function;
	void *handle = cairn_dlopen(cairn_config.core, RTLD_NOW | RTLD_LOCAL);

	if (handle == NULL) {
		const char *e = cairn_dlerror();
		snprintf(why, sizeof(why), "%s", e != NULL ? e : "the core cannot be loaded");
		return why;
	}
	*(void **)&start = cairn_dlsym(handle, "cairn_core_start");
	*(void **)&adopt = cairn_dlsym(handle, "cairn_core_adopt");
	*(void **)&ballot = cairn_dlsym(handle, "cairn_core_ballot");
	*(void **)&function = cairn_dlsym(handle, "cairn_core_segment");
	if (start == NULL || adopt == NULL || function == NULL)
		return "libcairn-core.so is not the core";
	int error = start(cairn_spool_directory);
	if (error == EDQUOT)
		return cairn_spool_limit_reached();
	if (error != 0) {
		snprintf(why, sizeof(why), "the core cannot write to %s: %s", cairn_spool_directory, strerror(error));
		return why;
	}
	pthread_mutex_lock(&lock);
	if (!atomic_load(&failed)) {
		adopt(first);
		first = NULL;
		last = &first;
		atomic_store(&core_buffer, function);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

// continue_without_core drops the list for the core: full buffers are only files from now on.
static void continue_without_core(void)
{
	pthread_mutex_lock(&lock);
	first = NULL;
	last = &first;
	atomic_store(&without_core, true);
	pthread_mutex_unlock(&lock);
}

static void *run(void *unused)
{
	bool tried = false;

	(void)unused;
	prctl(PR_SET_NAME, "cairn");
	cairn_usage_is_tool((int)syscall(SYS_gettid));
	for (;;) {
		if (!tried && atomic_load(&wanted) != 0) {
			const char *why = NULL;
			tried = true;
			if (!fits())
				continue_without_core();
			else if ((why = load()) != NULL) {
				pthread_mutex_lock(&lock);
				stop(why, NULL);
				pthread_mutex_unlock(&lock);
			}
		}
		const uint64_t waits[] = {cairn_context_watch(), cairn_usage_watch(), cairn_life_watch()};
		uint64_t ns = waits[0];
		for (size_t i = 1; i < sizeof(waits) / sizeof(waits[0]); i++)
			ns = waits[i] < ns ? waits[i] : ns;
		const struct timespec limit = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
		syscall(SYS_futex, &wanted, FUTEX_WAIT_PRIVATE, tried ? 1 : 0, &limit, NULL, 0);
	}
	return NULL;
}

const char *cairn_core_missing(void)
{
	static char why[sizeof(cairn_config.core) + 128];

	if (access(cairn_config.core, R_OK) == 0)
		return NULL;
	snprintf(why, sizeof(why), "%s: %s", cairn_config.core, strerror(errno));
	return why;
}

const char *cairn_core_begin(void)
{
	static char why[128];
	sigset_t all, mask;
	pthread_t thread;
	int error;

	// No handler of the application must run on our thread, or on those of the Go runtime, which
	// inherit its mask.
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	error = cairn_pthread_create != NULL ? cairn_pthread_create(&thread, NULL, run, NULL) : ENOSYS;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (error == 0)
		return NULL;
	snprintf(why, sizeof(why), "no thread can be started: %s", strerror(error));
	return why;
}

void cairn_core_want(void)
{
	if (atomic_exchange(&wanted, 1) == 0)
		syscall(SYS_futex, &wanted, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool core_loaded(void)
{
	return atomic_load_explicit(&core_buffer, memory_order_acquire) != NULL;
}

// wait_for_core waits for the core and reports whether it is loaded.
static bool wait_for_core(void)
{
	const struct timespec millisecond = {0, 1000000};

	cairn_core_want();
	for (int n = 0; n < MAX_WAIT_MS && !core_loaded() && !atomic_load(&failed) && !atomic_load(&without_core); n++)
		nanosleep(&millisecond, NULL);
	return core_loaded();
}

// own_buffer creates a buffer here. It returns NULL and why if that fails, or NULL alone if there
// are too many. The caller must hold the lock.
static struct cairn_buffer *own_buffer(uint32_t thread, struct cairn_buffer *full, uint64_t minimum, uint64_t max, const char **why)
{
	const uint64_t usual = cairn_spool_buffer_bytes(), large = LARGE * usual - CAIRN_BUFFER_HEADER, before = own;
	// read now, before the core has it
	const uint64_t sequence = full != NULL ? full->sequence + 1 : 0;
	struct cairn_buffer *s;

	if (own >= max || atomic_load(&failed))
		return NULL;
	s = full != NULL && minimum < large && cairn_config.buffer_bytes <= 0 ? cairn_spool_buffer(large, why) : NULL;
	if (s == NULL && (s = cairn_spool_buffer(minimum, why)) == NULL)
		return NULL;
	cairn_buffer_begin(s, thread, sequence);
	own += (s->capacity + CAIRN_BUFFER_HEADER) / usual;
	if (atomic_load(&without_core)) {
		if (full != NULL) // it has no open record: a thread takes a new buffer only outside of calls
			munmap(full, CAIRN_BUFFER_HEADER + full->capacity);
		return s;
	}
	if (full != NULL)
		add_event(&full->full, full, thread, 1);
	add_event(&s->given, s, thread, 0);
	if (before < START_OWN && own >= START_OWN)
		cairn_core_want();
	return s;
}

struct cairn_buffer *cairn_core_next_buffer(uint32_t thread, struct cairn_buffer *full, uint64_t minimum, uint64_t *capacity)
{
	const int saved = errno;
	struct cairn_buffer *s = NULL;
	const char *why = NULL;

	if (!core_loaded()) {
		pthread_mutex_lock(&lock);
		if (!core_loaded())
			s = own_buffer(thread, full, minimum, MAX_OWN, &why);
		pthread_mutex_unlock(&lock);
		// The core may free buffers by compressing them.
		if (s == NULL && !wait_for_core()) {
			pthread_mutex_lock(&lock);
			if (!core_loaded() && (s = own_buffer(thread, full, minimum, UINT64_MAX, &why)) == NULL && !atomic_load(&failed))
				stop(why, full);
			pthread_mutex_unlock(&lock);
		}
	}
	if (s != NULL)
		*capacity = s->capacity;
	else if (core_loaded())
		s = atomic_load(&core_buffer)(thread, full, minimum, capacity);
	errno = saved;
	return s;
}

bool cairn_core_ask(struct cairn_core_ballot *said)
{
	const uint64_t wait_ns = 10000000000; // the compressor may be 4 MiB behind, and the disk slow
	uint64_t words[4];

	if (!wait_for_core() || ballot == NULL || !ballot(words, wait_ns))
		return false;
	*said = (struct cairn_core_ballot){words[0], words[1], words[2], words[3]};
	return true;
}
