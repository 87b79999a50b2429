// A signal handler that calls MPI while the program, and the shim, are in the middle of a call. The standard does not
// allow it; the tracer must not be what breaks.
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

static volatile int signals;

static void tick(int s)
{
	int flag;
	MPI_Initialized(&flag);
	signals++;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 50}, {0, 50}};
	int rank, in = 1, out;

	MPI_Init(&argc, &argv);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 300000; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	memset(&often, 0, sizeof(often));
	setitimer(ITIMER_REAL, &often, NULL);
	MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	return signals > 10 ? 0 : 80;
}
