#include "stream.h"

#include "constants.h"
#include "die.h"
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BUFFER = 1 << 16,
	MOST_WORDS = 1 << 28, // of a call
	FIRST_CHUNK = 1 << 16,
	ALIGNMENT = 16,
};

// A chunk of memory that is used until the next call. The latest one, which is the largest, is kept
// for the next call.
struct chunk {
	struct chunk *before;
	size_t used, size;
	_Alignas(ALIGNMENT) char memory[];
};

void cr_open_stream(struct stream *s, int file)
{
	*s = (struct stream){.file = file, .buffer = malloc(BUFFER)};
	if (s->buffer == NULL)
		cr_die("out of memory");
}

// Reads n bytes; false at the end of the file, if there was nothing left.
static bool read_bytes(struct stream *s, void *to, size_t n)
{
	for (size_t done = 0; done < n;) {
		if (s->begin == s->end) {
			const ssize_t got = read(s->file, s->buffer, BUFFER);
			if (got < 0 && errno == EINTR)
				continue;
			if (got <= 0 && done == 0)
				return false;
			if (got <= 0)
				cr_die("the calls to be executed end in the middle of one");
			s->begin = 0;
			s->end = (size_t)got;
		}
		size_t part = s->end - s->begin;
		if (part > n - done)
			part = n - done;
		memcpy((char *)to + done, s->buffer + s->begin, part);
		s->begin += part;
		done += part;
	}
	return true;
}

static void reset(struct stream *s)
{
	if (s->chunks == NULL)
		return;
	while (s->chunks->before != NULL) {
		struct chunk *before = s->chunks->before;
		s->chunks->before = before->before;
		free(before);
	}
	s->chunks->used = 0;
}

bool cr_next_call(struct call *c)
{
	struct stream *s = c->stream;
	uint64_t head[2];

	reset(s);
	if (!read_bytes(s, head, sizeof(head)))
		cr_die("the calls to be executed end too early: what decodes them has failed");
	c->function = (int)(head[0] & 0xffff);
	c->flags = (int)(head[0] >> 16 & 0xffff);
	c->words = (size_t)(head[0] >> 32);
	c->compute = head[1];
	c->next = 0;
	c->index++;
	if (c->words > MOST_WORDS)
		cr_damaged(c, "a call that is too large");
	if (c->words > s->size) {
		s->size = c->words + c->words / 2;
		uint64_t *words = realloc(s->words, s->size * sizeof(*words));
		if (words == NULL)
			cr_die("out of memory");
		s->words = words;
	}
	if (c->words > 0 && !read_bytes(s, s->words, c->words * sizeof(*s->words)))
		cr_die("the calls to be executed end in the middle of one");
	return c->function != 0;
}

void cr_damaged(struct call *c, const char *what)
{
	const char *name = c->function < cr_functions ? cr_table[c->function].name : NULL;
	cr_die("call %llu (%s): %s", (unsigned long long)c->index, name != NULL ? name : "?", what);
}

void cr_refuse_constant(struct call *c, int64_t id)
{
	cr_refuse("call %llu (%s): this MPI does not have %s", (unsigned long long)c->index, cr_table[c->function].name, cr_constant_name(id));
}

void *cr_allocate(struct call *c, int64_t elements, size_t size)
{
	struct stream *s = c->stream;
	size_t bytes;

	if (elements < 0 || __builtin_mul_overflow((size_t)elements, size, &bytes) || bytes > SIZE_MAX / 4)
		cr_damaged(c, "a list that is too long");
	bytes = (bytes + ALIGNMENT) & ~(size_t)(ALIGNMENT - 1); // at least one byte more
	if (s->chunks == NULL || s->chunks->size - s->chunks->used < bytes) {
		size_t room = s->chunks != NULL ? 2 * s->chunks->size : FIRST_CHUNK;
		while (room < bytes)
			room *= 2;
		struct chunk *chunk = malloc(sizeof(*chunk) + room);
		if (chunk == NULL)
			cr_die("out of memory");
		*chunk = (struct chunk){.before = s->chunks, .size = room};
		s->chunks = chunk;
	}
	void *memory = s->chunks->memory + s->chunks->used;
	s->chunks->used += bytes;
	return memset(memory, 0, bytes);
}

struct value cr_value(struct call *c)
{
	if (c->next >= c->words)
		cr_damaged(c, "an argument is missing");
	const int64_t word = (int64_t)c->stream->words[c->next++];
	const struct value v = {(int)(word & 7), word >> 3};
	if (v.form >= CR_FORMS || ((v.form == CR_LIST || v.form == CR_TEXT || v.form == CR_HANDLE) && v.n < 0))
		cr_damaged(c, "an argument of a form that there is not");
	return v;
}

int64_t cr_number(struct call *c)
{
	const struct value v = cr_value(c);
	int64_t n = 0;

	switch (v.form) {
	case CR_NUMBER_FORM:
		return v.n;
	case CR_CONSTANT_FORM:
		if (!cr_constant_number(v.n, &n))
			cr_refuse_constant(c, v.n);
		return n;
	case CR_NOTHING:
		return 0;
	}
	cr_damaged(c, "an argument that is no number");
}

const char *cr_text(struct call *c)
{
	const struct value v = cr_value(c);
	if (v.form == CR_NOTHING)
		return "";
	if (v.form != CR_TEXT || (uint64_t)v.n / 8 + 1 > c->words - c->next)
		cr_damaged(c, "an argument that is no text");
	const char *text = (const char *)(c->stream->words + c->next);
	if (text[v.n] != 0)
		cr_damaged(c, "a text without an end");
	c->next += (size_t)v.n / 8 + 1;
	return text;
}

int64_t cr_list(struct call *c)
{
	const struct value v = cr_value(c);

	c->sentinel = NULL;
	switch (v.form) {
	case CR_LIST:
		if ((uint64_t)v.n > c->words - c->next)
			cr_damaged(c, "a list that is cut off");
		return v.n;
	case CR_CONSTANT_FORM:
		if (!cr_constant_pointer(v.n, &c->sentinel))
			cr_refuse_constant(c, v.n);
		return -1;
	case CR_NOTHING:
		return 0;
	}
	cr_damaged(c, "an argument that is no list");
}

void *cr_room(struct call *c, size_t size)
{
	const struct value v = cr_value(c);
	if (v.form != CR_NUMBER_FORM)
		cr_damaged(c, "a list of unknown length");
	return cr_allocate(c, v.n > 0 ? v.n : 0, size);
}
