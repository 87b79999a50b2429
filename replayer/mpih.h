// mpi.h, and what this version of it lacks.
#ifndef CAIRN_REPLAY_MPIH_H
#define CAIRN_REPLAY_MPIH_H

#define OMPI_WANT_MPI_INTERFACE_WARNING 0
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef OPEN_MPI
#include <dlfcn.h>

// Open MPI's library has datatypes that its mpi.h does not: removed ones, which old programs use,
// and optional ones of Fortran. Another version may lack them.
#define CR_UNDECLARED(name) ((MPI_Datatype)dlsym(RTLD_DEFAULT, name))
#undef MPI_LB
#define MPI_LB CR_UNDECLARED("ompi_mpi_lb")
#undef MPI_UB
#define MPI_UB CR_UNDECLARED("ompi_mpi_ub")
#ifndef MPI_INTEGER16
#define MPI_INTEGER16 CR_UNDECLARED("ompi_mpi_integer16")
#endif
#ifndef MPI_REAL2
#define MPI_REAL2 CR_UNDECLARED("ompi_mpi_real2")
#endif
#ifndef MPI_COMPLEX4
#define MPI_COMPLEX4 CR_UNDECLARED("ompi_mpi_complex4")
#endif
#endif

#define CR_MPI_H (MPI_VERSION * 100 + MPI_SUBVERSION)

#if MPI_VERSION < 4
typedef void *MPI_Session;
#define CR_NULL_session NULL
#else
#define CR_NULL_session MPI_SESSION_NULL
#endif

// The null handle of each kind.
#define CR_NULL_datatype MPI_DATATYPE_NULL
#define CR_NULL_op MPI_OP_NULL
#define CR_NULL_comm MPI_COMM_NULL
#define CR_NULL_group MPI_GROUP_NULL
#define CR_NULL_win MPI_WIN_NULL
#define CR_NULL_file MPI_FILE_NULL
#define CR_NULL_info MPI_INFO_NULL
#define CR_NULL_request MPI_REQUEST_NULL
#define CR_NULL_message MPI_MESSAGE_NULL
#define CR_NULL_errhandler MPI_ERRHANDLER_NULL
#define CR_NULL_keyval MPI_KEYVAL_INVALID

// Kinds of handles, with their C types.
#define CR_KINDS(DO) \
	DO(datatype, MPI_Datatype) \
	DO(op, MPI_Op) \
	DO(comm, MPI_Comm) \
	DO(group, MPI_Group) \
	DO(win, MPI_Win) \
	DO(file, MPI_File) \
	DO(info, MPI_Info) \
	DO(request, MPI_Request) \
	DO(message, MPI_Message) \
	DO(errhandler, MPI_Errhandler) \
	DO(session, MPI_Session) \
	DO(keyval, int)

#endif
