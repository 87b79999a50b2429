// Calls that the program leaves, in the ways that its arguments name. It keeps a log of its own:
// each call when it is entered, and whether it returned.
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1 // it would call MPI before main
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK = 1 << 16 };

static struct {
	const char *name;
	bool returned;
} calls[1 << 21];
static int count;

#define CALL(f, ...) \
	do { \
		const int at = count++; \
		calls[at].name = #f; \
		f(__VA_ARGS__); \
		calls[at].returned = true; \
	} while (0)

static MPI_Comm comm;
static MPI_Op op;
static sigjmp_buf there;
static void (*in_callback)();
static char coroutine_stack[1 << 17], handler_stack[STACK];
static ucontext_t outside, inside;

static void nothing()
{
	int size;
	CALL(MPI_Comm_size, MPI_COMM_SELF, &size);
}

static void on_error(MPI_Comm *, int *, ...)
{
	if (in_callback != NULL)
		in_callback();
}

static void on_reduce(void *, void *, int *, MPI_Datatype *)
{
	if (in_callback != NULL)
		in_callback();
}

static int on_delete(MPI_Comm, int, void *, void *)
{
	if (in_callback != NULL)
		in_callback();
	return MPI_SUCCESS;
}

static void delete_attribute(void (*callback)())
{
	int key;
	CALL(MPI_Comm_create_keyval, MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
	CALL(MPI_Comm_set_attr, MPI_COMM_SELF, key, NULL);
	in_callback = callback;
	CALL(MPI_Comm_delete_attr, MPI_COMM_SELF, key);
}

static void reduce(void (*callback)())
{
	int a = 1, b = 2;
	in_callback = callback;
	CALL(MPI_Reduce_local, &a, &b, 1, MPI_INT, op);
}

static void fail(void (*callback)())
{
	in_callback = callback;
	CALL(MPI_Send, NULL, -1, MPI_INT, 0, 0, comm);
}

static void throws() { throw 1; }
static void jumps() { siglongjmp(there, 1); }

// What follows a call may be deeper in the stack than the call was.
static __attribute__((noinline)) void deeper(int levels)
{
	volatile char some[512];
	memset((void *)some, levels, sizeof(some));
	if (levels > 0)
		deeper(levels - 1);
	else
		nothing();
	some[0] = 1;
}

static void fails_and_throws() { fail(throws); }
static void fails_and_jumps() { fail(jumps); }

static void catches_within()
{
	try {
		fail(throws);
	} catch (int) {
	}
	nothing();
}

static void catches_and_ends()
{
	catches_within();
	raise(SIGKILL);
}

static void by_exception(void (*f)(void (*)()), void (*callback)())
{
	try {
		f(callback);
	} catch (int) {
	}
	deeper(3);
	nothing();
}

static void by_jump(void (*f)(void (*)()), void (*callback)())
{
	if (sigsetjmp(there, 1) == 0)
		f(callback);
	deeper(3);
	nothing();
}

static void exits() { pthread_exit(NULL); }
static volatile bool waiting;
static void waits() { waiting = true; pause(); }

static void *thread(void *callback)
{
	nothing();
	reduce((void (*)())callback);
	return NULL;
}

static void reduces_and_throws() { reduce(throws); }

// The thread makes no call after those that it leaves.
static void *throws_two(void *)
{
	try {
		reduce(reduces_and_throws);
	} catch (int) {
	}
	return NULL;
}

static void in_thread(void *(*thread)(void *), void (*callback)(), bool cancel)
{
	pthread_t t;
	waiting = false;
	pthread_create(&t, NULL, thread, (void *)callback);
	while (cancel && !waiting)
		usleep(1000);
	if (cancel)
		pthread_cancel(t);
	pthread_join(t, NULL);
}

static void handler(int) { nothing(); }
static void leaving_handler(int) { nothing(); jumps(); }
static void raises() { raise(SIGUSR1); }

static void on_alternate_stack(void (*f)(int), char *begin)
{
	struct sigaction action = {};
	action.sa_handler = f;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	stack_t stack = {};
	stack.ss_sp = begin, stack.ss_size = sizeof(handler_stack);
	sigaltstack(&stack, NULL);
	if (sigsetjmp(there, 1) == 0)
		reduce(raises);
	deeper(3);
	nothing();
}

static void yields() { swapcontext(&inside, &outside); }

static void coroutine()
{
	reduce(yields);
	nothing();
}

// A coroutine yields in a call, and is resumed, or not.
static void in_coroutine(bool resume, int others)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = coroutine_stack;
	inside.uc_stack.ss_size = sizeof(coroutine_stack);
	inside.uc_link = &outside;
	makecontext(&inside, coroutine, 0);
	swapcontext(&outside, &inside);
	for (int i = 0; i < others; i++)
		nothing();
	if (resume)
		swapcontext(&outside, &inside);
	nothing();
}

static volatile sig_atomic_t jumping;
static pthread_t timed;
static void on_timer(int) // possibly on a thread of MPI
{
	if (jumping && pthread_equal(timed, pthread_self()))
		siglongjmp(there, 1);
}

// Signals interrupt the recorder anywhere, and do not come back.
static void by_timer(int jumps)
{
	struct itimerval often = {{0, 200}, {0, 200}}, never = {};
	volatile int jumped = 0;
	timed = pthread_self();
	signal(SIGALRM, on_timer);
	setitimer(ITIMER_REAL, &often, NULL);
	if (sigsetjmp(there, 1) != 0)
		jumped++;
	while (jumped < jumps) {
		jumping = 1;
		nothing();
		jumping = 0;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	jumping = 0;
}

int main(int argc, char **argv)
{
	int level;
	char within[STACK]; // a stack for handlers in the thread's own
	MPI_Errhandler h;
	const bool threads = argc > 1 && strstr("thread exit cancel caught", argv[1]) != NULL; // elsewhere MPICH would keep a lock
	CALL(MPI_Init_thread, &argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
	CALL(MPI_Comm_dup, MPI_COMM_SELF, &comm);
	CALL(MPI_Comm_create_errhandler, on_error, &h);
	CALL(MPI_Comm_set_errhandler, comm, h);
	CALL(MPI_Op_create, on_reduce, 1, &op);
	for (int i = 1; i < argc; i++) {
		const char *how = argv[i];
		if (!strcmp(how, "throw")) by_exception(fail, throws);
		if (!strcmp(how, "jump")) by_jump(fail, jumps);
		if (!strcmp(how, "throw-op")) by_exception(reduce, throws);
		if (!strcmp(how, "jump-op")) by_jump(reduce, jumps);
		if (!strcmp(how, "throw-two")) by_exception(delete_attribute, fails_and_throws);
		if (!strcmp(how, "jump-two")) by_jump(delete_attribute, fails_and_jumps);
		if (!strcmp(how, "within")) by_exception(delete_attribute, catches_within);
		if (!strcmp(how, "attribute")) by_jump(delete_attribute, jumps);
		if (!strcmp(how, "exit")) in_thread(thread, exits, false);
		if (!strcmp(how, "cancel")) in_thread(thread, waits, true);
		if (!strcmp(how, "thread")) in_thread(thread, NULL, false);
		if (!strcmp(how, "stack")) on_alternate_stack(handler, handler_stack);
		if (!strcmp(how, "stack-within")) on_alternate_stack(handler, within);
		if (!strcmp(how, "jump-stack")) on_alternate_stack(leaving_handler, handler_stack);
		if (!strcmp(how, "caught")) in_thread(throws_two, NULL, false);
		if (!strcmp(how, "killed")) delete_attribute(catches_and_ends);
		if (!strcmp(how, "coroutine")) in_coroutine(true, 3);
		if (!strcmp(how, "coroutine-never")) in_coroutine(false, 3000);
		if (!strcmp(how, "timer")) by_timer(50);
	}
	in_callback = NULL;
	CALL(MPI_Finalize);
	for (int i = 0; i < count; i++)
		printf("%s %s\n", calls[i].name, calls[i].returned ? "returned" : "left");
	return 0;
}
