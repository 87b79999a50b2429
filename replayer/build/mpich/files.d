build/mpich/files.o: files.c files.h stream.h die.h mpih.h \
 /usr/include/x86_64-linux-gnu/mpich/mpi.h \
 /usr/include/x86_64-linux-gnu/mpich/mpi_proto.h \
 /usr/include/x86_64-linux-gnu/mpich/mpio.h \
 /usr/include/x86_64-linux-gnu/mpich/mpi.h
files.h:
stream.h:
die.h:
mpih.h:
/usr/include/x86_64-linux-gnu/mpich/mpi.h:
/usr/include/x86_64-linux-gnu/mpich/mpi_proto.h:
/usr/include/x86_64-linux-gnu/mpich/mpio.h:
/usr/include/x86_64-linux-gnu/mpich/mpi.h:
