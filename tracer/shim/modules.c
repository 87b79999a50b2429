#include "modules.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
				for (unsigned k = 0; k < n->n_descsz && 2 * k + 3 <= size; k++)
					snprintf(out + 2 * k, 3, "%02x", id[k]);
				return;
			}
			at = next;
		}
	}
}

static void executable_path(char *out, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", out, size - 1);
	out[n > 0 ? n : 0] = 0;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct cairn_json *j = data;
	uintptr_t base = UINTPTR_MAX, limit = 0;
	char path[4096], id[129];

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD)
			continue;
		if (info->dlpi_addr + p->p_vaddr < base)
			base = info->dlpi_addr + p->p_vaddr;
		if (info->dlpi_addr + p->p_vaddr + p->p_memsz > limit)
			limit = info->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	if (limit == 0)
		return 0;
	base &= ~(uintptr_t)4095;
	if (info->dlpi_name == NULL || info->dlpi_name[0] == 0)
		executable_path(path, sizeof(path));
	else
		snprintf(path, sizeof(path), "%s", info->dlpi_name);
	build_id(info, id, sizeof(id));
	cairn_json_open(j, NULL, '{');
	cairn_json_string(j, "path", path);
	cairn_json_string(j, "build_id", id);
	cairn_json_number(j, "base", (long long)base);
	cairn_json_number(j, "limit", (long long)limit);
	cairn_json_close(j, '}');
	return 0;
}

void cairn_modules(struct cairn_json *j)
{
	dl_iterate_phdr(add_module, j);
}

struct first_build_id {
	char *out;
	size_t size;
};

static int first_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct first_build_id *f = data;
	(void)size;
	build_id(info, f->out, f->size);
	return 1; // the executable is the first
}

void cairn_executable_build_id(char *out, size_t size)
{
	struct first_build_id f = {out, size};
	out[0] = 0;
	dl_iterate_phdr(first_module, &f);
}
