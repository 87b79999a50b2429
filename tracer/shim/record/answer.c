#include "answer.h"

#include <string.h>

#include "../evidence/observed.h"

static struct cairn_answer *answer; // NULL: the file could not be made

void cairn_answer_begin(void)
{
	_Static_assert(CAIRN_OBSERVED_ANSWER + sizeof(*answer) <= CAIRN_OBSERVED_CONTEXT, "the parts overlap");
	answer = cairn_observed(CAIRN_OBSERVED_ANSWER, sizeof(*answer));
}

bool cairn_answer_read(struct cairn_answer *to)
{
	if (answer == NULL || memcmp(answer->header.magic, CAIRN_COMPRESSOR_MAGIC, sizeof(answer->header.magic)) != 0)
		return false;
	// the compressor writes the ballot before its number
	const uint64_t cut = __atomic_load_n(&answer->header.cut, __ATOMIC_ACQUIRE);
	memcpy(to, answer, sizeof(*to));
	to->header.cut = cut;
	return true;
}
