// The Go core, behind its two functions, once it is loaded (docs/decisions/0001-seams.md).
#ifndef CAIRN_CORE_H
#define CAIRN_CORE_H

#include <stdbool.h>
#include <stdint.h>

struct cairn_segment;
struct cairn_thread;

// cairn_core_load loads <directory of our library>/libcairn-core.so and starts it. It returns NULL, or what went wrong.
const char *cairn_core_load(const char *library, const char *spool, const char *process_json);

struct cairn_segment *cairn_core_segment(uint32_t thread, struct cairn_segment *full, uint64_t minimum, uint64_t *capacity);

// cairn_thread_forget leaves the thread without a buffer; its open records are dead.
void cairn_thread_forget(struct cairn_thread *t);

#endif
