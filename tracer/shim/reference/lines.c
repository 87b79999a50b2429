#include "lines.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../bind/bind.h"
#include "../gen/prototypes_gen.h"
#include "../process/clock.h"
#include "../process/opened.h"
#include "../process/thread.h"
#include "entries.h"

static char *directory;

// Lines are composed in memory and written at once, so that they are complete if the process dies.
// Lines of calls before MPI_Init are buffered until the process's directory exists.
// They are of a location: a thread goes on in the log of one that has ended.
struct line {
	uint32_t thread;
	char *text;
	size_t length, size;
	int file; // + 1; 0: not open
	dev_t device;
	ino_t inode;
	uint64_t calls;
	bool first; // element of a list
	struct line *next;
};
static _Atomic(struct line *) lines;

// own returns the line of the thread.
static struct line *own(void)
{
	static __thread struct line *mine, none;
	struct line *l;

	if (mine != NULL)
		return mine;
	const uint32_t thread = cairn_thread_number();
	for (l = atomic_load(&lines); l != NULL && l->thread != thread; l = l->next)
		continue;
	if (l == NULL && (l = calloc(1, sizeof(*l))) != NULL) {
		l->thread = thread;
		l->next = atomic_load(&lines);
		while (!atomic_compare_exchange_weak(&lines, &l->next, l))
			continue;
	}
	return mine = l != NULL ? l : &none;
}

// Entry times of the thread's last calls: read after all other work of the log at the entry, and
// written at the return.
enum { ENTERED = 16 };
static __thread struct {
	uint64_t call, ns;
} entered[ENTERED];

// Time stamps of the record of the call that has returned.
static __thread struct {
	uint64_t enter, exit;
} stamps;

// Order of the calls and returns of all threads.
static _Atomic unsigned long long order;

void cairn_line_open(const char *process_directory, bool shared)
{
	size_t n = strlen(process_directory) + sizeof("/reference");
	char *path = malloc(n);
	if (path == NULL)
		return;
	snprintf(path, n, "%s/reference", process_directory);
	const mode_t mode = shared ? 0777 : 0755;
	mkdir(path, mode);
	chmod(path, mode);
	directory = path;
	cairn_entries_open(path);
}

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void add(const char *format, ...)
{
	for (;;) {
		va_list args;
		size_t room = own()->size - own()->length;
		int n;

		va_start(args, format);
		n = vsnprintf(own()->text != NULL ? own()->text + own()->length : NULL, room, format, args);
		va_end(args);
		if (n < 0)
			return;
		if ((size_t)n < room) {
			own()->length += (size_t)n;
			return;
		}
		size_t size = 2 * own()->size + (size_t)n + 1024;
		char *text = realloc(own()->text, size);
		if (text == NULL)
			return;
		own()->text = text;
		own()->size = size;
	}
}

static void add_text(const char *text, size_t n)
{
	add("\"");
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c <= ' ' || c >= 127 || c == '"' || c == '%')
			add("%%%02X", c);
		else
			add("%c", c);
	}
	add("\"");
}

uint64_t cairn_line_call(const char *function)
{
	own()->calls++;
	add("C %llu %llu %s", (unsigned long long)own()->calls - 1, atomic_fetch_add(&order, 1), function);
	return own()->calls; // not 0
}

void cairn_line_stamps(uint64_t enter, uint64_t exit)
{
	stamps.enter = enter;
	stamps.exit = exit;
}

void cairn_line_return(uint64_t index, long long result)
{
	uint64_t now = cairn_clock_ns(CLOCK_MONOTONIC);
	add("R %llu %llu", (unsigned long long)index - 1, atomic_fetch_add(&order, 1));
	if (entered[index % ENTERED].call == index) // not after many calls inside this one
		add("@%llu:%llu:%llu:%llu", (unsigned long long)entered[index % ENTERED].ns, (unsigned long long)now,
			(unsigned long long)stamps.enter, (unsigned long long)stamps.exit);
	add(" %lld", result);
}

void cairn_line_return_double(uint64_t index, double result)
{
	long long bits;
	memcpy(&bits, &result, sizeof(bits));
	cairn_line_return(index, bits);
}

// is_open reports whether the thread's file is open: the program may have closed the descriptor,
// and opened a file of its own that has the same number now.
static bool is_open(void)
{
	struct stat s;
	return own()->file != 0 && cairn_stat_file(own()->file - 1, &s) && s.st_dev == own()->device && s.st_ino == own()->inode;
}

static bool open_file(void)
{
	// Named like the thread's record buffers.
	char path[4096];
	struct stat s;

	snprintf(path, sizeof(path), "%s/%u.log", directory, cairn_thread_number() - 1);
	own()->file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644) + 1;
	if (own()->file == 0 || !cairn_stat_file(own()->file - 1, &s)) {
		cairn_line_give_up();
		fprintf(stderr, "cairn: cannot write %s: no reference log\n", path);
		return false;
	}
	own()->device = s.st_dev;
	own()->inode = s.st_ino;
	return true;
}

static void end_line(void)
{
	add("\n");
	if (directory == NULL || (!is_open() && !open_file()))
		return;
	for (size_t at = 0; at < own()->length;) {
		ssize_t n = write(own()->file - 1, own()->text + at, own()->length - at);
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	own()->length = 0;
}

void cairn_line_end(void)
{
	end_line();
}

void cairn_line_entered(uint64_t index)
{
	end_line();
	entered[index % ENTERED].call = index;
	entered[index % ENTERED].ns = cairn_clock_ns(CLOCK_MONOTONIC);
}

void cairn_line_word(const char *name, bool defined, long long value)
{
	if (defined)
		add(" %s=%lld", name, value);
	else
		add(" %s=-", name);
}

void cairn_line_null(const char *name)
{
	add(" %s=null", name);
}

void cairn_line_double(const char *name, double value)
{
	long long bits;
	memcpy(&bits, &value, sizeof(bits));
	cairn_line_word(name, true, bits);
}

void cairn_line_text(const char *name, bool defined, int64_t capacity, const char *text)
{
	if (cairn_line_list(name, defined, capacity, text)) {
		own()->length--; // the bracket
		add_text(text, strnlen(text, (size_t)capacity));
	}
}

void cairn_line_text_element(const char *text)
{
	if (!own()->first)
		add(",");
	own()->first = false;
	if (text == NULL)
		add("null");
	else
		add_text(text, strlen(text));
}

void cairn_line_texts_element(char *const *texts)
{
	if (!own()->first)
		add(",");
	own()->first = false;
	if (texts == NULL) {
		add("null");
		return;
	}
	add("[");
	own()->first = true;
	for (; *texts != NULL; texts++)
		cairn_line_text_element(*texts);
	own()->first = false;
	add("]");
}

void cairn_line_argv(const char *name, bool defined, char ***argv)
{
	if (!defined) {
		add(" %s=-", name);
	} else if (argv == NULL || *argv == NULL) {
		add(" %s=null", name);
	} else {
		add(" %s=", name);
		own()->first = true;
		cairn_line_texts_element(*argv);
	}
}

bool cairn_line_list(const char *name, bool defined, int64_t n, const void *list)
{
	if (!defined || n == CAIRN_NOT_SIGNIFICANT) {
		add(" %s=-", name);
		return false;
	}
	if (n == CAIRN_SENTINEL) {
		add(" %s=@%lld", name, (long long)(intptr_t)list);
		return false;
	}
	if (list == NULL || n == CAIRN_NULL) {
		add(" %s=null", name);
		return false;
	}
	add(" %s=[", name);
	own()->first = true;
	return true;
}

void cairn_line_list_end(void)
{
	add("]");
}

void cairn_line_element(long long value)
{
	if (own()->first)
		add("%lld", value);
	else
		add(",%lld", value);
	own()->first = false;
}

// The status is queried through MPI, while the records read the structure.
static void add_status(const MPI_Status *status, bool errors)
{
	int cancelled = 0;
	MPI_Count bytes = -1;

	if (CAIRN_INNER(MPI_Test_cancelled) == NULL || CAIRN_INNER(MPI_Test_cancelled)(status, &cancelled) != MPI_SUCCESS)
		cancelled = -1;
	if (CAIRN_INNER(MPI_Get_elements_x) == NULL || CAIRN_INNER(MPI_Get_elements_x)(status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < 0)
		bytes = -1;
	add("{%d,%d,%d,%d,%lld}", status->MPI_SOURCE, status->MPI_TAG, errors ? status->MPI_ERROR : 0, cancelled != 0, (long long)bytes);
}

void cairn_line_status(const char *name, bool defined, bool ignored, const MPI_Status *status, bool errors)
{
	if (!defined || status == NULL || CAIRN_IS(status, MPI_STATUS_IGNORE)) {
		add(" %s=%s-", name, ignored ? "~" : "");
		return;
	}
	add(" %s=%s", name, ignored ? "~" : "");
	add_status(status, errors);
}

void cairn_line_statuses(const char *name, bool defined, bool ignored, int64_t n, const MPI_Status *statuses, bool errors)
{
	if (!defined || statuses == NULL || CAIRN_IS(statuses, MPI_STATUSES_IGNORE)) {
		add(" %s=%s-", name, ignored ? "~" : "");
		return;
	}
	add(" %s=%s[", name, ignored ? "~" : "");
	for (int64_t i = 0; i < n; i++) {
		if (i > 0)
			add(",");
		add_status(&statuses[i], errors);
	}
	add("]");
}
