// SPDX-License-Identifier: Apache-2.0
// All ranks write one file together and read it back, in several ways. The file lies in $TMPDIR (default /tmp), which
// must be one and the same folder for all ranks, and is deleted at the end.
//
//   --numbers N  per rank and function, default 256
//
// Known beforehand:
//   Contents  number i of rank r is 1000 r + i, rank after rank; later, with a view, the ranks' numbers in turn.
//   Files     one, opened twice, by all ranks.
//   Clusters  rank 0 (names and deletes the file) and all others.
#include "common.h"

static long numbers = 256;

static const struct option options[] = {{"--numbers", "per rank and function", .number = &numbers}, {0}};

static char path[1024];
static int *mine, *got;

static int number(int r, long i)
{
    return 1000 * r + i;
}

static void expect(int r, const char *what)
{
    for (long i = 0; i < numbers; i++)
        if (!check(got[i] == number(r, i), "%s: %d, not %d", what, got[i], number(r, i)))
            return;
    memset(got, 0xff, numbers * sizeof(int));
}

NAMED static void name_file(void)
{
    if (rank == 0) {
        const char *folder = getenv("TMPDIR");
        snprintf(path, sizeof path, "%s/cairn-example-io.%d", folder && *folder ? folder : "/tmp", (int)getpid());
    }
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static MPI_File open_file(int mode)
{
    MPI_File file;
    if (MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
        fprintf(stderr, "%s: rank %d cannot open %s\n", program, rank, path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return file;
}

static MPI_Offset place_of(int r)
{
    return (MPI_Offset)r * numbers * (MPI_Offset)sizeof(int);
}

NAMED static void write_together(MPI_File file)
{
    MPI_Status status;
    MPI_Offset size;
    int count;
    MPI_File_set_size(file, 0);
    MPI_File_write_at_all(file, place_of(rank), mine, numbers, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    check(count == numbers, "%d numbers written", count);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &size);
    check(size == place_of(ranks), "the file has %lld bytes", (long long)size);
}

// read_neighbor reads what the next rank wrote, alone, in a place that is sought, and all together.
NAMED static void read_neighbor(MPI_File file)
{
    MPI_Status status;
    MPI_Offset position;
    int next = (rank + 1) % ranks;
    MPI_File_read_at(file, place_of(next), got, numbers, MPI_INT, &status);
    expect(next, "read_at");
    MPI_File_seek(file, place_of(next), MPI_SEEK_SET);
    MPI_File_read(file, got, numbers, MPI_INT, &status);
    expect(next, "read");
    MPI_File_get_position(file, &position);
    check(position == place_of(next + 1), "position %lld", (long long)position);
    MPI_File_read_at_all(file, place_of(next), got, numbers, MPI_INT, &status);
    expect(next, "read_at_all");
}

NAMED static void write_later(MPI_File file)
{
    MPI_Request request;
    MPI_Status status;
    MPI_File_iwrite_at(file, place_of(rank), mine, numbers, MPI_INT, &request);
    MPI_Wait(&request, &status);
    MPI_File_iread_at(file, place_of(rank), got, numbers, MPI_INT, &request);
    MPI_Wait(&request, &status);
    expect(rank, "iread_at");
    MPI_Barrier(MPI_COMM_WORLD); // nobody goes on to write what another still reads
}

// interleave gives each rank a view of every ranks-th number.
NAMED static void interleave(MPI_File file)
{
    MPI_Datatype every;
    MPI_Type_vector(numbers, 1, ranks, MPI_INT, &every);
    MPI_Type_commit(&every);
    MPI_File_set_view(file, rank * sizeof(int), MPI_INT, every, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, mine, numbers, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_read_all(file, got, numbers, MPI_INT, MPI_STATUS_IGNORE);
    expect(rank, "read_all");
    MPI_Type_free(&every);
}

// check_interleaved reads the first number of every rank, without a view.
NAMED static void check_interleaved(MPI_File file)
{
    int amode, *firsts = malloc(ranks * sizeof(int));
    MPI_File_get_amode(file, &amode);
    check(amode == MPI_MODE_RDONLY, "mode %d", amode);
    MPI_File_read_at(file, 0, firsts, ranks, MPI_INT, MPI_STATUS_IGNORE);
    for (int r = 0; r < ranks; r++)
        check(firsts[r] == number(r, 0), "interleaved: %d of rank %d", firsts[r], r);
    free(firsts);
}

int main(int argc, char **argv)
{
    begin(argc, argv, options);
    mine = malloc(numbers * sizeof(int));
    got = malloc(numbers * sizeof(int));
    for (long i = 0; i < numbers; i++)
        mine[i] = number(rank, i);
    name_file();
    MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
    write_together(file);
    read_neighbor(file);
    write_later(file);
    interleave(file);
    MPI_File_close(&file);
    file = open_file(MPI_MODE_RDONLY);
    check_interleaved(file);
    MPI_File_close(&file);
    if (rank == 0)
        MPI_File_delete(path, MPI_INFO_NULL);
    free(mine);
    free(got);
    return end();
}
