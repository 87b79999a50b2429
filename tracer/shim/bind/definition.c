// The order of resolution of the dynamic linker, without the shims. A symbol that a module
// refers to is searched
//
//	1. in the global scope: the executable, preloaded libraries, the libraries that these need, and
//	   those that were loaded with RTLD_GLOBAL before;
//	2. in the module's local scope: the library that was loaded with dlopen, and those that it
//	   needs, breadth first.
//
// If there is a single definition, it is that one. A module that does not refer to the symbol calls
// through a pointer from one that does: R calls functions of Rmpi, whose addresses Rmpi registered.
#include "definition.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "../process/loader.h"
#include "../process/memory.h"
#include "../process/uninterrupted.h"

struct module {
	const char *name; // of its file
	uintptr_t base, begin, end;
	const ElfW(Dyn) *dynamic;
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint32_t *gnu_hash, *hash;
	bool shim;        // one of Cairn's
	bool of_mpi;      // one of an MPI library's
	void *definition; // of the symbol that is searched for
	bool library;     // the definition is the MPI library's
	bool reached;     // by a scope
};

enum { MODULES = 2048 };

// What the dynamic linker counts.
struct counts {
	unsigned long long loaded, unloaded;
};

// The modules in the order in which they were loaded.
struct scan {
	struct counts counts; // of all modules that are described
	struct counts seen;   // when the last one was
	const char *symbol;
	bool global; // MPI is in the global scope, not only in that of a library which was loaded with dlopen
	int own;     // the shim; a definition in front of it was reached already, and asks for the next one
	int count;
	struct module module[MODULES];
	short scope[MODULES];
};

static const void *at(uintptr_t base, ElfW(Addr) pointer)
{
	return (const void *)(pointer < base ? base + pointer : pointer); // the dynamic linker relocates most of them in place
}

static bool describe(struct module *m, const struct dl_phdr_info *info)
{
	*m = (struct module){.name = info->dlpi_name, .base = info->dlpi_addr, .begin = UINTPTR_MAX};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t begin = m->base + p->p_vaddr, end = begin + p->p_memsz;
		if (p->p_type == PT_DYNAMIC)
			m->dynamic = (const ElfW(Dyn) *)begin;
		if (p->p_type != PT_LOAD)
			continue;
		m->begin = begin < m->begin ? begin : m->begin;
		m->end = end > m->end ? end : m->end;
	}
	for (const ElfW(Dyn) *d = m->dynamic; d != NULL && d->d_tag != DT_NULL; d++)
		switch (d->d_tag) {
		case DT_SYMTAB:
			m->symbols = at(m->base, d->d_un.d_ptr);
			break;
		case DT_STRTAB:
			m->strings = at(m->base, d->d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			m->gnu_hash = at(m->base, d->d_un.d_ptr);
			break;
		case DT_HASH:
			m->hash = at(m->base, d->d_un.d_ptr);
			break;
		}
	return m->symbols != NULL && m->strings != NULL;
}

static void *defines_at(const struct module *m, uint32_t i, const char *symbol)
{
	const ElfW(Sym) *s = &m->symbols[i];
	unsigned type = ELF64_ST_TYPE(s->st_info);
	void *address = (void *)(m->base + s->st_value);

	if (s->st_shndx == SHN_UNDEF || s->st_value == 0 || ELF64_ST_BIND(s->st_info) == STB_LOCAL || strcmp(m->strings + s->st_name, symbol) != 0)
		return NULL;
	return type == STT_GNU_IFUNC ? ((void *(*)(void))address)() : address;
}

// defined returns the module's definition of a symbol, NULL if it has none.
static void *defined(const struct module *m, const char *symbol)
{
	void *found = NULL;

	if (m->gnu_hash == NULL) {
		for (uint32_t i = 0; m->hash != NULL && i < m->hash[1] && found == NULL; i++)
			found = defines_at(m, i, symbol);
		return found;
	}
	uint32_t h = 5381;
	for (const unsigned char *c = (const unsigned char *)symbol; *c != 0; c++)
		h = h * 33 + *c;
	const uint32_t buckets = m->gnu_hash[0], first = m->gnu_hash[1], words = m->gnu_hash[2], shift = m->gnu_hash[3];
	const uint64_t *bloom = (const uint64_t *)(const void *)(m->gnu_hash + 4), word = bloom[h / 64 % words];
	const uint32_t *bucket = (const uint32_t *)(const void *)(bloom + words), *chain = bucket + buckets;
	if ((word >> (h % 64) & word >> ((h >> shift) % 64) & 1) == 0 || bucket[h % buckets] < first)
		return NULL;
	for (uint32_t i = bucket[h % buckets]; found == NULL; i++) {
		if ((chain[i - first] | 1) == (h | 1))
			found = defines_at(m, i, symbol);
		if (chain[i - first] & 1)
			break;
	}
	return found;
}

// is_library reports whether the module is one of an MPI library: these define the profiling
// interface as well, which a tool uses, and libraries of the same names' own need not have.
static bool is_library(const struct module *m)
{
	static const char names[][16] = {"PMPI_Init", "pmpi_init_", "pmpi_init_f08_", "pmpi_init", "pmpi_init__", "PMPI_INIT"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (defined(m, names[i]) != NULL)
			return true;
	return false;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct scan *s = data;
	struct module *m = &s->module[s->count];

	(void)size;
	s->seen = (struct counts){info->dlpi_adds, info->dlpi_subs};
	if (s->count == MODULES)
		return 1;
	if (!describe(m, info))
		return 0;
	if ((uintptr_t)add_module - m->begin < m->end - m->begin)
		s->own = s->count;
	m->shim = defined(m, "cairn_next") != NULL;
	m->of_mpi = !m->shim && is_library(m);
	s->count++;
	return 0;
}

// find_definitions looks for a symbol in all modules behind the shim.
static void find_definitions(struct scan *s, const char *symbol)
{
	s->symbol = symbol;
	for (int i = 0; i < s->count; i++) {
		struct module *m = &s->module[i];
		m->definition = i >= s->own && !m->shim ? defined(m, symbol) : NULL;
		m->library = m->definition != NULL && m->of_mpi;
	}
}

static int module_of(const struct scan *s, uintptr_t address)
{
	for (int i = 0; i < s->count; i++)
		if (address - s->module[i].begin < s->module[i].end - s->module[i].begin)
			return i;
	return -1;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}

// is_needed_as reports whether the module is the one that another needs by this name.
static bool is_needed_as(const struct module *m, const char *needed)
{
	for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_SONAME && strcmp(m->strings + d->d_un.d_val, needed) == 0)
			return true;
	return strcmp(m->name, needed) == 0 || strcmp(base_name(m->name), needed) == 0;
}

// scope_of lists a module and those that it needs, breadth first, in s->scope.
static int scope_of(struct scan *s, int root)
{
	int n = 0;

	for (int i = 0; i < s->count; i++)
		s->module[i].reached = i == root;
	s->scope[n++] = (short)root;
	for (int done = 0; done < n; done++) {
		const struct module *m = &s->module[s->scope[done]];
		for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++)
			for (int i = 0; d->d_tag == DT_NEEDED && i < s->count; i++)
				if (!s->module[i].reached && is_needed_as(&s->module[i], m->strings + d->d_un.d_val)) {
					s->module[i].reached = true;
					s->scope[n++] = (short)i;
					break;
				}
	}
	return n;
}

// local returns the first definition in the local scope of a module, -1 if there is none: in the
// scope of the first module that needs it, directly or not, which is the one that was loaded with
// dlopen. It sets *global if that is the executable.
static int local(struct scan *s, int module, bool *global)
{
	*global = false;
	for (int root = 0; root <= module; root++) {
		int n = scope_of(s, root);
		if (!s->module[module].reached)
			continue;
		*global = root == 0;
		for (int i = 0; i < n; i++)
			if (s->module[s->scope[i]].definition != NULL)
				return s->scope[i];
		return -1;
	}
	return -1;
}

// refers_to reports whether the module defines the symbol or refers to it. Symbols that it does not
// define come first in its table.
static bool refers_to(const struct module *m, const char *symbol)
{
	uint32_t symbols = m->gnu_hash != NULL ? m->gnu_hash[1] : m->hash != NULL ? m->hash[1] : 0;

	for (uint32_t i = 1; i < symbols && m->definition == NULL; i++)
		if (m->symbols[i].st_shndx == SHN_UNDEF && strcmp(m->strings + m->symbols[i].st_name, symbol) == 0)
			return true;
	return m->definition != NULL;
}

// referring returns the module whose reference to the symbol the caller uses: its own, or one
// that it got a pointer from, which is rarely a pointer to a function of MPI. It returns -1
// if there is none.
static int referring(const struct scan *s, int caller)
{
	if (caller >= 0 && refers_to(&s->module[caller], s->symbol))
		return caller;
	for (int libraries = 0; libraries < 2; libraries++)
		for (int i = 0; i < s->count; i++)
			if (s->module[i].library == (bool)libraries && refers_to(&s->module[i], s->symbol))
				return i;
	return -1;
}

// choose returns the module whose definition a module's reference leads to. next is the first one
// in the global scope, or -1. What became global after the module was loaded does not count.
static int choose(struct scan *s, int next, int module)
{
	bool global = false;
	int own = module >= 0 ? local(s, module, &global) : -1;

	if (next >= 0 && (global || own < 0 || next < module))
		return next;
	return own;
}

struct shim {
	bool behind; // this one
	void *next;  // cairn_next
};

static int find_shim(struct dl_phdr_info *info, size_t size, void *data)
{
	struct shim *s = data;
	struct module m;

	(void)size;
	if (!describe(&m, info))
		return 0;
	if (s->behind)
		s->next = defined(&m, "cairn_next");
	s->behind |= (uintptr_t)find_shim - m.begin < m.end - m.begin;
	return s->next != NULL;
}

// other_shim returns cairn_next of the shim behind this one, NULL if there is none. Both are
// preloaded, so that never changes. dlsym would call malloc if there is none: that could wait
// forever in a signal handler, which may be the first to call a function.
static void *other_shim(void)
{
	static _Atomic(void *) next;
	static atomic_bool known;

	if (!atomic_load(&known)) {
		struct shim s = {false, NULL};
		cairn_each_module(find_shim, &s);
		atomic_store(&next, s.next);
		atomic_store(&known, true);
	}
	return atomic_load(&next);
}

void *cairn_next_shim(const char *symbol)
{
	return cairn_dlsym != NULL && other_shim() != NULL ? cairn_dlsym(RTLD_NEXT, symbol) : NULL;
}

static void *next_of(const char *symbol)
{
	Dl_info theirs, found;
	void *next = cairn_dlsym != NULL ? cairn_dlsym(RTLD_NEXT, symbol) : NULL;
	void *(*other)(const char *) = NULL;

	if (next == NULL)
		return NULL;
	*(void **)&other = other_shim();
	if (other != NULL && cairn_dladdr((void *)other, &theirs) != 0 && cairn_dladdr(next, &found) != 0 && theirs.dli_fbase == found.dli_fbase)
		return other(symbol);
	return next;
}

void *cairn_next(const char *symbol)
{
	return next_of(symbol);
}

static struct cairn_definition resolve(struct scan *s, void *in_global_scope, bool library_is_global, uintptr_t caller)
{
	int definitions = 0, only = -1, next = module_of(s, (uintptr_t)in_global_scope);
	bool known = false; // MPI has the function, and others may be in front of it
	struct cairn_definition d = {NULL, false, false, true};

	s->global = (next >= 0 && s->module[next].library) || library_is_global;
	for (int i = 0; i < s->count; i++)
		if (s->module[i].definition != NULL) {
			definitions++, only = i;
			known |= s->module[i].library && s->global;
			d.general &= s->module[i].library || i == next;
		}
	int chosen = definitions == 1 ? only : choose(s, next, referring(s, module_of(s, caller)));
	if (chosen < 0) { // or the one in the global scope is in a module beyond MODULES
		d.address = in_global_scope;
		d.mpi = in_global_scope != NULL && s->count == MODULES;
		d.general = false;
		return d;
	}
	d.address = chosen == next ? in_global_scope : s->module[chosen].definition;
	d.library = s->module[chosen].library;
	d.mpi = d.library || (chosen == next && known);
	d.general &= d.mpi && chosen == next;
	return d;
}

// Definitions that were found, by call: sets of WAYS, of which one is replaced. A definition
// outside of MPI is valid until a module is unloaded. Entries are read and written without a lock:
// an odd version marks one that is being written.
enum { SET_BITS = 8, WAYS = 4 };
static struct known {
	_Atomic uint32_t version;
	_Atomic(const void *) key;
	_Atomic uintptr_t caller;
	_Atomic(void *) address;
	_Atomic uint32_t flags;
	_Atomic unsigned long long unloaded;
} calls[1 << SET_BITS][WAYS];

static struct known *known_calls(const void *key, uintptr_t caller)
{
	return calls[((uintptr_t)key + caller * 31) * 0x9e3779b97f4a7c15u >> (64 - SET_BITS)];
}

static bool is_of(struct known *k, const void *key, uintptr_t caller)
{
	return atomic_load(&k->key) == key && atomic_load(&k->caller) == caller;
}

static int read_counts(struct dl_phdr_info *info, size_t size, void *counts)
{
	(void)size;
	*(struct counts *)counts = (struct counts){info->dlpi_adds, info->dlpi_subs};
	return 1;
}

static struct counts counts_of_modules(void)
{
	struct counts c = {0, 0};

	cairn_each_module(read_counts, &c);
	return c;
}

static void remember(const void *key, uintptr_t caller, struct cairn_definition d, unsigned long long unloaded)
{
	static _Atomic unsigned replaced;
	struct known *set = known_calls(key, caller), *k = NULL;

	for (int i = 0; i < WAYS && k == NULL; i++)
		if (atomic_load(&set[i].key) == NULL || is_of(&set[i], key, caller))
			k = &set[i];
	if (k == NULL)
		k = &set[atomic_fetch_add(&replaced, 1) % WAYS];
	uint32_t version = atomic_load(&k->version);
	if (d.address == NULL || version % 2 == 1 || !atomic_compare_exchange_strong(&k->version, &version, version + 1))
		return;
	atomic_store(&k->key, key);
	atomic_store(&k->caller, caller);
	atomic_store(&k->address, d.address);
	atomic_store(&k->flags, (uint32_t)(d.mpi | d.library << 1 | d.general << 2));
	atomic_store(&k->unloaded, unloaded);
	atomic_store(&k->version, version + 2);
}

static bool recall(struct known *k, const void *key, uintptr_t caller, struct cairn_definition *d)
{
	uint32_t version = atomic_load(&k->version);
	bool same = is_of(k, key, caller);
	uint32_t flags = atomic_load(&k->flags);
	unsigned long long unloaded = atomic_load(&k->unloaded);

	*d = (struct cairn_definition){atomic_load(&k->address), flags & 1, flags >> 1 & 1, flags >> 2 & 1};
	if (!same || version % 2 == 1 || atomic_load(&k->version) != version)
		return false;
	return d->mpi || unloaded == counts_of_modules().unloaded;
}

bool cairn_recall(const void *key, uintptr_t caller, struct cairn_definition *d)
{
	struct known *set = known_calls(key, caller);

	for (int i = 0; i < WAYS; i++)
		if (recall(&set[i], key, caller, d))
			return true;
	return false;
}

// The descriptions of all modules, which take longer to make than a symbol to find.
static struct cairn_rare describing;
static struct scan *described; // NULL: none so far

// take_scan returns descriptions of modules, mostly of all; the thread has them for itself until
// leave_scan. NULL: there is no memory.
static struct scan *take_scan(void)
{
	const bool kept = cairn_rare_try(&describing);
	struct scan *s = kept ? described : NULL;

	if (s == NULL) {
		s = cairn_map(sizeof(*s), PROT_READ | PROT_WRITE, -1);
		if (kept && s != NULL)
			described = s;
		else if (kept)
			cairn_rare_unlock(&describing);
	}
	return s;
}

static void leave_scan(struct scan *s)
{
	if (s == described)
		cairn_rare_unlock(&describing);
	else
		cairn_unmap(s, sizeof(*s));
}

// A question about all modules.
struct question {
	struct scan *scan;
	const char *symbol;
	void *next;
	bool library_is_global;
	uintptr_t address;              // a caller's
	struct cairn_definition answer; // if there is a symbol
	struct module module;           // that has the address, otherwise
	bool answered;
};

// answer is called for the first module: none is unloaded meanwhile.
static int answer(struct dl_phdr_info *info, size_t size, void *data)
{
	struct question *q = data;
	struct scan *s = q->scan;

	(void)size;
	if (s->count == 0 || s->counts.loaded != info->dlpi_adds || s->counts.unloaded != info->dlpi_subs)
		return 1;
	q->answered = true;
	if (q->symbol != NULL) {
		find_definitions(s, q->symbol);
		q->answer = resolve(s, q->next, q->library_is_global, q->address);
		return 1;
	}
	const int i = module_of(s, q->address);
	if (i >= 0)
		q->module = s->module[i];
	return 1;
}

// ask answers a question, and reports whether it could.
static bool ask(struct question *q)
{
	q->scan = take_scan();
	if (q->scan == NULL)
		return false;
	cairn_each_module(answer, q);
	for (int tries = 0; !q->answered && tries < 4; tries++) { // others may load modules meanwhile
		struct scan *s = q->scan;
		s->count = s->own = 0;
		cairn_each_module(add_module, s);
		s->counts = s->seen;
		cairn_each_module(answer, q);
	}
	leave_scan(q->scan);
	return q->answered;
}

struct cairn_definition cairn_definition(const void *key, const char *symbol, uintptr_t caller)
{
	// a handler that jumped out would leave the dynamic linker's lock taken
	const struct cairn_uninterrupted before = cairn_uninterrupted_begin();
	const int saved = errno;
	const unsigned long long unloaded = counts_of_modules().unloaded;
	void *next = next_of(symbol);
	struct question q = {.symbol = symbol, .next = next, .library_is_global = next_of(CAIRN_ONLY_LIBMPI) != NULL, .address = caller};
	const struct cairn_definition d = ask(&q) ? q.answer : (struct cairn_definition){next, next != NULL, false, next != NULL};

	remember(key, caller, d, unloaded);
	cairn_uninterrupted_end(before);
	errno = saved;
	return d;
}

// find_module finds the module that has the address.
static bool find_module(const void *address, struct module *found)
{
	const struct cairn_uninterrupted before = cairn_uninterrupted_begin();
	struct question q = {.address = (uintptr_t)address};
	const bool there = ask(&q) && q.module.end != 0;

	*found = q.module;
	cairn_uninterrupted_end(before);
	return there;
}

const char *cairn_file_of(const void *address)
{
	struct module m;

	return find_module(address, &m) ? m.name : NULL;
}

void *cairn_beside(const void *address, const char *symbol)
{
	static struct module found;
	static _Atomic(const void *) of;

	if (address == NULL)
		return NULL;
	if (atomic_load_explicit(&of, memory_order_acquire) != address) {
		if (!find_module(address, &found))
			return NULL;
		atomic_store_explicit(&of, address, memory_order_release);
	}
	return defined(&found, symbol);
}
