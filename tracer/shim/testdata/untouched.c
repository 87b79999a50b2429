// A program that does something to its process, before MPI_Init or after it, and prints what it can observe of that
// process. The tests compare what it prints and how it ends with and without the tracer. Arguments are steps, in order;
// "init" is MPI_Init, and without one MPI is initialized first.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fenv.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <limits.h>
#include <locale.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FAIL(what) do { fprintf(stdout, "%s: %s\n", what, strerror(errno)); fflush(stdout); _exit(40); } while (0)

extern char **environ;

// ---- calls ----

static __thread int calls, changed; // of MPI; of those how many have changed errno

// work makes different calls, the last n times.
static void work(int n)
{
	int rank, flag, one = 1, sum = 0;
	MPI_Request r[2];

	MPI_Comm_rank(MPI_COMM_SELF, &rank);
	MPI_Irecv(&sum, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &r[0]);
	MPI_Isend(&one, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	for (int i = 0; i < n; i++) {
		errno = 4242;
		MPI_Iprobe(MPI_ANY_SOURCE, i % 1000, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
		if (errno != 4242)
			changed++;
	}
	calls += 5 + n;
}

static volatile int over;
static volatile int helper_tid;

static void *helper(void *unused)
{
	helper_tid = (int)syscall(SYS_gettid);
	while (!over)
		work(200);
	return unused;
}

// ---- what can be observed ----

static void print_set(const char *name, const sigset_t *set)
{
	printf("%s:", name);
	for (int s = 1; s <= 64; s++)
		if (sigismember(set, s) == 1)
			printf(" %d", s);
	printf("\n");
}

// children prints how many there are, and what waiting says.
static void print_children(void)
{
	int status;
	printf("waitpid: %d", (int)waitpid(-1, &status, WNOHANG | __WALL));
	printf(" %d\n", errno == ECHILD);
}

static int count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int n = 0;

	for (struct dirent *e; tasks != NULL && (e = readdir(tasks)) != NULL;)
		n += e->d_name[0] != '.';
	if (tasks != NULL)
		closedir(tasks);
	return n;
}

static void print_descriptors(void)
{
	int next = open("/dev/null", O_RDONLY);
	struct stat s;

	printf("next descriptor: %d; types:", next);
	close(next);
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit); /* the tracer's are behind the program's */
	const int most = limit.rlim_cur < 1000 ? (int)limit.rlim_cur - 2 : 500;
	for (int i = 0; i < most; i++)
		if (fstat(i, &s) == 0)
			printf(" %d:%o:%d", i, (unsigned)(s.st_mode & S_IFMT) >> 12, fcntl(i, F_GETFD));
	printf("\n");
}

static void observe(void)
{
	sigset_t set;
	stack_t alternative;
	struct rlimit limit;
	cpu_set_t cpus;
	struct itimerval timer;
	char text[256];

	sigprocmask(SIG_BLOCK, NULL, &set);
	print_set("blocked", &set);
	sigpending(&set);
	print_set("pending", &set);
	for (int s = 1; s <= 64; s++) {
		struct sigaction a;
		if (sigaction(s, NULL, &a) != 0 || a.sa_handler == SIG_DFL)
			continue;
		snprintf(text, sizeof(text), "signal %d is %s with flags %x, blocks", s, a.sa_handler == SIG_IGN ? "ignored" : "handled", a.sa_flags);
		print_set(text, &a.sa_mask);
	}
	sigaltstack(NULL, &alternative);
	printf("alternative stack: %d %zu\n", alternative.ss_flags, alternative.ss_size);
	for (int r = 0; r < RLIM_NLIMITS; r++)
		if (getrlimit(r, &limit) == 0)
			printf("limit %d: %lu %lu\n", r, limit.rlim_cur, limit.rlim_max);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	printf("%d CPUs, policy %d, nice %d, slack %d\n", CPU_COUNT(&cpus), sched_getscheduler(0), getpriority(PRIO_PROCESS, 0), prctl(PR_GET_TIMERSLACK));
	for (int t = 0; t < 3; t++) {
		getitimer(t, &timer);
		printf("timer %d: %d\n", t, timer.it_value.tv_sec + timer.it_value.tv_usec > 0);
	}
	for (char **e = environ; *e != NULL; e++)
		if (strncmp(*e, "LD_PRELOAD=", 11) != 0 && strncmp(*e, "CAIRN_", 6) != 0)
			printf("environment: %.*s\n", (int)strcspn(*e, "="), *e);
	prctl(PR_GET_NAME, text);
	printf("name %s, dumpable %d, subreaper ", text, prctl(PR_GET_DUMPABLE));
	int reaper = 0;
	prctl(PR_GET_CHILD_SUBREAPER, &reaper);
	printf("%d, no new privileges %d, seccomp %d\n", reaper, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), prctl(PR_GET_SECCOMP));
	const mode_t mask = umask(0);
	umask(mask);
	printf("umask %o, root %d %d, directory %d\n", mask, getuid() == 0, geteuid() == 0, strcmp(getcwd(text, sizeof(text)) != NULL ? text : "", getenv("PWD") != NULL ? getenv("PWD") : ""));
	printf("rounding %d, exceptions %x, locale %s, rand %d\n", fegetround(), fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT), setlocale(LC_ALL, NULL), rand());
	print_children();
	print_descriptors();
	printf("%d threads\n", count_threads());
}

// ---- signals ----

static int main_tid;
static struct {
	int number, code, value, on_main, on_helper, elsewhere, on_alternative;
} seen[65];

static char alternative[256 << 10];

static void on_signal(int number, siginfo_t *info, void *context)
{
	volatile char frame[24 << 10];
	const int saved = errno, tid = (int)syscall(SYS_gettid);

	memset((void *)frame, 0x5a, sizeof(frame));
	__atomic_fetch_add(&seen[number].number, 1, __ATOMIC_RELAXED);
	seen[number].code = info->si_code;
	seen[number].value = info->si_value.sival_int;
	__atomic_fetch_add(tid == main_tid ? &seen[number].on_main : tid == helper_tid ? &seen[number].on_helper : &seen[number].elsewhere, 1, __ATOMIC_RELAXED);
	if ((char *)frame >= alternative && (char *)frame < alternative + sizeof(alternative))
		seen[number].on_alternative++;
	(void)context;
	(void)frame[100];
	errno = saved;
}

static void print_seen(const char *what)
{
	for (int s = 1; s <= 64; s++)
		if (seen[s].number > 0)
			printf("%s: signal %d: %d times, code %d, value %d, on the main thread %d, on the helper %d, elsewhere %d, on the alternative stack %d\n", what, s,
			       seen[s].number, seen[s].code, seen[s].value, seen[s].on_main, seen[s].on_helper, seen[s].elsewhere, seen[s].on_alternative);
	memset(seen, 0, sizeof(seen));
}

static int can_be_caught(int s)
{
	return s != SIGKILL && s != SIGSTOP && (s < 32 || s >= SIGRTMIN);
}

// to_thread sends a signal with a value.
static void to_thread(int tid, int number, int value)
{
	siginfo_t info = {.si_signo = number, .si_code = SI_QUEUE, .si_pid = getpid(), .si_uid = getuid()};
	info.si_value.sival_int = value;
	if (syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, number, &info) != 0)
		FAIL("rt_tgsigqueueinfo");
}

static void await(const int *count, int n)
{
	for (int i = 0; i < 20000 && __atomic_load_n(count, __ATOMIC_RELAXED) < n; i++)
		usleep(500);
}

// handled sends each signal to the process, the main thread and the helper, which make calls.
static void handled(int flags)
{
	struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags}, before[65];
	stack_t stack = {.ss_sp = alternative, .ss_size = sizeof(alternative)}, none = {.ss_flags = SS_DISABLE};
	pthread_t thread;

	if (flags & SA_ONSTACK)
		sigaltstack(&stack, NULL);
	for (int s = 1; s <= 64; s++)
		if (can_be_caught(s))
			sigaction(s, &a, &before[s]);
	over = helper_tid = 0;
	if (pthread_create(&thread, NULL, helper, NULL) != 0)
		FAIL("pthread_create");
	while (helper_tid == 0)
		usleep(100);
	for (int s = 1; s <= 64; s++) {
		if (!can_be_caught(s))
			continue;
		kill(getpid(), s);
		await(&seen[s].number, 1);
		to_thread(main_tid, s, 7);
		work(20);
		await(&seen[s].number, 2);
		to_thread(helper_tid, s, 8);
		work(20);
		await(&seen[s].number, 3);
	}
	over = 1;
	pthread_join(thread, NULL);
	while (syscall(SYS_tgkill, getpid(), helper_tid, 0) == 0) /* Linux wakes us before it takes the thread off its list */
		usleep(100);
	for (int s = 1; s <= 64; s++)
		if (can_be_caught(s))
			sigaction(s, &before[s], NULL);
	sigaltstack(&none, NULL);
	print_seen(flags & SA_ONSTACK ? "on a stack" : "handled");
}

// block blocks all signals. Threads that MPI starts later inherit that.
static void block(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

// blocked has all signals pending during calls, and takes them by sigwait, signalfd and a handler.
static void blocked(void)
{
	sigset_t all;
	int by[3] = {0};

	sigfillset(&all);
	const int file = signalfd(-1, &all, SFD_NONBLOCK);
	for (int s = 1; s <= 64; s++) {
		if (!can_be_caught(s) || s == SIGCHLD)
			continue;
		kill(getpid(), s);
		work(20);
		sigset_t pending, one;
		sigpending(&pending);
		if (sigismember(&pending, s) != 1)
			printf("signal %d is not pending\n", s);
		sigemptyset(&one);
		sigaddset(&one, s);
		struct signalfd_siginfo info;
		if (s % 3 == 0 && sigwaitinfo(&one, NULL) == s)
			by[0]++;
		else if (s % 3 == 1 && read(file, &info, sizeof(info)) == sizeof(info) && info.ssi_signo == (unsigned)s)
			by[1]++;
		else if (s % 3 == 2) {
			struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, old;
			sigaction(s, &a, &old);
			sigprocmask(SIG_UNBLOCK, &one, NULL);
			sigprocmask(SIG_BLOCK, &one, NULL);
			sigaction(s, &old, NULL);
			by[2]++;
		}
	}
	close(file);
	printf("by sigwaitinfo %d, signalfd %d, unblocked %d\n", by[0], by[1], by[2]);
	print_seen("unblocked");
}

// ticks counts ticks of timers while calls are made. How many there are depends on the machine.
static void ticks(void)
{
	const int before = calls;
	static const int signals[] = {SIGALRM, SIGVTALRM, SIGPROF};
	struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	struct itimerspec soon = {{0, 1000000}, {0, 1000000}};

	for (int which = 0; which < 3; which++) {
		const int s = signals[which];
		sigaction(s, &a, NULL);
		setitimer(which, &often, NULL);
		for (int i = 0; i < 100000 && seen[s].number < 5; i++)
			work(100);
		setitimer(which, &never, NULL);
		printf("timer %d ticks: %d\n", which, seen[s].number >= 5);
		signal(s, SIG_IGN);
		signal(s, SIG_DFL);
		memset(&seen[s], 0, sizeof(seen[s]));
	}
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 3};
	timer_t timer;
	sigaction(SIGRTMIN + 3, &a, NULL);
	event._sigev_un._tid = main_tid;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		FAIL("timer_create");
	timer_settime(timer, 0, &soon, NULL);
	for (int i = 0; i < 100000 && seen[SIGRTMIN + 3].number < 5; i++)
		work(100);
	timer_delete(timer);
	printf("a thread's timer ticks: %d, elsewhere: %d\n", seen[SIGRTMIN + 3].number >= 5, seen[SIGRTMIN + 3].elsewhere + seen[SIGRTMIN + 3].on_helper);
	signal(SIGRTMIN + 3, SIG_DFL);
	memset(seen, 0, sizeof(seen));
	calls = before;
}

// on_crash prints where it was called from by modules and functions: the executable is linked with
// -rdynamic.
static void on_crash(int number)
{
	void *frames[32];
	const int n = backtrace(frames, 32);
	Dl_info at;

	printf("crash by %d:", number);
	for (int i = 0; i < n; i++) {
		dladdr(frames[i], &at);
		const char *base = strrchr(at.dli_fname, '/');
		printf(" %s:%s", base != NULL ? base + 1 : at.dli_fname, at.dli_sname != NULL ? at.dli_sname : "");
	}
	printf("\n");
	fflush(stdout);
	_exit(41);
}

static void on_crash_with_info(int number, siginfo_t *info, void *context)
{
	printf("code %d, address %p, frame above the context: %d\n", info->si_code, info->si_addr, (char *)__builtin_frame_address(0) < (char *)context);
	on_crash(number);
}

void crash(void) { *(volatile int *)8 = 1; }

// ---- limits ----

static const struct {
	const char *name;
	int resource;
} limits[] = {{"as", RLIMIT_AS}, {"data", RLIMIT_DATA}, {"stack", RLIMIT_STACK}, {"nproc", RLIMIT_NPROC}, {"nofile", RLIMIT_NOFILE},
              {"memlock", RLIMIT_MEMLOCK}, {"fsize", RLIMIT_FSIZE}, {"core", RLIMIT_CORE}, {"rtprio", RLIMIT_RTPRIO}, {"msgqueue", RLIMIT_MSGQUEUE}};

static int set_limit(const char *name, const char *value)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct rlimit l;
		if (strcmp(limits[i].name, name) != 0)
			continue;
		getrlimit(limits[i].resource, &l);
		l.rlim_cur = strtoul(value, NULL, 0);
		if (l.rlim_max < l.rlim_cur)
			l.rlim_cur = l.rlim_max;
		if (setrlimit(limits[i].resource, &l) != 0)
			FAIL("setrlimit");
		return 1;
	}
	return 0;
}

static void *idle(void *unused)
{
	pause();
	return unused;
}

// start_threads starts n threads that stay.
static void start_threads(int n)
{
	pthread_t thread;
	int i;

	for (i = 0; i < n && (errno = pthread_create(&thread, NULL, idle, NULL)) == 0; i++)
		;
	printf("%d of %d threads: %s\n", i, n, i < n ? strerror(errno) : "");
}

static void *work_on_small_stack(void *unused)
{
	int flag;
	for (int i = 0; i < 3000; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, i % 1000, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	work(100);
	return unused;
}

static void small_stacks(size_t size, int n)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	if ((errno = pthread_attr_setstacksize(&small, size)) != 0)
		FAIL("pthread_attr_setstacksize");
	for (int i = 0; i < n; i++)
		if ((errno = pthread_create(&thread, &small, work_on_small_stack, NULL)) != 0 || (errno = pthread_join(thread, NULL)) != 0)
			FAIL("a thread with a small stack");
	printf("%d threads with small stacks\n", n);
}

// open_files opens files up to the limit, or n.
static void open_files(int n)
{
	int i, last = -1, sum = 0;

	for (i = 0; i < n && (last = open("/dev/null", O_RDONLY)) >= 0; i++)
		sum += last;
	printf("%d of %d files, %d: %s\n", i, n, sum, last < 0 ? strerror(errno) : "");
}

// refuse has system calls fail with an error from now on.
static void refuse(int error, char *numbers)
{
	struct sock_filter code[128] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	unsigned short n = 1;

	for (char *rest, *word = strtok_r(numbers, ",", &rest); word != NULL && n < 120; word = strtok_r(NULL, ",", &rest)) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(word), 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {n, code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		FAIL("seccomp");
}

// ---- steps ----

static int initialized;

static void initialize(void)
{
	int provided, count = 0;
	char *none[] = {NULL}, **arguments = none;

	errno = 0;
	MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	calls += 3;
	initialized = 1;
}

static void step(char *text)
{
	char *value = strchr(text, '=');
	const int n = value != NULL ? atoi(value + 1) : 0;

	if (value != NULL)
		*value++ = 0;
	if (value != NULL && set_limit(text, value))
		return;
	if (!strcmp(text, "observe"))
		observe();
	else if (!strcmp(text, "work"))
		work(n), printf("%d changes of errno\n", changed);
	else if (!strcmp(text, "handled"))
		handled(0);
	else if (!strcmp(text, "onstack"))
		handled(SA_ONSTACK);
	else if (!strcmp(text, "block"))
		block();
	else if (!strcmp(text, "blocked"))
		blocked();
	else if (!strcmp(text, "ticks"))
		ticks();
	else if (!strcmp(text, "raise"))
		kill(getpid(), n);
	else if (!strcmp(text, "raise-to-thread"))
		syscall(SYS_tgkill, getpid(), main_tid, n);
	else if (!strcmp(text, "handler"))
		signal(n, on_crash);
	else if (!strcmp(text, "handler-with-info")) {
		struct sigaction a = {.sa_sigaction = on_crash_with_info, .sa_flags = SA_SIGINFO | SA_ONSTACK};
		sigaction(n, &a, NULL);
	} else if (!strcmp(text, "copy-handler")) { /* of SIGSEGV */
		struct sigaction a;
		sigaction(SIGSEGV, NULL, &a);
		sigaction(n, &a, NULL);
	} else if (!strcmp(text, "crash"))
		crash();
	else if (!strcmp(text, "lock"))
		printf("mlockall: %s\n", mlockall(n) == 0 ? "" : strerror(errno));
	else if (!strcmp(text, "user")) {
		if (setgid((gid_t)n) != 0 || setuid((uid_t)n) != 0)
			FAIL("setuid");
	} else if (!strcmp(text, "threads"))
		start_threads(n);
	else if (!strcmp(text, "small"))
		small_stacks((size_t)n, 5);
	else if (!strcmp(text, "files"))
		open_files(n);
	else if (!strcmp(text, "load"))
		printf("%s\n", dlopen(value, RTLD_NOW) != NULL ? "loaded" : dlerror());
	else if (!strcmp(text, "refuse-EPERM"))
		refuse(EPERM, value);
	else if (!strcmp(text, "refuse-ENOSYS"))
		refuse(ENOSYS, value);
	else if (!strcmp(text, "alarm"))
		alarm((unsigned)n);
	else if (!strcmp(text, "pause"))
		usleep((useconds_t)n * 1000);
	else if (!strcmp(text, "fork")) {
		fflush(stdout);
		const pid_t child = fork();
		if (child == 0)
			_exit(11);
		int status = 0;
		if (waitpid(child, &status, 0) != child)
			FAIL("waitpid");
		printf("child: %x, system: %x\n", (unsigned)status, (unsigned)system("exit 12"));
	} else if (strcmp(text, "init") != 0)
		FAIL(text);
	else
		initialize();
}

int main(int argc, char **argv)
{
	int explicit = 0;

	main_tid = (int)syscall(SYS_gettid);
	for (int i = 1; i < argc; i++)
		explicit |= !strcmp(argv[i], "init");
	if (!explicit)
		initialize();
	for (int i = 1; i < argc; i++)
		step(argv[i]);
	MPI_Finalize();
	printf("%d calls\n", calls + 1);
	return 5;
}
