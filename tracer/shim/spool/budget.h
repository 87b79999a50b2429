// The budget of a spool that all processes of a pod share (tracer/budget).
#ifndef CAIRN_BUDGET_H
#define CAIRN_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

// cairn_budget_open maps the budget file of a spool and reports whether there is one.
bool cairn_budget_open(const char *spool);

// cairn_budget_take adds bytes to those in use if at least reserve bytes are left then. Without a
// budget it always succeeds.
bool cairn_budget_take(uint64_t bytes, uint64_t reserve);

// cairn_budget_add adds bytes unconditionally; the number may be negative.
void cairn_budget_add(int64_t bytes);

// cairn_budget_refused counts this process among those that found no room for any file.
void cairn_budget_refused(void);

// cairn_budget_used returns the bytes in use, 0 without a budget.
uint64_t cairn_budget_used(void);

// cairn_budget_limit returns the limit in bytes, 0 without a budget.
uint64_t cairn_budget_limit(void);

#endif
