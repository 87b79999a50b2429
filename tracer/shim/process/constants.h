// Every predefined handle and named constant, with its value in this process.
#ifndef CAIRN_CONSTANTS_H
#define CAIRN_CONSTANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../ring/layout_gen.h"

// text is the constant's entry in process.json up to its value. There are hundreds, so they are
// string literals.
typedef void (*cairn_constant_visitor)(void *data, const char *kind, const char *text, size_t length, int64_t value);

void cairn_constants(cairn_constant_visitor visit, void *data);

// Set by cairn_symbol and cairn_variable if libmpi has no such symbol: the constant is of
// another version.
extern bool cairn_symbol_missing;

#define CAIRN_CONSTANT_TEXT(of_kind, called) \
	"{\"" CAIRN_KEY(kind) "\":\"" of_kind "\",\n\"" CAIRN_KEY(name) "\":\"" called "\",\n\"" CAIRN_KEY(value) "\":"

#define CAIRN_CONSTANT(visit, data, kind, constant, name) \
	do { \
		static const char text_[] = CAIRN_CONSTANT_TEXT(kind, name); \
		cairn_symbol_missing = false; \
		int64_t value_ = (int64_t)(intptr_t)(constant); \
		if (!cairn_symbol_missing) \
			visit(data, kind, text_, sizeof(text_) - 1, value_); \
	} while (0)

// Library procedures that are MPI_COMM_DUP_FN and the like in Fortran.
#define CAIRN_FORTRAN_FUNCTION(visit, data, name) \
	do { \
		static const char text_[] = CAIRN_CONSTANT_TEXT("function", name); \
		cairn_fortran_function(visit, data, text_, sizeof(text_) - 1, name); \
	} while (0)

void cairn_fortran_function(cairn_constant_visitor visit, void *data, const char *text, size_t length, const char *name);

#endif
