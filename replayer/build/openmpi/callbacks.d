build/openmpi/callbacks.o: callbacks.c callbacks.h constants.h mpih.h \
 /usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h \
 /usr/lib/x86_64-linux-gnu/openmpi/include/mpi_portable_platform.h \
 stream.h die.h
callbacks.h:
constants.h:
mpih.h:
/usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h:
/usr/lib/x86_64-linux-gnu/openmpi/include/mpi_portable_platform.h:
stream.h:
die.h:
