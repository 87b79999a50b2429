package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// FormatVersion is the newest version of the file format that this package reads and writes. Versions are frozen:
// docs/format.md says what may still be added, and what makes a file of version 2. Version 0 was that of the time before
// the first release; its files are refused.
const FormatVersion = 2

// versionOf is the version that a content has to be written in: the oldest that can say it, so that older readers can read
// what they know.
func versionOf(c *Content) byte {
	if c.Meta.Timing.MomentTicks > 0 {
		return 2
	}
	return 1
}

// The file (docs/format.md): magic, blocks, of which the last is the index, and a trailer of eight bytes: the length
// of the index block (little endian) and the end mark.
const (
	magic       = "CAIRN\x1a\n" // followed by the version, one byte
	endMark     = "NRAC"
	trailerSize = 4 + len(endMark)
	headerSize  = len(magic) + 1
)

// blockType says what a block holds. The numbers are part of the format: append only.
type blockType uint8

const (
	blockMeta blockType = iota + 1
	blockFunctions
	blockSites
	blockSignatures
	blockCommunicators
	blockGrammar
	blockStreams
	blockSequences
	blockRanks
	blockRankMap
	blockTimingStart
	blockTiming
	blockContext
	blockSegments
	blockColumns
	blockAggregates
	blockClockReadings
	blockLeads
	blockClustering
	blockMoments
	blockRunDelay
	blockEvidence
	blockEnds
	blockSteal
	blockEvidenceData
	blockIndex = 127
)

// codec says how a block's content is stored.
type codec uint8

const (
	codecNone codec = iota
	codecZstd
	codecMix
)

// A block is stored as type, codec (a byte each), length of the content, length as stored (varints), the lower half of
// the xxhash64 (little endian) of all these and of the content as stored, and the content as stored.

var (
	smallestEncoder = sync.OnceValue(func() *zstd.Encoder { return newBlockEncoder(zstd.SpeedBestCompression) })
	fastestEncoder  = sync.OnceValue(func() *zstd.Encoder { return newBlockEncoder(zstd.SpeedFastest) })
)

func newBlockEncoder(level zstd.EncoderLevel) *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(2*sequenceBlockBytes), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
}

// An effort says what a block's codec is chosen for.
type effort uint8

const (
	smallest effort = iota // a finished trace: written once and kept
	fastest                // a shard: read once, by a merge that has many of them
)

// appendBlock appends a block.
func appendBlock(b []byte, kind blockType, content []byte, purpose effort) []byte {
	stored, how := content, codecNone
	encoder := smallestEncoder
	if purpose == fastest {
		encoder = fastestEncoder
	}
	if kind != blockTiming { // which is coded as tightly as it can be
		if packed := encoder().EncodeAll(content, nil); len(packed) < len(content) {
			stored, how = packed, codecZstd
		}
	}
	if kind != blockTiming && purpose == smallest && len(content) <= mixLimit {
		if packed := encodeMix(content); len(packed) < len(stored) {
			stored, how = packed, codecMix
		}
	}
	start := len(b)
	b = append(b, byte(kind), byte(how))
	b = binary.AppendUvarint(b, uint64(len(content)))
	b = binary.AppendUvarint(b, uint64(len(stored)))
	b = binary.LittleEndian.AppendUint32(b, blockChecksum(b[start:], stored))
	return append(b, stored...)
}

func blockChecksum(head, stored []byte) uint32 {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.Write(head) // a hash takes everything
	_, _ = d.Write(stored)
	return uint32(d.Sum64())
}

// openBlock checks a block, which must be exactly b, and returns its content, which may be a part of b and is booked
// on m.
func openBlock(b []byte, want blockType, m *budget) (content []byte, err error) {
	d := decoder{b: b}
	kind, how := blockType(d.byte()), codec(d.byte())
	length, storedLength := d.uvarint(), d.uvarint()
	head := b[:len(b)-len(d.b)]
	sum := d.uint32()
	switch {
	case d.err != nil:
		return nil, d.err
	case storedLength != uint64(len(d.b)):
		return nil, errors.New("length is wrong")
	case sum != blockChecksum(head, d.b):
		return nil, errors.New("checksum is wrong")
	case kind != want:
		return nil, fmt.Errorf("type is %d", kind)
	}
	if length > math.MaxInt64 || !m.take(int64(length)) {
		return nil, errMemory
	}
	switch how {
	case codecNone:
		if length != storedLength {
			return nil, errors.New("lengths disagree")
		}
		return d.b, nil
	case codecZstd:
		content, err = blockDecoder().DecodeAll(d.b, make([]byte, 0, length))
		if err == nil && uint64(len(content)) != length {
			err = errors.New("lengths disagree")
		}
		if err != nil {
			return nil, err
		}
		return content, nil
	}
	if how == codecMix {
		return decodeMix(d.b, int(min(length, mixLimit+1)))
	}
	return nil, fmt.Errorf("codec %d is unknown", how)
}

// blockDecoder decodes into the capacity that it is given and never beyond.
var blockDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(1<<40),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})
