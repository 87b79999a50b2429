#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../ring/layout_gen.h"
#include "../address/call_path.h"
#include "../address/modules.h"
#include "../address/pointer.h"
#include "../bind/bind.h"
#include "../bind/control.h"
#include "../bind/reference.h"
#include "../cluster/cluster.h"
#include "../evidence/context.h"
#include "../evidence/evidence.h"
#include "../evidence/life.h"
#include "../evidence/pressure.h"
#include "../gen/prototypes_gen.h"
#include "../process/at_end.h"
#include "../process/clock.h"
#include "../process/config.h"
#include "../process/constants.h"
#include "../process/state.h"
#include "../record/answer.h"
#include "../record/buffers.h"
#include "../record/record.h"
#include "../spool/json.h"
#include "../spool/spool.h"
#include "launch.h"

// After fork the child has a copy of our memory and maps the parent's buffers: it must
// not write to them.
static void in_child(void)
{
	atomic_store(&cairn_state, CAIRN_OFF);
	cairn_verifying = false;
	cairn_thread_forget(&cairn_self);
	cairn_self.busy = 0;
	cairn_cluster_forget();
	cairn_life_in_child();
}

static void add_constant(void *json, const char *kind, const char *text, size_t length, int64_t value)
{
	(void)kind;
	cairn_json_value(json, text, length, value);
	cairn_json_close(json, '}');
}

static void add_arguments(struct cairn_json *j)
{
	static char text[65536];
	int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
	if (file >= 0)
		close(file);
	cairn_json_open(j, CAIRN_KEY(arguments), '[');
	if (n > 0) {
		text[n] = 0;
		for (char *a = text; a < text + n; a += strlen(a) + 1)
			cairn_json_string(j, NULL, a);
	}
	cairn_json_close(j, ']');
}

static void add_boot_id(struct cairn_json *j)
{
	char id[64] = "";
	int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? 0 : read(file, id, sizeof(id) - 1);
	if (file >= 0)
		close(file);
	id[n > 0 ? n : 0] = 0;
	id[strcspn(id, "\n")] = 0;
	cairn_json_string(j, CAIRN_KEY(boot_id), id);
}

static void add_library_version(struct cairn_json *j)
{
	char version[8192] = "";
	int n = 0;
	if (CAIRN_INNER(MPI_Get_library_version) != NULL)
		CAIRN_INNER(MPI_Get_library_version)(version, &n);
	cairn_json_string(j, CAIRN_KEY(library_version), version);
}

// Variables that identify ranks and launches if something goes wrong.
static void add_environment(struct cairn_json *j)
{
	static const char *const names[] = {
		"PMIX_NAMESPACE", "PMIX_RANK", "OMPI_MCA_orte_hnp_uri", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
		"PMI_RANK", "PMI_SIZE", "PMI_ID", "HYDI_CONTROL_FD", "MPI_LOCALRANKID", "OMP_NUM_THREADS",
		"PMI_JOBID", "PALS_APID", "FLUX_JOB_ID", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID",
	};
	cairn_json_open(j, CAIRN_KEY(environment), '{');
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (getenv(names[i]) != NULL)
			cairn_json_string(j, names[i], getenv(names[i]));
	cairn_json_close(j, '}');
}

static uint64_t random_word(void)
{
	uint64_t w = 0;
	const unsigned not_waiting = 1; // GRND_NONBLOCK
	if (syscall(SYS_getrandom, &w, sizeof(w), not_waiting) != sizeof(w))
		w = 0;
	return w ^ cairn_clock_ns(CLOCK_REALTIME);
}

// describe_process returns the text of process.json and the name of the process's directory.
static char *describe_process(char *directory, size_t size)
{
	struct cairn_json j = {NULL, 0, 0, false, false};
	char hostname[256] = "", executable[4096], launch[1024], excluded[256];
	ssize_t n;

	gethostname(hostname, sizeof(hostname) - 1);
	n = readlink("/proc/self/exe", executable, sizeof(executable) - 1);
	executable[n > 0 ? n : 0] = 0;
	snprintf(directory, size, "%s-%d-%016llx", hostname, (int)getpid(), (unsigned long long)random_word());
	cairn_launch_id(launch, sizeof(launch), directory);

	cairn_json_open(&j, NULL, '{');
	cairn_json_number(&j, CAIRN_KEY(format), CAIRN_PROCESS_FORMAT);
	cairn_json_string(&j, CAIRN_KEY(directory), directory);
	cairn_json_string(&j, CAIRN_KEY(hostname), hostname);
	cairn_json_number(&j, CAIRN_KEY(pid), getpid());
	cairn_json_string(&j, CAIRN_KEY(executable), executable);
	add_arguments(&j);
	cairn_json_number(&j, CAIRN_KEY(start_realtime_ns), (long long)cairn_clock_ns(CLOCK_REALTIME));
	add_boot_id(&j);
	cairn_json_string(&j, CAIRN_KEY(abi), CAIRN_ABI_NAME);
	add_library_version(&j);
	cairn_json_string(&j, CAIRN_KEY(launch_id), launch);
	cairn_json_open(&j, CAIRN_KEY(clock), '{');
	cairn_json_string(&j, CAIRN_KEY(kind), cairn_clock_is_tsc ? "tsc" : "monotonic");
	cairn_json_close(&j, '}');
	cairn_json_string(&j, CAIRN_KEY(call_sites), cairn_config.call_paths ? "path" : cairn_config.call_sites ? "caller" : "none");
	cairn_json_string(&j, CAIRN_KEY(timing), cairn_config.timing);
	if (cairn_config.mode[0] != 0)
		cairn_json_string(&j, CAIRN_KEY(mode), cairn_config.mode);
	cairn_json_number(&j, CAIRN_KEY(page_size), (long long)getauxval(AT_PAGESZ));
	if (cairn_config.spool_limit_bytes > 0)
		cairn_json_number(&j, CAIRN_KEY(spool_limit_bytes), cairn_config.spool_limit_bytes);
	if (cairn_config.buffer_bytes > 0)
		cairn_json_number(&j, CAIRN_KEY(segment_bytes), cairn_config.buffer_bytes);
	cairn_excluded(excluded, sizeof(excluded));
	if (excluded[0] != 0)
		cairn_json_string(&j, CAIRN_KEY(excluded), excluded);
	if (cairn_config.start_off)
		cairn_json_number(&j, CAIRN_KEY(start_off), 1);
	if (cairn_config.shared_spool)
		cairn_json_number(&j, CAIRN_KEY(shared_spool), 1);
	add_environment(&j);
	cairn_json_open(&j, CAIRN_KEY(modules), '[');
	cairn_modules(&j);
	cairn_json_close(&j, ']');
	cairn_json_open(&j, CAIRN_KEY(constants), '[');
	cairn_constants(add_constant, &j);
	cairn_json_close(&j, ']');
	cairn_json_close(&j, '}');
	return cairn_json_finish(&j);
}

void cairn_start(void)
{
	static _Atomic int started;
	char directory[512];
	const char *failed;
	char *description;

	// MPI_Init on two threads at once is an error of the application.
	if (atomic_load(&cairn_state) != CAIRN_EARLY || atomic_exchange(&started, 1) != 0)
		return;
	// The application may look at errno after the call, so we must not change it.
	int saved = errno;
	description = describe_process(directory, sizeof(directory));
	if (description == NULL) {
		cairn_stop("out of memory");
		errno = saved;
		return;
	}
	failed = cairn_spool_make(cairn_config.spool, directory, description);
	free(description);
	if (failed != NULL) {
		cairn_stop(failed);
		errno = saved;
		return;
	}
	cairn_context_begin();
	cairn_pressure_begin();
	cairn_evidence_begin();
	cairn_life_begin();
	cairn_answer_begin();
	cairn_buffers_begin();
	cairn_at_fork(in_child);
	if (cairn_config.pointers)
		cairn_pointers_begin();
	if (cairn_config.call_sites)
		cairn_call_paths_begin(cairn_config.call_paths);
	if (cairn_reference != NULL)
		cairn_reference->open(cairn_spool_directory, cairn_config.shared_spool);
	cairn_modules_use_executable();
	atomic_store_explicit(&cairn_state, CAIRN_ON, memory_order_release);
	errno = saved;
}
