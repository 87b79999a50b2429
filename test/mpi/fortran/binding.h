! One source for three bindings: -DMPIF_H, -DUSE_MPI or -DUSE_MPI_F08. CALL(MPI_X)(…) counts the call and makes it.
! (Fortran's preprocessor is the traditional one: it replaces parameters in strings, too.)
#define CALL(f) call counted("f"); call f
! COUNTED(MPI_X) goes before a function that returns a value.
#define COUNTED(f) call counted("f")
#if defined(USE_MPI_F08)
#define USE_BINDING use mpi_f08
#define INCLUDE_BINDING
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define ERRHANDLER type(MPI_Errhandler)
#define FILE type(MPI_File)
#define GROUP type(MPI_Group)
#define INFO type(MPI_Info)
#define MESSAGE type(MPI_Message)
#define OP type(MPI_Op)
#define REQUEST type(MPI_Request)
#define SESSION type(MPI_Session)
#define WIN type(MPI_Win)
#define STATUS(s) type(MPI_Status) :: s
#define STATUSES(s, n) type(MPI_Status) :: s(n)
#else
#ifdef USE_MPI
#define USE_BINDING use mpi
#define INCLUDE_BINDING
#else
#define USE_BINDING
#define INCLUDE_BINDING include 'mpif.h'
#endif
#define COMM integer
#define DATATYPE integer
#define ERRHANDLER integer
#define FILE integer
#define GROUP integer
#define INFO integer
#define MESSAGE integer
#define OP integer
#define REQUEST integer
#define SESSION integer
#define WIN integer
#define STATUS(s) integer :: s(MPI_STATUS_SIZE)
#define STATUSES(s, n) integer :: s(MPI_STATUS_SIZE, n)
#endif
