// The process that decodes this rank's calls: `cairn replay-feed`.
#ifndef CAIRN_REPLAY_FEED_H
#define CAIRN_REPLAY_FEED_H

// Starts it with the arguments at the end of argv, and returns the read ends of n pipes, one per
// thread.
void cr_start_feeder(const char *program, const char *trace, const char *scratch, int rank, int *files, int n);

#endif
