// What ranks say at a marker, how it is brought together, and what follows from it: plain functions on plain memory, so
// that they can be tried without MPI (test/vote). The decision follows from what all ranks said together and from earlier
// decisions, so all ranks come to the same (docs/decisions/0060-online-clustering.md).
#ifndef CAIRN_VOTE_H
#define CAIRN_VOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "../../core/layout_gen.h"

enum {
	CAIRN_CLUSTERS = 64,         // behaviors by which ranks are distinguished; with more of them there is no clustering
	CAIRN_FIRST_COLLECTIVE = 2,  // the first marker of each kind
	CAIRN_FIRST_EXPLICIT = 1,
	CAIRN_LONGEST_PERIOD = 4096,
	CAIRN_PATIENCE = 8,          // votes in vain until markers are set twice as far apart
	CAIRN_MUCH_FARTHER = 16,     // as they are wanted: reason enough to change their distance
	CAIRN_GROWTH = 64,           // at once: the first interval may have been a short one by chance
	CAIRN_UNKNOWN_GROWTH = 4,    // the same, while nobody knows the period
	CAIRN_FARTHEST = 1 << 20,
	CAIRN_CALM = 2,              // votes by which nothing has changed until markers are set twice as far apart
	CAIRN_INTERVAL_CALLS = 32768, // between two markers, about, at most: what trace.MaxStandInCalls leaves room for
};

enum cairn_marker_kind { CAIRN_COLLECTIVE, CAIRN_EXPLICIT, CAIRN_MARKER_KINDS };

// As trace.VoteState.
enum cairn_vote_state {
	CAIRN_ALL_TRACING = CAIRN_STATE_ALL,
	CAIRN_CLUSTERING = CAIRN_STATE_CLUSTERED,
	CAIRN_LEAD = CAIRN_STATE_LEAD,
	CAIRN_ENDED = CAIRN_STATE_ENDED,
};

_Static_assert(2 * CAIRN_INTERVAL_CALLS <= CAIRN_MOST_STAND_IN_CALLS, "a trace has no interval of twice as many calls");

struct cairn_cluster {
	uint64_t signature;
	uint32_t lead;  // the lowest rank
	uint32_t ranks; // how many
};

// A ballot is what one rank says, or several of them together.
struct cairn_ballot {
	uint64_t least_marker, greatest_marker; // kind and ordinal
	uint32_t unchanged;                     // all of them
	uint32_t period;                        // least common multiple; 0: not known
	uint64_t wanted;                        // markers of a kind until the next vote: the greatest wish
	uint64_t most;                          // the least limit
	uint32_t clusters;                      // CAIRN_CLUSTERS + 1: too many
	uint32_t padding;
	struct cairn_cluster cluster[CAIRN_CLUSTERS]; // by signature
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

// cairn_join_ballots adds more to all. In which order that is done makes no difference.
static inline void cairn_join_ballots(const struct cairn_ballot *more, struct cairn_ballot *all)
{
	struct cairn_cluster joined[CAIRN_CLUSTERS];
	uint32_t n = 0, i = 0, k = 0;

	if (more->least_marker < all->least_marker)
		all->least_marker = more->least_marker;
	if (more->greatest_marker > all->greatest_marker)
		all->greatest_marker = more->greatest_marker;
	all->unchanged &= more->unchanged;
	if (all->period != 0 && more->period != 0) {
		const uint64_t period = all->period / cairn_divisor(all->period, more->period) * (uint64_t)more->period;
		all->period = period > CAIRN_LONGEST_PERIOD ? 0 : (uint32_t)period;
	} else {
		all->period = 0;
	}
	if (more->wanted > all->wanted)
		all->wanted = more->wanted;
	if (more->most < all->most)
		all->most = more->most;
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

// What follows from the votes so far, equal on all ranks.
struct cairn_votes {
	uint64_t number;                   // of votes
	uint64_t next[CAIRN_MARKER_KINDS]; // ordinal of the next marker
	uint64_t step, first_step;         // from one to the next; what it was when ranks were clustered
	uint32_t calm;                     // votes by which nothing had changed, since the step was changed
	uint32_t factor;                   // of the interval that has begun: so many times the one before
	uint32_t vain;                     // votes since something had changed the first time
	enum cairn_vote_state state;
	bool stands; // the interval that ended may be stood in for
};

static inline void cairn_votes_begin(struct cairn_votes *v)
{
	*v = (struct cairn_votes){
		.next = {CAIRN_FIRST_COLLECTIVE, CAIRN_FIRST_EXPLICIT}, .step = CAIRN_FIRST_COLLECTIVE, .factor = 1, .state = CAIRN_ALL_TRACING,
	};
}

static inline void cairn_votes_end(struct cairn_votes *v)
{
	v->number++;
	v->next[CAIRN_COLLECTIVE] = v->next[CAIRN_EXPLICIT] = UINT64_MAX;
	v->state = CAIRN_ENDED;
	v->stands = false;
	v->factor = 1;
}

// cairn_votes_step chooses the distance of markers while all ranks trace: a multiple of the program's period. It is the least
// one that will do, so that ranks are clustered soon; markers go apart when they are.
static inline void cairn_votes_step(struct cairn_votes *v, const struct cairn_ballot *all)
{
	const uint64_t period = all->period;

	if (++v->vain % CAIRN_PATIENCE == 0 && v->step < CAIRN_FARTHEST)
		v->step *= 2; // also what never repeats shall cost little
	const bool close = all->wanted > CAIRN_MUCH_FARTHER * v->step;
	if (period == 0) {
		if (close && CAIRN_UNKNOWN_GROWTH * v->step <= all->most)
			v->step *= CAIRN_UNKNOWN_GROWTH;
		return;
	}
	// what will do stays: another distance would make the next interval another one
	if (v->step % period == 0 && !close && v->step <= all->most)
		return;
	uint64_t step = v->step;
	if (close) { // it is not to be too close again when the next interval takes less time
		step = all->wanted / (CAIRN_MUCH_FARTHER / 2);
		if (step > CAIRN_GROWTH * v->step)
			step = CAIRN_GROWTH * v->step;
	}
	step += (period - step % period) % period;
	if (step > all->most)
		step = all->most / period * period;
	v->step = step < period ? period : step;
}

// cairn_votes_calm sets markers farther apart while nothing changes. What the next interval should be is known all the
// same: the last one, twice.
static inline void cairn_votes_calm(struct cairn_votes *v, const struct cairn_ballot *all)
{
	if (++v->calm < CAIRN_CALM || 2 * v->step > all->most || 2 * v->step > CAIRN_MUCH_FARTHER * all->wanted || v->step >= CAIRN_FARTHEST)
		return;
	v->step *= 2;
	v->factor = 2;
	v->calm = 0;
}

// cairn_votes_decide takes what all ranks said together.
static inline void cairn_votes_decide(struct cairn_votes *v, const struct cairn_ballot *all)
{
	const unsigned kind = (unsigned)(all->least_marker >> 63);
	const uint64_t ordinal = all->least_marker & ~(UINT64_C(1) << 63);

	if (all->least_marker != all->greatest_marker) {
		cairn_votes_end(v); // a rank has counted otherwise: no marker can be trusted any more
		return;
	}
	v->stands = false;
	v->factor = 1;
	if (v->number++ == 0 && kind == CAIRN_EXPLICIT)
		v->step = 1;
	if (!all->unchanged || all->clusters > CAIRN_CLUSTERS) {
		if (v->state != CAIRN_ALL_TRACING)
			v->step = v->first_step;
		v->state = CAIRN_ALL_TRACING;
		cairn_votes_step(v, all);
	} else if (v->state == CAIRN_ALL_TRACING) {
		v->state = CAIRN_CLUSTERING;
		v->vain = v->calm = 0;
		v->first_step = v->step;
	} else {
		v->state = CAIRN_LEAD;
		v->stands = true;
		cairn_votes_calm(v, all);
	}
	if (kind == CAIRN_EXPLICIT) // who sets markers knows better: the others count no more
		v->next[CAIRN_COLLECTIVE] = UINT64_MAX;
	v->next[kind] = ordinal + v->step;
}

#endif
