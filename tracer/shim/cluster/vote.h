// Ballots, how they are combined, and the decision: plain functions on plain memory, so that they
// can be tested without MPI (test/vote). The decision follows from the combined ballot and from
// earlier decisions, so all ranks reach the same one (docs/decisions/0060-online-clustering.md).
#ifndef CAIRN_VOTE_H
#define CAIRN_VOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "../../ring/layout_gen.h"

enum {
	CAIRN_CLUSTERS = 64,           // maximal number of different behaviors; with more there is no clustering
	CAIRN_FIRST_COLLECTIVE = 2,    // ordinal of the first marker, by kind
	CAIRN_FIRST_EXPLICIT = 1,
	CAIRN_MIN_STEP = 2,            // a vote begins at one marker, and its outcome is read at the next one
	CAIRN_MAX_PERIOD = 4096,
	CAIRN_UNSUCCESSFUL_VOTES = 8,  // unsuccessful votes until the length of intervals is doubled
	CAIRN_MAX_DEVIATION = 16,      // deviation factor from the wanted length that makes it change
	CAIRN_GROWTH = 64,             // maximal factor of one change: the first interval may be short by chance
	CAIRN_GROWTH_UNKNOWN = 4,      // the same, while the period is not known
	CAIRN_MAX_STEP = 1 << 20,
	CAIRN_UNCHANGED_VOTES = 2,     // votes without a change until the length of intervals is doubled
	CAIRN_INTERVAL_CALLS = 32768,  // approximate limit of the calls between two markers, below trace.MaxExtrapolatedCalls
};

enum cairn_marker_kind { CAIRN_COLLECTIVE, CAIRN_EXPLICIT, CAIRN_MARKER_KINDS };

// As trace.VoteState.
enum cairn_vote_state {
	CAIRN_ALL_TRACING = CAIRN_STATE_ALL,
	CAIRN_CLUSTERING = CAIRN_STATE_CLUSTERED,
	CAIRN_LEAD = CAIRN_STATE_LEAD,
	CAIRN_ENDED = CAIRN_STATE_ENDED,
};

_Static_assert(2 * CAIRN_INTERVAL_CALLS <= CAIRN_MAX_EXTRAPOLATED_CALLS, "a trace has no interval of twice as many calls");

struct cairn_cluster {
	uint64_t signature;
	uint32_t lead;  // the lowest rank
	uint32_t ranks; // number of ranks
};

// The ballot of one rank, or the combined ballot of several.
struct cairn_ballot {
	uint64_t least_marker, greatest_marker; // kind and ordinal
	uint32_t unchanged;                     // on all of them that have an answer
	uint32_t period;                        // least common multiple; 0: not known
	uint64_t wanted;                        // markers of a kind until the next vote: the maximum
	uint64_t max_wanted;                    // limit of that: the minimum
	uint32_t clusters;                      // number; CAIRN_CLUSTERS + 1: too many
	uint32_t answered;                      // all of them have the answer of their compressor
	struct cairn_cluster cluster[CAIRN_CLUSTERS]; // sorted by signature
};

static inline uint64_t cairn_marker_word(unsigned kind, uint64_t ordinal)
{
	return (uint64_t)kind << 63 | ordinal;
}

static inline uint64_t cairn_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		const uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

// cairn_join_ballots adds more to all. The order of additions does not matter.
static inline void cairn_join_ballots(const struct cairn_ballot *more, struct cairn_ballot *all)
{
	struct cairn_cluster joined[CAIRN_CLUSTERS];
	uint32_t n = 0, i = 0, k = 0;

	if (more->least_marker < all->least_marker)
		all->least_marker = more->least_marker;
	if (more->greatest_marker > all->greatest_marker)
		all->greatest_marker = more->greatest_marker;
	all->unchanged &= more->unchanged;
	all->answered &= more->answered;
	if (all->period != 0 && more->period != 0) {
		const uint64_t period = all->period / cairn_divisor(all->period, more->period) * (uint64_t)more->period;
		all->period = period > CAIRN_MAX_PERIOD ? 0 : (uint32_t)period;
	} else {
		all->period = 0;
	}
	if (more->wanted > all->wanted)
		all->wanted = more->wanted;
	if (more->max_wanted < all->max_wanted)
		all->max_wanted = more->max_wanted;
	if (all->clusters > CAIRN_CLUSTERS || more->clusters > CAIRN_CLUSTERS) {
		all->clusters = CAIRN_CLUSTERS + 1;
		return;
	}
	while (i < all->clusters || k < more->clusters) {
		struct cairn_cluster next;
		if (k == more->clusters || (i < all->clusters && all->cluster[i].signature < more->cluster[k].signature)) {
			next = all->cluster[i++];
		} else if (i == all->clusters || more->cluster[k].signature < all->cluster[i].signature) {
			next = more->cluster[k++];
		} else {
			next = all->cluster[i++];
			if (more->cluster[k].lead < next.lead)
				next.lead = more->cluster[k].lead;
			next.ranks += more->cluster[k++].ranks;
		}
		if (n == CAIRN_CLUSTERS) {
			all->clusters = CAIRN_CLUSTERS + 1;
			return;
		}
		joined[n++] = next;
	}
	for (i = 0; i < n; i++)
		all->cluster[i] = joined[i];
	all->clusters = n;
}

// The state after the votes so far, equal on all ranks.
struct cairn_votes {
	uint64_t number;                   // number of votes
	uint64_t next[CAIRN_MARKER_KINDS]; // ordinal of the marker that ends the current interval
	uint64_t step, first_step;         // length of intervals in markers, now and when ranks were clustered
	uint64_t delay;                    // markers from the end of an interval to the vote on it
	uint32_t unchanged_votes;          // votes without a change since step was changed
	uint32_t factor;                   // length of the current interval relative to the one before
	uint32_t unsuccessful;             // unsuccessful votes
	enum cairn_vote_state state;
	bool lead_times; // the lead's times may be used for those of the interval that ended
};

static inline void cairn_votes_begin(struct cairn_votes *v)
{
	*v = (struct cairn_votes){
		.next = {CAIRN_FIRST_COLLECTIVE, CAIRN_FIRST_EXPLICIT}, .step = CAIRN_MIN_STEP, .delay = CAIRN_MIN_STEP - 1, .factor = 1, .state = CAIRN_ALL_TRACING,
	};
}

static inline void cairn_votes_end(struct cairn_votes *v)
{
	v->number++;
	v->next[CAIRN_COLLECTIVE] = v->next[CAIRN_EXPLICIT] = UINT64_MAX;
	v->state = CAIRN_ENDED;
	v->lead_times = false;
	v->factor = 1;
}

// cairn_votes_step chooses the length of intervals while all ranks trace: the least multiple of the
// program's period that is sufficient, so that ranks are clustered soon. Once they are,
// cairn_votes_lengthen increases it.
static inline void cairn_votes_step(struct cairn_votes *v, const struct cairn_ballot *all)
{
	const uint64_t period = all->period;

	if (++v->unsuccessful % CAIRN_UNSUCCESSFUL_VOTES == 0 && v->step < CAIRN_MAX_STEP)
		v->step *= 2; // limits the overhead in programs that never repeat
	const bool close = all->wanted > CAIRN_MAX_DEVIATION * v->step;
	if (!all->answered && !close) { // give the compressor more time, up to half of what is wanted
		if (4 * v->step <= all->wanted && 2 * v->step <= all->max_wanted)
			v->step *= 2;
		return;
	}
	if (period == 0) {
		if (close && CAIRN_GROWTH_UNKNOWN * v->step <= all->max_wanted)
			v->step *= CAIRN_GROWTH_UNKNOWN;
		return;
	}
	// keep a sufficient length: an interval of another one would differ
	if (v->step % period == 0 && !close && v->step <= all->max_wanted)
		return;
	uint64_t step = v->step;
	if (close) { // leave a margin, in case the next interval takes less time
		step = all->wanted / (CAIRN_MAX_DEVIATION / 2);
		if (step > CAIRN_GROWTH * v->step)
			step = CAIRN_GROWTH * v->step;
	}
	step += (period - step % period) % period;
	if (step > all->max_wanted)
		step = all->max_wanted / period * period;
	step = step < period ? period : step;
	v->step = step < CAIRN_MIN_STEP ? CAIRN_MIN_STEP : step;
}

// cairn_votes_lengthen increases the length of intervals while nothing changes. The next interval
// is still predictable: it is the last one twice.
static inline void cairn_votes_lengthen(struct cairn_votes *v, const struct cairn_ballot *all)
{
	if (++v->unchanged_votes < CAIRN_UNCHANGED_VOTES || 2 * v->step > all->max_wanted || 2 * v->step > CAIRN_MAX_DEVIATION * all->wanted || v->step >= CAIRN_MAX_STEP)
		return;
	v->step *= 2;
	v->factor = 2;
	v->unchanged_votes = 0;
}

// cairn_votes_schedule sets where the current interval ends and where the vote on it begins; at is
// the ordinal of the marker at which the last vote began. The compressor has until then for its
// answer: a whole interval but for the last marker, or 0.1 s if that is less. After a change
// intervals have their first length again, and the next one ends as soon as the outcome is read:
// the time is a multiple of that length.
static inline void cairn_votes_schedule(struct cairn_votes *v, unsigned kind, uint64_t at, uint64_t wanted)
{
	const uint64_t base = v->state == CAIRN_ALL_TRACING ? v->step : v->first_step;
	// the least multiple of step after the marker at which the outcome of that vote is read
	const uint64_t length = (v->delay + v->step) / v->step * v->step;
	uint64_t patience = wanted > base ? wanted / base * base : base;

	v->next[kind] = at - v->delay + length;
	if (patience > v->step)
		patience = v->step;
	v->delay = patience - 1;
}

// cairn_votes_decide applies the combined ballot of all ranks.
static inline void cairn_votes_decide(struct cairn_votes *v, const struct cairn_ballot *all)
{
	const unsigned kind = (unsigned)(all->least_marker >> 63);
	const uint64_t ordinal = all->least_marker & ~(UINT64_C(1) << 63);

	if (all->least_marker != all->greatest_marker) {
		cairn_votes_end(v); // the ranks' markers differ, so no marker can be trusted any more
		return;
	}
	v->lead_times = false;
	v->factor = 1;
	v->number++;
	if (!all->unchanged || all->clusters > CAIRN_CLUSTERS || (v->state == CAIRN_ALL_TRACING && !all->answered)) {
		if (v->state != CAIRN_ALL_TRACING)
			v->step = v->first_step;
		v->state = CAIRN_ALL_TRACING;
		cairn_votes_step(v, all);
	} else if (v->state == CAIRN_ALL_TRACING) {
		v->state = CAIRN_CLUSTERING;
		v->unsuccessful = v->unchanged_votes = 0;
		v->first_step = v->step;
	} else {
		v->state = CAIRN_LEAD;
		v->lead_times = all->answered; // otherwise the next ballot is about this interval, too
		cairn_votes_lengthen(v, all);
	}
	if (kind == CAIRN_EXPLICIT) // a program that sets markers knows best: ignore collective ones from now on
		v->next[CAIRN_COLLECTIVE] = UINT64_MAX;
	cairn_votes_schedule(v, kind, ordinal, all->wanted);
}

#endif
