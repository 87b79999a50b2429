#include "instruction.h"

#include <string.h>

// What follows an opcode.
enum operands {
	UNKNOWN,
	NOTHING,
	MODRM,
	MODRM_IMM8,
	MODRM_IMM32,
	IMM8,
	IMM32,
	IMM32_OR_64, // 64 with REX.W
	DISTANCE,    // of a jump or call
};

static enum operands of_opcode(unsigned char op)
{
	if (op < 0x40 && (op & 7) < 4) // add, or, adc, sbb, and, sub, xor, cmp
		return MODRM;
	if (op < 0x40 && (op & 7) == 4)
		return IMM8;
	if (op < 0x40 && (op & 7) == 5)
		return IMM32;
	if (op >= 0x50 && op <= 0x5f) // push, pop
		return NOTHING;
	if (op >= 0xb8 && op <= 0xbf) // mov
		return IMM32_OR_64;
	switch (op) {
	case 0x63: case 0x84: case 0x85: case 0x86: case 0x87: case 0x88: case 0x89: case 0x8a: case 0x8b: case 0x8d:
	case 0xd1: case 0xd3: case 0xff: // the last: inc, dec, call, jmp, push
		return MODRM;
	case 0x6b: case 0x80: case 0x83: case 0xc0: case 0xc1: case 0xc6:
		return MODRM_IMM8;
	case 0x69: case 0x81: case 0xc7:
		return MODRM_IMM32;
	case 0x6a:
		return IMM8;
	case 0x68:
		return IMM32;
	case 0x90: case 0xc3:
		return NOTHING;
	case 0xe8: case 0xe9: // call, jmp
		return DISTANCE;
	}
	return UNKNOWN;
}

static enum operands of_long_opcode(unsigned char op) // after 0x0f
{
	if ((op >= 0x40 && op <= 0x4f) || (op >= 0x90 && op <= 0x9f)) // cmov, set
		return MODRM;
	if (op >= 0x80 && op <= 0x8f) // conditional jumps
		return DISTANCE;
	switch (op) {
	case 0x10: case 0x11: case 0x16: case 0x1e: case 0x1f: case 0x28: case 0x29: case 0x2a: case 0x54: case 0x57: case 0x6c: case 0x6e:
	case 0x6f: case 0x7e: case 0x7f: case 0xaf: case 0xb6: case 0xb7: case 0xbe: case 0xbf: case 0xd6: case 0xef:
		return MODRM;
	case 0x70:
		return MODRM_IMM8;
	}
	return UNKNOWN;
}

// address returns the length of a ModRM byte and what belongs to it, and notes a distance from the
// instruction's end.
static unsigned address(const unsigned char *code, unsigned at, unsigned *relative)
{
	const unsigned mod = code[at] >> 6, rm = code[at] & 7;
	unsigned n = 1;

	if (mod == 3)
		return 1;
	if (rm == 4) {
		n++;
		if (mod == 0 && (code[at + 1] & 7) == 5)
			n += 4;
	} else if (mod == 0 && rm == 5) {
		*relative = at + 1;
		n += 4;
	}
	return n + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

struct cairn_instruction cairn_instruction(const unsigned char *code)
{
	struct cairn_instruction i = {0, 0, false};
	enum operands operands;
	unsigned n = 0;
	bool wide = false;

	while (code[n] == 0x66 || code[n] == 0xf2 || code[n] == 0xf3 || code[n] == 0x64 || code[n] == 0x2e)
		if (++n > 4)
			return i;
	if ((code[n] & 0xf0) == 0x40)
		wide = (code[n++] & 8) != 0;
	if (code[n] == 0x0f) {
		operands = of_long_opcode(code[n + 1]);
		n += 2;
	} else {
		operands = of_opcode(code[n]);
		i.ends = code[n] == 0xc3 || code[n] == 0xe9 || (code[n] == 0xff && (code[n + 1] & 0x30) == 0x20);
		n++;
	}
	// A 16-bit operand would have a shorter number.
	const bool narrow = memchr(code, 0x66, n) != NULL;
	switch (operands) {
	case UNKNOWN:
		return i;
	case NOTHING:
		break;
	case MODRM:
		n += address(code, n, &i.relative);
		break;
	case MODRM_IMM8:
		n += address(code, n, &i.relative) + 1;
		break;
	case MODRM_IMM32:
		n += address(code, n, &i.relative) + (narrow ? 2 : 4);
		break;
	case IMM8:
		n += 1;
		break;
	case IMM32:
		n += narrow ? 2 : 4;
		break;
	case IMM32_OR_64:
		n += wide ? 8 : narrow ? 2 : 4;
		break;
	case DISTANCE:
		i.relative = n;
		n += 4;
		break;
	}
	i.length = n;
	return i;
}
