package jobinsight

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

const (
	// maxTime is the last second of the year 9999.
	maxTime = 253402300799
	// maxWeight bounds the weight of the runs of a kind and of each bin of scores.
	maxWeight = 1e6
	// maxSquare bounds the mean square of distances in logarithms.
	maxSquare = 1e4
)

var errShort = errors.New("its content ends too early")

// reader takes numbers from the front of the data. After the first error everything is zero.
type reader struct {
	data []byte
	err  error
}

func (r *reader) take(n int) []byte {
	if r.err != nil || len(r.data) < n {
		if r.err == nil {
			r.err = errShort
		}
		return make([]byte, n)
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *reader) byte() byte     { return r.take(1)[0] }
func (r *reader) uint64() uint64 { return binary.BigEndian.Uint64(r.take(8)) }

// uvarint is a number up to a bound.
func (r *reader) uvarint(most uint64) uint64 {
	value, n := binary.Uvarint(r.data)
	switch {
	case r.err != nil:
		return 0
	case n <= 0:
		r.err = errShort
		return 0
	case value > most:
		r.err = fmt.Errorf("%d is above %d", value, most)
		return 0
	}
	r.data = r.data[n:]
	return value
}

// float is a number between two others.
func (r *reader) float(low, high float64) float64 {
	value := float64(math.Float32frombits(binary.BigEndian.Uint32(r.take(4))))
	if r.err == nil && !within(value, low, high) {
		r.err = fmt.Errorf("%g is not between %g and %g", value, low, high)
	}
	return value
}

func (r *reader) scores(into *scores) {
	// Rates are rounded to 32 bits.
	into.low, into.high = r.float(leastRate/2, mostRate*2), r.float(leastRate/2, mostRate*2)
	into.spread = r.float(0, maxSquare)
	for i := range into.weights {
		into.weights[i] = r.float(0, maxWeight)
	}
	if r.err == nil && !(into.total() > 0) {
		r.err = errors.New("its scores weigh nothing")
	}
}

func (r *reader) entry() (place, *entry) {
	at := place{level: Level(r.byte())}
	for _, field := range [...]*string{&at.kind.User, &at.kind.Queue, &at.kind.Application, &at.kind.Shape} {
		length := int(r.byte())
		if length > maxField && r.err == nil {
			r.err = fmt.Errorf("a name of %d bytes is longer than %d", length, maxField)
		}
		*field = string(r.take(length))
	}
	e := &entry{last: int64(r.uvarint(maxTime)), early: uint32(r.uvarint(math.MaxUint32))}
	for m := range e.of {
		of := &e.of[m]
		of.runs = uint32(r.uvarint(math.MaxUint32))
		of.weight, of.mean, of.variance = r.float(0, maxWeight), r.float(-maxSquare, maxSquare), r.float(0, maxSquare)
	}
	if r.err == nil && (at.level >= levels || !at.valid()) {
		r.err = fmt.Errorf("%q is not a kind of level %d", at.kind.String(), at.level)
	}
	return at, e
}

// valid says whether a kind is the one that its level goes by.
func (at place) valid() bool {
	key, ok := at.level.key(at.kind)
	return ok && key == at.kind
}
