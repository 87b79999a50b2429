build/openmpi/feed.o: feed.c feed.h die.h
feed.h:
die.h:
