// Rules for getting from a function's frame to its caller's.
#ifndef CAIRN_FRAME_RULE_H
#define CAIRN_FRAME_RULE_H

#include <stdbool.h>
#include <stdint.h>

// A rule: the beginning of the caller's frame (the canonical frame address, CFA), the location of the
// return address, and that of the caller's frame pointer (rbp, x29), which is used for any value. A
// rule fits into one word, so threads can share rules without a lock.
enum cairn_frame_kind {
	CAIRN_FRAME_SP = 1,  // CFA = sp + cfa
	CAIRN_FRAME_FP,      // CFA = fp + cfa
	CAIRN_FRAME_DEREF,   // CFA = *(fp + cfa): functions that align their stack
	CAIRN_FRAME_LAST,    // the function has no caller
	CAIRN_FRAME_UNKNOWN, // any other rule
};

enum cairn_fp_saved { CAIRN_FP_SAME, CAIRN_FP_AT_CFA, CAIRN_FP_AT_FP };

struct cairn_frame_rule {
	int64_t cfa : 24;
	int64_t ra : 17; // words from the CFA to the return address
	int64_t fp : 17; // words to the saved fp from the CFA, or from fp
	uint64_t kind : 3;
	uint64_t saved : 3;
};
_Static_assert(sizeof(struct cairn_frame_rule) == sizeof(uint64_t), "more than a word");

// cairn_frame_rule returns the rule for pc, an address in an instruction of a function.
struct cairn_frame_rule cairn_frame_rule(uintptr_t pc);

// cairn_function_extent returns the code of the function with pc, an address in one of
// its instructions.
bool cairn_function_extent(uintptr_t pc, uintptr_t *begin, uintptr_t *size);

#endif
