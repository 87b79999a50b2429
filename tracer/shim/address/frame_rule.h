// How to get from a function's frame to its caller's.
#ifndef CAIRN_FRAME_RULE_H
#define CAIRN_FRAME_RULE_H

#include <stdint.h>

// Where the caller's frame begins (the canonical frame address, CFA), and where the caller's rbp is. The return address
// is always in the word below the CFA. A rule is one word, so that threads can share them without a lock.
enum cairn_frame_kind {
	CAIRN_FRAME_RSP = 1, // CFA = rsp + cfa
	CAIRN_FRAME_RBP,     // CFA = rbp + cfa
	CAIRN_FRAME_DEREF,   // CFA = *(rbp + cfa): functions that align their stack
	CAIRN_FRAME_LAST,    // nobody called this function
	CAIRN_FRAME_UNKNOWN, // none of these
};

enum cairn_rbp_saved { CAIRN_RBP_SAME, CAIRN_RBP_AT_CFA, CAIRN_RBP_AT_RBP };

struct cairn_frame_rule {
	int32_t cfa : 24;
	uint32_t kind : 4;
	uint32_t saved : 4;
	int32_t rbp; // offset of the saved rbp from the CFA, or from rbp
};

// cairn_frame_rule finds the rule for the function that holds pc, an address in one of its instructions.
struct cairn_frame_rule cairn_frame_rule(uintptr_t pc);

#endif
