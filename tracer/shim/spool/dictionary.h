// The dictionary: a file that describes the words of records that the shim makes up at run time. An
// entry is written before the first record that needs it (format:
// tracer/recorder/record/dictionary.go).
#ifndef CAIRN_DICTIONARY_H
#define CAIRN_DICTIONARY_H

#include <stdbool.h>
#include <stdint.h>

#include "../../ring/layout_gen.h"

// A word of a record that refers to an entry.
#define CAIRN_ENTRY_WORD(number) ((uint64_t)CAIRN_ENTRY_TAG << CAIRN_ENTRY_SHIFT | (uint64_t)(number))
#define CAIRN_IS_PATH(word) ((word) >> CAIRN_LINE_BIT == (uint64_t)CAIRN_ENTRY_TAG << (CAIRN_ENTRY_SHIFT - CAIRN_LINE_BIT))
#define CAIRN_LINE_WORD(number) (CAIRN_ENTRY_WORD(number) | (uint64_t)1 << CAIRN_LINE_BIT)

// cairn_dictionary_add appends an entry of a type (CAIRN_ENTRY_MODULE and so on). false: it could
// not be written (the disk is full), and must not be used.
bool cairn_dictionary_add(uint32_t type, const uint64_t *words, uint32_t count);

#endif
