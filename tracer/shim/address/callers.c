#include "callers.h"

#include <stddef.h>
#include <stdatomic.h>
#include <string.h>

#include "../bind/bind.h"
#include "frame_rule.h"
#include "modules.h"
#include "unwind.h"

// A call instruction: its bytes, and for direct ones (also by a table of addresses that the linker
// fills) its target.
struct call {
	const uint8_t *at;
	size_t size;
	bool direct;
	uintptr_t target; // of a direct call: the function, its entry in the procedure linkage table, or the table's word
};

#ifdef __x86_64__

enum { STEP = 1 };

static uintptr_t relative(const uint8_t *end)
{
	int32_t distance;
	memcpy(&distance, end - 4, sizeof(distance));
	return (uintptr_t)end + (uintptr_t)(intptr_t)distance;
}

// is_indirect reports whether an instruction of a size is call r/m64 (opcode FF /2, with
// or without REX.B).
static bool is_indirect(const uint8_t *at, size_t size)
{
	size_t prefix = at[0] == 0x41;
	if (size < prefix + 2 || at[prefix] != 0xff || (at[prefix + 1] >> 3 & 7) != 2)
		return false;
	unsigned mod = at[prefix + 1] >> 6, rm = at[prefix + 1] & 7;
	size_t displacement = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	return size == prefix + 2 + (mod != 3 && rm == 4) + displacement;
}

// call_before finds the call instruction that ends at a return address, in the code of its
// function. A function may also have been entered by something else.
static bool call_before(uintptr_t address, uintptr_t begin, struct call *c)
{
	const uint8_t *end = (const uint8_t *)address;
	size_t room = address - begin;
	uintptr_t base, size;

	*c = (struct call){0};
	if (room >= 6 && end[-6] == 0xff && end[-5] == 0x15)
		*c = (struct call){end - 6, 6, true, relative(end)};
	else if (room >= 5 && end[-5] == 0xe8 && cairn_modules_know(relative(end), &base, &size)) // not a part of another one
		*c = (struct call){end - 5, 5, true, relative(end)};
	else
		for (size_t bytes = 2; bytes <= 8 && bytes <= room && c->at == NULL; bytes++)
			if (is_indirect(end - bytes, bytes))
				*c = (struct call){end - bytes, bytes, false, 0};
	return c->at != NULL;
}

// is_same reports whether another call calls the same function.
static bool is_same(const struct call *c, const uint8_t *at)
{
	if (!c->direct)
		return memcmp(at, c->at, c->size) == 0;
	return at[0] == c->at[0] && (c->size == 5 || at[1] == c->at[1]) && relative(at + c->size) == c->target;
}

#else

// Instructions have four bytes.
enum { STEP = 4 };

static uint32_t instruction(const uint8_t *at)
{
	uint32_t code;
	memcpy(&code, at, sizeof(code));
	return code;
}

// is_direct reports whether an instruction is bl, whose low 26 bits are the distance in words.
static bool is_direct(uint32_t code)
{
	return code >> 26 == 0x25;
}

static uintptr_t target_of(const uint8_t *at)
{
	return (uintptr_t)at + (uintptr_t)((intptr_t)(int32_t)(instruction(at) << 6) >> 4);
}

// call_before finds the call instruction that ends at a return address, in the code of its
// function: bl, or blr, also of a signed address.
static bool call_before(uintptr_t address, uintptr_t begin, struct call *c)
{
	const uint8_t *at = (const uint8_t *)address - STEP;

	*c = (struct call){0};
	if (address - begin < STEP)
		return false;
	const uint32_t code = instruction(at);
	if (is_direct(code))
		*c = (struct call){at, STEP, true, target_of(at)};
	else if ((code & 0xfefff000) == 0xd63f0000)
		*c = (struct call){at, STEP, false, 0};
	return c->at != NULL;
}

// is_same reports whether another call calls the same function. What is in a register may be
// another one, so calls through the same register count as one function.
static bool is_same(const struct call *c, const uint8_t *at)
{
	if (!c->direct)
		return instruction(at) == instruction(c->at);
	return is_direct(instruction(at)) && target_of(at) == c->target;
}

#endif

enum { ONLY = 1, KNOWN = 2 };

static unsigned look_at(uintptr_t pc)
{
	enum { MAX_CODE = 64 << 10 }; // wrappers are small, and this code is searched at the first call
	uintptr_t begin, size;
	struct call c;

	if (!cairn_function_extent(pc - 1, &begin, &size) || size > MAX_CODE || !call_before(pc, begin, &c))
		return KNOWN;
	unsigned found = 0;
	for (const uint8_t *at = (const uint8_t *)begin; at + c.size <= (const uint8_t *)begin + size && found < 2; at += STEP)
		found += is_same(&c, at);
	return KNOWN | (found == 1 ? ONLY : 0);
}

// Cache of look_at by return address. Slots are never freed: when all are taken, others are
// looked at every time.
enum { SLOTS = 1 << 13, TRIES = 16 };
static struct {
	_Atomic uintptr_t pc;
	_Atomic unsigned facts; // 0: not known yet
} sites[SLOTS];

static unsigned facts_of(uintptr_t pc)
{
	size_t slot = (pc * 0x9e3779b97f4a7c15u) >> 51;

	for (int i = 0; i < TRIES; i++, slot = (slot + 1) % SLOTS) {
		uintptr_t at = atomic_load_explicit(&sites[slot].pc, memory_order_acquire);
		if (at == 0 && atomic_compare_exchange_strong(&sites[slot].pc, &at, pc))
			at = pc;
		if (at != pc)
			continue;
		unsigned facts = atomic_load_explicit(&sites[slot].facts, memory_order_relaxed);
		if (facts == 0) {
			facts = look_at(pc);
			atomic_store_explicit(&sites[slot].facts, facts, memory_order_relaxed);
		}
		return facts;
	}
	return look_at(pc);
}

bool cairn_may_be_in_wrapper(uintptr_t site)
{
	return (facts_of(site) & ONLY) != 0;
}

bool cairn_select_caller(uintptr_t pc, void *data)
{
	struct cairn_callers *c = data;

	if (c->n == 0 && pc != c->site)
		return false; // one of ours, or a frame of MPI's Fortran layer
	if (cairn_is_libc(pc) || (c->n > 0 && cairn_in_library(pc)))
		return true; // the start of the program or thread, or a function that MPI or the C library calls back
	for (int i = 0; i < c->n; i++)
		if (c->kept[i] == pc)
			return true; // a recursion
	c->kept[c->n++] = pc;
	return c->n == CAIRN_MAX_CALLERS || !cairn_may_be_in_wrapper(pc);
}
