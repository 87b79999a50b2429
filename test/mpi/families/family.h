// SPDX-License-Identifier: Apache-2.0
// What the programs of the families share: begin and end, checks, the counts of their own calls.
//
// Each program calls every function of its family in the versions that its MPI has, checks what comes back, and prints
// what it called: "counts rank=1 MPI_Send=2 ...". It exits with 1 after a wrong result.
#ifndef FAMILY_H
#define FAMILY_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELPER __attribute__((unused)) static

static int rank, ranks; // in MPI_COMM_WORLD
static bool wrong;

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: rank %d: not so: %s\n", __FILE__, __LINE__, rank, #condition); \
            wrong = true; \
        } \
    } while (0)

// print_calls writes one line, with one write, for every 60 functions.
HELPER void print_calls(void)
{
    int n = 0, length = 0;
    char line[4000];
    for (int i = 0; i <= called_functions; i++) {
        if (length > 0 && (i == called_functions || n == 60)) {
            line[length++] = '\n';
            if (write(STDOUT_FILENO, line, length) != length)
                perror("write");
            n = length = 0;
        }
        if (i == called_functions || calls[i] == 0)
            continue;
        if (length == 0)
            length = snprintf(line, sizeof line, "counts rank=%d", rank);
        length += snprintf(line + length, sizeof line - length, " %s=%lu", called_names[i], (unsigned long)calls[i]);
        n++;
    }
}

HELPER void begin(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

HELPER int end(void)
{
    MPI_Finalize();
    print_calls();
    return wrong;
}

#endif
