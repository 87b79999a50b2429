// The instructions of x86-64 that functions begin with (Intel 64 and IA-32 Architectures Software
// Developer's Manual, volume 2, chapter 2 and appendix A).
#ifndef CAIRN_INSTRUCTION_H
#define CAIRN_INSTRUCTION_H

#include <stdbool.h>

struct cairn_instruction {
	unsigned length;   // 0: one that we do not know, or that cannot be moved
	unsigned relative; // where it has a 32-bit distance from its end, in bytes; 0: nowhere
	bool ends;         // the instruction after it is not executed next
};

struct cairn_instruction cairn_instruction(const unsigned char *code);

#endif
