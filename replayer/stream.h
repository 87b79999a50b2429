// The stream of calls of a thread, as written by analyzer/reexecution/stream.go. It is not trusted:
// invalid data ends the replay.
#ifndef CAIRN_REPLAY_STREAM_H
#define CAIRN_REPLAY_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CR_NUMBER_FORM, CR_HANDLE, CR_CONSTANT_FORM, CR_LIST, CR_TEXT, CR_NOTHING, CR_STATUS, CR_FORMS };

enum { CR_MAY_FAIL = 1, CR_AFTER = 2 }; // flags of a call

// A value. n is the value of numbers, handles and constants, and the length of lists and texts.
struct value {
	int form;
	int64_t n;
};

// One thread's stream, and the memory of its calls.
struct stream {
	int file;
	char *buffer; // buffer of the file
	size_t begin, end;
	uint64_t *words; // of the call
	size_t size;
	struct chunk *chunks;
};

struct thread;

// The current call.
struct call {
	struct thread *thread;
	struct stream *stream;
	uint64_t index; // index on the thread
	int function, flags;
	uint64_t compute;    // ns
	size_t next, words; // next word to read, and number of words
	void *sentinel;      // constant in place of the list that was read last
};

void cr_open_stream(struct stream *s, int file);

// Moves to the next call; false after the last one.
bool cr_next_call(struct call *c);

// Allocates memory that lives until the next call, aligned for anything, filled with zeros.
void *cr_allocate(struct call *c, int64_t elements, size_t size);

struct value cr_value(struct call *c);
int64_t cr_number(struct call *c);        // a number, or a constant of that value; 0 if absent
const char *cr_text(struct call *c);

// Starts reading a list: returns the number of values, or -1 if a constant is in its place
// (c->sentinel).
int64_t cr_list(struct call *c);

// Reads the maximum number of elements of an out parameter, and allocates them.
void *cr_room(struct call *c, size_t size);

// Ends the replay because the stream is invalid.
_Noreturn void cr_damaged(struct call *c, const char *what);

// Ends the replay because this MPI does not have a constant.
_Noreturn void cr_refuse_constant(struct call *c, int64_t id);

#endif
