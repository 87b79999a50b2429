// Driver for the parts of context.c that a process cannot be made to run: hundreds of samples, cgroups of both versions.
//
//	context thin FILE N        N samples; number i is taken at time i; 0: until the process is killed
//	context now FILE           one sample at once, one after 20 ms of CPU time
//	context find FILE MOUNT    the path of the cpu.stat that is used, and its values
//	context cpu STAT           the CPU in a thread's stat
//	context steal FILE BYTES…  the steal in samples, one per content of FILE; with "=" no reading is due
//	context cost N             CPU time of a reading of /proc/stat and the time until the next one, means of N, in ns
#include "../evidence/context.c"
#include "../evidence/kernel_file.c"
#include "../process/opened.c"

#include <sys/mman.h>

bool cairn_clock_is_tsc;
static const char *path;

void *cairn_observed(size_t part, size_t size)
{
	int opened = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	(void)part;
	if (opened < 0 || ftruncate(opened, (off_t)size) != 0)
		return NULL;
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
}

int main(int argc, char **argv)
{
	struct sample s = {0};

	if (argc < 3)
		return 2;
	path = argv[2];
	if (strcmp(argv[1], "thin") == 0) {
		const int64_t n = atoll(argv[3]);
		file = cairn_observed(CAIRN_OBSERVED_CONTEXT, sizeof(*file));
		memcpy(file->magic, CAIRN_CONTEXT_MAGIC, 8);
		for (; n == 0 || s.monotonic_ns < n; s.monotonic_ns++) {
			s.cpu = s.monotonic_ns;
			add(&s);
		}
		printf("%llu\n", (unsigned long long)(interval / INTERVAL));
	} else if (strcmp(argv[1], "now") == 0) {
		cairn_context_begin();
		do
			read_sample(&s);
		while (s.cpu_ns < file->table[0][0].cpu_ns + 20000000);
		due = 0;
		cairn_context_watch();
	} else if (strcmp(argv[1], "find") == 0) {
		char found[4096];
		find_throttling(path, argv[3], found, sizeof(found));
		read_throttling(found, &throttling_stat, &s);
		printf("%s %lld %lld\n", found, (long long)s.throttled_periods, (long long)s.throttled_ns);
	} else if (strcmp(argv[1], "cpu") == 0) {
		printf("%lld\n", (long long)last_cpu(path));
	} else if (strcmp(argv[1], "steal") == 0) {
		machine_stat = path;
		for (int i = 3; i < argc; i++) {
			const bool due = strcmp(argv[i], "=") != 0;
			if (due) {
				FILE *f = fopen(path, "w");
				if (f == NULL || fputs(argv[i], f) < 0 || fclose(f) != 0)
					return 1;
			}
			printf("%lld ", (long long)read_steal(due && steal.due < UINT64_MAX ? steal.due : 0));
		}
	} else if (strcmp(argv[1], "cost") == 0) {
		const int n = atoi(argv[2]);
		const uint64_t began = cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		for (int i = 0; i < n; i++)
			read_steal(steal.due);
		const uint64_t took = cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
		printf("%llu %llu\n", (unsigned long long)(took / (uint64_t)n), (unsigned long long)(steal.due / (uint64_t)n));
	}
	return 0;
}
