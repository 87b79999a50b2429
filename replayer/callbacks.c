#include "callbacks.h"

#include "die.h"

void *cr_function_or(struct call *c, void *stand_in)
{
	const struct value v = cr_value(c);
	void *function;

	if (v.form != CR_CONSTANT_FORM)
		return stand_in;
	if (!cr_constant_pointer(v.n, &function))
		cr_refuse_constant(c, v.n);
	return function;
}

// A reduction operation leaves its data unchanged: they are not the program's.
void cr_MPI_User_function(void *in, void *inout, int *n, MPI_Datatype *type)
{
	(void)in, (void)inout, (void)n, (void)type;
}

#if MPI_VERSION >= 4
void cr_MPI_User_function_c(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
	(void)in, (void)inout, (void)n, (void)type;
}

void cr_MPI_Session_errhandler_function(MPI_Session *session, int *error, ...)
{
	(void)session, (void)error;
}
#endif

// Attributes are copied with their object, as in most programs: otherwise a copy could not delete
// them.
#define COPY(function, type) \
	int function(type object, int keyval, void *state, void *from, void *to, int *flag) \
	{ \
		(void)object, (void)keyval, (void)state; \
		*(void **)to = from; \
		*flag = 1; \
		return MPI_SUCCESS; \
	}
COPY(cr_MPI_Copy_function, MPI_Comm)
COPY(cr_MPI_Comm_copy_attr_function, MPI_Comm)
COPY(cr_MPI_Win_copy_attr_function, MPI_Win)
COPY(cr_MPI_Type_copy_attr_function, MPI_Datatype)

#define DELETE(function, type) \
	int function(type object, int keyval, void *value, void *state) \
	{ \
		(void)object, (void)keyval, (void)value, (void)state; \
		return MPI_SUCCESS; \
	}
DELETE(cr_MPI_Delete_function, MPI_Comm)
DELETE(cr_MPI_Comm_delete_attr_function, MPI_Comm)
DELETE(cr_MPI_Win_delete_attr_function, MPI_Win)
DELETE(cr_MPI_Type_delete_attr_function, MPI_Datatype)

#define HANDLE(function, type) \
	void function(type *object, int *error, ...) \
	{ \
		(void)object, (void)error; \
	}
HANDLE(cr_MPI_Comm_errhandler_function, MPI_Comm)
HANDLE(cr_MPI_Win_errhandler_function, MPI_Win)
HANDLE(cr_MPI_File_errhandler_function, MPI_File)
