build/mpich/main.o: main.c compute.h stream.h die.h feed.h memory.h \
 mpih.h /usr/include/x86_64-linux-gnu/mpich/mpi.h \
 /usr/include/x86_64-linux-gnu/mpich/mpi_proto.h \
 /usr/include/x86_64-linux-gnu/mpich/mpio.h \
 /usr/include/x86_64-linux-gnu/mpich/mpi.h table.h threads.h
compute.h:
stream.h:
die.h:
feed.h:
memory.h:
mpih.h:
/usr/include/x86_64-linux-gnu/mpich/mpi.h:
/usr/include/x86_64-linux-gnu/mpich/mpi_proto.h:
/usr/include/x86_64-linux-gnu/mpich/mpio.h:
/usr/include/x86_64-linux-gnu/mpich/mpi.h:
table.h:
threads.h:
