package trace

// Sizes are in bytes as stored, with each block's header; the parts add up to Total.
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
}

// Sizes says where the bytes of the file are.
func (t *Reader) Sizes() Sizes { return sizesOf(t.index, t.size, purposeOf(t.Meta())) }

// sizesOf adds up the blocks of a file; what is in no block belongs to the container, but for what the index is longer
// by for the blocks of timing.
func sizesOf(blocks *index, total int64, purpose effort) Sizes {
	s := Sizes{Total: total, Container: total}
	size := blocks.sizes.Lookup()
	var untimed index
	for i, kind := range blocks.kinds.All() {
		s.Container -= size(i)
		part := s.part(blockType(kind))
		*part += size(i)
		if part != &s.Timing {
			untimed.add(blocks.at(i))
		}
	}
	entries := indexSize(blocks, purpose) - indexSize(&untimed, purpose)
	s.Container -= entries
	s.Timing += entries
	return s
}

func indexSize(blocks *index, purpose effort) int64 {
	return int64(len(appendBlock(nil, blockIndex, blocks.append(nil), purpose)))
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
	case blockStreams, blockSequences, blockColumns:
		return &s.Values
	case blockTimingStart, blockTiming, blockAggregates, blockClockReadings, blockClustering, blockMoments:
		return &s.Timing
	case blockSegments:
		return &s.Pointers
	case blockSites:
		return &s.CallSites
	}
	return &s.Metadata
}
