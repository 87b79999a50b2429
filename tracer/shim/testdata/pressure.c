// Driver for pressure.c:
//
//	pressure find CGROUPS ROOT  the paths and values of the counters of a process's cgroups
//	pressure parse TEXT         the text as a pressure in ns, and as the number of reached limits
//	pressure sockets            whether it has TCP connections, segments that they sent, and retransmits
//	pressure cost N             CPU time in ns of a reading of this process's counters, mean of N
//	pressure run FILE ROOT      counts from the file ROOT/memory.failcnt until standard input ends
#include "../evidence/kernel_file.c"
#include "../evidence/pressure.c"
#include "../evidence/sockets.c"
#include "../process/opened.c"

#include <sys/mman.h>

bool cairn_clock_is_tsc;
_Atomic int cairn_state = CAIRN_ON;
static const char *path;

void *cairn_observed(size_t part, size_t size)
{
	int opened = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	if (opened < 0 || ftruncate(opened, (off_t)(part + size)) != 0)
		return NULL;
	return (char *)mmap(NULL, part + size, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0) + part;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "parse") == 0) {
		printf("%lld %lld\n", (long long)stalled_ns(argv[2]), (long long)limit_hits(argv[2]));
	} else if (argc == 4 && strcmp(argv[1], "find") == 0) {
		find_counters(argv[2], argv[3]);
		for (int i = 0; i < COUNTERS; i++)
			printf("%s %lld\n", counter[i].path, (long long)read_value(i, counter[i].path, &counter[i].opened));
	} else if (argc == 2 && strcmp(argv[1], "sockets") == 0) {
		struct cairn_traffic t;
		const bool any = cairn_read_sockets(&t);
		printf("%d %lld %lld\n", any, (long long)t.segments, (long long)t.retransmits);
	} else if (argc == 3 && strcmp(argv[1], "cost") == 0) {
		const int n = atoi(argv[2]);
		path = "/dev/shm/cairn-pressure";
		cairn_pressure_begin();
		unlink(path);
		const uint64_t before = cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		for (int i = 0; i < n; i++)
			read_counters(0);
		printf("%llu\n", (unsigned long long)((cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before) / (uint64_t)n));
	} else if (argc == 4 && strcmp(argv[1], "run") == 0) {
		path = argv[2];
		snprintf(counter[LIMIT].path, sizeof(counter[LIMIT].path), "%s/memory.failcnt", argv[3]);
		begin_counting();
		for (char c; read(0, &c, 1) == 1;) {
			due = 0;
			cairn_pressure_watch();
			printf("%d\n", due - latest >= EVERY);
			fflush(stdout);
		}
	} else {
		return 2;
	}
	return 0;
}
