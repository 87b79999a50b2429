build/openmpi/calls_2_gen.o: calls_2_gen.c calls_gen.h issue.h \
 callbacks.h constants.h mpih.h \
 /usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h \
 /usr/lib/x86_64-linux-gnu/openmpi/include/mpi_portable_platform.h \
 stream.h compute.h files.h handles.h memory.h
calls_gen.h:
issue.h:
callbacks.h:
constants.h:
mpih.h:
/usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h:
/usr/lib/x86_64-linux-gnu/openmpi/include/mpi_portable_platform.h:
stream.h:
compute.h:
files.h:
handles.h:
memory.h:
