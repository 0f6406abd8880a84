package histogram

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	checkpointVersion = 1
	// checkpointScale is what the heaviest bucket becomes; lighter ones keep their share of it, and those of less than half
	// of one are forgotten.
	checkpointScale = 10000
	// maxTotal bounds the weight of all samples in a checkpoint: 2^100 samples of weight 2^100.
	maxTotal = 0x1p200
	// maxReference is the last second of the year 9999.
	maxReference = 253402300799
)

var errShort = errors.New("it ends too early")

// MarshalBinary encodes the histogram for a checkpoint, in 24 bytes and at most 2 for each bucket between the lowest and
// the highest sample. Weights are rounded to a ten-thousandth of the heaviest, so that a percentile becomes that of
// a fraction less than a hundredth away. It never fails.
func (h *Histogram) MarshalBinary() ([]byte, error) {
	from, scaled, kept := h.scaled()
	data := []byte{checkpointVersion}
	data = binary.AppendUvarint(data, uint64(h.buckets.Count()))
	data = binary.AppendVarint(data, int64(h.halfLife/time.Second))
	if len(scaled) == 0 {
		return binary.AppendUvarint(data, 0), nil
	}
	data = binary.AppendUvarint(data, uint64(len(scaled)))
	data = binary.AppendUvarint(data, uint64(from))
	reference := int64(0)
	if h.halfLife > 0 {
		// The reference is stored in whole seconds, rounded down, and the weights are scaled to match.
		whole := h.reference.Truncate(time.Second)
		kept *= math.Exp2(float64(h.reference.Sub(whole)) / float64(h.halfLife))
		reference = whole.Unix()
	}
	data = binary.AppendVarint(data, reference)
	data = binary.BigEndian.AppendUint64(data, math.Float64bits(kept))
	for _, weight := range scaled {
		data = binary.AppendUvarint(data, weight)
	}
	return data, nil
}

// scaled are the weights as whole numbers up to checkpointScale without those that are too light at both ends, the bucket
// of the first, and the true weight of all of them.
func (h *Histogram) scaled() (from int, weights []uint64, total float64) {
	heaviest := 0.0
	for _, weight := range h.weights {
		heaviest = max(heaviest, weight)
	}
	if heaviest < epsilon {
		return 0, nil, 0
	}
	first, last := len(h.weights), -1
	all := make([]uint64, len(h.weights))
	for i, weight := range h.weights {
		all[i] = uint64(math.Round(weight / heaviest * checkpointScale))
		if all[i] > 0 {
			first, last = min(first, i), i
			total += weight
		}
	}
	return h.from + first, all[first : last+1], total
}

// Decode reads a checkpoint of a histogram with these buckets and this half-life. A checkpoint of another kind of histogram
// is refused, as is everything that MarshalBinary does not write.
func Decode(data []byte, buckets Buckets, halfLife time.Duration) (*Histogram, error) {
	h, err := decode(data, buckets, halfLife)
	if err != nil {
		return nil, fmt.Errorf("decode histogram of %d bytes: %w", len(data), err)
	}
	return h, nil
}

func decode(data []byte, buckets Buckets, halfLife time.Duration) (*Histogram, error) {
	r := &reader{data: data}
	if version := r.byte(); r.err == nil && version != checkpointVersion {
		return nil, fmt.Errorf("version %d is not %d", version, checkpointVersion)
	}
	count, seconds := r.uvarint(), r.varint()
	if r.err == nil && (count != uint64(buckets.Count()) || seconds != int64(halfLife/time.Second)) {
		return nil, fmt.Errorf("it has %d buckets and a half-life of %d s, want %d and %d s", count, seconds, buckets.Count(), int64(halfLife/time.Second))
	}
	h := New(buckets, halfLife)
	if n := r.uvarint(); n > 0 {
		r.weights(h, n, count)
	}
	switch {
	case r.err != nil:
		return nil, r.err
	case len(r.data) > 0:
		return nil, fmt.Errorf("%d bytes follow its end", len(r.data))
	}
	return h, nil
}

// reader takes values from the front of data and remembers the first error.
type reader struct {
	data []byte
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err, r.data = err, nil
	}
}

func (r *reader) byte() byte {
	if len(r.data) == 0 {
		r.fail(errShort)
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

func (r *reader) uvarint() uint64 {
	value, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.fail(errShort)
		return 0
	}
	r.data = r.data[n:]
	return value
}

func (r *reader) varint() int64 {
	value, n := binary.Varint(r.data)
	if n <= 0 {
		r.fail(errShort)
		return 0
	}
	r.data = r.data[n:]
	return value
}

func (r *reader) float() float64 {
	if len(r.data) < 8 {
		r.fail(errShort)
		return 0
	}
	value := math.Float64frombits(binary.BigEndian.Uint64(r.data))
	r.data = r.data[8:]
	return value
}

// weights reads the stored range of n of the count buckets.
func (r *reader) weights(h *Histogram, n, count uint64) {
	from, reference, total := r.uvarint(), r.varint(), r.float()
	switch {
	case r.err != nil:
		return
	case n > count || from > count-n:
		r.fail(fmt.Errorf("buckets %d to %d are beyond the %d there are", from, from+n, count))
		return
	case reference < 0 || reference > maxReference:
		r.fail(fmt.Errorf("reference %d is not a time", reference))
		return
	case !(total >= epsilon) || total > maxTotal:
		r.fail(fmt.Errorf("weight %g is not between %g and %g", total, epsilon, maxTotal))
		return
	}
	h.from, h.weights = int(from), make([]float64, n)
	sum := uint64(0)
	for i := range h.weights {
		weight := r.uvarint()
		if weight > checkpointScale {
			r.fail(fmt.Errorf("weight %d is above %d", weight, checkpointScale))
		}
		h.weights[i] = float64(weight)
		sum += weight
	}
	if r.err == nil && sum == 0 {
		r.fail(errors.New("it has buckets and no weight"))
	}
	if r.err != nil {
		return
	}
	if h.halfLife > 0 {
		h.reference = time.Unix(reference, 0).UTC()
	}
	h.scale(total / float64(sum))
}
