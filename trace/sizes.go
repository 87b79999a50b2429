package trace

import "math"

// Sizes are in bytes as stored, with each block's header; the parts add up to Total, which has ClockReadings in Timing.
type Sizes struct {
	Total      int64 `json:"total"`
	Container  int64 `json:"container"`
	Signatures int64 `json:"signatures"`
	Grammar    int64 `json:"grammar"`
	RankMap    int64 `json:"rank_map"`
	Values     int64 `json:"values"`
	Timing     int64 `json:"timing"`
	CallSites  int64 `json:"call_sites"`
	Pointers   int64 `json:"pointers"`
	Metadata   int64 `json:"metadata"`
	// ClockReadings are a part of Timing: what MPI_Wtime returned.
	ClockReadings int64 `json:"clock_readings"`
}

// Sizes says where the bytes of the file are.
func (t *Reader) Sizes() Sizes {
	s := sizesOf(t.index, t.size, purposeOf(t.Meta()))
	for i, kind := range t.index.kinds.All() {
		if blockType(kind) == blockSections {
			s.split(t, t.index.at(i))
		}
	}
	return s
}

// split puts the bytes of a block of sections, counted with the metadata, where they belong. One that cannot be read again
// stays there.
func (s *Sizes) split(t *Reader, e indexEntry) {
	content, err := t.block(e)
	if err != nil {
		return
	}
	defer t.budget.give(int64(len(content)))
	list, stored, err := splitSections(content, newBudget(math.MaxInt64))
	if err != nil {
		return
	}
	s.Metadata -= e.size
	s.Container += e.size - int64(len(content))
	for i, size := range stored {
		*s.part(list[i].kind) += size
	}
}

// sizesOf adds up the blocks of a file; what is in no block belongs to the container, but for what the index is longer
// by for the blocks of timing.
func sizesOf(blocks *index, total int64, purpose effort) Sizes {
	s := Sizes{Total: total, Container: total}
	size := blocks.sizes.Lookup()
	var untimed index
	for i, kind := range blocks.kinds.All() {
		if blockType(kind) == blockSkipped {
			continue // ends of files in a chain belong to the container
		}
		s.Container -= size(i)
		part := s.part(blockType(kind))
		*part += size(i)
		if blockType(kind) == blockClockReadings {
			s.ClockReadings += size(i)
		}
		if part != &s.Timing {
			untimed.add(blocks.at(i))
		}
	}
	entries := indexSize(blocks, purpose) - indexSize(&untimed, purpose)
	s.Container -= entries
	s.Timing += entries
	return s
}

// TimingBytes is what the times of a thread take in the file, in bytes.
func (t *Reader) TimingBytes(thread int) (bytes int64) {
	if len(t.shared.Leads) > 0 && t.shared.Leads[thread] != thread {
		return 0
	}
	for _, list := range []*blockList{&t.timing, &t.aggregates} {
		for part := int64(0); ; part++ {
			e, there := list.find(int64(thread), part)
			if !there {
				break
			}
			bytes += e.size
		}
	}
	return bytes
}

func indexSize(blocks *index, purpose effort) int64 {
	return int64(len(appendBlock(nil, blockIndex, blocks.append(nil), packingOf(blockIndex, purpose))))
}

// part is the part of the whole that blocks of this type belong to.
func (s *Sizes) part(kind blockType) *int64 {
	switch kind {
	case blockSignatures:
		return &s.Signatures
	case blockGrammar:
		return &s.Grammar
	case blockRankMap, blockCommunicators, blockLeads:
		return &s.RankMap
	case blockStreams, blockSequences, blockLongSequences, blockChunk, blockColumns:
		return &s.Values
	case blockTimingStart, blockTiming, blockShortSums, blockLongSums, blockAggregates, blockClockReadings, blockClustering:
		return &s.Timing
	case blockSegments:
		return &s.Pointers
	case blockSites:
		return &s.CallSites
	}
	return &s.Metadata
}
