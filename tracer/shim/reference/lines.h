// The reference log: a call's arguments as text, written by code that is
// independent of the records.
//
// One file per thread, <process>/reference/<thread>.log, two lines per call:
//
//	C <index> <order> <function> <name>=<value>...
//	R <index> <order>@<from>:<to>:<enter>:<exit> <result> <name>=<value>...
//
// C is at the call, with in and inout parameters, R at the return, with out and inout parameters.
//
// The index numbers the calls of the thread, the order the lines of the process. From and to are
// read around the call and its record, in nanoseconds of CLOCK_MONOTONIC. Enter and exit are the
// time stamps of the record itself, in ticks; 0 if there is no record.
//
// A scalar is a decimal number as in MPI (including handles and addresses; a double by its
// bits), a list is [1,2], a string "text" with %XX for special characters, a status
// {source,tag,error,cancelled,bytes}, after ~ if the application ignores it. `-` is a value that
// is undefined or not significant here, `null` a NULL pointer, @number a pointer constant
// instead of a list.
#ifndef CAIRN_LINES_H
#define CAIRN_LINES_H

#include "../gen/reference_gen.h"
#include "../process/abi.h"
#include "../record/ask.h"
#include "../record/length.h"

// cairn_line_open and cairn_line_stamps are open and stamps of struct cairn_reference
// (bind/reference.h).
void cairn_line_open(const char *process_directory, bool shared);
void cairn_line_stamps(uint64_t enter, uint64_t exit);

// cairn_line_give_up ends the log.
void cairn_line_give_up(void);

// Lines.
uint64_t cairn_line_call(const char *function);
void cairn_line_return(uint64_t index, long long result);
void cairn_line_return_double(uint64_t index, double result);
void cairn_line_end(void);
void cairn_line_entered(uint64_t index); // the end of a call's first line

// Parameters.
void cairn_line_word(const char *name, bool defined, long long value);
void cairn_line_null(const char *name);
void cairn_line_double(const char *name, double value);
void cairn_line_text(const char *name, bool defined, int64_t capacity, const char *text);
void cairn_line_argv(const char *name, bool defined, char ***argv);
void cairn_line_status(const char *name, bool defined, bool ignored, const MPI_Status *status, bool errors);
void cairn_line_statuses(const char *name, bool defined, bool ignored, int64_t n, const MPI_Status *statuses, bool errors);

// cairn_line_list returns true when elements and cairn_line_list_end follow.
bool cairn_line_list(const char *name, bool defined, int64_t n, const void *list);
void cairn_line_element(long long value);
void cairn_line_text_element(const char *text);
void cairn_line_texts_element(char *const *texts);
void cairn_line_list_end(void);

#endif
