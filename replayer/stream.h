// The stream of calls of a thread, as analyzer/reexecution/stream.go writes it. Nothing that it says is believed: what does
// not fit ends the re-execution.
#ifndef CAIRN_REPLAY_STREAM_H
#define CAIRN_REPLAY_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CR_NUMBER_FORM, CR_HANDLE, CR_CONSTANT_FORM, CR_LIST, CR_TEXT, CR_NOTHING, CR_STATUS, CR_FORMS };

enum { CR_MAY_FAIL = 1, CR_AFTER = 2 }; // flags of a call

// A value: of numbers, handles and constants n is what they are, of lists and texts how long.
struct value {
	int form;
	int64_t n;
};

// One thread's stream, and the memory that its calls use.
struct stream {
	int file;
	char *buffer; // what was read of the file
	size_t begin, end;
	uint64_t *words; // of the call
	size_t size;
	struct chunk *chunks;
};

struct thread;

// The call that is executed.
struct call {
	struct thread *thread;
	struct stream *stream;
	uint64_t index; // among those of the thread
	int function, flags;
	uint64_t compute;    // ns
	size_t next, words; // word to be read, and how many there are
	void *sentinel;      // what stands in the place of the list that was read last
};

void cr_open_stream(struct stream *s, int file);

// Goes to the next call; false after the last one.
bool cr_next_call(struct call *c);

// Room until the next call, aligned for anything, filled with zeros.
void *cr_allocate(struct call *c, int64_t elements, size_t size);

struct value cr_value(struct call *c);
int64_t cr_number(struct call *c);        // a number or a constant of that value; 0 for nothing
const char *cr_text(struct call *c);

// Begins to read a list: how many values follow; -1 if a constant is in its place (c->sentinel).
int64_t cr_list(struct call *c);

// Reads how many elements an out parameter can have, and gives the room.
void *cr_room(struct call *c, size_t size);

// Says that the stream makes no sense.
_Noreturn void cr_damaged(struct call *c, const char *what);

#endif
