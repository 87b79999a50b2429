build/mpich/constants_gen.o: constants_gen.c constants.h mpih.h \
 /usr/include/x86_64-linux-gnu/mpich/mpi.h \
 /usr/include/x86_64-linux-gnu/mpich/mpi_proto.h \
 /usr/include/x86_64-linux-gnu/mpich/mpio.h \
 /usr/include/x86_64-linux-gnu/mpich/mpi.h
constants.h:
mpih.h:
/usr/include/x86_64-linux-gnu/mpich/mpi.h:
/usr/include/x86_64-linux-gnu/mpich/mpi_proto.h:
/usr/include/x86_64-linux-gnu/mpich/mpio.h:
/usr/include/x86_64-linux-gnu/mpich/mpi.h:
