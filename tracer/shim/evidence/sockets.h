// What the kernel counts for the TCP connections of the process to other machines.
#ifndef CAIRN_SOCKETS_H
#define CAIRN_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

struct cairn_traffic {
	int64_t segments;    // sent with data
	int64_t retransmits; // of these
};

// cairn_read_sockets sums up the open connections; false if there are none.
bool cairn_read_sockets(struct cairn_traffic *sum);

#endif
