// The process that decodes this rank's calls: `cairn replay-feed`.
#ifndef CAIRN_REPLAY_FEED_H
#define CAIRN_REPLAY_FEED_H

// Starts it, with the arguments that argv ends with for it, and gives the ends of pipes to be read, one for each of n threads.
void cr_start_feeder(const char *program, const char *trace, const char *scratch, int rank, int *files, int n);

#endif
