#include "frame_rule.h"

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "../process/uninterrupted.h"

// DWARF register numbers (System V ABI for AMD64, 3.6.2; DWARF for the Arm 64-bit Architecture, 4.1)
#ifdef __x86_64__
enum { FP = 6, SP = 7, RA = 16 };
#else
enum { FP = 29, RA = 30, SP = 31 };
#endif

// A cursor over untrusted bytes.
struct bytes {
	const uint8_t *at, *end;
	bool bad;
};

static uint64_t take(struct bytes *b, unsigned n)
{
	uint64_t x = 0;
	if ((size_t)(b->end - b->at) < n) {
		b->bad = true;
		b->at = b->end;
		return 0;
	}
	memcpy(&x, b->at, n);
	b->at += n;
	return x;
}

static uint64_t uleb(struct bytes *b)
{
	uint64_t x = 0;
	for (unsigned shift = 0; !b->bad; shift += 7) {
		uint8_t c = (uint8_t)take(b, 1);
		if (shift < 64)
			x |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			break;
	}
	return x;
}

static int64_t sleb(struct bytes *b)
{
	uint64_t x = 0;
	unsigned shift = 0;
	uint8_t c = 0x80;
	while (c >= 0x80 && !b->bad) {
		c = (uint8_t)take(b, 1);
		if (shift < 64)
			x |= (uint64_t)(c & 0x7f) << shift;
		shift += 7;
	}
	if (shift < 64 && (c & 0x40))
		x |= ~(uint64_t)0 << shift;
	return (int64_t)x;
}

// encoded reads a pointer in an encoding of .eh_frame (LSB 5, 10.6.1.1.1: format in the low four
// bits, base in the next three).
static uintptr_t encoded(struct bytes *b, uint8_t encoding, uintptr_t data)
{
	uintptr_t here = (uintptr_t)b->at, x;
	switch (encoding & 0x0f) {
	case 0x00: case 0x04: case 0x0c: x = take(b, 8); break;
	case 0x01: x = uleb(b); break;
	case 0x02: x = (uint16_t)take(b, 2); break;
	case 0x03: x = (uint32_t)take(b, 4); break;
	case 0x09: x = (uintptr_t)sleb(b); break;
	case 0x0a: x = (uintptr_t)(int64_t)(int16_t)take(b, 2); break;
	case 0x0b: x = (uintptr_t)(int64_t)(int32_t)take(b, 4); break;
	default: b->bad = true; return 0;
	}
	switch (encoding & 0x70) {
	case 0x00: return x;
	case 0x10: return x + here;
	case 0x30: return x + data;
	}
	b->bad = true;
	return 0;
}

// A module's table of functions: PT_GNU_EH_FRAME.
struct module {
	uintptr_t pc;
	const uint8_t *header, *limit; // limit: end of the module's mapped segments
};

static int find_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct module *m = data;
	const uint8_t *header = NULL;
	uintptr_t limit = 0;
	bool here = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_GNU_EH_FRAME)
			header = (const uint8_t *)begin;
		if (p->p_type == PT_LOAD) {
			here = here || m->pc - begin < p->p_memsz;
			if (begin + p->p_memsz > limit)
				limit = begin + p->p_memsz;
		}
	}
	if (!here)
		return 0;
	m->header = header;
	m->limit = (const uint8_t *)limit;
	return 1;
}

// find_entry searches the sorted table for the function's entry (FDE).
static const uint8_t *find_entry(const struct module *m)
{
	enum { TABLE = 0x3b }; // pairs of 4 bytes, signed, relative to the header
	struct bytes b = {m->header, m->limit, false};
	uint8_t version = (uint8_t)take(&b, 1), frame = (uint8_t)take(&b, 1), count = (uint8_t)take(&b, 1), table = (uint8_t)take(&b, 1);
	uintptr_t data = (uintptr_t)m->header, entries;

	encoded(&b, frame, data);
	entries = encoded(&b, count, data);
	if (b.bad || version != 1 || table != TABLE || entries == 0 || entries > (size_t)(b.end - b.at) / 8)
		return NULL;
	const uint8_t *pairs = b.at;
	size_t low = 0, high = entries;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		int32_t start;
		memcpy(&start, pairs + 8 * middle, 4);
		if (data + (uintptr_t)(intptr_t)start <= m->pc)
			low = middle;
		else
			high = middle;
	}
	int32_t entry;
	memcpy(&entry, pairs + 8 * low + 4, 4);
	return m->header + entry;
}

// The state of a table row while instructions are executed. Registers other than fp and the return
// address only matter if the CFA is relative to them; the frame is then unknown.
struct state {
	uint64_t cfa_register;
	int64_t cfa_offset;
	bool cfa_deref, cfa_unknown;
	enum cairn_fp_saved saved;
	int64_t fp, ra;
	bool fp_unknown, last, ra_unknown;
};

struct program {
	uint64_t code_align;
	int64_t data_align;
	uintptr_t at, pc;
	struct state now, initial, kept[4];
	unsigned depth;
};

static void saved(struct program *p, uint64_t reg, int64_t offset)
{
	if (reg == FP) {
		p->now.saved = CAIRN_FP_AT_CFA;
		p->now.fp = offset;
		p->now.fp_unknown = false;
	}
	if (reg == RA) {
		p->now.last = p->now.ra_unknown = false;
		p->now.ra = offset;
	}
}

static void restored(struct program *p, uint64_t reg)
{
	if (reg == FP) {
		p->now.saved = p->initial.saved;
		p->now.fp = p->initial.fp;
		p->now.fp_unknown = p->initial.fp_unknown;
	}
	if (reg == RA) {
		p->now.last = p->initial.last;
		p->now.ra = p->initial.ra;
		p->now.ra_unknown = p->initial.ra_unknown;
	}
}

static void cannot(struct program *p, uint64_t reg)
{
	if (reg == FP)
		p->now.fp_unknown = true;
	if (reg == RA)
		p->now.ra_unknown = true;
}

// relative_to_fp reads an expression of the form fp + offset; deref: the CFA is the value there.
static bool relative_to_fp(struct bytes *b, int64_t *offset, bool *deref)
{
	enum { BREG_FP = 0x70 + FP, DEREF = 0x06 };
	uint64_t n = uleb(b);
	struct bytes e = {b->at, b->at, false};

	if (n > (size_t)(b->end - b->at)) {
		b->bad = true;
		return false;
	}
	e.end = b->at += n;
	if (take(&e, 1) != BREG_FP)
		return false;
	*offset = sleb(&e);
	*deref = e.at < e.end;
	if (*deref && take(&e, 1) != DEREF)
		return false;
	return !e.bad && e.at == e.end;
}

static void run(struct program *p, struct bytes b)
{
	uint64_t reg;
	int64_t offset;
	bool deref;

	while (b.at < b.end && !b.bad) {
		uint8_t op = (uint8_t)take(&b, 1), low = op & 0x3f;
		uint64_t advance = 0;
		switch (op & 0xc0) {
		case 0x40: advance = low; op = 0x01; break;
		case 0x80: saved(p, low, (int64_t)uleb(&b) * p->data_align); continue;
		case 0xc0: restored(p, low); continue;
		}
		switch (op) {
		case 0x00: break;
		case 0x01: break;
		case 0x02: advance = take(&b, 1); break;
		case 0x03: advance = take(&b, 2); break;
		case 0x04: advance = take(&b, 4); break;
		case 0x05: reg = uleb(&b); saved(p, reg, (int64_t)uleb(&b) * p->data_align); break;
		case 0x06: restored(p, uleb(&b)); break;
		case 0x07: // undefined
			reg = uleb(&b);
			if (reg == RA)
				p->now.last = true;
			else
				cannot(p, reg);
			break;
		case 0x08: // same value
			reg = uleb(&b);
			if (reg == FP) {
				p->now.saved = CAIRN_FP_SAME;
				p->now.fp_unknown = false;
			}
			break;
		case 0x09: reg = uleb(&b); uleb(&b); cannot(p, reg); break;
		case 0x0a:
			if (p->depth < sizeof(p->kept) / sizeof(p->kept[0]))
				p->kept[p->depth] = p->now;
			p->depth++;
			break;
		case 0x0b:
			if (p->depth == 0 || p->depth > sizeof(p->kept) / sizeof(p->kept[0])) {
				p->now.cfa_unknown = true;
				return;
			}
			p->now = p->kept[--p->depth];
			break;
		case 0x0c: p->now.cfa_register = uleb(&b); p->now.cfa_offset = (int64_t)uleb(&b); p->now.cfa_deref = p->now.cfa_unknown = false; break;
		case 0x0d: p->now.cfa_register = uleb(&b); break;
		case 0x0e: p->now.cfa_offset = (int64_t)uleb(&b); break;
		case 0x0f:
			if (relative_to_fp(&b, &offset, &deref) && deref) {
				p->now.cfa_register = FP;
				p->now.cfa_offset = offset;
				p->now.cfa_deref = true;
				p->now.cfa_unknown = false;
			} else {
				p->now.cfa_unknown = true;
			}
			break;
		case 0x10:
			reg = uleb(&b);
			if (relative_to_fp(&b, &offset, &deref) && !deref && reg == FP) {
				p->now.saved = CAIRN_FP_AT_FP;
				p->now.fp = offset;
				p->now.fp_unknown = false;
			} else {
				cannot(p, reg);
			}
			break;
		case 0x11: reg = uleb(&b); saved(p, reg, sleb(&b) * p->data_align); break;
		case 0x12: p->now.cfa_register = uleb(&b); p->now.cfa_offset = sleb(&b) * p->data_align; p->now.cfa_deref = p->now.cfa_unknown = false; break;
		case 0x13: p->now.cfa_offset = sleb(&b) * p->data_align; break;
		case 0x14: reg = uleb(&b); uleb(&b); cannot(p, reg); break;
		case 0x15: reg = uleb(&b); sleb(&b); cannot(p, reg); break;
		case 0x16: reg = uleb(&b); relative_to_fp(&b, &offset, &deref); cannot(p, reg); break;
#ifdef __aarch64__
		case 0x2d: break; // return addresses are signed or not: the walk removes signatures
#endif
		case 0x2e: uleb(&b); break;
		case 0x2f: reg = uleb(&b); saved(p, reg, -(int64_t)uleb(&b) * p->data_align); break;
		default: p->now.cfa_unknown = true; return;
		}
		p->at += advance * p->code_align;
		if (p->at > p->pc)
			return;
	}
	if (b.bad)
		p->now.cfa_unknown = true;
}

// open_entry reads the length of an entry (FDE) or of its common part (CIE), and sets the
// cursor to the rest.
static bool open_entry(const uint8_t *at, const uint8_t *limit, struct bytes *b)
{
	*b = (struct bytes){at, limit, false};
	uint64_t length = take(b, 4);
	if (b->bad || length == 0 || length == 0xffffffff || length > (size_t)(limit - b->at))
		return false;
	b->end = b->at + length;
	return true;
}

static struct cairn_frame_rule rule_of(const struct program *p)
{
	enum { WORD = 8 };
	const struct state *s = &p->now;
	struct cairn_frame_rule rule = {.kind = CAIRN_FRAME_UNKNOWN};

	if (s->last) {
		rule.kind = CAIRN_FRAME_LAST;
		return rule;
	}
	rule.cfa = s->cfa_offset;
	rule.ra = s->ra / WORD;
	rule.fp = s->fp / WORD;
	if (s->cfa_unknown || s->fp_unknown || s->ra_unknown || rule.cfa != s->cfa_offset || rule.ra * WORD != s->ra || rule.fp * WORD != s->fp)
		return rule;
	if (s->cfa_register == SP)
		rule.kind = CAIRN_FRAME_SP;
	else if (s->cfa_register == FP)
		rule.kind = s->cfa_deref ? CAIRN_FRAME_DEREF : CAIRN_FRAME_FP;
	rule.saved = s->saved;
	return rule;
}

// find_function finds the function with an address, and the instructions of its entry (FDE) and of
// their common part (CIE).
static bool find_function(uintptr_t pc, struct program *p, uintptr_t *size, struct bytes *fde_, struct bytes *cie_)
{
	struct module m = {pc, NULL, NULL};
	struct bytes fde, cie;
	const uint8_t *entry;
	uint8_t encoding = 0;

	if (cairn_each_module(find_module, &m) == 0 || m.header == NULL || (entry = find_entry(&m)) == NULL || !open_entry(entry, m.limit, &fde))
		return false;
	const uint8_t *back = fde.at;
	if (!open_entry(back - take(&fde, 4), m.limit, &cie))
		return false;
	uint64_t id = take(&cie, 4), version = take(&cie, 1);
	const char *augmentation = (const char *)cie.at;
	while (take(&cie, 1) != 0)
		if (cie.bad)
			return false;
	p->code_align = uleb(&cie);
	p->data_align = sleb(&cie);
	uint64_t ra = version == 1 ? take(&cie, 1) : uleb(&cie);
	if (id != 0 || (version != 1 && version != 3) || ra != RA || augmentation[0] != 'z')
		return false;
	uint64_t length = uleb(&cie);
	const uint8_t *instructions = cie.at + length;
	for (const char *a = augmentation + 1; *a != 0; a++) {
		if (*a == 'R')
			encoding = (uint8_t)take(&cie, 1);
		else if (*a == 'P')
			encoded(&cie, (uint8_t)take(&cie, 1) & 0x7f, 0);
		else if (*a == 'L')
			take(&cie, 1);
		else if (*a == 'B' && FP != 6)
			continue; // the other key for signatures of return addresses
		else
			return false; // S: a signal frame
	}
	if (cie.bad || length > (size_t)(cie.end - cie.at) + length || instructions > cie.end)
		return false;
	cie.at = instructions;

	p->at = encoded(&fde, encoding, 0);
	*size = encoded(&fde, encoding & 0x0f, 0);
	length = uleb(&fde);
	if (fde.bad || pc - p->at >= *size || length > (size_t)(fde.end - fde.at))
		return false;
	fde.at += length;
	*fde_ = fde;
	*cie_ = cie;
	return true;
}

bool cairn_function_extent(uintptr_t pc, uintptr_t *begin, uintptr_t *size)
{
	struct program p = {0};
	struct bytes fde, cie;

	if (!find_function(pc, &p, size, &fde, &cie))
		return false;
	*begin = p.at;
	return true;
}

struct cairn_frame_rule cairn_frame_rule(uintptr_t pc)
{
	struct program p = {.now.ra_unknown = true};
	struct bytes fde, cie;
	uintptr_t size;

	if (!find_function(pc, &p, &size, &fde, &cie))
		return (struct cairn_frame_rule){.kind = CAIRN_FRAME_UNKNOWN};
	uintptr_t begin = p.at;
	p.pc = UINTPTR_MAX; // execute all instructions of the common part
	run(&p, cie);
	p.initial = p.now;
	p.at = begin;
	p.pc = pc;
	run(&p, fde);
	return rule_of(&p);
}
