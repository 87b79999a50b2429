// The only file that depends on the MPI that the shim is compiled for (CAIRN_OPENMPI or
// CAIRN_MPICH): mpi.h, additions that this version of it lacks, and the layout of a status. The
// shim references no symbol of libmpi: constants that are addresses or variables of libmpi are
// looked up by name.
#ifndef CAIRN_ABI_H
#define CAIRN_ABI_H

#ifdef CAIRN_OPENMPI
#define OMPI_WANT_MPI_INTERFACE_WARNING 0
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#endif

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAIRN_MPI_H (MPI_VERSION * 100 + MPI_SUBVERSION)

// The address of a data or function symbol of libmpi, and the value of a pointer variable of
// libmpi; NULL if there is none.
void *cairn_symbol(const char *name);
void *cairn_variable(const char *name);

// The same, looked up once per use in the source.
#define CAIRN_SYMBOL(name) \
	__extension__({ \
		static void *at_; /* a race is harmless: all threads find the same */ \
		void *found_ = __atomic_load_n(&at_, __ATOMIC_RELAXED); \
		if (found_ == NULL) \
			__atomic_store_n(&at_, found_ = cairn_symbol(name), __ATOMIC_RELAXED); \
		found_; \
	})

#ifdef CAIRN_OPENMPI

#define CAIRN_ABI_NAME "openmpi"

// Predefined handles are addresses of objects in libmpi.
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)CAIRN_SYMBOL(#global))

// Removed in MPI 3.0, but exported for old programs.
#undef MPI_UB
#undef MPI_LB
#define MPI_UB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_ub)
#define MPI_LB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_lb)

// Fortran programs can name them whatever the C compiler had when Open MPI was built.
#ifndef MPI_INTEGER16
#define MPI_INTEGER16 OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_integer16)
#endif
#ifndef MPI_REAL2
#define MPI_REAL2 OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_real2)
#endif
#ifndef MPI_COMPLEX4
#define MPI_COMPLEX4 OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_complex4)
#endif

#undef MPI_COMM_NULL_COPY_FN
#define MPI_COMM_NULL_COPY_FN CAIRN_SYMBOL("OMPI_C_MPI_COMM_NULL_COPY_FN")
#undef MPI_COMM_NULL_DELETE_FN
#define MPI_COMM_NULL_DELETE_FN CAIRN_SYMBOL("OMPI_C_MPI_COMM_NULL_DELETE_FN")
#undef MPI_COMM_DUP_FN
#define MPI_COMM_DUP_FN CAIRN_SYMBOL("OMPI_C_MPI_COMM_DUP_FN")
#undef MPI_WIN_NULL_COPY_FN
#define MPI_WIN_NULL_COPY_FN CAIRN_SYMBOL("OMPI_C_MPI_WIN_NULL_COPY_FN")
#undef MPI_WIN_NULL_DELETE_FN
#define MPI_WIN_NULL_DELETE_FN CAIRN_SYMBOL("OMPI_C_MPI_WIN_NULL_DELETE_FN")
#undef MPI_WIN_DUP_FN
#define MPI_WIN_DUP_FN CAIRN_SYMBOL("OMPI_C_MPI_WIN_DUP_FN")
#undef MPI_TYPE_NULL_COPY_FN
#define MPI_TYPE_NULL_COPY_FN CAIRN_SYMBOL("OMPI_C_MPI_TYPE_NULL_COPY_FN")
#undef MPI_TYPE_NULL_DELETE_FN
#define MPI_TYPE_NULL_DELETE_FN CAIRN_SYMBOL("OMPI_C_MPI_TYPE_NULL_DELETE_FN")
#undef MPI_TYPE_DUP_FN
#define MPI_TYPE_DUP_FN CAIRN_SYMBOL("OMPI_C_MPI_TYPE_DUP_FN")
#undef MPI_NULL_COPY_FN
#define MPI_NULL_COPY_FN CAIRN_SYMBOL("OMPI_C_MPI_NULL_COPY_FN")
#undef MPI_NULL_DELETE_FN
#define MPI_NULL_DELETE_FN CAIRN_SYMBOL("OMPI_C_MPI_NULL_DELETE_FN")
#undef MPI_DUP_FN
#define MPI_DUP_FN CAIRN_SYMBOL("OMPI_C_MPI_DUP_FN")

#define MPI_F_STATUS_IGNORE ((MPI_Fint *)cairn_variable("MPI_F_STATUS_IGNORE"))
#define MPI_F_STATUSES_IGNORE ((MPI_Fint *)cairn_variable("MPI_F_STATUSES_IGNORE"))

static inline int64_t cairn_status_bytes(const MPI_Status *status)
{
	return (int64_t)status->_ucount < 0 || status->_ucount == (size_t)MPI_UNDEFINED ? -1 : (int64_t)status->_ucount;
}

static inline bool cairn_status_cancelled(const MPI_Status *status)
{
	return status->_cancelled != 0;
}

#if MPI_VERSION < 4
typedef struct ompi_instance_t *MPI_Session;
typedef void (MPI_Session_errhandler_function)(MPI_Session *, int *, ...);
typedef void (MPI_User_function_c)(void *, void *, MPI_Count *, MPI_Datatype *);
typedef int (MPI_Datarep_conversion_function_c)(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *);
typedef struct mca_base_event_registration_t *MPI_T_event_registration;
typedef struct mca_base_event_t *MPI_T_event_instance;
typedef int MPI_T_cb_safety;
typedef int MPI_T_source_order;
typedef void (MPI_T_event_cb_function)(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void *);
typedef void (MPI_T_event_free_cb_function)(MPI_T_event_registration, MPI_T_cb_safety, void *);
typedef void (MPI_T_event_dropped_cb_function)(MPI_Count, MPI_T_event_registration, int, MPI_T_cb_safety, void *);
#define MPI_MAX_STRINGTAG_LEN 1024
#define MPI_MAX_PSET_NAME_LEN 512
#endif
typedef MPI_Status MPI_F08_status; // Open MPI has no such C type
#define MPI_F08_STATUS_IGNORE ((MPI_F08_status *)cairn_variable("MPI_F08_STATUS_IGNORE"))
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status *)cairn_variable("MPI_F08_STATUSES_IGNORE"))

#else

#define CAIRN_ABI_NAME "mpich"

// These are variables of libmpi.
#define MPI_UNWEIGHTED ((int *)cairn_variable("MPI_UNWEIGHTED"))
#define MPI_WEIGHTS_EMPTY ((int *)cairn_variable("MPI_WEIGHTS_EMPTY"))
#define MPI_F_STATUS_IGNORE ((MPI_Fint *)cairn_variable("MPI_F_STATUS_IGNORE"))
#define MPI_F_STATUSES_IGNORE ((MPI_Fint *)cairn_variable("MPI_F_STATUSES_IGNORE"))
#define MPI_F08_STATUS_IGNORE ((MPI_F08_status *)cairn_variable("MPI_F08_STATUS_IGNORE"))
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status *)cairn_variable("MPI_F08_STATUSES_IGNORE"))
#define MPI_T_PVAR_ALL_HANDLES ((MPI_T_pvar_handle)cairn_variable("MPI_T_PVAR_ALL_HANDLES"))
#undef MPI_DUP_FN
#define MPI_DUP_FN ((MPI_Copy_function *)CAIRN_SYMBOL("MPIR_Dup_fn"))

static inline int64_t cairn_status_bytes(const MPI_Status *status)
{
	int64_t count = ((int64_t)((uint32_t)status->count_hi_and_cancelled >> 1) << 32) | (uint32_t)status->count_lo;
	return count < 0 || status->count_lo == MPI_UNDEFINED ? -1 : count;
}

static inline bool cairn_status_cancelled(const MPI_Status *status)
{
	return status->count_hi_and_cancelled & 1;
}

#endif

#define CAIRN_F_STATUS_SIZE ((int64_t)(sizeof(MPI_Status) / sizeof(MPI_Fint)))

#endif
