package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// A Kind is the type of a block's content. The package that writes the file defines what each
// number means.
type Kind uint8

// coder is the codec that a block's content is stored with.
type coder uint8

const (
	coderNone coder = iota
	coderZstd
	coderMix // mixcodec.go
)

// A block is stored as type, codec (a byte each), length of the content, length as stored
// (varints), the lower half of the xxhash64 (little endian) of all these and of the content as
// stored, and the content as stored.

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

// Packing selects the codecs that may be tried on the content of a block.
type Packing uint8

const (
	PackNone     Packing = iota // stored as it is
	PackFast                    // zstd, fastest level
	PackZstd                    // zstd, best compression
	PackSmallest                // zstd at its best or the mixing codec, whichever is shorter
)

// AppendBlock appends a block.
func AppendBlock(b []byte, kind Kind, content []byte, packed Packing) []byte {
	stored, how := pack(content, packed)
	start := len(b)
	b = append(b, blockHead(kind, how, len(content), len(stored))...)
	b = binary.LittleEndian.AppendUint32(b, blockChecksum(b[start:], stored))
	return append(b, stored...)
}

// blockHead returns the header of a block: everything before the checksum.
func blockHead(kind Kind, how coder, length, stored int) []byte {
	b := append(make([]byte, 0, 2+2*binary.MaxVarintLen64), byte(kind), byte(how))
	b = binary.AppendUvarint(b, uint64(length))
	return binary.AppendUvarint(b, uint64(stored))
}

// pack returns the shortest encoding of content that the codecs of with produce, and the codec
// used.
func pack(content []byte, with Packing) ([]byte, coder) {
	stored, how := content, coderNone
	if with == PackNone {
		return stored, how
	}
	encoder := smallestEncoder
	if with == PackFast {
		encoder = fastestEncoder
	}
	if packed := encoder().EncodeAll(content, nil); len(packed) < len(stored) {
		stored, how = packed, coderZstd
	}
	if with == PackSmallest && len(content) <= mixLimit {
		if packed := encodeMix(content); len(packed) < len(stored) {
			stored, how = packed, coderMix
		}
	}
	return stored, how
}

// PackedSize returns the size in bytes of the content of a block as stored.
func PackedSize(content []byte, with Packing) int {
	packed, _ := pack(content, with)
	return len(packed)
}

func blockChecksum(head, stored []byte) uint32 {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.Write(head) // Write of a hash never fails
	_, _ = d.Write(stored)
	return uint32(d.Sum64())
}

// OpenBlock checks a block, which must be exactly b, and returns its content. The content may be a
// part of b; its memory is taken from m.
func OpenBlock(b []byte, want Kind, m *Budget) (content []byte, err error) {
	d := Decoder{Rest: b}
	kind, how := Kind(d.Byte()), coder(d.Byte())
	length, storedLength := d.Uvarint(), d.Uvarint()
	head := b[:len(b)-len(d.Rest)]
	sum := d.uint32()
	switch {
	case d.Err != nil:
		return nil, d.Err
	case storedLength != uint64(len(d.Rest)):
		return nil, errors.New("length is wrong")
	case sum != blockChecksum(head, d.Rest):
		return nil, errors.New("checksum is wrong")
	case kind != want:
		return nil, fmt.Errorf("type is %d", kind)
	}
	return unpack(how, length, d.Rest, m)
}

// unpack is the inverse of pack; length is the size of the content. The result may be a part of
// stored; its memory is taken from m.
func unpack(how coder, length uint64, stored []byte, m *Budget) ([]byte, error) {
	if length > math.MaxInt64 || !m.Take(int64(length)) {
		return nil, ErrMemory
	}
	switch how {
	case coderNone:
		if length != uint64(len(stored)) {
			return nil, errors.New("lengths disagree")
		}
		return stored, nil
	case coderZstd:
		content, err := blockDecoder().DecodeAll(stored, make([]byte, 0, length))
		if err == nil && uint64(len(content)) != length {
			err = errors.New("lengths disagree")
		}
		if err != nil {
			return nil, err
		}
		return content, nil
	case coderMix:
		return decodeMix(stored, int(min(length, mixLimit+1)))
	}
	return nil, fmt.Errorf("codec %d is unknown", how)
}

// blockDecoder decodes into the capacity that it is given and never allocates beyond it.
var blockDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(1<<40), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})
