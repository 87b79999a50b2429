// mpi.h, and what this version of it lacks.
#ifndef CAIRN_REPLAY_MPIH_H
#define CAIRN_REPLAY_MPIH_H

#define OMPI_WANT_MPI_INTERFACE_WARNING 0
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
