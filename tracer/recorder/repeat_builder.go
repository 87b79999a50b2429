package recorder

import (
	"slices"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// isRepeatable reports whether the only effects of a function's calls are to end and create
// requests, so that its calls can be repeats.
func (l *layout) isRepeatable() bool {
	if l.meaning != meansNothing {
		return false
	}
	for i := range l.params {
		p := &l.params[i]
		switch p.spec.Effect {
		case mpi.EffectNone, mpi.EffectStarted:
		case mpi.EffectNew:
			if i != l.newRequest {
				return false
			}
		case mpi.EffectCompleted, mpi.EffectFreed:
			if p.kind != mpi.KindRequest || !p.in || !p.out {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// hashedWords returns the words of the fixed part of a record that are in every key.
func (l *layout) hashedWords() []int32 {
	const enough = 8
	var offsets []int32
	for i := range l.params {
		p := &l.params[i]
		if !p.in {
			continue
		}
		if l.in[i] == 0 || len(offsets) == enough {
			break // the following offsets depend on the call
		}
		if p.shape == shapeWord && p.inSlot == inSignature && p.kind != mpi.KindBuffer && p.kind != mpi.KindRequest {
			offsets = append(offsets, l.in[i])
		}
	}
	return offsets
}

// A repeatBuilder decodes a record as the slow path does and notes the role of each
// word in the key.
type repeatBuilder struct {
	r     *Recorder
	c     *call
	m     *repeat
	named []int32 // requests that the call may have ended, in the order of the slow path
	seen  []bool  // words that have a role
	ok    bool
}

// buildRepeat makes a repeat of a call that has just taken the slow path. before is the repeat of
// the previous call, nil if it was none.
func (r *Recorder) buildRepeat(t *thread, before *repeat, c *call, rec record.Record, number, creator int32) {
	rs := r.repeats
	if rs.off || c.failed || int(record.Low(rec.Words[record.LengthWord])) != 8*len(rec.Words) || !c.repeatable || rs.credit < repeatCost {
		return
	}
	m := &repeat{
		layout: c.layout, first: rec.Words[record.LengthWord], number: number, creator: creator, requestAt: none,
		in: slices.Clone(c.in[:len(c.params)]), out: slices.Clone(c.out[:len(c.params)]),
		untraced: t.untraced, generation: rs.generation, era: rs.era, comm: communicatorUse{at: none},
	}
	b := &repeatBuilder{r: r, c: c, m: m, named: r.scratch.named, seen: make([]bool, len(rec.Words)), ok: true}
	if c.layout.comm >= 0 {
		m.comm = useOfCommunicator(r.objects, c.in[c.layout.comm], rec.Words)
	}
	b.record(t)
	if !b.ok || !b.sameValues(rec.Words) {
		return
	}
	rs.credit -= repeatCost
	rs.add(m, repeatHash(rec.Words))
	if before != nil {
		before.next = m
	}
	t.latest = m
}

// add inserts a repeat at the head of its hash chain and truncates a chain that is too long.
func (rs *repeats) add(m *repeat, hash uint32) {
	if rs.count == maxRepeats {
		rs.forget()
		m.generation, m.era = rs.generation, rs.era
	}
	if rs.heads == nil {
		rs.heads = make([]*repeat, repeatBuckets)
	}
	m.chain = rs.heads[hash]
	rs.heads[hash] = m
	rs.count++
	n := 1
	for last := m; last.chain != nil; last = last.chain {
		if n++; n > maxChain {
			last.chain = nil
			rs.count--
			return
		}
	}
}

// record assigns roles to all words of the record.
func (b *repeatBuilder) record(t *thread) {
	for _, at := range []int32{record.LengthWord, record.ReservedWord, record.EpochWord, record.EnterWord, record.ExitWord} {
		b.seen[at] = true
	}
	if b.c.returnSlot == inStream {
		b.source(record.ReturnWord, 1, sourceWord)
	}
	b.r.objects.Requests.Begin(t.number)
	for i := range b.c.params {
		if p := &b.c.params[i]; p.in && b.ok {
			b.parameter(p, b.c.in[i], p.inSlot, false)
		}
	}
	b.m.returned = len(b.m.requests)
	b.r.objects.Requests.Begin(t.number)
	for i := range b.c.params {
		if p := &b.c.params[i]; p.out && b.ok {
			if i == b.c.newRequest && b.c.creates {
				b.m.requestAt = b.c.out[i]
				b.seen[b.c.out[i]] = true
				continue
			}
			b.parameter(p, b.c.out[i], p.outSlot, true)
			if p.spec.OnlyIf != 0 { // the flag determines which other values exist
				b.want(b.c.out[p.spec.OnlyIf-1])
			}
		}
	}
	for at, seen := range b.seen {
		if !seen {
			b.want(int32(at))
		}
	}
}

// parameter assigns roles to the words of a parameter. A word without a role must be equal.
func (b *repeatBuilder) parameter(p *parameter, at int32, where slot, out bool) {
	rd := record.Reader{Words: b.c.words, At: int(at), OK: true}
	ignored := p.spec.RootOnly && !b.c.atRoot || b.r.inPlace(b.c, p)
	switch {
	case ignored:
	case p.kind == mpi.KindRequest:
		b.requests(p, &rd, out)
	case p.kind == mpi.KindBuffer:
		if b.r.objects.AnyAddress(p.kind, b.c.words[at]) {
			b.seen[at] = true
			b.m.addresses = append(b.m.addresses, wordAddress{at, p.kind})
		}
	case where == inStream:
		b.source(at, 1, sourceWord)
	case where == inList:
		if elements, special, _ := rd.Array(); special == 0 {
			b.source(at+1, len(elements), sourceList)
		}
	case where == inStatus:
		b.want(at) // whether the application ignored it
		b.source(at+1, 1, sourceStatuses)
	case where == inStatusList && p.shape == shapeStatus:
		b.want(at)
		n := 0
		if !out || b.r.defined(b.c, p) {
			n = 1
		}
		b.source(at+1, n, sourceStatusList)
	case where == inStatuses, where == inStatusList:
		b.want(at)
		rd.Word()
		words, special := rd.Statuses()
		if special != 0 {
			b.ok = false
			return
		}
		form := sourceStatuses
		if where == inStatusList {
			form = sourceStatusList
		}
		b.source(at+2, len(words)/record.StatusWords, form)
	case b.r.objects.Dense(p.kind):
		b.handles(p, &rd)
	}
}

// requests records the ids of the requests in a parameter. The values of requests that the call may
// have ended do not matter on return.
func (b *repeatBuilder) requests(p *parameter, rd *record.Reader, out bool) {
	n := 1
	if p.shape == shapeArray {
		elements, special, _ := rd.Array()
		if special != 0 {
			return
		}
		n, rd.At = len(elements), rd.At-len(elements)
	}
	mayEnd := p.spec.Effect == mpi.EffectCompleted || p.spec.Effect == mpi.EffectFreed
	for at := rd.At; at < rd.At+n; at++ {
		b.seen[at] = true
		if mayEnd && out {
			if p.outSlot != leftOut { // MPI_Request_free: its result is in the key
				b.seen[at] = false
				_, null := b.r.objects.Requests.Null(b.c.words[at])
				b.ok = b.ok && null
			}
			continue
		}
		w := requestWord{at: int32(at)}
		if mayEnd {
			if len(b.named) == 0 {
				b.ok = false
				return
			}
			w.value, b.named = b.named[0], b.named[1:]
		} else {
			var ok bool
			if w.value, ok = b.r.objects.Requests.Known(b.c.words[at]); !ok {
				b.ok = false
				return
			}
		}
		b.m.requests = append(b.m.requests, w)
	}
}

// handles records the values of the handles in a parameter.
func (b *repeatBuilder) handles(p *parameter, rd *record.Reader) {
	first, n := rd.At, 1
	if p.shape == shapeArray {
		elements, special, _ := rd.Array()
		if special != 0 {
			return
		}
		first, n = rd.At-len(elements), len(elements)
	}
	for at := first; at < first+n; at++ {
		v, found := b.r.objects.Known(p.kind, b.c.words[at])
		b.m.handles = append(b.m.handles, handleWord{int32(at), p.kind, v, found})
	}
}

// want requires a word to be equal.
func (b *repeatBuilder) want(at int32) {
	b.seen[at] = true
	b.m.exact = append(b.m.exact, exactWord{at, b.c.words[at]})
}

// source records the origin of stream values: n words, statuses or elements.
func (b *repeatBuilder) source(at int32, n int, form sourceForm) {
	b.m.sources = append(b.m.sources, resultSource{at, int32(n), form})
	words := int32(n)
	if form == sourceStatuses || form == sourceStatusList {
		words *= record.StatusWords
	}
	for k := at; k < at+words; k++ {
		b.seen[k] = true
		b.m.resultsAt = append(b.m.resultsAt, k)
	}
}

// sameValues reports whether the sources yield the values of the slow path and all
// requests were seen.
func (b *repeatBuilder) sameValues(words []uint64) bool {
	var s scratch
	for _, from := range b.m.sources {
		s.take(from, words)
	}
	b.m.flat = len(s.values) == len(s.lengths)
	return slices.Equal(s.values, b.r.scratch.values) && slices.Equal(s.lengths, b.r.scratch.lengths) && len(b.named) == 0
}
