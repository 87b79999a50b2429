build/openmpi/die.o: die.c die.h
die.h:
