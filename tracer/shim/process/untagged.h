// Addresses with a tag in their upper byte, which arm64 ignores: sanitizers and the memory tagging
// extension use it. A word of a record that refers to an entry has bits of its own there.
#ifndef CAIRN_UNTAGGED_H
#define CAIRN_UNTAGGED_H

#include <stdint.h>

// cairn_untagged returns the address without its tag. Constants of MPI that are small negative
// numbers stay what they are: the upper byte becomes what bit 55 is.
static inline uint64_t cairn_untagged(uint64_t address)
{
#ifdef __aarch64__
	return (uint64_t)((int64_t)(address << 8) >> 8);
#else
	return address;
#endif
}

#endif
