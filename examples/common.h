// SPDX-License-Identifier: Apache-2.0
// What all examples share: options, begin and end, checking of results, work of a known duration.
#ifndef COMMON_H
#define COMMON_H

#define _GNU_SOURCE
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "counted.h"

// Functions whose names a reader of a report shall find again.
#define NAMED __attribute__((noinline, unused))
#define HELPER __attribute__((unused)) static

static int rank, ranks; // in MPI_COMM_WORLD
static const char *program;
static atomic_int errors;

// --- results ------------------------------------------------------------------

// check complains when what a program computed or received is not what is known beforehand.
__attribute__((unused, format(printf, 2, 3))) static bool check(bool good, const char *format, ...)
{
    if (good)
        return true;
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: rank %d: wrong result: %s\n", program, rank, text);
    atomic_fetch_add(&errors, 1);
    return false;
}

// say prints one line with one write, so that lines of several ranks do not interleave.
__attribute__((unused, format(printf, 1, 2))) static void say(const char *format, ...)
{
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof line - 2)
        length = sizeof line - 2;
    line[length++] = '\n';
    if (write(STDOUT_FILENO, line, length) != length)
        perror(program);
}

// --- options ------------------------------------------------------------------

// option is one of: a number, a word, or a flag (neither of them).
struct option {
    const char *name, *help;
    long *number;
    const char **word;
    bool *flag;
};

static bool print_counts, print_where;

static const struct option common_options[] = {
    {"--counts", "each rank prints how often it called each MPI function", .flag = &print_counts},
    {"--where", "each rank prints the processor it runs on", .flag = &print_where},
    {0},
};

HELPER void usage(FILE *to, const struct option *options)
{
    fprintf(to, "Usage: %s [OPTION]...\n", program);
    for (const struct option *o = options; o->name; o++)
        fprintf(to, "  %-15s %s %s\n", o->name, o->flag ? "   " : o->number ? "N  " : "WORD", o->help);
    for (const struct option *o = common_options; o->name; o++)
        fprintf(to, "  %-15s     %s\n", o->name, o->help);
}

HELPER const struct option *find_option(const struct option *options, const char *name)
{
    for (; options->name; options++)
        if (strcmp(options->name, name) == 0)
            return options;
    return NULL;
}

// set_option returns whether value is one that the option takes.
HELPER bool set_option(const struct option *o, const char *value)
{
    if (!value || !*value)
        return false;
    if (o->word) {
        *o->word = value;
        return true;
    }
    char *end;
    *o->number = strtol(value, &end, 10);
    return *end == '\0';
}

HELPER void parse_options(int argc, char **argv, const struct option *options)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            usage(stdout, options);
            exit(0);
        }
        const struct option *o = find_option(common_options, argv[i]);
        if (!o)
            o = find_option(options, argv[i]);
        if (o && o->flag) {
            *o->flag = true;
        } else if (!o || !set_option(o, i + 1 < argc ? argv[++i] : NULL)) {
            fprintf(stderr, "%s: bad option: %s\n", program, argv[i]);
            usage(stderr, options);
            exit(2);
        }
    }
}

// --- begin and end --------------------------------------------------------------

HELPER void before_init(int argc, char **argv, const struct option *options)
{
    const char *slash = strrchr(argv[0], '/');
    program = slash ? slash + 1 : argv[0];
    parse_options(argc, argv, options);
}

HELPER void after_init(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (print_where) {
        char host[MPI_MAX_PROCESSOR_NAME];
        int length;
        MPI_Get_processor_name(host, &length);
        say("where rank=%d host=%s", rank, host);
    }
    if (ranks < 2) {
        fprintf(stderr, "%s: at least 2 ranks are needed\n", program);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

HELPER void begin(int argc, char **argv, const struct option *options)
{
    before_init(argc, argv, options);
    MPI_Init(&argc, &argv);
    after_init();
}

// print_calls prints "counts rank=R MPI_Send=12 ..." if asked for.
HELPER void print_calls(void)
{
    if (!print_counts)
        return;
    char line[4000];
    int length = snprintf(line, sizeof line, "counts rank=%d", rank);
    for (int i = 0; i < called_functions; i++) {
        unsigned long n = atomic_load(&calls[i]);
        if (n > 0 && length < (int)sizeof line)
            length += snprintf(line + length, sizeof line - length, " %s=%lu", called_names[i], n);
    }
    say("%s", line);
}

// end returns the exit code: 1 after a wrong result. Counts are printed after MPI_Finalize, so that it is in them.
HELPER int end(void)
{
    MPI_Finalize();
    print_calls();
    return atomic_load(&errors) > 0;
}

// --- work -----------------------------------------------------------------------

// now is a time in nanoseconds.
HELPER long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// cpu_time is for how long this thread has computed, in nanoseconds.
HELPER long long cpu_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

HELPER void sleep_until(long long deadline)
{
    struct timespec t = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
        ;
}

HELPER void sleep_us(long us)
{
    if (us > 0) // a sleep until now takes the kernel's timer slack, 50 us
        sleep_until(now() + us * 1000LL);
}

// compute_us computes for so long, however fast the machine is. With EXAMPLES_SLEEP in the
// environment it sleeps instead: durations then hold with more ranks than processors.
HELPER void compute_us(long us)
{
    if (getenv("EXAMPLES_SLEEP")) {
        sleep_us(us);
        return;
    }
    long long end = us > 0 ? cpu_time() + us * 1000LL : 0;
    volatile double x = 1;
    while (end > 0 && cpu_time() < end)
        for (int i = 0; i < 2000; i++)
            x *= 1.000001;
}

#endif
