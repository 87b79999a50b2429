#include "python.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../process/loader.h"
#include "../process/state.h"
#include "../process/uninterrupted.h"
#include "../spool/dictionary.h"
#include "arena.h"

// Offsets in the interpreter's structures that lead to the current line of a thread. The thread is
// in a call of MPI, so its frame and the objects that the frame references stay, even while other
// threads have the interpreter's lock. We only read, and change no reference count.
struct layout {
	int minor;                       // of the version 3.x
	int frame, in_cframe;            // in a thread's state; in the structure that this points to (-1: that is the frame)
	int code, at;                    // in a frame
	int unit;                        // of at: bytes per instruction; 0: at is an address
	int start;                       // in a code object: its instructions
	int file, name, first, table;    // in a code object
	int text;                        // of a string of ASCII
};

static const struct layout layouts[] = {
	{9, 24, -1, 32, 104, 1, 0, 104, 112, 40, 120, 48},
	{10, 24, -1, 32, 96, 2, 0, 104, 112, 40, 120, 48},
	{11, 56, 8, 32, 56, 0, 184, 112, 128, 72, 136, 48},
	{12, 56, 0, 0, 56, 0, 192, 112, 128, 68, 136, 40},
	{13, 72, -1, 0, 56, 0, 200, 112, 128, 68, 136, 40},
};

enum { TYPE = 8, LENGTH = 16, STATE = 32, ASCII = 1 << 6, BYTES = 32 };

static struct {
	struct layout layout;
	void *code_type;
	int (*is_initialized)(void);
	void *(*this_thread)(void);
	int (*line)(void *code, int offset);
} python;

enum { UNKNOWN, USED, NOT_USED };
static _Atomic int state;

static inline uint64_t load(const void *object, int offset)
{
	uint64_t word;
	memcpy(&word, (const char *)object + offset, sizeof(word));
	return word;
}

static inline int load_int(const void *object, int offset)
{
	int n;
	memcpy(&n, (const char *)object + offset, sizeof(n));
	return n;
}

#define POINTER(object, offset) ((void *)(uintptr_t)load(object, offset))

// peek reads memory that may not be mapped.
static bool peek(const void *object, int offset, void *to, size_t size)
{
	struct iovec here = {to, size}, there = {(char *)(uintptr_t)object + offset, size};
	// the main thread, whose number the process has, may have ended
	return syscall(SYS_process_vm_readv, syscall(SYS_gettid), &here, 1, &there, 1, 0) == (long)size;
}

static bool peek_is(const void *object, int offset, const void *expected)
{
	void *found;
	return peek(object, offset, &found, sizeof(found)) && found == expected;
}

_Atomic bool cairn_python_loaded;

void cairn_python_look(void)
{
	if (cairn_dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState") != NULL)
		atomic_store_explicit(&cairn_python_loaded, true, memory_order_relaxed);
}

static int position(const void *frame, const void *code)
{
	const struct layout *l = &python.layout;
	if (l->unit != 0)
		return load_int(frame, l->at) * l->unit;
	return (int)((const char *)POINTER(frame, l->at) - ((const char *)code + l->start));
}

// has_attribute reports whether a code object has an attribute at the expected offset.
static bool has_attribute(void *code, const char *attribute, int offset)
{
	void *(*get)(void *, const char *) = NULL;
	void (*drop)(void *) = NULL;
	*(void **)&get = cairn_dlsym(RTLD_DEFAULT, "PyObject_GetAttrString");
	*(void **)&drop = cairn_dlsym(RTLD_DEFAULT, "Py_DecRef");
	void *value = get(code, attribute);
	if (value == NULL)
		return false;
	bool same = peek_is(code, offset, value);
	drop(value);
	return same;
}

// check_layout compares our reading of a frame with the interpreter's own answers, before we rely
// on the layout. The caller must have the interpreter's lock.
static bool check_layout(void *frame, void *code)
{
	const struct layout *l = &python.layout;
	void *(*get)(void *, const char *) = NULL, (*drop)(void *) = NULL, *(*text)(const char *) = NULL;
	long (*number)(void *) = NULL;
	int (*line)(void *) = NULL;
	void *at, *sample, *first;
	uint32_t bits = 0;
	char letters[6] = "";

	*(void **)&get = cairn_dlsym(RTLD_DEFAULT, "PyObject_GetAttrString");
	*(void **)&drop = cairn_dlsym(RTLD_DEFAULT, "Py_DecRef");
	*(void **)&text = cairn_dlsym(RTLD_DEFAULT, "PyUnicode_FromString");
	*(void **)&number = cairn_dlsym(RTLD_DEFAULT, "PyLong_AsLong");
	*(void **)&line = cairn_dlsym(RTLD_DEFAULT, "PyFrame_GetLineNumber");
	if (get == NULL || drop == NULL || text == NULL || number == NULL || line == NULL)
		return false;
	if (!peek(python.this_thread(), l->frame, &at, sizeof(at)) || (l->in_cframe >= 0 && !peek(at, l->in_cframe, &at, sizeof(at))))
		return false;
	if (!peek_is(at, l->code, code) || !peek_is(code, TYPE, python.code_type) || !has_attribute(code, "co_filename", l->file) ||
	    !has_attribute(code, l->minor >= 11 ? "co_qualname" : "co_name", l->name) ||
	    !has_attribute(code, l->minor >= 10 ? "co_linetable" : "co_lnotab", l->table))
		return false;
	first = get(code, "co_firstlineno");
	if (first == NULL)
		return false;
	bool same = number(first) == load_int(code, l->first);
	drop(first);
	sample = text("cairn");
	if (sample == NULL)
		return false;
	same = same && load(sample, LENGTH) == 5 && peek(sample, STATE, &bits, sizeof(bits)) && (bits & ASCII) != 0 &&
	       peek(sample, l->text, letters, sizeof(letters)) && memcmp(letters, "cairn", 6) == 0;
	drop(sample);
	sample = text("\xc3\xa9");
	if (sample == NULL)
		return false;
	same = same && (load(sample, STATE) & ASCII) == 0;
	drop(sample);
	return same && line(frame) == python.line(code, position(at, code));
}

// init_layout determines once whether we know this interpreter's layout. That needs a call on a
// thread that has the interpreter's lock, such as the initialization of mpi4py.
static void init_layout(void)
{
	static struct cairn_rare lock = {.blocks = true};
	int (*has_lock)(void) = NULL;
	const char *(*version)(void) = NULL;
	void *(*current)(void) = NULL, *(*code_of)(void *) = NULL, *(*failed)(void) = NULL, (*clear)(void) = NULL, (*drop)(void *) = NULL;
	int minor = 0;
	void *frame, *code;

	*(void **)&has_lock = cairn_dlsym(RTLD_DEFAULT, "PyGILState_Check");
	*(void **)&version = cairn_dlsym(RTLD_DEFAULT, "Py_GetVersion");
	*(void **)&current = cairn_dlsym(RTLD_DEFAULT, "PyEval_GetFrame");
	*(void **)&code_of = cairn_dlsym(RTLD_DEFAULT, "PyFrame_GetCode");
	*(void **)&failed = cairn_dlsym(RTLD_DEFAULT, "PyErr_Occurred");
	*(void **)&clear = cairn_dlsym(RTLD_DEFAULT, "PyErr_Clear");
	*(void **)&drop = cairn_dlsym(RTLD_DEFAULT, "Py_DecRef");
	*(void **)&python.is_initialized = cairn_dlsym(RTLD_DEFAULT, "Py_IsInitialized");
	*(void **)&python.this_thread = cairn_dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
	*(void **)&python.line = cairn_dlsym(RTLD_DEFAULT, "PyCode_Addr2Line");
	python.code_type = cairn_dlsym(RTLD_DEFAULT, "PyCode_Type");
	if (has_lock == NULL || version == NULL || current == NULL || code_of == NULL || failed == NULL || clear == NULL || drop == NULL ||
	    python.is_initialized == NULL || python.this_thread == NULL || python.line == NULL || python.code_type == NULL) {
		atomic_store(&state, NOT_USED);
		return;
	}
	if (!python.is_initialized() || python.this_thread() == NULL || !has_lock() || failed() != NULL || (frame = current()) == NULL ||
	    !cairn_rare_lock(&lock, NULL))
		return;
	if (atomic_load(&state) == UNKNOWN) {
		int found = NOT_USED;
		if (strncmp(version(), "3.", 2) == 0 && strstr(version(), "free-threading") == NULL)
			minor = (int)strtol(version() + 2, NULL, 10);
		if (minor != 0)
			for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
				if (layouts[i].minor == minor) {
					python.layout = layouts[i];
					code = code_of(frame);
					if (check_layout(frame, code))
						found = USED;
					if (failed() != NULL)
						clear();
					drop(code);
				}
		atomic_store(&state, found);
	}
	cairn_rare_unlock(&lock);
}

// The input of a line: a code object's strings and table. Code objects come and go, and a later one
// may have the same address. So a cached line is used only if all of this is equal, byte by byte.
struct content {
	int first;
	uint32_t file, name, table; // lengths
	char bytes[];
};

struct line {
	const void *code;
	int at;
	uint64_t word;
	const struct content *content;
};

enum { LINES = 4096, PROBES = 16, MAX_TEXT = 4096 };
static const size_t MAX_CONTENTS = (size_t)4 << 20;
static struct line *_Atomic lines[LINES];
static struct cairn_arena contents;

struct code {
	const void *object;
	int at, first;
	const char *file, *name, *table;
	uint64_t file_length, name_length, table_length;
};

static bool same(const struct content *c, const struct code *k)
{
	return c->first == k->first && c->file == k->file_length && c->name == k->name_length && c->table == k->table_length &&
	       memcmp(c->bytes, k->file, c->file) == 0 && memcmp(c->bytes + c->file, k->name, c->name) == 0 &&
	       memcmp(c->bytes + c->file + c->name, k->table, c->table) == 0;
}

static const struct content *copy(const struct code *k)
{
	struct content *c = cairn_arena_take(&contents, sizeof(*c) + k->file_length + k->name_length + k->table_length, MAX_CONTENTS);
	if (c == NULL)
		return NULL;
	*c = (struct content){k->first, (uint32_t)k->file_length, (uint32_t)k->name_length, (uint32_t)k->table_length};
	memcpy(c->bytes, k->file, c->file);
	memcpy(c->bytes + c->file, k->name, c->name);
	memcpy(c->bytes + c->file + c->name, k->table, c->table);
	return c;
}

static uint64_t *put_text(uint64_t *word, const char *text, uint64_t length)
{
	*word++ = length;
	if (length % 8 != 0)
		word[length / 8] = 0;
	memcpy(word, text, length);
	return word + (length + 7) / 8;
}

// add makes the word for a new line.
static struct line *add(unsigned slot, const struct code *k)
{
	static uint64_t numbers;
	const struct content *content = NULL;
	uint64_t words[3 + 2 * MAX_TEXT / 8 + 2], *end = words;

	for (unsigned i = 0; i < LINES && content == NULL; i++) {
		struct line *p = atomic_load_explicit(&lines[i], memory_order_relaxed);
		if (p != NULL && p->code == k->object && same(p->content, k))
			content = p->content;
	}
	if (content == NULL)
		content = copy(k);
	struct line *p = cairn_arena_take(&contents, sizeof(*p), MAX_CONTENTS);
	if (content == NULL || p == NULL)
		return NULL;
	*end++ = (uint64_t)(uint32_t)python.line((void *)(uintptr_t)k->object, k->at);
	end = put_text(end, k->name, k->name_length);
	end = put_text(end, k->file, k->file_length);
	if (!cairn_dictionary_add(CAIRN_ENTRY_LINE, words, (uint32_t)(end - words)))
		return NULL;
	*p = (struct line){k->object, k->at, CAIRN_LINE_WORD(numbers++), content};
	atomic_store_explicit(&lines[slot], p, memory_order_release);
	return p;
}

static bool string(const void *object, const char **text, uint64_t *length)
{
	if (object == NULL || (load(object, STATE) & ASCII) == 0 || load(object, LENGTH) > MAX_TEXT)
		return false;
	*text = (const char *)object + python.layout.text;
	*length = load(object, LENGTH);
	return true;
}

uint64_t cairn_python_line(uint64_t caller)
{
	static struct cairn_rare lock = {.blocks = true};
	const struct layout *l = &python.layout;
	struct code k;
	int s = atomic_load_explicit(&state, memory_order_acquire);

	if (CAIRN_UNLIKELY(s != USED)) {
		if (s == UNKNOWN)
			init_layout();
		if (atomic_load(&state) != USED)
			return caller;
	}
	const void *thread = python.is_initialized() ? python.this_thread() : NULL;
	if (thread == NULL)
		return caller;
	const void *frame = POINTER(thread, l->frame);
	if (frame != NULL && l->in_cframe >= 0)
		frame = POINTER(frame, l->in_cframe);
	if (frame == NULL)
		return caller;
	k.object = POINTER(frame, l->code);
	if (k.object == NULL || POINTER(k.object, TYPE) != python.code_type)
		return caller;
	k.at = position(frame, k.object);
	k.first = load_int(k.object, l->first);
	const void *table = POINTER(k.object, l->table);
	if (k.at < 0 || table == NULL || !string(POINTER(k.object, l->file), &k.file, &k.file_length) ||
	    !string(POINTER(k.object, l->name), &k.name, &k.name_length))
		return caller;
	if (k.file_length >= 7 && memcmp(k.file, "<frozen", 7) == 0)
		return caller; // a call by the interpreter itself, while it imports the extension
	k.table = (const char *)table + BYTES;
	k.table_length = load(table, LENGTH);

	unsigned slot = (unsigned)(((uintptr_t)k.object / 16 + (unsigned)k.at / 2) * 0x9e3779b97f4a7c15u >> 52), free_slot = LINES;
	for (unsigned i = 0; i < PROBES; i++) {
		unsigned n = (slot + i) % LINES;
		struct line *p = atomic_load_explicit(&lines[n], memory_order_acquire);
		if (p == NULL || (p->code == k.object && p->at == k.at)) {
			if (p != NULL && same(p->content, &k))
				return p->word;
			free_slot = n;
			break;
		}
	}
	if (free_slot == LINES || !cairn_rare_lock(&lock, NULL))
		return caller;
	struct line *p = add(free_slot, &k);
	cairn_rare_unlock(&lock);
	return p != NULL ? p->word : caller;
}
