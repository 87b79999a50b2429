// SPDX-License-Identifier: Apache-2.0
// One wait state after the other, each of a known duration.
//
//   --phase NAME   one of the phases below, default all of them in this order
//   --delay-us D   by how much somebody is late, default 20000
//   --late-rank R  default 1; its partner P is the next rank
//   --repeat N     how often each phase is repeated, default 3
//
// Known beforehand, per repetition (what it costs on top is the transfer itself):
//   late-sender      R sends D late:                      P waits D in MPI_Recv
//   late-receiver    P receives D late:                   R waits D in MPI_Ssend
//   late-broadcast   root R enters D late:                all others wait D in MPI_Bcast
//   early-reduce     all but root R enter D late:         R waits D in MPI_Reduce
//   wait-at-barrier  R enters D late:                     all others wait D in MPI_Barrier
//   wait-at-nxn      R enters D late, three times:        all others wait D in MPI_Allreduce, in MPI_Allgather and
//                                                         in MPI_Alltoall
// The critical path goes through whoever is late (its function be_late). A repetition begins with a barrier in
// function begin_repetition which nobody enters late: every rank sleeps until the repetition is over for all.
#include "common.h"

static long delay_us = 20000, late_rank = 1, repeat = 3;
static const char *wanted = "all";

static const struct option options[] = {
    {"--phase", "all, late-sender, late-receiver, late-broadcast, early-reduce, wait-at-barrier, wait-at-nxn", .word = &wanted},
    {"--delay-us", "by how many microseconds somebody is late", .number = &delay_us},
    {"--late-rank", "who is late", .number = &late_rank},
    {"--repeat", "repetitions of each phase", .number = &repeat},
    {0},
};

static int partner;

NAMED static void be_late(void)
{
    compute_us(delay_us);
}

// begin_repetition returns the time at which all ranks go on.
NAMED static long long begin_repetition(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return now();
}

NAMED static void late_sender(void)
{
    int value = 41;
    if (rank == late_rank) {
        be_late();
        MPI_Send(&value, 1, MPI_INT, partner, 1, MPI_COMM_WORLD);
    } else if (rank == partner) {
        value = 0;
        MPI_Recv(&value, 1, MPI_INT, late_rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(value == 41, "received %d", value);
    }
}

NAMED static void late_receiver(void)
{
    int value = 42;
    if (rank == late_rank) {
        MPI_Ssend(&value, 1, MPI_INT, partner, 2, MPI_COMM_WORLD);
    } else if (rank == partner) {
        value = 0;
        be_late();
        MPI_Recv(&value, 1, MPI_INT, late_rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(value == 42, "received %d", value);
    }
}

NAMED static void late_broadcast(void)
{
    int value = rank == late_rank ? 43 : 0;
    if (rank == late_rank)
        be_late();
    MPI_Bcast(&value, 1, MPI_INT, late_rank, MPI_COMM_WORLD);
    check(value == 43, "broadcast %d", value);
}

NAMED static void early_reduce(void)
{
    int sum = -1;
    if (rank != late_rank)
        be_late();
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, late_rank, MPI_COMM_WORLD);
    check(rank != late_rank || sum == ranks * (ranks - 1) / 2, "sum %d", sum);
}

NAMED static void wait_at_barrier(void)
{
    if (rank == late_rank)
        be_late();
    MPI_Barrier(MPI_COMM_WORLD);
}

NAMED static void late_allreduce(void)
{
    int sum = -1;
    if (rank == late_rank)
        be_late();
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum == ranks * (ranks - 1) / 2, "sum %d", sum);
}

NAMED static void late_allgather(int *all)
{
    if (rank == late_rank)
        be_late();
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        check(all[r] == r, "gathered %d from %d", all[r], r);
}

// late_alltoall sends each rank its own number.
NAMED static void late_alltoall(const int *all, int *mine)
{
    if (rank == late_rank)
        be_late();
    MPI_Alltoall(all, 1, MPI_INT, mine, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        check(mine[r] == rank, "%d from %d", mine[r], r);
}

NAMED static void wait_at_nxn(void)
{
    int all[ranks], mine[ranks];
    late_allreduce();
    late_allgather(all);
    late_alltoall(all, mine);
}

static const struct phase {
    const char *name;
    void (*run)(void);
    int delays; // how many times D a repetition takes
} phases[] = {
    {"late-sender", late_sender, 1},       {"late-receiver", late_receiver, 1},
    {"late-broadcast", late_broadcast, 1}, {"early-reduce", early_reduce, 1},
    {"wait-at-barrier", wait_at_barrier, 1}, {"wait-at-nxn", wait_at_nxn, 3},
    {0},
};

// run repeats a phase; all ranks end a repetition at the same time, so that the next barrier costs nobody a wait.
static void run(const struct phase *phase)
{
    for (long i = 0; i < repeat; i++) {
        long long start = begin_repetition();
        phase->run();
        sleep_until(start + (phase->delays * 2 + 1) * delay_us * 500LL);
    }
}

int main(int argc, char **argv)
{
    int found = 0;
    begin(argc, argv, options);
    if (late_rank < 0 || late_rank >= ranks)
        late_rank = ranks - 1;
    partner = (late_rank + 1) % ranks;
    for (const struct phase *phase = phases; phase->name; phase++) {
        if (strcmp(wanted, "all") != 0 && strcmp(wanted, phase->name) != 0)
            continue;
        run(phase);
        found++;
    }
    check(found > 0, "no phase is called %s", wanted);
    return end();
}
