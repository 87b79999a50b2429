// Rules for getting from a function's frame to its caller's.
#ifndef CAIRN_FRAME_RULE_H
#define CAIRN_FRAME_RULE_H

#include <stdbool.h>
#include <stdint.h>

// A rule: the beginning of the caller's frame (the canonical frame address, CFA), and the location
// of the caller's rbp. The return address is always in the word below the CFA. A rule fits into one
// word, so threads can share rules without a lock.
enum cairn_frame_kind {
	CAIRN_FRAME_RSP = 1, // CFA = rsp + cfa
	CAIRN_FRAME_RBP,     // CFA = rbp + cfa
	CAIRN_FRAME_DEREF,   // CFA = *(rbp + cfa): functions that align their stack
	CAIRN_FRAME_LAST,    // the function has no caller
	CAIRN_FRAME_UNKNOWN, // any other rule
};

enum cairn_rbp_saved { CAIRN_RBP_SAME, CAIRN_RBP_AT_CFA, CAIRN_RBP_AT_RBP };

struct cairn_frame_rule {
	int32_t cfa : 24;
	uint32_t kind : 4;
	uint32_t saved : 4;
	int32_t rbp; // offset of the saved rbp from the CFA, or from rbp
};

// cairn_frame_rule returns the rule for pc, an address in an instruction of a function.
struct cairn_frame_rule cairn_frame_rule(uintptr_t pc);

// cairn_function_extent returns the code of the function with pc, an address in one of
// its instructions.
bool cairn_function_extent(uintptr_t pc, uintptr_t *begin, uintptr_t *size);

#endif
