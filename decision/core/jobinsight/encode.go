package jobinsight

import (
	"encoding/binary"
	"hash/crc32"
	"maps"
	"math"
	"slices"
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
	// sourcedBlock has kinds of which engines told, each after its sources. Versions that do not know it leave it out.
	sourcedBlock = 's'
	// cursorBlock is how far the events of one engine were read.
	cursorBlock = 'p'
)

// Encode returns the store in parts of at most so many bytes each, 64 KiB at least; about 100 bytes a kind and 36 KiB. The same
// store is encoded in the same way.
func (s *Store) Encode(most int) [][]byte {
	most = max(most, leastPart)
	header := binary.BigEndian.AppendUint32(append([]byte(magic), encodingVersion), uint32(len(s.entries)))
	p := &packer{most: most, header: header[:headerSize:headerSize]}
	p.add(s.encodeCalibration())
	for _, name := range slices.Sorted(maps.Keys(s.cursors)) {
		p.add(s.cursors[name].append([]byte{cursorBlock}, name))
	}
	places := s.places()
	for _, kind := range []byte{kindsBlock, sourcedBlock} {
		content := []byte{kind}
		for _, at := range places {
			e := s.entries[at]
			if e.sources.engines() != (kind == sourcedBlock) {
				continue
			}
			if kind == sourcedBlock {
				content = append(content, byte(e.sources))
			}
			if content = e.append(content, at); len(content) >= blockSize {
				p.add(content)
				content = content[:1]
			}
		}
		if len(content) > 1 {
			p.add(content)
		}
	}
	return p.parts
}

// packer fills parts with blocks.
type packer struct {
	most   int
	header []byte
	parts  [][]byte
}

// add a block to the last part, or to a new one where that is full.
func (p *packer) add(content []byte) {
	if at := len(p.parts) - 1; at >= 0 && len(p.parts[at])+frameSize+len(content) <= p.most {
		p.parts[at] = appendBlock(p.parts[at], content)
		return
	}
	p.parts = append(p.parts, appendBlock(p.header, content))
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
