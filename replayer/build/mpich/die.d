build/mpich/die.o: die.c die.h
die.h:
