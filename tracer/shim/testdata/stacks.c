// Calls of MPI from stacks that are not the thread's, or that end soon.
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { SIZE = 64 << 10, CALLS = 20 };

// call is a wrapper of a wrapper: the tracer looks for its callers.
static __attribute__((noinline)) void call(void)
{
	int n;
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	__asm__ volatile("");
}

static __attribute__((noinline)) void some(void)
{
	for (int i = 0; i < CALLS; i++)
		call();
	__asm__ volatile("");
}

// new_stack returns the end of a stack between pages that cannot be read.
static char *new_stack(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *all = mmap(NULL, SIZE + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED || mprotect(all + page, SIZE, PROT_READ | PROT_WRITE) != 0)
		exit(1);
	return all + page + SIZE;
}

static ucontext_t back, coroutine;

static void in_coroutine(void)
{
	some();
	swapcontext(&coroutine, &back);
}

static void on_signal(int number)
{
	(void)number;
	some();
}

// on_stack calls a function on a stack that ends behind the return address; compilers do not know of it.
static __attribute__((noinline)) void on_stack(char *end, void (*f)(void))
{
	__asm__ volatile("movq %%rsp, %%rbx\n\tmovq %0, %%rsp\n\tcall *%1\n\tmovq %%rbx, %%rsp"
			 : : "r"(end), "r"(f)
			 : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void *thread(void *unused)
{
	(void)unused;
	some();
	return NULL;
}

int main(int argc, char **argv)
{
	int provided, rank;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = new_stack() - SIZE;
	coroutine.uc_stack.ss_size = SIZE;
	coroutine.uc_link = NULL;
	makecontext(&coroutine, in_coroutine, 0);
	swapcontext(&back, &coroutine);

	stack_t other = {.ss_sp = new_stack() - SIZE, .ss_size = SIZE};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	sigaltstack(&other, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);

	on_stack(new_stack(), some);

	pthread_t id;
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstack(&small, new_stack() - SIZE, SIZE);
	pthread_create(&id, &small, thread, NULL);
	pthread_join(id, NULL);

	some();
	MPI_Finalize();
	return 0;
}
