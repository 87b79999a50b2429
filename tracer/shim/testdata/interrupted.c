// Calls of MPI in which functions of the C library are interrupted that only the tracer calls there.
//
//	interrupted jump     by signals whose handler jumps out of the call
//	interrupted alarm    by a timer of the process whose handler jumps out of the call, while another
//	                     thread makes calls
//	interrupted cancel   a thread that is to be canceled makes its first calls
//	interrupted memory   counts what is allocated in a nested call, which a signal handler may make
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int jumps;
static __thread volatile int in_call, allocated;
static __thread const char *volatile in_function;
static __thread sigjmp_buf there;

static void handle(int number)
{
	(void)number;
	in_function = NULL;
	siglongjmp(there, 1);
}

static void interrupt(const char *function)
{
	if (!in_call)
		return;
	in_function = function;
	if (jumps)
		raise(SIGUSR1);
	pthread_testcancel();
	in_function = NULL;
}

int open(const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	const mode_t mode = va_arg(rest, mode_t);
	va_end(rest);
	interrupt("open");
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t read(int file, void *to, size_t size)
{
	interrupt("read");
	return syscall(SYS_read, file, to, size);
}

ssize_t write(int file, const void *from, size_t size)
{
	interrupt("write");
	return syscall(SYS_write, file, from, size);
}

ssize_t pread(int file, void *to, size_t size, off_t at)
{
	interrupt("pread");
	return syscall(SYS_pread64, file, to, size, at);
}

ssize_t pwrite(int file, const void *from, size_t size, off_t at)
{
	interrupt("pwrite");
	return syscall(SYS_pwrite64, file, from, size, at);
}

void *__libc_malloc(size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
	allocated += in_call;
	return __libc_malloc(size);
}

void *realloc(void *old, size_t size)
{
	allocated += in_call;
	return __libc_realloc(old, size);
}

static void call(void)
{
	int size;
	in_call = 1;
	MPI_Comm_size(MPI_COMM_SELF, &size);
	in_call = 0;
}

static __attribute__((noinline)) void call_below(void) { call(); }
static __attribute__((noinline)) void call_below_that(void) { call_below(); }
static void (*const sites[])(void) = {call, call_below, call_below_that};

static void *others(void *none)
{
	for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++)
		sites[i]();
	return none;
}

static int in_thread(void *(*f)(void *), void **result)
{
	pthread_t t;
	return pthread_create(&t, NULL, f, NULL) == 0 && pthread_join(t, result) == 0;
}

// by_jump goes on until the tracer has also looked at the threads, which it does after a second.
static void by_jump(void)
{
	const time_t end = time(NULL) + 3;
	jumps = 1;
	for (volatile size_t i = 0; time(NULL) < end; i++) {
		if (sigsetjmp(there, 1) == 0)
			sites[i % 3]();
		in_call = 0;
		syscall(SYS_nanosleep, &(struct timespec){0, 100000}, NULL);
	}
	jumps = 0;
}

static int on_others, alarms;
static atomic_int ends;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
	if (syscall(SYS_gettid) != getpid())
		on_others++; // here is not where main wants to go on
	else
		siglongjmp(there, 1);
}

static void *calls(void *counted)
{
	for (int size; !atomic_load(&ends); ++*(long *)counted)
		MPI_Comm_size(MPI_COMM_WORLD, &size);
	return counted;
}

static void *sleeps(void *none)
{
	while (!atomic_load(&ends))
		syscall(SYS_nanosleep, &(struct timespec){0, 1000000}, NULL);
	return none;
}

// by_alarm calls functions that take no lock, or MPI itself could not go on.
static void by_alarm(int wanted)
{
	static long counted;
	const struct itimerval once = {{0, 0}, {0, 200}};
	pthread_t threads[2];
	sigset_t set, before;

	signal(SIGALRM, on_alarm);
	if (pthread_create(&threads[1], NULL, sleeps, NULL) != 0)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, &before); // in the one that calls: its stack is no better
	if (pthread_create(&threads[0], NULL, calls, &counted) != 0)
		return;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	for (volatile int i = 0; i < wanted; i++) {
		const int seen = alarms;
		if (sigsetjmp(there, 1) == 0) {
			setitimer(ITIMER_REAL, &once, NULL);
			for (int rank; *(volatile int *)&alarms == seen;)
				MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		}
	}
	atomic_store(&ends, 1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("alarms %d others %d calls %ld\n", alarms, on_others, counted);
}

static void *canceled(void *none)
{
	pthread_cancel(pthread_self());
	others(none);
	printf("called\n");
	in_call = 0;
	pthread_testcancel();
	return none;
}

static void nested(void *in, void *inout, int *n, MPI_Datatype *type)
{
	(void)in, (void)inout, (void)n, (void)type;
	allocated = 0;
	call();
	printf("%d allocations\n", allocated);
}

static void *reduce(void *none)
{
	int a = 1, b = 2;
	MPI_Op op;
	call();
	MPI_Op_create(nested, 1, &op);
	MPI_Reduce_local(&a, &b, 1, MPI_INT, op);
	MPI_Op_free(&op);
	return none;
}

int main(int argc, char **argv)
{
	void *result = NULL;
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	signal(SIGUSR1, handle);
	if (argc == 2)
		alarm(20); // a lock that is lost is waited for for ever
	if (argc == 2 && !strcmp(argv[1], "jump"))
		by_jump();
	else if (argc == 3 && !strcmp(argv[1], "alarm"))
		by_alarm(atoi(argv[2]));
	else if (argc == 2 && !strcmp(argv[1], "cancel"))
		printf("%d\n", in_thread(canceled, &result) && result == PTHREAD_CANCELED);
	else if (argc != 2 || strcmp(argv[1], "memory") || !in_thread(reduce, &result))
		return 80;
	if (!in_thread(others, &result))
		return 81;
	MPI_Finalize();
	return 0;
}
