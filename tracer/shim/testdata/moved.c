// Functions whose beginnings are replaced (reference/entries.c): one that can be counted, one that
// branches back to its second instruction, at a short and at a long distance, and one that no jump
// to the stubs reaches. Each is called, and prints what it returns.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "../reference/entries.h"
#include "../reference/library.h"

int plain(int n);
int looping(int n);
int looping_far(int n);

__asm__(
	"	.text\n"
	"	.globl plain, looping, looping_far\n"
	"	.type plain, @function\n"
	"	.type looping, @function\n"
	"	.type looping_far, @function\n"
	"	.p2align 4\n"
	"plain:\n"
	"	movl %edi, %eax\n"
	"	addl $1, %eax\n"
	"	ret\n"
	"	.p2align 4\n"
	"looping:\n" // 2 * n
	"	xorl %eax, %eax\n"
	"1:	addl $2, %eax\n"
	"	subl $1, %edi\n"
	"	jne 1b\n"
	"	ret\n"
	"	.p2align 4\n"
	"looping_far:\n" // 3 * n
	"	xorl %eax, %eax\n"
	"1:	addl $3, %eax\n"
	"	subl $1, %edi\n"
	"	je 2f\n"
	"	jmp 3f\n"
	"	.fill 300, 1, 0x06\n" // no instruction
	"3:	jmp 1b\n"
	"2:	ret\n"
	"	.p2align 4\n");

static int (*functions[4])(int);

static void *inner(unsigned id)
{
	return id >= 1 && id <= 4 ? *(void **)&functions[id - 1] : NULL;
}

static bool knows(unsigned id, uint64_t caller)
{
	(void)id, (void)caller;
	return false;
}

const struct cairn_reference_shim *cairn_library_shim(void)
{
	static const struct cairn_reference_shim shim = {.inner = inner, .knows = knows};
	return &shim;
}

int main(int argc, char **argv)
{
	// 8 GiB away from the others
	unsigned char *far = mmap((char *)plain - ((size_t)8 << 30), 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc != 2 || far == MAP_FAILED)
		return 2;
	memcpy(far, (unsigned char *)plain, 16);
	functions[0] = plain;
	functions[1] = looping;
	functions[2] = looping_far;
	functions[3] = (int (*)(int))far;
	cairn_entries_begin();
	cairn_entries_open(argv[1]);
	for (int i = 0; i < 4; i++)
		printf("%d ", functions[i](7));
	return 0;
}
