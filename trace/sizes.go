package trace

import (
	"math"

	"github.com/cairn-mpi/cairn/trace/codec"
)

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
	for i, kind := range t.index.Kinds.All() {
		if codec.Kind(kind) == blockSections {
			s.split(t, t.index.At(i))
		}
	}
	return s
}

// split puts the bytes of a block of sections, counted with the metadata, where they belong. One that cannot be read again
// stays there.
func (s *Sizes) split(t *Reader, e codec.Entry) {
	content, err := t.block(e)
	if err != nil {
		return
	}
	defer t.budget.Give(int64(len(content)))
	list, stored, err := codec.SplitSections(content, codec.NewBudget(math.MaxInt64))
	if err != nil {
		return
	}
	s.Metadata -= e.Size
	s.Container += e.Size - int64(len(content))
	for i, size := range stored {
		*s.part(list[i].Kind) += size
	}
}

// sizesOf adds up the blocks of a file; what is in no block belongs to the container, but for what the index is longer
// by for the blocks of timing.
func sizesOf(blocks *codec.Index, total int64, purpose codec.Effort) Sizes {
	s := Sizes{Total: total, Container: total}
	size := blocks.Sizes.Lookup()
	var untimed codec.Index
	for i, kind := range blocks.Kinds.All() {
		if codec.Kind(kind) == blockSkipped {
			continue // ends of files in a chain belong to the container
		}
		s.Container -= size(i)
		part := s.part(codec.Kind(kind))
		*part += size(i)
		if codec.Kind(kind) == blockClockReadings {
			s.ClockReadings += size(i)
		}
		if part != &s.Timing {
			untimed.Add(blocks.At(i))
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
	for _, list := range []*codec.BlockList{&t.timing, &t.aggregates} {
		for part := int64(0); ; part++ {
			e, there := list.Find(int64(thread), part)
			if !there {
				break
			}
			bytes += e.Size
		}
	}
	return bytes
}

func indexSize(blocks *codec.Index, purpose codec.Effort) int64 {
	return int64(len(codec.AppendBlock(nil, blockIndex, blocks.Append(nil), packingOf(blockIndex, purpose))))
}

// part is the part of the whole that blocks of this type belong to.
func (s *Sizes) part(kind codec.Kind) *int64 {
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
