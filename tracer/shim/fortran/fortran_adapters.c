#include "fortran_adapters.h"

#include "../bind/bind.h"
#include "../bind/control.h"
#include "../gen/prototypes_gen.h"
#include "../record/record.h"
#include "fortran.h"

// The wrapper recognizes our call by its return address: it must be a call, not a jump.
#pragma GCC optimize("no-optimize-sibling-calls")

// The Fortran call that the thread is about to make.
struct call {
	void *procedure; // the MPI library's
	void *argument[5];
	MPI_Fint *error;
};

static __thread struct call pending __attribute__((tls_model("initial-exec")));

// announce makes the next C wrapper call `real`, which makes the pending call. The record's caller
// is still the program. Every adapter announces before it calls a wrapper by name: the entry point,
// which finds the C function, is not used.
static void announce(void *real, struct call call)
{
	static MPI_Fint nobody_asks;

	call.procedure = cairn_fortran_real(cairn_self.announcement.slot);
	if (call.error == NULL)
		call.error = &nobody_asks;
	cairn_self.announcement.real = real;
	pending = call;
}

// PROCEDURE is the MPI library's Fortran procedure for a call with these argument types.
#define PROCEDURE(call, ...) ((void (*)(__VA_ARGS__, MPI_Fint *))(call).procedure)

// A handle of MPICH is the same integer in both languages.
#ifdef CAIRN_OPENMPI
#define FROM_MPI_Comm(f) CAIRN_INNER(MPI_Comm_f2c)(f)
#define FROM_MPI_Datatype(f) CAIRN_INNER(MPI_Type_f2c)(f)
#define FROM_MPI_Win(f) CAIRN_INNER(MPI_Win_f2c)(f)
#else
#define FROM_MPI_Comm(f) (f)
#define FROM_MPI_Datatype(f) (f)
#define FROM_MPI_Win(f) (f)
#endif

// LEFT_OUT calls the MPI library's procedure directly if the function is not recorded
// now (control.h).
#define LEFT_OUT(name, types, arguments) \
	if (!cairn_recorded(CAIRN_ID_##name)) { \
		((void(*) types)cairn_fortran_real(cairn_self.announcement.slot)) arguments; \
		return; \
	}

// Attributes. The types of value and extent differ: in the functions of MPI 1 they are MPI_Fint.
#define ATTRIBUTE(object, handle, put, get, name_put, name_get, value_type) \
	static int put(handle object, int keyval, void *value) \
	{ \
		struct call c = pending; \
		(void)object, (void)keyval, (void)value; \
		PROCEDURE(c, void *, void *, void *)(c.argument[0], c.argument[1], c.argument[2], c.error); \
		return *c.error; \
	} \
	void cairn_fortran_##name_put(MPI_Fint *object, MPI_Fint *keyval, value_type *value, MPI_Fint *error) \
	{ \
		LEFT_OUT(name_put, (void *, void *, void *, void *), (object, keyval, value, error)) \
		announce((void *)put, (struct call){.argument = {object, keyval, value}, .error = error}); \
		cairn_##name_put(FROM_##handle(*object), *keyval, (void *)(intptr_t)*value); \
	} \
	static int get(handle object, int keyval, void *value, int *flag) \
	{ \
		struct call c = pending; \
		(void)object, (void)keyval; \
		PROCEDURE(c, void *, void *, void *, void *)(c.argument[0], c.argument[1], c.argument[2], c.argument[3], c.error); \
		*flag = *c.error == MPI_SUCCESS && *(MPI_Fint *)c.argument[3] != 0; \
		if (*flag) \
			*(void **)value = (void *)(intptr_t)*(value_type *)c.argument[2]; \
		return *c.error; \
	} \
	void cairn_fortran_##name_get(MPI_Fint *object, MPI_Fint *keyval, value_type *value, MPI_Fint *flag, MPI_Fint *error) \
	{ \
		void *out = NULL; \
		int there = 0; \
		LEFT_OUT(name_get, (void *, void *, void *, void *, void *), (object, keyval, value, flag, error)) \
		announce((void *)get, (struct call){.argument = {object, keyval, value, flag}, .error = error}); \
		cairn_##name_get(FROM_##handle(*object), *keyval, &out, &there); \
	}

ATTRIBUTE(comm, MPI_Comm, attr_put, attr_get, MPI_Attr_put, MPI_Attr_get, MPI_Fint)
ATTRIBUTE(comm, MPI_Comm, comm_set_attr, comm_get_attr, MPI_Comm_set_attr, MPI_Comm_get_attr, MPI_Aint)
ATTRIBUTE(type, MPI_Datatype, type_set_attr, type_get_attr, MPI_Type_set_attr, MPI_Type_get_attr, MPI_Aint)
ATTRIBUTE(win, MPI_Win, win_set_attr, win_get_attr, MPI_Win_set_attr, MPI_Win_get_attr, MPI_Aint)

// The Fortran procedures may jump to the C functions; the program would then appear to
// be their caller.
static double seconds(void)
{
	struct call c = pending;
	return ((double (*)(void))c.procedure)();
}

#define SECONDS(name) \
	double cairn_fortran_##name(void) \
	{ \
		if (!cairn_recorded(CAIRN_ID_##name)) \
			return ((double (*)(void))cairn_fortran_real(cairn_self.announcement.slot))(); \
		announce((void *)seconds, (struct call){.error = NULL}); \
		return cairn_##name(); \
	}

SECONDS(MPI_Wtime)
SECONDS(MPI_Wtick)

static int control(int level, ...)
{
	struct call c = pending;
	(void)level;
	((void (*)(void *))c.procedure)(c.argument[0]);
	return MPI_SUCCESS;
}

// Never left out, since it turns recording on again.
void cairn_fortran_MPI_Pcontrol(MPI_Fint *level)
{
	announce((void *)control, (struct call){.argument = {level}});
	cairn_MPI_Pcontrol(*level);
}

#ifdef CAIRN_OPENMPI

#define KEYVAL(create, name, copy_type, delete_type, state_type) \
	static int create(copy_type *copy, delete_type *delete, int *keyval, void *state) \
	{ \
		struct call c = pending; \
		(void)copy, (void)delete, (void)state; \
		PROCEDURE(c, void *, void *, void *, void *)(c.argument[0], c.argument[1], c.argument[2], c.argument[3], c.error); \
		*keyval = *(MPI_Fint *)c.argument[2]; \
		return *c.error; \
	} \
	void cairn_fortran_##name(cairn_procedure *copy, cairn_procedure *delete, MPI_Fint *keyval, state_type *state, MPI_Fint *error) \
	{ \
		int out = 0; \
		announce((void *)create, (struct call){.argument = {(void *)copy, (void *)delete, keyval, state}, .error = error}); \
		cairn_##name((copy_type *)(void *)copy, (delete_type *)(void *)delete, &out, (void *)(intptr_t)*state); \
	}

KEYVAL(keyval_create, MPI_Keyval_create, MPI_Copy_function, MPI_Delete_function, MPI_Fint)
KEYVAL(comm_create_keyval, MPI_Comm_create_keyval, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function, MPI_Aint)
KEYVAL(type_create_keyval, MPI_Type_create_keyval, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function, MPI_Aint)
KEYVAL(win_create_keyval, MPI_Win_create_keyval, MPI_Win_copy_attr_function, MPI_Win_delete_attr_function, MPI_Aint)

#define ERRHANDLER(create, name, function_type) \
	static int create(function_type *function, MPI_Errhandler *errhandler) \
	{ \
		struct call c = pending; \
		(void)function; \
		PROCEDURE(c, void *, void *)(c.argument[0], c.argument[1], c.error); \
		if (*c.error == MPI_SUCCESS) \
			*errhandler = CAIRN_INNER(MPI_Errhandler_f2c)(*(MPI_Fint *)c.argument[1]); \
		return *c.error; \
	} \
	void cairn_fortran_##name(cairn_procedure *function, MPI_Fint *errhandler, MPI_Fint *error) \
	{ \
		MPI_Errhandler out = NULL; \
		announce((void *)create, (struct call){.argument = {(void *)function, errhandler}, .error = error}); \
		cairn_##name((function_type *)(void *)function, &out); \
	}

ERRHANDLER(errhandler_create, MPI_Errhandler_create, MPI_Comm_errhandler_function)
ERRHANDLER(comm_create_errhandler, MPI_Comm_create_errhandler, MPI_Comm_errhandler_function)
ERRHANDLER(file_create_errhandler, MPI_File_create_errhandler, MPI_File_errhandler_function)
ERRHANDLER(win_create_errhandler, MPI_Win_create_errhandler, MPI_Win_errhandler_function)

static int type_match_size(int typeclass, int size, MPI_Datatype *type)
{
	struct call c = pending;
	(void)typeclass, (void)size;
	PROCEDURE(c, void *, void *, void *)(c.argument[0], c.argument[1], c.argument[2], c.error);
	if (*c.error == MPI_SUCCESS)
		*type = CAIRN_INNER(MPI_Type_f2c)(*(MPI_Fint *)c.argument[2]);
	return *c.error;
}

void cairn_fortran_MPI_Type_match_size(MPI_Fint *typeclass, MPI_Fint *size, MPI_Fint *type, MPI_Fint *error)
{
	MPI_Datatype out = NULL;
	announce((void *)type_match_size, (struct call){.argument = {typeclass, size, type}, .error = error});
	cairn_MPI_Type_match_size(*typeclass, *size, &out);
}

// Without requests the Fortran procedure sets its results and returns. With requests the Fortran
// layer calls the C function.
static MPI_Request no_requests[1];
static int no_indices[1];

// set_empty sets what C returns where there is no request (MPI 4.0 §3.7.3).
static void set_empty(MPI_Status *status)
{
	*status = (MPI_Status){.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = MPI_SUCCESS};
}

static int wait_for_all(int count, MPI_Request *requests, MPI_Status *statuses)
{
	struct call c = pending;
	(void)count, (void)requests, (void)statuses;
	PROCEDURE(c, void *, void *, void *)(c.argument[0], c.argument[1], c.argument[2], c.error);
	return *c.error;
}

static int test_all(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
	struct call c = pending;
	(void)count, (void)requests, (void)statuses;
	PROCEDURE(c, void *, void *, void *, void *)(c.argument[0], c.argument[1], c.argument[2], c.argument[3], c.error);
	*flag = *(MPI_Fint *)c.argument[2] != 0;
	return *c.error;
}

static int wait_for_any(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
	struct call c = pending;
	(void)count, (void)requests;
	PROCEDURE(c, void *, void *, void *, void *)(c.argument[0], c.argument[1], c.argument[2], c.argument[3], c.error);
	*index = *(MPI_Fint *)c.argument[2];
	set_empty(status);
	return *c.error;
}

static int test_any(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
	struct call c = pending;
	(void)count, (void)requests;
	PROCEDURE(c, void *, void *, void *, void *, void *)
	(c.argument[0], c.argument[1], c.argument[2], c.argument[3], c.argument[4], c.error);
	*index = *(MPI_Fint *)c.argument[2];
	*flag = *(MPI_Fint *)c.argument[3] != 0;
	set_empty(status);
	return *c.error;
}

static int wait_or_test_some(int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses)
{
	struct call c = pending;
	(void)count, (void)requests, (void)indices, (void)statuses;
	PROCEDURE(c, void *, void *, void *, void *, void *)
	(c.argument[0], c.argument[1], c.argument[2], c.argument[3], c.argument[4], c.error);
	*done = *(MPI_Fint *)c.argument[2];
	return *c.error;
}

#define LIST(...) __VA_ARGS__
#define WITHOUT_REQUESTS(name, real, parameters, arguments, ...) \
	void cairn_fortran_##name parameters \
	{ \
		int flag = 0, number = 0; \
		MPI_Status own; \
		(void)flag, (void)number, (void)own; \
		if (*count != 0 || !cairn_recorded(CAIRN_ID_##name)) { \
			((void(*) parameters)cairn_fortran_real(cairn_self.announcement.slot))(LIST arguments, error); \
			return; \
		} \
		announce((void *)real, (struct call){.argument = {LIST arguments}, .error = error}); \
		cairn_##name(0, no_requests, __VA_ARGS__); \
	}

WITHOUT_REQUESTS(MPI_Waitall, wait_for_all, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *statuses, MPI_Fint *error),
	(count, requests, statuses), &own)
WITHOUT_REQUESTS(MPI_Waitany, wait_for_any, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *position, MPI_Fint *status, MPI_Fint *error),
	(count, requests, position, status), &number, &own)
WITHOUT_REQUESTS(MPI_Waitsome, wait_or_test_some, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *done, MPI_Fint *indices, MPI_Fint *statuses, MPI_Fint *error),
	(count, requests, done, indices, statuses), &number, no_indices, &own)
WITHOUT_REQUESTS(MPI_Testall, test_all, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *all, MPI_Fint *statuses, MPI_Fint *error),
	(count, requests, all, statuses), &flag, &own)
WITHOUT_REQUESTS(MPI_Testany, test_any, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *position, MPI_Fint *any, MPI_Fint *status, MPI_Fint *error),
	(count, requests, position, any, status), &number, &flag, &own)
WITHOUT_REQUESTS(MPI_Testsome, wait_or_test_some, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *done, MPI_Fint *indices, MPI_Fint *statuses, MPI_Fint *error),
	(count, requests, done, indices, statuses), &number, no_indices, &own)

// Without a status Open MPI reports that the request is not complete, without testing it.
static int request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	struct call c = pending;
	(void)request, (void)status;
	PROCEDURE(c, void *, void *, void *)(c.argument[0], c.argument[1], c.argument[2], c.error);
	*flag = *(MPI_Fint *)c.argument[1] != 0;
	return *c.error;
}

void cairn_fortran_MPI_Request_get_status(MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *error)
{
	int out = 0;
	if (status != cairn_fortran_status_ignore || !cairn_recorded(CAIRN_ID_MPI_Request_get_status)) {
		((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))cairn_fortran_real(cairn_self.announcement.slot))(request, flag, status, error);
		return;
	}
	announce((void *)request_get_status, (struct call){.argument = {request, flag, status}, .error = error});
	cairn_MPI_Request_get_status(CAIRN_INNER(MPI_Request_f2c)(*request), &out, MPI_STATUS_IGNORE);
}

static MPI_Aint aint_of_two(MPI_Aint a, MPI_Aint b)
{
	struct call c = pending;
	(void)a, (void)b;
	return ((MPI_Aint(*)(void *, void *))c.procedure)(c.argument[0], c.argument[1]);
}

MPI_Aint cairn_fortran_MPI_Aint_add(MPI_Aint *base, MPI_Aint *displacement)
{
	if (!cairn_recorded(CAIRN_ID_MPI_Aint_add))
		return ((MPI_Aint(*)(void *, void *))cairn_fortran_real(cairn_self.announcement.slot))(base, displacement);
	announce((void *)aint_of_two, (struct call){.argument = {base, displacement}});
	return cairn_MPI_Aint_add(*base, *displacement);
}

MPI_Aint cairn_fortran_MPI_Aint_diff(MPI_Aint *a, MPI_Aint *b)
{
	if (!cairn_recorded(CAIRN_ID_MPI_Aint_diff))
		return ((MPI_Aint(*)(void *, void *))cairn_fortran_real(cairn_self.announcement.slot))(a, b);
	announce((void *)aint_of_two, (struct call){.argument = {a, b}});
	return cairn_MPI_Aint_diff(*a, *b);
}

#endif
