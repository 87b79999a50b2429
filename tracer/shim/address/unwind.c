#include "unwind.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../process/hidden.h"
#include "../process/loader.h"
#include "../process/uninterrupted.h"
#include "arena.h"
#include "frame_rule.h"
#include "modules.h"

// This library, from the linker: before MPI_Init there is no list of modules.
extern CAIRN_HIDDEN const char __ehdr_start[], _end[];

static uintptr_t libc_base, libc_size;
static const uintptr_t MAX_MAIN_STACK = (uintptr_t)1 << 30; // where its size is unlimited
static _Atomic bool begun;

// libgcc's unwinder, for frames that none of our rules describes.
struct _Unwind_Context;
static int (*backtrace)(int (*)(struct _Unwind_Context *, void *), void *);
static uintptr_t (*get_ip)(struct _Unwind_Context *);

// Cache of rules by address. Slots are never freed: when all are taken, other rules are
// computed every time.
enum { SLOTS = 1 << 14, TRIES = 16 };
static struct known_rule {
	_Atomic uintptr_t pc;
	_Atomic uint64_t rule; // 0: not known yet
} *rules;

bool cairn_unwind_begin(void)
{
	if (rules == NULL && (rules = cairn_arena_map(SLOTS * sizeof(*rules))) == NULL)
		return false;
	atomic_store_explicit(&begun, true, memory_order_release);
	return true;
}

bool cairn_unwind_begin_paths(bool fallback)
{
	// Only if the program has it: loading a library would change the process.
	void *libgcc = fallback ? cairn_dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) : NULL, *function;

	if (libgcc != NULL) {
		*(void **)&get_ip = cairn_dlsym(libgcc, "_Unwind_GetIP");
		*(void **)&backtrace = cairn_dlsym(libgcc, "_Unwind_Backtrace");
	}
	function = cairn_dlsym(RTLD_DEFAULT, "__libc_start_main");
	if (function != NULL)
		cairn_modules_know((uintptr_t)function, &libc_base, &libc_size);
	return cairn_unwind_begin();
}

static struct cairn_frame_rule rule_at(uintptr_t pc)
{
	size_t slot = (pc * 0x9e3779b97f4a7c15u) >> 50;
	struct cairn_frame_rule rule;
	uint64_t word;

	for (int i = 0; i < TRIES; i++, slot = (slot + 1) % SLOTS) {
		uintptr_t at = atomic_load_explicit(&rules[slot].pc, memory_order_acquire);
		if (at == 0 && atomic_compare_exchange_strong(&rules[slot].pc, &at, pc))
			at = pc;
		if (at != pc)
			continue;
		word = atomic_load_explicit(&rules[slot].rule, memory_order_acquire);
		if (word == 0) {
			rule = cairn_frame_rule(pc - 1); // a call of a noreturn function may be the last instruction of its caller
			memcpy(&word, &rule, sizeof(word));
			atomic_store_explicit(&rules[slot].rule, word, memory_order_release);
		}
		memcpy(&rule, &word, sizeof(rule));
		return rule;
	}
	return cairn_frame_rule(pc - 1);
}

// The stack of a thread: from its lowest address to one above every frame, the thread's control
// block or for the main thread what the kernel has put there.
struct stack {
	uintptr_t begin, end;
};

// begin_of_stack returns the lowest address of a thread's stack, 0 if it cannot be found out. These
// functions have been in other libraries of the C library.
static uintptr_t begin_of_stack(void)
{
	int (*get_attributes)(pthread_t, pthread_attr_t *);
	int (*get_stack)(const pthread_attr_t *, void **, size_t *);
	int (*destroy_attributes)(pthread_attr_t *);
	pthread_attr_t attributes;
	void *begin = NULL;
	size_t size;

	*(void **)&get_attributes = cairn_dlsym(RTLD_DEFAULT, "pthread_getattr_np");
	*(void **)&get_stack = cairn_dlsym(RTLD_DEFAULT, "pthread_attr_getstack");
	*(void **)&destroy_attributes = cairn_dlsym(RTLD_DEFAULT, "pthread_attr_destroy");
	if (get_attributes == NULL || get_stack == NULL || destroy_attributes == NULL || get_attributes(pthread_self(), &attributes) != 0)
		return 0;
	if (get_stack(&attributes, &begin, &size) != 0)
		begin = NULL;
	destroy_attributes(&attributes);
	return (uintptr_t)begin;
}

static struct stack own_stack(void)
{
	static __thread struct stack stack __attribute__((tls_model("initial-exec")));
	const int saved = errno;
	struct rlimit limit;

	if (stack.end != 0)
		return stack;
	uintptr_t begin, end;
	if (syscall(SYS_gettid) == getpid()) {
		if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > MAX_MAIN_STACK)
			limit.rlim_cur = MAX_MAIN_STACK;
		end = getauxval(AT_RANDOM); // some bytes above the first frame
		begin = end - limit.rlim_cur;
	} else {
		const struct cairn_uninterrupted before = cairn_uninterrupted_begin(); // the C library allocates
		begin = begin_of_stack();
		cairn_uninterrupted_end(before);
		end = (uintptr_t)__builtin_thread_pointer();
		if (begin == 0)
			begin = end;
	}
	stack.begin = begin;
	atomic_signal_fence(memory_order_release); // a handler that sees the end needs both
	stack.end = end;
	errno = saved;
	return stack;
}

void cairn_know_own_stack(void)
{
	(void)own_stack();
}

bool cairn_on_own_stack(uintptr_t address)
{
	const struct stack stack = own_stack();

	return address >= stack.begin && address < stack.end;
}

bool cairn_is_libc(uintptr_t pc)
{
	return pc - libc_base < libc_size;
}

bool cairn_is_own(uintptr_t pc)
{
	return pc - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

struct collected {
	uintptr_t *addresses;
	int n;
};

static int collect(struct _Unwind_Context *context, void *data)
{
	struct collected *c = data;
	uintptr_t pc = get_ip(context);
	if (pc == 0 || c->n == CAIRN_MAX_FRAMES)
		return 5; // _URC_END_OF_STACK
	if (!cairn_is_own(pc))
		c->addresses[c->n++] = pc;
	return 0;
}

// without_start removes the frames of the C library's and the linker's start code from
// a complete path.
static int without_start(const uintptr_t *addresses, int n)
{
	int kept = n - 1; // _start or clone
	while (kept > 0 && cairn_is_libc(addresses[kept - 1]))
		kept--;
	return kept > 0 ? kept : n;
}

// note_word records a word of the stack that the result of the walk depends on, and returns it.
static uintptr_t note_word(struct cairn_walk *walk, uintptr_t address)
{
	const uintptr_t *at = (const uintptr_t *)address;
	if (walk != NULL && walk->n < CAIRN_WALK_WORDS) {
		walk->words[walk->n].at = at;
		walk->words[walk->n++].value = *at;
	} else if (walk != NULL) {
		walk->start.sp = 0; // too long to remember
	}
	return *at;
}

// without_signature removes the signature that functions may put into return addresses on arm64.
static uintptr_t without_signature(uintptr_t pc)
{
#ifdef __aarch64__
	register uintptr_t signed_pc __asm__("x30") = pc;
	__asm__("hint #7" : "+r"(signed_pc)); // xpaclri; processors that cannot sign ignore it
	return signed_pc;
#else
	return pc;
#endif
}

// note_fp records that the result depends on fp, which was saved at an address; 0: it
// still has its initial value. Mostly the result does not depend on it, since functions use
// fp for any value.
static void note_fp(struct cairn_walk *walk, uintptr_t saved)
{
	if (saved != 0)
		note_word(walk, saved);
	else if (walk != NULL)
		walk->used_fp = true;
}

int cairn_unwind(uintptr_t addresses[CAIRN_MAX_FRAMES], struct cairn_start start, struct cairn_walk *walk,
		 bool (*enough)(uintptr_t pc, void *data), void *data)
{
	const struct stack stack = own_stack();
	const uintptr_t end = stack.end;
	uintptr_t pc = start.pc, sp = start.sp, fp = start.fp, saved = 0;
	int n = 0;

	if (!atomic_load_explicit(&begun, memory_order_acquire))
		return 0;
	if (walk != NULL) {
		walk->start = start;
		walk->used_fp = false;
		walk->n = 0;
	}
	// On another stack (of a coroutine, a signal, or code that moves the stack pointer), nothing
	// tells how far one may read.
	if (sp < stack.begin || sp > end)
		return 0;
	while (n < CAIRN_MAX_FRAMES) {
		if (!cairn_is_own(pc))
			addresses[n++] = pc;
		if (enough != NULL && enough(pc, data))
			return n;
		struct cairn_frame_rule rule = rule_at(pc);
		uintptr_t cfa;
		if (rule.kind == CAIRN_FRAME_FP || rule.kind == CAIRN_FRAME_DEREF || rule.saved == CAIRN_FP_AT_FP)
			note_fp(walk, saved);
		switch (rule.kind) {
		case CAIRN_FRAME_SP: cfa = sp + (uintptr_t)(intptr_t)rule.cfa; break;
		case CAIRN_FRAME_FP: cfa = fp + (uintptr_t)(intptr_t)rule.cfa; break;
		case CAIRN_FRAME_DEREF:
			if (fp + (uintptr_t)(intptr_t)rule.cfa - sp >= end - sp)
				return n;
			cfa = note_word(walk, fp + (uintptr_t)(intptr_t)rule.cfa);
			break;
		case CAIRN_FRAME_LAST: return without_start(addresses, n);
		default: {
			struct collected c = {addresses, 0};
			if (walk != NULL)
				walk->start.sp = 0; // cairn_same_walk cannot repeat it
			if (backtrace != NULL && get_ip != NULL)
				backtrace(collect, &c);
			if (c.n > n)
				return without_start(addresses, c.n);
			// musl has no rules, also not for the start of the program or thread
			return n > 0 && cairn_is_libc(addresses[n - 1]) ? without_start(addresses, n) : n;
		}
		}
		if (cfa <= sp || cfa > end || (cfa & 7) != 0)
			return n;
		if (rule.saved == CAIRN_FP_AT_CFA || rule.saved == CAIRN_FP_AT_FP) {
			uintptr_t at = (rule.saved == CAIRN_FP_AT_CFA ? cfa : fp) + 8 * (uintptr_t)(intptr_t)rule.fp;
			if (at < start.sp - 16 || at >= end)
				return n;
			fp = *(const uintptr_t *)at;
			saved = at;
		}
		uintptr_t ra = cfa + 8 * (uintptr_t)(intptr_t)rule.ra;
		if (ra < start.sp || ra >= end)
			return n;
		pc = without_signature(note_word(walk, ra));
		sp = cfa;
		if (pc == 0)
			return n;
	}
	return n;
}
