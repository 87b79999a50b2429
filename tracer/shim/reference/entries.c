#include "entries.h"

#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../gen/functions_gen.h"
#include "instruction.h"
#include "library.h"

// Numbers from before the file exists.
static _Atomic uint64_t early[CAIRN_FUNCTIONS];
static _Atomic(_Atomic uint64_t *) counts = early;

void cairn_entries_open(const char *directory)
{
	char path[4096];
	_Atomic uint64_t *file;

	snprintf(path, sizeof(path), "%s/past", directory);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return;
	file = ftruncate(fd, sizeof(early)) == 0 ? mmap(NULL, sizeof(early), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
	close(fd);
	if (file == MAP_FAILED)
		return;
	for (unsigned id = 0; id < CAIRN_FUNCTIONS; id++)
		atomic_store(&file[id], atomic_load(&early[id]));
	atomic_store(&counts, file);
}

#ifdef __x86_64__

// The function's first instructions move to a stub, and a jump to the stub takes their place:
//
//	stub:  r11 = id; r10 = moved; jump to cairn_entered, which counts and jumps to r10
//	moved: the instructions; a jump to those after them
//
// Both registers may change at the entry of a function.
enum { STUB = 96, MOVED = 48, JUMP = 5 };

// is_near reports whether instructions of one place reach the other.
static bool is_near(const unsigned char *a, const unsigned char *b)
{
	const uintptr_t limit = (uintptr_t)1 << 30;

	return (uintptr_t)a - (uintptr_t)b + limit < 2 * limit;
}

void cairn_entered(void);

// cairn_entered calls cairn_count_entry with the id and the return address. All registers that have
// arguments are preserved.
__asm__(
	"	.text\n"
	"	.type	cairn_entered, @function\n"
	"cairn_entered:\n"
	"	pushq	%rbp\n"
	"	movq	%rsp, %rbp\n"
	"	andq	$-16, %rsp\n"
	"	subq	$208, %rsp\n"
	"	movq	%rdi, 0(%rsp)\n"
	"	movq	%rsi, 8(%rsp)\n"
	"	movq	%rdx, 16(%rsp)\n"
	"	movq	%rcx, 24(%rsp)\n"
	"	movq	%r8, 32(%rsp)\n"
	"	movq	%r9, 40(%rsp)\n"
	"	movq	%rax, 48(%rsp)\n"
	"	movq	%r10, 56(%rsp)\n"
	"	movups	%xmm0, 64(%rsp)\n"
	"	movups	%xmm1, 80(%rsp)\n"
	"	movups	%xmm2, 96(%rsp)\n"
	"	movups	%xmm3, 112(%rsp)\n"
	"	movups	%xmm4, 128(%rsp)\n"
	"	movups	%xmm5, 144(%rsp)\n"
	"	movups	%xmm6, 160(%rsp)\n"
	"	movups	%xmm7, 176(%rsp)\n"
	"	movl	%r11d, %edi\n"
	"	movq	8(%rbp), %rsi\n"
	"	call	cairn_count_entry\n"
	"	movups	64(%rsp), %xmm0\n"
	"	movups	80(%rsp), %xmm1\n"
	"	movups	96(%rsp), %xmm2\n"
	"	movups	112(%rsp), %xmm3\n"
	"	movups	128(%rsp), %xmm4\n"
	"	movups	144(%rsp), %xmm5\n"
	"	movups	160(%rsp), %xmm6\n"
	"	movups	176(%rsp), %xmm7\n"
	"	movq	0(%rsp), %rdi\n"
	"	movq	8(%rsp), %rsi\n"
	"	movq	16(%rsp), %rdx\n"
	"	movq	24(%rsp), %rcx\n"
	"	movq	32(%rsp), %r8\n"
	"	movq	40(%rsp), %r9\n"
	"	movq	48(%rsp), %rax\n"
	"	movq	56(%rsp), %r10\n"
	"	leave\n"
	"	jmp	*%r10\n"
	"	.size	cairn_entered, .-cairn_entered\n");

// This library's code, which asks MPI.
extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

void cairn_count_entry(unsigned id, uintptr_t caller) __attribute__((visibility("hidden"), used));

void cairn_count_entry(unsigned id, uintptr_t caller)
{
	if (caller - (uintptr_t)__ehdr_start < (uintptr_t)(_end - __ehdr_start) || cairn_library_shim()->knows(id, caller))
		return;
	atomic_fetch_add_explicit(&atomic_load(&counts)[id], 1, memory_order_relaxed);
}

static void put(unsigned char **at, const void *bytes, size_t n)
{
	memcpy(*at, bytes, n);
	*at += n;
}

static void put_distance(unsigned char **at, const unsigned char *target)
{
	int32_t distance = (int32_t)(target - (*at + 4));
	put(at, &distance, 4);
}

// move_short_jump copies a conditional jump with a distance of 8 bits as one of 32 bits.
static void move_short_jump(unsigned char **to, const unsigned char *from)
{
	put(to, (unsigned char[]){0x0f, (unsigned char)(from[0] + 0x10)}, 2);
	put_distance(to, from + 2 + (signed char)from[1]);
}

// move_instructions copies instructions from a function's beginning, at least as long as a jump,
// and a jump to those after them. It returns false if they cannot be moved.
static bool move_instructions(unsigned char *to, const unsigned char *from)
{
	struct cairn_instruction i = {0, 0, false};
	const unsigned char *const begin = from;

	for (; from < begin + JUMP && !i.ends; from += i.length) {
		if (*from >= 0x70 && *from <= 0x7f) {
			move_short_jump(&to, from);
			i.length = 2;
			continue;
		}
		i = cairn_instruction(from);
		if (i.length == 0)
			return false;
		unsigned char *const moved = to, *distance = to + i.relative;
		put(&to, from, i.length);
		if (i.relative != 0) {
			int32_t d;
			memcpy(&d, distance, 4);
			const int64_t from_there = d + (int64_t)(from - moved);
			d = (int32_t)from_there;
			if (d != from_there)
				return false;
			memcpy(distance, &d, 4);
		}
	}
	if (i.ends && from < begin + JUMP) // nothing follows, if the next function is aligned
		return ((uintptr_t)begin & 15) + JUMP <= 16;
	put(&to, "\xe9", 1);
	put_distance(&to, from);
	return true;
}

// Where a function begins, and the end of what is mapped behind it.
struct code {
	const unsigned char *function, *end;
};

// find_end is called for each mapped object until one has the function.
static int find_end(struct dl_phdr_info *info, size_t size, void *data)
{
	struct code *code = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uintptr_t begin = info->dlpi_addr + p->p_vaddr;
		if (p->p_type != PT_LOAD || (uintptr_t)code->function - begin >= p->p_memsz)
			continue;
		code->end = (const unsigned char *)(begin + p->p_memsz);
		return 1;
	}
	return 0;
}

// is_short reports whether an instruction has a distance of 8 bits.
static bool is_short(const unsigned char *at)
{
	return *at == 0xeb || (*at >= 0x70 && *at <= 0x7f) || (*at >= 0xe0 && *at <= 0xe3);
}

// target returns where a branch leads, or what the instruction uses by its distance; NULL: neither.
static const unsigned char *target(const unsigned char *at, struct cairn_instruction i)
{
	int32_t distance;

	if (is_short(at))
		return at + 2 + (signed char)at[1];
	if (i.relative == 0)
		return NULL;
	memcpy(&distance, at + i.relative, 4);
	return at + i.length + distance;
}

// is_start reports whether an instruction of the function begins at a place.
static bool is_start(const unsigned char *function, const unsigned char *place)
{
	while (function < place) {
		const unsigned length = is_short(function) ? 2 : cairn_instruction(function).length;
		if (length == 0)
			return false; // the function is not changed
		function += length;
	}
	return function == place;
}

// may_branch_back reports whether a branch may lead to the middle of the jump. From the first
// instruction on that is not known, each byte may be a branch's first. What follows the function is
// looked at, too: its size is not known.
static bool may_branch_back(const unsigned char *function)
{
	enum { FARTHEST = 8192, LONGEST = 16 };
	struct code code = {function, function};
	bool known = true;

	dl_iterate_phdr(find_end, &code);
	if (code.end > function + FARTHEST)
		code.end = function + FARTHEST;
	for (const unsigned char *at = function; at + LONGEST < code.end;) {
		const struct cairn_instruction i = cairn_instruction(at);
		const unsigned length = is_short(at) ? 2 : i.length;
		const unsigned char *to = target(at, i);
		if (to > function && to < function + JUMP && is_start(function, to))
			return true;
		known = known && length != 0;
		at += known ? length : 1;
	}
	return false;
}

static bool change(unsigned char *function, unsigned char *stub, unsigned id)
{
	static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	unsigned char *at = stub, *moved = stub + MOVED, jump[JUMP], *j = jump;
	void (*const entered)(void) = cairn_entered;
	int32_t distance;

	if (memcmp(function, endbr64, sizeof(endbr64)) == 0)
		function += sizeof(endbr64);
	if (!is_near(function, stub) || may_branch_back(function) || !move_instructions(moved, function))
		return false;
	put(&at, "\x41\xbb", 2); // mov $id, %r11d
	put(&at, &id, 4);
	put(&at, "\x4c\x8d\x15", 3); // lea moved(%rip), %r10
	put_distance(&at, moved);
	put(&at, "\xff\x25\0\0\0", 6); // jmp *0(%rip)
	put(&at, &entered, 8);
	put(&j, "\xe9", 1);
	distance = (int32_t)(stub - (function + JUMP));
	put(&j, &distance, 4);

	void *const begin = (void *)((uintptr_t)function & -page);
	const size_t size = (size_t)((uintptr_t)function + JUMP - (uintptr_t)begin);
	if (mprotect(begin, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return false;
	memcpy(function, jump, JUMP); // no other thread is here: the process has not come to MPI yet
	mprotect(begin, size, PROT_READ | PROT_EXEC);
	return true;
}

// room returns memory for all stubs that a jump from the library can reach.
static unsigned char *room(const unsigned char *library, size_t size)
{
	const uintptr_t limit = (uintptr_t)1 << 30;

	for (uintptr_t away = 1 << 24; away < limit; away += 1 << 24) {
		void *hint = (void *)((uintptr_t)library - away);
		unsigned char *p = mmap(hint, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return NULL;
		if (is_near(p, library))
			return p;
		munmap(p, size);
	}
	return NULL;
}

void cairn_entries_begin(void)
{
	const size_t size = (size_t)STUB * CAIRN_FUNCTIONS;
	unsigned char *functions[CAIRN_FUNCTIONS] = {NULL}, *stubs = NULL;
	unsigned failed = 0;

	for (unsigned id = 1; id < CAIRN_FUNCTIONS; id++) {
		functions[id] = cairn_library_shim()->inner(id);
		if (functions[id] != NULL && stubs == NULL)
			stubs = room(functions[id], size);
	}
	for (unsigned id = 1; id < CAIRN_FUNCTIONS; id++)
		if (functions[id] != NULL && (stubs == NULL || !change(functions[id], stubs + (size_t)STUB * id, id)))
			failed++;
	if (stubs != NULL)
		mprotect(stubs, size, PROT_READ | PROT_EXEC);
	atomic_store(&early[0], failed);
}

#else

void cairn_entries_begin(void)
{
	atomic_store(&early[0], CAIRN_FUNCTIONS - 1);
}

#endif
