// Properties of vote.h, for any number of ranks.
#include "../cluster/vote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what)                                                                      \
	do {                                                                             \
		if (!(what)) {                                                           \
			fprintf(stderr, "vote.c:%d: %s does not hold\n", __LINE__, #what); \
			exit(1);                                                         \
		}                                                                        \
	} while (0)

enum { MOST = 600 };

static struct cairn_ballot ballot[MOST], sum[MOST], other;

static void random_ballot(struct cairn_ballot *b, uint32_t rank, unsigned behaviors)
{
	memset(b, 0, sizeof(*b));
	b->least_marker = b->greatest_marker = cairn_marker_word(rand() % 400 == 0, 64 + (uint64_t)(rand() % 300 == 0));
	b->unchanged = rand() % 50 != 0;
	b->answered = rand() % 50 != 0;
	b->period = (uint32_t)(rand() % 40 == 0 ? 0 : 1 + rand() % 6);
	b->wanted = 1 + (uint64_t)rand() % 1000;
	b->max_wanted = 1 + (uint64_t)rand() % 1000;
	b->clusters = 1;
	b->cluster[0] = (struct cairn_cluster){(uint64_t)(rand() % (int)behaviors) * UINT64_C(0x9e3779b97f4a7c15), rank, 1};
}

static void same(const struct cairn_ballot *a, const struct cairn_ballot *b)
{
	CHECK(a->least_marker == b->least_marker && a->greatest_marker == b->greatest_marker && a->unchanged == b->unchanged && a->answered == b->answered);
	CHECK(a->period == b->period && a->wanted == b->wanted && a->max_wanted == b->max_wanted && a->clusters == b->clusters);
	if (a->clusters <= CAIRN_CLUSTERS)
		CHECK(memcmp(a->cluster, b->cluster, a->clusters * sizeof(a->cluster[0])) == 0);
}

// In whatever tree and order the ballots are combined, the result is the same, and it is correct.
static void any_tree(uint32_t ranks, unsigned behaviors)
{
	for (uint32_t i = 0; i < ranks; i++) {
		random_ballot(&ballot[i], i, behaviors);
		sum[i] = ballot[i];
	}
	for (uint32_t left = ranks; left > 1; left--) { // two at random become one
		uint32_t a = (uint32_t)rand() % left, b = (uint32_t)rand() % (left - 1);
		b += b >= a;
		cairn_join_ballots(&sum[a], &sum[b]);
		if (b == left - 1)
			sum[a] = sum[b];
		else
			sum[a] = sum[left - 1];
	}
	other = ballot[0];
	for (uint32_t i = 1; i < ranks; i++)
		cairn_join_ballots(&ballot[i], &other);
	same(&sum[0], &other);

	uint32_t unchanged = 1, answered = 1, distinct = 0;
	for (uint32_t i = 0; i < ranks; i++) {
		uint32_t k, n = 0;
		unchanged &= ballot[i].unchanged;
		answered &= ballot[i].answered;
		for (k = 0; k < i && ballot[k].cluster[0].signature != ballot[i].cluster[0].signature; k++)
			;
		if (k < i)
			continue;
		distinct++;
		for (k = i; k < ranks; k++)
			n += ballot[k].cluster[0].signature == ballot[i].cluster[0].signature;
		if (other.clusters > CAIRN_CLUSTERS)
			continue;
		for (k = 0; k < other.clusters && other.cluster[k].signature != ballot[i].cluster[0].signature; k++)
			;
		CHECK(k < other.clusters && other.cluster[k].lead == i && other.cluster[k].ranks == n);
	}
	CHECK(other.unchanged == unchanged && other.answered == answered);
	CHECK(other.clusters == (distinct > CAIRN_CLUSTERS ? CAIRN_CLUSTERS + 1 : distinct));
}

static struct cairn_ballot combined(uint64_t ordinal, unsigned kind, uint32_t unchanged, uint32_t period, uint64_t wanted, uint64_t max_wanted)
{
	struct cairn_ballot b = {.least_marker = cairn_marker_word(kind, ordinal), .unchanged = unchanged, .period = period,
		.wanted = wanted, .max_wanted = max_wanted, .clusters = 2, .answered = 1};
	b.greatest_marker = b.least_marker;
	return b;
}

// The transition graph: unchanged ranks are clustered once and stay clustered; a change starts again from the beginning.
static void transitions(void)
{
	struct cairn_votes v;
	struct cairn_ballot all;
	static const struct { uint32_t unchanged, answered; enum cairn_vote_state state; bool lead_times; uint64_t step, length; } steps[] = {
		{0, 1, CAIRN_ALL_TRACING, false, 64, 64}, {1, 1, CAIRN_CLUSTERING, false, 64, 64}, {1, 1, CAIRN_LEAD, true, 64, 64},
		{1, 1, CAIRN_LEAD, true, 128, 128}, {1, 1, CAIRN_LEAD, true, 128, 128}, {1, 1, CAIRN_LEAD, true, 256, 256},
		{1, 1, CAIRN_LEAD, true, 256, 256},
		// without all answers ranks stay clustered, and keep their own times
		{1, 0, CAIRN_LEAD, false, 256, 256},
		// the compressor had time for its answer until the 256th marker
		{0, 1, CAIRN_ALL_TRACING, false, 64, 256}, {0, 1, CAIRN_ALL_TRACING, false, 64, 64}, {1, 1, CAIRN_CLUSTERING, false, 64, 64},
		{1, 1, CAIRN_LEAD, true, 64, 64},
		// or trace, and the compressor gets more time
		{0, 0, CAIRN_ALL_TRACING, false, 128, 128}, {1, 0, CAIRN_ALL_TRACING, false, 256, 256}, {1, 1, CAIRN_CLUSTERING, false, 256, 256},
		{1, 0, CAIRN_LEAD, false, 256, 256},
	};
	cairn_votes_begin(&v);
	uint64_t at = v.next[CAIRN_COLLECTIVE];
	CHECK(at == CAIRN_FIRST_COLLECTIVE && v.next[CAIRN_EXPLICIT] == CAIRN_FIRST_EXPLICIT);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const uint64_t before = v.step;
		all = combined(at + v.delay, CAIRN_COLLECTIVE, steps[i].unchanged, 4, 512, 500);
		all.answered = steps[i].answered;
		cairn_votes_decide(&v, &all);
		CHECK(v.state == steps[i].state && v.lead_times == steps[i].lead_times && v.number == i + 1);
		CHECK(v.step == steps[i].step && v.next[CAIRN_COLLECTIVE] == at + steps[i].length);
		CHECK(v.state != CAIRN_LEAD || v.step == v.factor * before);
		at = v.next[CAIRN_COLLECTIVE];
	}
	// too many behaviors: nobody leads
	all = combined(at, CAIRN_COLLECTIVE, 1, 4, 64, 1 << 20);
	all.clusters = CAIRN_CLUSTERS + 1;
	cairn_votes_decide(&v, &all);
	CHECK(v.state == CAIRN_ALL_TRACING && !v.lead_times);
	// explicit markers take precedence
	all = combined(1, CAIRN_EXPLICIT, 0, 1, 1, 1 << 20);
	cairn_votes_decide(&v, &all);
	CHECK(v.next[CAIRN_COLLECTIVE] == UINT64_MAX && v.next[CAIRN_EXPLICIT] > 1);
	// a rank with other markers ends clustering on all ranks
	all.least_marker--;
	cairn_votes_decide(&v, &all);
	CHECK(v.state == CAIRN_ENDED && v.next[CAIRN_EXPLICIT] == UINT64_MAX && v.next[CAIRN_COLLECTIVE] == UINT64_MAX);

	cairn_votes_begin(&v);
	all = combined(1, CAIRN_EXPLICIT, 0, 1, 1, 1 << 20);
	cairn_votes_decide(&v, &all);
	CHECK(v.next[CAIRN_EXPLICIT] == 2);
}

// Whatever the ranks vote: a vote begins after the interval has ended, and the next one ends when the outcome can be
// read, or later. While ranks are clustered, it has as many markers as the one before, or twice as many. The compressor
// has an interval for its answer, or 0.1 s if that is less. After a change intervals are short again by then.
static void schedules(void)
{
	for (int run = 0; run < 2000; run++) {
		const unsigned kind = (unsigned)rand() % 2;
		const uint64_t wanted = 1 + (uint64_t)rand() % (run % 3 == 0 ? 20 : 5000);
		struct cairn_votes v;
		cairn_votes_begin(&v);
		uint64_t end = v.next[kind], length = 0;
		for (int i = 0; i < 60; i++) {
			const uint64_t vote = end + v.delay, delay = v.delay, step = v.step;
			const enum cairn_vote_state before = v.state;
			struct cairn_ballot all = combined(vote, kind, rand() % 12 != 0, (uint32_t)rand() % 9, wanted, 1 + (uint64_t)rand() % (4 * wanted));
			all.answered = rand() % 6 != 0;
			cairn_votes_decide(&v, &all);
			const uint64_t next = v.next[kind];
			CHECK(vote > end && next > vote && next - end >= CAIRN_MIN_STEP);
			if (v.state == CAIRN_LEAD)
				CHECK(next - end == v.step && v.step == v.factor * step && (before == CAIRN_ALL_TRACING || next - end == v.factor * length));
			if (v.state == CAIRN_CLUSTERING)
				CHECK(next - end == v.step && v.step == step);
			if (v.state == CAIRN_ALL_TRACING)
				CHECK(next - end <= delay + v.step && v.delay + 1 == v.step);
			else
				CHECK(v.delay + 1 <= v.step && (v.delay + 1) % v.first_step == 0 && (v.delay + 1 == v.step || v.delay + 1 + v.first_step > wanted));
			length = next - end;
			end = next;
		}
	}
}

// A compressor that needs up to a quarter of 0.1 s gets it soon, a slower one later: then the ranks stay clustered.
static void late_answers(void)
{
	for (uint64_t needed = 1; needed < 1000; needed++) {
		struct cairn_votes v;
		cairn_votes_begin(&v);
		for (int i = 0; i < 60; i++) {
			const uint32_t answered = v.delay >= needed;
			struct cairn_ballot all = combined(v.next[CAIRN_COLLECTIVE] + v.delay, CAIRN_COLLECTIVE, 1, answered ? 3 : 0, 1000, 1 << 20);
			all.answered = answered;
			cairn_votes_decide(&v, &all);
			CHECK(i < (needed < 250 ? 15 : 40) || v.lead_times);
		}
	}
}

// The beginning of a loop whose period is known after four iterations: the length of intervals is a multiple of the
// period, at most an eighth of the wanted one or a few times the previous one; and it becomes large enough.
static void beginnings(void)
{
	for (uint32_t period = 1; period < 60; period++) {
		for (uint64_t wanted = 1; wanted < 100000; wanted = wanted * 3 / 2 + 1) {
			struct cairn_votes v;
			cairn_votes_begin(&v);
			for (int i = 0; i < 12; i++) {
				const uint64_t at = v.next[CAIRN_COLLECTIVE], before = v.step, known = at < 4 * period ? 0 : period;
				struct cairn_ballot all = combined(at + v.delay, CAIRN_COLLECTIVE, 0, (uint32_t)known, wanted, 1 << 20);
				cairn_votes_decide(&v, &all);
				CHECK(v.next[CAIRN_COLLECTIVE] > at && (known == 0 || v.step % period == 0));
				CHECK(v.step <= 2 * CAIRN_GROWTH_UNKNOWN * before || v.step < wanted / 8 + period);
				CHECK(i < 10 || wanted <= CAIRN_MAX_DEVIATION * v.step);
			}
		}
	}
}

// The length of intervals becomes a multiple of the program's period, and stays as long as possible; a program that
// never repeats votes less and less often.
static void distances(void)
{
	for (uint32_t period = 1; period < 300; period++) {
		struct cairn_votes v;
		cairn_votes_begin(&v);
		uint64_t step = 0;
		for (int i = 0; i < 4; i++) {
			const uint64_t at = v.next[CAIRN_COLLECTIVE];
			struct cairn_ballot all = combined(at + v.delay, CAIRN_COLLECTIVE, 0, period, 50 + (uint64_t)rand() % 900, 4096);
			cairn_votes_decide(&v, &all);
			CHECK(v.next[CAIRN_COLLECTIVE] > at && v.step % period == 0 && v.step <= 4096);
			CHECK(v.step >= step && all.wanted <= CAIRN_MAX_DEVIATION * v.step && (v.step == step || CAIRN_MAX_DEVIATION * step < all.wanted));
			step = v.step;
		}
	}
	struct cairn_votes v;
	cairn_votes_begin(&v);
	uint64_t votes = 0;
	while (v.next[CAIRN_COLLECTIVE] < UINT64_C(1) << 32) {
		struct cairn_ballot all = combined(v.next[CAIRN_COLLECTIVE] + v.delay, CAIRN_COLLECTIVE, 0, 0, 64, 1 << 20);
		cairn_votes_decide(&v, &all);
		votes++;
	}
	CHECK(votes < 8192);
}

int main(void)
{
	srand(4711);
	for (int i = 0; i < 400; i++) {
		any_tree(1 + (uint32_t)rand() % MOST, 1 + (unsigned)rand() % 9);
		any_tree(1 + (uint32_t)rand() % 40, 1 + (unsigned)rand() % 9);
		any_tree(1 + (uint32_t)rand() % MOST, 1 + (unsigned)rand() % 150);
	}
	transitions();
	schedules();
	late_answers();
	beginnings();
	distances();
	return 0;
}
