package jobinsight

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// A store is encoded as parts, each of which is read without the others. A part is a header and blocks, and a block is a
// marker, the length of its content, a checksum of it and the content. Numbers are big-endian.
const (
	// encodingVersion is in the header of each part.
	encodingVersion = 1
	// magic begins a part, and marker each block: what follows a broken block is found by it.
	magic  = "KJI1"
	marker = 0xb10c
	// headerSize is the magic, the version, and how many kinds the whole store has.
	headerSize = 4 + 1 + 4
	// frameSize is what a block has beside its content.
	frameSize = 2 + 4 + 4
	// blockSize is the content from which a block is closed.
	blockSize = 8 << 10
	// leastPart is the smallest bound of a part; the calibration is one block of about 36 KiB.
	leastPart = 64 << 10
)

// Contents of blocks, their first byte.
const (
	calibrationBlock = 'c'
	kindsBlock       = 'k'
)

// Encode returns the store in parts of at most so many bytes each, 64 KiB at least; about 100 bytes a kind and 36 KiB. The same
// store is encoded in the same way.
func (s *Store) Encode(most int) [][]byte {
	most = max(most, leastPart)
	header := binary.BigEndian.AppendUint32(append([]byte(magic), encodingVersion), uint32(len(s.entries)))
	parts := [][]byte{appendBlock(header[:headerSize:headerSize], s.encodeCalibration())}
	content := []byte{kindsBlock}
	flush := func() {
		if len(content) == 1 {
			return
		}
		if at := len(parts) - 1; len(parts[at])+frameSize+len(content) <= most {
			parts[at] = appendBlock(parts[at], content)
		} else {
			parts = append(parts, appendBlock(header[:headerSize:headerSize], content))
		}
		content = content[:1]
	}
	for _, at := range s.places() {
		content = s.entries[at].append(content, at)
		if len(content) >= blockSize {
			flush()
		}
	}
	flush()
	return parts
}

func appendBlock(part, content []byte) []byte {
	part = binary.BigEndian.AppendUint16(part, marker)
	part = binary.BigEndian.AppendUint32(part, uint32(len(content)))
	part = binary.BigEndian.AppendUint32(part, crc32.ChecksumIEEE(content))
	return append(part, content...)
}

// encodeCalibration is when the latest run ended, and all scores.
func (s *Store) encodeCalibration() []byte {
	content := binary.BigEndian.AppendUint64([]byte{calibrationBlock}, uint64(s.last))
	for m := range s.scores {
		for l := range s.scores[m] {
			for g := range s.scores[m][l] {
				each := &s.scores[m][l][g]
				for _, value := range [...]float64{each.low, each.high, each.spread} {
					content = appendFloat(content, value)
				}
				for _, weight := range each.weights {
					content = appendFloat(content, weight)
				}
			}
		}
	}
	return content
}

// append an entry: its level, the fields of its kind, each after its length, and its numbers.
func (e *entry) append(content []byte, at place) []byte {
	content = append(content, byte(at.level))
	for _, field := range [...]string{at.kind.User, at.kind.Queue, at.kind.Application, at.kind.Shape} {
		content = append(append(content, byte(len(field))), field...)
	}
	content = binary.AppendUvarint(content, uint64(e.last))
	content = binary.AppendUvarint(content, uint64(e.early))
	for m := range e.of {
		of := &e.of[m]
		content = binary.AppendUvarint(content, uint64(of.runs))
		for _, value := range [...]float64{of.weight, of.mean, of.variance} {
			content = appendFloat(content, value)
		}
	}
	return content
}

func appendFloat(content []byte, value float64) []byte {
	return binary.BigEndian.AppendUint32(content, math.Float32bits(float32(value)))
}
