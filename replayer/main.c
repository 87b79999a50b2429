// cairn-replay-openmpi and cairn-replay-mpich: an MPI program that makes the calls of a recorded
// one. `cairn replay` starts it. It starts `cairn replay-feed` for its rank, which decodes the
// calls (feed.c), and makes them (stream.c, calls_*_gen.c).

#include "compute.h"
#include "constants.h"
#include "die.h"
#include "feed.h"
#include "memory.h"
#include "table.h"
#include "threads.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { MOST_THREADS = 4096, USAGE = 64 };

// The environment variables with the rank of a process before MPI is initialized: Open MPI, MPICH
// and its relatives, PMIx, Slurm.
static const char *const rank_variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};

static int rank_from_environment(void)
{
	for (size_t i = 0; i < sizeof(rank_variables) / sizeof(*rank_variables); i++) {
		const char *text = getenv(rank_variables[i]);
		if (text != NULL && *text >= '0' && *text <= '9')
			return atoi(text);
	}
	return -1;
}

static bool has_constant(int64_t id)
{
	int64_t number;
	void *pointer;

	if (cr_constant_number(id, &number) || cr_constant_pointer(id, &pointer))
		return true;
#define HAS(kind, type) \
	type kind; \
	if (cr_constant_##kind(id, &kind)) \
		return true;
	CR_KINDS(HAS)
#undef HAS
	return false;
}

// Lists the ids of the functions and constants that this MPI has.
static void list(void)
{
	for (int i = 0; i < cr_functions; i++)
		if (cr_table[i].issue != NULL)
			printf("function %d\n", i);
	for (int i = 0; i < cr_constants; i++)
		if (has_constant(i))
			printf("constant %d\n", i);
}

static double number(const char *option, const char *text, double least, double most)
{
	char *end;
	const double v = strtod(text, &end);
	if (*text == 0 || *end != 0 || !(v >= least && v <= most)) {
		fprintf(stderr, "cairn replay: --%s %s: a number from %g to %g is expected\n", option, text, least, most);
		exit(USAGE);
	}
	return v;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"list", no_argument, NULL, 'l'}, {"feeder", required_argument, NULL, 'd'},
		{"compute", required_argument, NULL, 'c'}, {"scale", required_argument, NULL, 's'},
		{"memory", required_argument, NULL, 'm'}, {"scratch", required_argument, NULL, 'x'},
		{"ranks", required_argument, NULL, 'n'}, {"threads", required_argument, NULL, 't'},
		{"recorded", required_argument, NULL, 'r'}, {0}};
	const char *feeder = NULL, *scratch = ".";
	enum cr_compute compute = CR_BUSY;
	double scale = 1, memory = 1 << 30;
	int threads = 1, option, at = 0;

	while ((option = getopt_long(argc, argv, "", options, &at)) != -1) {
		switch (option) {
		case 'l':
			list();
			return 0;
		case 'd':
			feeder = optarg;
			break;
		case 'c':
			compute = strcmp(optarg, "sleep") == 0 ? CR_SLEEP : strcmp(optarg, "none") == 0 ? CR_NONE : CR_BUSY;
			break;
		case 's':
			scale = number("scale", optarg, 0, 1e9);
			break;
		case 'm':
			memory = number("memory", optarg, 4096, 1e15);
			break;
		case 'x':
			scratch = optarg;
			break;
		case 'n':
			cr_set_ranks((int)number("ranks", optarg, 1, 1e9));
			break;
		case 't':
			threads = (int)number("threads", optarg, 1, MOST_THREADS);
			break;
		case 'r':
			cr_set_recorded(number("recorded", optarg, 0, 1e12));
			break;
		default:
			return USAGE;
		}
	}
	if (optind != argc - 1 || feeder == NULL) {
		fprintf(stderr, "%s is started by `cairn replay`\n", argv[0]);
		return USAGE;
	}
	cr_rank = rank_from_environment();
	if (cr_rank < 0)
		cr_refuse("the launcher does not report the rank: none of %s, … is set", rank_variables[0]);
	cr_set_compute(compute, scale);
	cr_limit_memory((int64_t)memory);
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); // sleep exactly as long as requested
	int files[MOST_THREADS];
	cr_start_feeder(feeder, argv[optind], scratch, cr_rank, files, threads);
	cr_run_threads(files, threads);
	return 0;
}
