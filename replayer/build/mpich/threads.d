build/mpich/threads.o: threads.c threads.h stream.h die.h table.h
threads.h:
stream.h:
die.h:
table.h:
