// The file in which we say what words of records stand for that we make up as the process goes
// (tracer/recorder/record/dictionary.go has the format): an entry is there before the first record that needs it.
#ifndef CAIRN_DICTIONARY_H
#define CAIRN_DICTIONARY_H

#include <stdbool.h>
#include <stdint.h>

#include "../../core/layout_gen.h"

// Words of records that stand for an entry.
#define CAIRN_ENTRY_WORD(number) ((uint64_t)CAIRN_ENTRY_MARK << CAIRN_ENTRY_SHIFT | (uint64_t)(number))
#define CAIRN_LINE_WORD(number) (CAIRN_ENTRY_WORD(number) | (uint64_t)1 << CAIRN_LINE_BIT)

// cairn_dictionary_add appends an entry of a type (CAIRN_ENTRY_MODULE and so on). false: it is not in the file (the disk is full), and must not be used.
bool cairn_dictionary_add(uint32_t type, const uint64_t *words, uint32_t count);

// A lock for what is rare. It is not given to a thread that has it already, in a signal handler that interrupted it
// (false): whoever wants it then does without.
struct cairn_rare {
	_Atomic uintptr_t owner;
};
bool cairn_rare_lock(struct cairn_rare *lock);
void cairn_rare_unlock(struct cairn_rare *lock);

#endif
