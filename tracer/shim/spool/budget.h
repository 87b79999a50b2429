// The account of the spool that all processes of a pod share (tracer/budget).
#ifndef CAIRN_BUDGET_H
#define CAIRN_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

// cairn_budget_open maps the account of a spool. It returns whether there is one.
bool cairn_budget_open(const char *spool);

// cairn_budget_take adds bytes to the account if as many as reserve are left then. Without an account they are.
bool cairn_budget_take(uint64_t bytes, uint64_t reserve);

// cairn_budget_add adds bytes that are taken in any case.
void cairn_budget_add(int64_t bytes);

// cairn_budget_refused counts this process among those that found no room to leave a sign.
void cairn_budget_refused(void);

// cairn_budget_limit is how much all may take, 0 without an account.
uint64_t cairn_budget_limit(void);

#endif
