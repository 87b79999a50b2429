#include "modules.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "../../ring/layout_gen.h"
#include "../process/uninterrupted.h"
#include "../spool/dictionary.h"
#include "resolve.h"

// build_id finds the GNU note among the program headers.
static void build_id(const struct dl_phdr_info *info, char *out, size_t size)
{
	out[0] = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_NOTE)
			continue;
		const char *at = (const char *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;
		while (at + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)(const void *)at;
			const char *name = at + sizeof(*n);
			const unsigned char *id = (const unsigned char *)name + ((n->n_namesz + 3) & ~3u);
			const char *next = (const char *)id + ((n->n_descsz + 3) & ~3u);
			if (next > end)
				break;
			if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
				static const char digits[] = "0123456789abcdef";
				for (unsigned k = 0; k < n->n_descsz && 2 * k + 3 <= size; k++) {
					*out++ = digits[id[k] >> 4];
					*out++ = digits[id[k] & 15];
				}
				*out = 0;
				return;
			}
			at = next;
		}
	}
}

static void executable_path(char *out, size_t size)
{
	const int saved = errno;
	ssize_t n = readlink("/proc/self/exe", out, size - 1);
	const char *started = (const char *)getauxval(AT_EXECFN);

	out[n > 0 ? n : 0] = 0;
	if (n <= 0 && started != NULL) // no /proc
		snprintf(out, size, "%s", started);
	errno = saved;
}

// A known module. Unloaded modules are kept; a later module at the same address takes precedence.
struct known {
	uintptr_t base, limit;
	uint64_t identity; // hash of the headers of the mapped file
};

enum { MAX_MODULES = 4096 };
static struct known known[MAX_MODULES];
static _Atomic uint32_t known_count;
static struct cairn_rare changing = {.blocks = true};
static unsigned long long loaded; // dl_phdr_info's counter at the last check
static unsigned long long unloaded;

static bool extent(const struct dl_phdr_info *info, struct known *k)
{
	k->base = UINTPTR_MAX, k->limit = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD)
			continue;
		if (info->dlpi_addr + p->p_vaddr < k->base)
			k->base = info->dlpi_addr + p->p_vaddr;
		if (info->dlpi_addr + p->p_vaddr + p->p_memsz > k->limit)
			k->limit = info->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	k->base &= ~(uintptr_t)4095;
	return k->limit > k->base;
}

static void describe(const struct dl_phdr_info *info, char *path, size_t path_size, char *id, size_t id_size)
{
	if (info->dlpi_name == NULL || info->dlpi_name[0] == 0)
		executable_path(path, path_size);
	else
		snprintf(path, path_size, "%s", info->dlpi_name);
	build_id(info, id, id_size);
}

// identify returns a hash that distinguishes modules that are mapped at one address one
// after the other.
static uint64_t identify(const char *path, const char *id)
{
	uint64_t h = 14695981039346656037u; // FNV-1a
	for (const char *text = id[0] != 0 ? id : path; *text != 0; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211u;
	return h;
}

static bool is_known(const struct known *k)
{
	uint32_t n = atomic_load_explicit(&known_count, memory_order_acquire);
	while (n-- > 0) // the latest one is valid
		if (known[n].base < k->limit && k->base < known[n].limit)
			return known[n].base == k->base && known[n].limit == k->limit && known[n].identity == k->identity;
	return false;
}

static void remember(const struct known *k)
{
	uint32_t n = atomic_load_explicit(&known_count, memory_order_relaxed);
	if (n < MAX_MODULES) {
		known[n] = *k;
		atomic_store_explicit(&known_count, n + 1, memory_order_release);
	}
}

static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct cairn_json *j = data;
	struct known k;
	char path[4096], id[129];

	(void)size;
	if (!extent(info, &k))
		return 0;
	loaded = info->dlpi_adds, unloaded = info->dlpi_subs;
	describe(info, path, sizeof(path), id, sizeof(id));
	k.identity = identify(path, id);
	remember(&k);
	cairn_json_open(j, NULL, '{');
	cairn_json_string(j, CAIRN_KEY(path), path);
	cairn_json_string(j, CAIRN_KEY(build_id), id);
	cairn_json_number(j, CAIRN_KEY(base), (long long)k.base);
	cairn_json_number(j, CAIRN_KEY(limit), (long long)k.limit);
	cairn_json_close(j, '}');
	return 0;
}

void cairn_modules(struct cairn_json *j)
{
	cairn_each_module(add_module, j);
}

static uint64_t *put_text(uint64_t *word, const char *text)
{
	size_t n = strlen(text), words = (n + 7) / 8;
	*word++ = n;
	if (words > 0)
		word[words - 1] = 0;
	memcpy(word, text, n);
	return word + words;
}

static int add_later_module(struct dl_phdr_info *info, size_t size, void *first)
{
	static uint64_t words[2 + 2 + (4096 + 136) / 8]; // threads may have small stacks
	static char path[4096], id[129];
	uint64_t *word = words;
	struct known k;

	(void)size;
	if (*(bool *)first) {
		if (info->dlpi_adds == loaded && info->dlpi_subs == unloaded)
			return 1;
		loaded = info->dlpi_adds, unloaded = info->dlpi_subs;
		*(bool *)first = false;
	}
	if (!extent(info, &k))
		return 0;
	describe(info, path, sizeof(path), id, sizeof(id));
	k.identity = identify(path, id);
	if (is_known(&k))
		return 0;
	*word++ = k.base;
	*word++ = k.limit;
	word = put_text(word, id);
	word = put_text(word, path);
	if (cairn_dictionary_add(CAIRN_ENTRY_MODULE, words, (uint32_t)(word - words)))
		remember(&k);
	return 0;
}

void cairn_modules_refresh(void)
{
	bool first = true;
	if (!cairn_rare_lock(&changing, NULL))
		return;
	cairn_each_module(add_later_module, &first);
	cairn_rare_unlock(&changing);
}

static bool look_up(uintptr_t address, uintptr_t *base, uintptr_t *size)
{
	uint32_t n = atomic_load_explicit(&known_count, memory_order_acquire);
	while (n-- > 0)
		if (address - known[n].base < known[n].limit - known[n].base) {
			*base = known[n].base;
			*size = known[n].limit - known[n].base;
			return true;
		}
	return false;
}

bool cairn_modules_know(uintptr_t address, uintptr_t *base, uintptr_t *size)
{
	if (look_up(address, base, size))
		return true;
	cairn_modules_refresh();
	return look_up(address, base, size);
}

// Base addresses of modules whose names are of interest.
static _Atomic uintptr_t used[MAX_MODULES];

// note_use marks a module as used, and reports whether it is the first time.
static bool note_use(uintptr_t base)
{
	for (int i = 0; i < MAX_MODULES; i++) {
		uintptr_t at = atomic_load_explicit(&used[i], memory_order_relaxed);
		if (at == base)
			return false;
		if (at == 0 && atomic_compare_exchange_strong(&used[i], &at, base))
			return true;
		if (at == base)
			return false;
	}
	return false;
}

// A module that is sent.
struct resolved {
	uintptr_t base; // 0: the executable, which is the first module
	char path[4096], id[129];
};

static int describe_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct resolved *r = data;
	struct known k;

	(void)size;
	if (!extent(info, &k) || (r->base != 0 && k.base != r->base))
		return 0;
	r->base = k.base;
	describe(info, r->path, sizeof(r->path), r->id, sizeof(r->id));
	return 1;
}

static _Atomic bool unsent; // a module could not be sent

// send_module sends a module by its base. Unless it is the last chance, it does not wait for another
// thread that sends one: that takes as long as opening files does.
static void send_module(uintptr_t base, bool last)
{
	static struct cairn_rare sending = {.blocks = true};
	static struct resolved r; // threads may have small stacks
	bool sent = false;

	if (last ? cairn_rare_lock(&sending, NULL) : cairn_rare_try(&sending)) {
		r.base = base;
		// Outside of the callback, which runs with the loader's lock.
		sent = cairn_each_module(describe_module, &r) != 1 || cairn_resolve(r.path, r.id);
		cairn_rare_unlock(&sending);
	}
	if (!sent)
		atomic_store_explicit(&unsent, true, memory_order_relaxed);
}

bool cairn_modules_use(uintptr_t address)
{
	uintptr_t base, size;

	if (!cairn_modules_know(address, &base, &size) || !note_use(base))
		return false;
	send_module(base, false);
	return true;
}

void cairn_modules_use_executable(void)
{
	struct resolved r = {.base = 0};

	if (cairn_each_module(describe_module, &r) == 1 && note_use(r.base))
		send_module(r.base, false);
}

void cairn_modules_retry(bool at_end)
{
	uintptr_t base;

	if (!atomic_exchange_explicit(&unsent, false, memory_order_relaxed) && !at_end)
		return;
	for (int i = 0; i < MAX_MODULES && (base = atomic_load_explicit(&used[i], memory_order_relaxed)) != 0; i++)
		send_module(base, at_end);
}
