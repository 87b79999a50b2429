#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi.h"
#include "state.h"
#include "uninterrupted.h"

static int name_own_module(struct dl_phdr_info *info, size_t size, void *name)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && (uintptr_t)&cairn_config - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
			*(const char **)name = info->dlpi_name;
	}
	return *(const char **)name != NULL;
}

// own_file returns the path of our library. dladdr would look for a symbol, too, among thousands.
static const char *own_file(void)
{
	const char *name = NULL;

	cairn_each_module(name_own_module, &name);
	return name;
}

// find_root finds the root: our libraries are in CAIRN_ROOT/lib or in our own directory.
static bool find_root(void)
{
	const char *given = getenv("CAIRN_ROOT");
	const char *us = own_file();
	char path[sizeof(cairn_config.root)];
	char *slash;

	if (us == NULL)
		return false;
	if (us[0] == '/') {
		snprintf(path, sizeof(path), "%s", us);
	} else {
		// Preloaded by a relative path.
		if (getcwd(path, sizeof(path)) == NULL || strlen(path) + strlen(us) + 2 > sizeof(path))
			return false;
		strcat(path, "/");
		strcat(path, us);
	}
	slash = strrchr(path, '/');
	*slash = 0;
	if (snprintf(cairn_config.reference, sizeof(cairn_config.reference), "%s/libcairn-reference-" CAIRN_ABI_NAME ".so", path) >=
	    (int)sizeof(cairn_config.reference))
		return false;
	if (given != NULL && given[0] != 0) {
		snprintf(cairn_config.root, sizeof(cairn_config.root), "%s", given);
		return true;
	}
	slash = strrchr(path, '/');
	if (slash == NULL)
		return false;
	*slash = 0;
	snprintf(cairn_config.root, sizeof(cairn_config.root), "%s", path);
	return true;
}

// A reader of JSON: one flat object of strings, numbers and booleans. Nested values are skipped.
struct reader {
	const char *at, *end;
	bool bad;
};

static char peek(struct reader *r)
{
	while (r->at < r->end && strchr(" \t\r\n", *r->at) != NULL)
		r->at++;
	return r->at < r->end ? *r->at : 0;
}

static bool take(struct reader *r, char c)
{
	if (peek(r) != c) {
		r->bad = true;
		return false;
	}
	r->at++;
	return true;
}

static void append_utf8(char *out, size_t *n, size_t size, unsigned c)
{
	char b[3];
	size_t k = 0;
	if (c < 0x80) {
		b[k++] = (char)c;
	} else if (c < 0x800) {
		b[k++] = (char)(0xc0 | c >> 6);
		b[k++] = (char)(0x80 | (c & 0x3f));
	} else {
		b[k++] = (char)(0xe0 | c >> 12);
		b[k++] = (char)(0x80 | (c >> 6 & 0x3f));
		b[k++] = (char)(0x80 | (c & 0x3f));
	}
	for (size_t i = 0; i < k && *n + 1 < size; i++)
		out[(*n)++] = b[i];
}

static void read_string(struct reader *r, char *out, size_t size)
{
	size_t n = 0;
	if (!take(r, '"'))
		return;
	while (r->at < r->end && *r->at != '"') {
		char c = *r->at++;
		if (c == '\\' && r->at < r->end) {
			c = *r->at++;
			switch (c) {
			case 'n': c = '\n'; break;
			case 't': c = '\t'; break;
			case 'r': c = '\r'; break;
			case 'b': c = '\b'; break;
			case 'f': c = '\f'; break;
			case 'u': {
				char hex[5] = "";
				for (int i = 0; i < 4 && r->at < r->end; i++)
					hex[i] = *r->at++;
				append_utf8(out, &n, size, (unsigned)strtoul(hex, NULL, 16));
				continue;
			}
			}
		}
		if (n + 1 < size)
			out[n++] = c;
		else
			r->bad = true;
	}
	out[n] = 0;
	take(r, '"');
}

static void skip_value(struct reader *r)
{
	int depth = 0;
	do {
		char c = peek(r), text[4096];
		if (c == 0) {
			r->bad = true;
			return;
		}
		if (c == '"') {
			read_string(r, text, sizeof(text));
			r->bad = false;
			continue;
		}
		if (c == '{' || c == '[')
			depth++;
		if (c == '}' || c == ']')
			depth--;
		r->at++;
		if (depth == 0 && c != '}' && c != ']')
			while (r->at < r->end && strchr(",}] \t\r\n", *r->at) == NULL)
				r->at++;
	} while (depth > 0);
}

static bool read_bool(struct reader *r, bool otherwise)
{
	char c = peek(r);
	bool value = c == 't' ? true : c == 'f' ? false : otherwise;
	skip_value(r);
	return value;
}

static int64_t read_number(struct reader *r)
{
	char c = peek(r);
	int64_t value = c == '-' || (c >= '0' && c <= '9') ? strtoll(r->at, NULL, 10) : 0;
	skip_value(r);
	return value;
}

// read_setting reads the value of a key of tracer/settings.
static void read_setting(struct reader *r, const char *key)
{
	const bool text = peek(r) == '"';
#define TEXT(name, field, size)                                      \
	if (strcmp(key, #name) == 0 && text) {                       \
		read_string(r, cairn_config.field, size);            \
		return;                                              \
	}
#define SWITCH(name, field, otherwise)                               \
	if (strcmp(key, #name) == 0) {                               \
		cairn_config.field = read_bool(r, otherwise);        \
		return;                                              \
	}
#define NUMBER(name, field)                                          \
	if (strcmp(key, #name) == 0) {                               \
		cairn_config.field = read_number(r);                 \
		return;                                              \
	}
	CAIRN_SETTINGS_TEXTS(TEXT)
	CAIRN_SETTINGS_SWITCHES(SWITCH)
	CAIRN_SETTINGS_NUMBERS(NUMBER)
#undef TEXT
#undef SWITCH
#undef NUMBER
	skip_value(r);
}

// parse reads the settings and reports whether they allow tracing. text must be zero-terminated.
static bool parse(const char *text, size_t n)
{
	struct reader r = {text, text + n, false};
	char key[64];

#define SWITCH(name, field, otherwise) cairn_config.field = otherwise;
	CAIRN_SETTINGS_SWITCHES(SWITCH)
#undef SWITCH
	if (!take(&r, '{'))
		return false;
	while (!r.bad && peek(&r) != '}') {
		read_string(&r, key, sizeof(key));
		take(&r, ':');
		read_setting(&r, key);
		if (peek(&r) == ',')
			r.at++;
		else if (peek(&r) != '}')
			r.bad = true;
	}
	if (r.bad) {
		fprintf(stderr, "cairn: %s/config.json is malformed: not tracing\n", cairn_config.root);
		return false;
	}
	return cairn_config.enabled;
}

// read_mode reads the part of a mode ("clustered wait=60", online.ParseMode) that
// concerns the shim.
static void read_mode(const char *mode)
{
	const char *wait = strstr(mode, "wait=");
	cairn_config.wait_seconds = wait != NULL ? strtoll(wait + 5, NULL, 10) : 60;
	cairn_clustered = strncmp(mode, "clustered", 9) == 0;
}

bool cairn_config_read(void)
{
	char path[sizeof(cairn_config.root) + 16];
	static char text[65536];
	ssize_t n;
	int file;

	if (!find_root())
		return false;
	snprintf(path, sizeof(path), "%s/config.json", cairn_config.root);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0) {
		if (errno != ENOENT)
			fprintf(stderr, "cairn: %s: %s: not tracing\n", path, strerror(errno));
		return false;
	}
	n = read(file, text, sizeof(text) - 1);
	close(file);
	if (n < 0)
		return false;
	text[n] = 0;
	if (!parse(text, (size_t)n))
		return false;
	cairn_config.call_sites = strcmp(cairn_config.call_sites_kept, "none") != 0;
	cairn_config.call_paths = strcmp(cairn_config.call_sites_kept, "path") == 0;
	read_mode(cairn_config.mode);
	if (cairn_config.spool[0] == 0 &&
	    snprintf(cairn_config.spool, sizeof(cairn_config.spool), "%s/spool", cairn_config.root) >= (int)sizeof(cairn_config.spool))
		return false;
	return true;
}
