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

// A blockType says what a block holds: a number that whoever writes the file gives a meaning.
type blockType uint8

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

// zstdWindow holds two blocks of value sequences.
const zstdWindow = 2 << 20

func newBlockEncoder(level zstd.EncoderLevel) *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
}

// packing says which codecs may make the content of a block shorter.
type packing uint8

const (
	packNot      packing = iota // it is stored as it is
	packFast                    // zstd at its fastest
	packZstd                    // zstd at its smallest
	packSmallest                // that, or the mixing codec
)

// appendBlock appends a block.
func appendBlock(b []byte, kind blockType, content []byte, packed packing) []byte {
	stored, how := pack(content, packed)
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
func pack(content []byte, with packing) ([]byte, codec) {
	stored, how := content, codecNone
	if with == packNot {
		return stored, how
	}
	encoder := smallestEncoder
	if with == packFast {
		encoder = fastestEncoder
	}
	if packed := encoder().EncodeAll(content, nil); len(packed) < len(stored) {
		stored, how = packed, codecZstd
	}
	if with == packSmallest && len(content) <= mixLimit {
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
