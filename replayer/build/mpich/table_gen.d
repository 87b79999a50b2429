build/mpich/table_gen.o: table_gen.c table.h calls_gen.h mpih.h \
 /usr/include/x86_64-linux-gnu/mpich/mpi.h \
 /usr/include/x86_64-linux-gnu/mpich/mpi_proto.h \
 /usr/include/x86_64-linux-gnu/mpich/mpio.h \
 /usr/include/x86_64-linux-gnu/mpich/mpi.h
table.h:
calls_gen.h:
mpih.h:
/usr/include/x86_64-linux-gnu/mpich/mpi.h:
/usr/include/x86_64-linux-gnu/mpich/mpi_proto.h:
/usr/include/x86_64-linux-gnu/mpich/mpio.h:
/usr/include/x86_64-linux-gnu/mpich/mpi.h:
