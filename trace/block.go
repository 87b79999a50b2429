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

// FormatVersion is the version of the file format that this package reads and writes (docs/format.md). Files of others are
// refused.
const FormatVersion = 3

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
	blockSections // small sections, one after the other
	blockEvidence
	blockEnds
	blockLongSequences // which chunks value sequences begin with
	blockChunk
	blockChunkList // in parts only: what the chunks are
	blockShortSums // in place of timing
	blockLongSums
	blockChapter
	blockChapterList       // in parts only: what the chapters are
	blockChapters          // which threads have chapters
	blockTracers           // what tracing took
	blockHistograms        // in traces of histograms only
	blockSkipped     = 126 // bytes of a chain that are no block of its trace
	blockIndex       = 127
)

// codec says how a block's content is stored.
type codec uint8

const (
	codecNone codec = iota
	codecZstd
	codecMix // mixcodec.go
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
	stored, how := pack(kind, content, purpose)
	start := len(b)
	b = append(b, blockHead(kind, how, len(content), len(stored))...)
	b = binary.LittleEndian.AppendUint32(b, blockChecksum(b[start:], stored))
	return append(b, stored...)
}

// blockHead is what stands before the checksum of a block.
func blockHead(kind blockType, how codec, length, stored int) []byte {
	b := append(make([]byte, 0, 2+2*binary.MaxVarintLen64), byte(kind), byte(how))
	b = binary.AppendUvarint(b, uint64(length))
	return binary.AppendUvarint(b, uint64(stored))
}

// pack gives the content of a block as it is stored: the shortest of what its codecs make of it.
func pack(kind blockType, content []byte, purpose effort) ([]byte, codec) {
	stored, how := content, codecNone
	if kind == blockTiming || kind == blockSections { // coded as tightly as it can be
		return stored, how
	}
	encoder := smallestEncoder
	if purpose == fastest {
		encoder = fastestEncoder
	}
	if packed := encoder().EncodeAll(content, nil); len(packed) < len(stored) {
		stored, how = packed, codecZstd
	}
	// Chunks are what a program without order has most of, and each analysis unpacks all of them: this codec would save 3 to
	// 4% of such a trace, and take a quarter to a third of the time of an analysis.
	if purpose == smallest && kind != blockChunk && len(content) <= mixLimit {
		if packed := encodeMix(content); len(packed) < len(stored) {
			stored, how = packed, codecMix
		}
	}
	return stored, how
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
	return unpack(how, length, d.b, m)
}

// unpack gives the content, so long, of what pack made of it. It may be a part of stored and is booked on m.
func unpack(how codec, length uint64, stored []byte, m *budget) ([]byte, error) {
	if length > math.MaxInt64 || !m.take(int64(length)) {
		return nil, errMemory
	}
	switch how {
	case codecNone:
		if length != uint64(len(stored)) {
			return nil, errors.New("lengths disagree")
		}
		return stored, nil
	case codecZstd:
		content, err := blockDecoder().DecodeAll(stored, make([]byte, 0, length))
		if err == nil && uint64(len(content)) != length {
			err = errors.New("lengths disagree")
		}
		if err != nil {
			return nil, err
		}
		return content, nil
	case codecMix:
		return decodeMix(stored, int(min(length, mixLimit+1)))
	}
	return nil, fmt.Errorf("codec %d is unknown", how)
}

// blockDecoder decodes into the capacity that it is given and never beyond.
var blockDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(1<<40), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})
