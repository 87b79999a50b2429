// Programs whose calls hardly repeat, for make bench-short. They make about CALLS MPI calls on
// each rank, of one KIND:
//   infos        MPI_Info objects with ever new keys and values
//   dims         MPI_Dims_create with ever new arguments
//   types        derived datatypes with ever new shapes
//   messages     nonblocking messages with ever new tags and sizes
//   comms        communicators that are made, used once and freed
//   collectives  nonblocking collectives of all kinds on many communicators, hundreds at a time
//   short KIND CALLS
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void infos(long calls) {
  MPI_Info kept[64];
  for (int i = 0; i < 64; i++) MPI_Info_create(&kept[i]);
  for (long n = 64, i = 0; n < calls; i++) {
    MPI_Info *info = &kept[i % 64];
    MPI_Info_free(info);
    MPI_Info_create(info);
    n += 2;
    for (int k = 0; k < 8; k++) {
      char key[32], value[32], got[32];
      int found;
      snprintf(key, sizeof key, "key%ld.%d", i, k);
      snprintf(value, sizeof value, "value%ld", i * 7 + k);
      MPI_Info_set(*info, key, value);
      MPI_Info_get(*info, key, sizeof got - 1, got, &found);
      n += 2;
    }
  }
  for (int i = 0; i < 64; i++) MPI_Info_free(&kept[i]);
}

static void dims(long calls) {
  for (long i = 0; i < calls; i++) {
    int d[5] = {0}, n = 1 + i % 5;
    MPI_Dims_create(1 + i / 5, n, d);
  }
}

static void types(long calls) {
  for (long i = 0; i < calls / 4; i++) {
    MPI_Datatype t;
    int bytes, lengths[3] = {1 + i % 7, 2, 3}, at[3] = {0, 20 + i, 40 + 2 * i};
    MPI_Type_indexed(3, lengths, at, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Type_size(t, &bytes);
    MPI_Type_free(&t);
  }
}

static void messages(long calls) {
  static char from[1 << 16], to[1 << 16];
  for (long n = 0; n < calls; n += 65) {
    MPI_Request r[64];
    for (int i = 0; i < 32; i++) {
      long k = n + i, bytes = k * 2654435761u % sizeof from;
      MPI_Irecv(to, bytes, MPI_BYTE, (rank + size - 1) % size, k % 30000, MPI_COMM_WORLD, &r[i]);
      MPI_Isend(from, bytes, MPI_BYTE, (rank + 1) % size, k % 30000, MPI_COMM_WORLD, &r[32 + i]);
    }
    MPI_Waitall(64, r, MPI_STATUSES_IGNORE);
  }
}

static void comms(long calls) {
  for (long i = 0; i < calls / 6; i++) {
    MPI_Comm split, dup;
    int all;
    MPI_Comm_split(MPI_COMM_WORLD, (rank + i) % 3, rank, &split);
    MPI_Comm_dup(split, &dup);
    MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, dup);
    MPI_Barrier(split);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&split);
  }
}

static void collectives(long calls) {
  enum { COMMS = 20, KINDS = 8, ROUNDS = 3, FLIGHT = COMMS * KINDS * ROUNDS };
  MPI_Comm comm[COMMS];
  static int in[1024], out[FLIGHT][1024];
  for (long n = 0; n < calls;) {
    MPI_Request r[FLIGHT];
    int f = 0;
    for (int c = 0; c < COMMS; c++) MPI_Comm_dup(MPI_COMM_WORLD, &comm[c]);
    for (int round = 0; round < ROUNDS; round++)
      for (int c = 0; c < COMMS; c++) {
        int count = 1 + (n + f) % 64, root = (n + f) % size;
        MPI_Ibarrier(comm[c], &r[f++]);
        MPI_Ibcast(out[f], count, MPI_INT, root, comm[c], &r[f]), f++;
        MPI_Ireduce(in, out[f], count, MPI_INT, MPI_SUM, root, comm[c], &r[f]), f++;
        MPI_Iallreduce(in, out[f], count, MPI_INT, MPI_MAX, comm[c], &r[f]), f++;
        MPI_Igather(in, count, MPI_INT, out[f], count, MPI_INT, root, comm[c], &r[f]), f++;
        MPI_Iallgather(in, count, MPI_INT, out[f], count, MPI_INT, comm[c], &r[f]), f++;
        MPI_Ialltoall(in, count, MPI_INT, out[f], count, MPI_INT, comm[c], &r[f]), f++;
        MPI_Iscan(in, out[f], count, MPI_INT, MPI_SUM, comm[c], &r[f]), f++;
      }
    MPI_Waitall(f, r, MPI_STATUSES_IGNORE);
    for (int c = 0; c < COMMS; c++) MPI_Comm_free(&comm[c]);
    n += f + 2 * COMMS + 1;
  }
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(long calls);
  } kinds[] = {{"infos", infos}, {"dims", dims}, {"types", types}, {"messages", messages}, {"comms", comms}, {"collectives", collectives}};
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (!strcmp(argv[1], kinds[i].name)) kinds[i].run(atol(argv[2]));
  MPI_Finalize();
  return 0;
}
