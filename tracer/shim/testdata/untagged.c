// Prints addresses without their tags.
#include <stdio.h>

#include "../process/untagged.h"

int main(void)
{
	static const uint64_t addresses[] = {0, 0x7fff12345678, 0x80007fff12345678, 0x05007fff12345678, (uint64_t)-1, (uint64_t)-2};

	for (unsigned i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		printf("%llx ", (unsigned long long)cairn_untagged(addresses[i]));
	return 0;
}
