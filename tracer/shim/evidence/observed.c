#include "observed.h"

#include <stdbool.h>

#include "../spool/spool.h"
#include "evidence.h"

void *cairn_observed(size_t part, size_t size)
{
	static char *file;
	static size_t there; // its size in bytes

	if (file == NULL) {
		there = CAIRN_OBSERVED_EVIDENCE + sizeof(struct cairn_evidence_file);
		file = cairn_spool_map("observed", there, false);
	}
	if (file == NULL) { // the reserved part of the spool has no room for the rest
		there = CAIRN_OBSERVED_CONTEXT;
		file = cairn_spool_map("observed", there, true);
	}
	return file != NULL && part + size <= there ? file + part : NULL;
}
