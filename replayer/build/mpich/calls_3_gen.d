build/mpich/calls_3_gen.o: calls_3_gen.c calls_gen.h issue.h callbacks.h \
 constants.h mpih.h /usr/include/x86_64-linux-gnu/mpich/mpi.h \
 /usr/include/x86_64-linux-gnu/mpich/mpi_proto.h \
 /usr/include/x86_64-linux-gnu/mpich/mpio.h \
 /usr/include/x86_64-linux-gnu/mpich/mpi.h stream.h compute.h files.h \
 handles.h memory.h
calls_gen.h:
issue.h:
callbacks.h:
constants.h:
mpih.h:
/usr/include/x86_64-linux-gnu/mpich/mpi.h:
/usr/include/x86_64-linux-gnu/mpich/mpi_proto.h:
/usr/include/x86_64-linux-gnu/mpich/mpio.h:
/usr/include/x86_64-linux-gnu/mpich/mpi.h:
stream.h:
compute.h:
files.h:
handles.h:
memory.h:
