// Every predefined handle and named constant, with its value in this process.
#ifndef CAIRN_CONSTANTS_H
#define CAIRN_CONSTANTS_H

#include <stdbool.h>
#include <stdint.h>

typedef void (*cairn_constant_visitor)(void *data, const char *kind, const char *name, int64_t value);

void cairn_constants(cairn_constant_visitor visit, void *data);

// Set by cairn_symbol and cairn_variable when libmpi has no such symbol: a constant of another version.
extern bool cairn_symbol_missing;

// cairn_fortran_function gives the procedures of the libraries that are MPI_COMM_DUP_FN and the like in Fortran.
void cairn_fortran_function(cairn_constant_visitor visit, void *data, const char *name);

#define CAIRN_CONSTANT(visit, data, kind, constant, name) \
	do { \
		cairn_symbol_missing = false; \
		int64_t value_ = (int64_t)(intptr_t)(constant); \
		if (!cairn_symbol_missing) \
			visit(data, kind, name, value_); \
	} while (0)

#endif
