package jobinsight

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
)

// Loss is what of an encoded store could not be read.
type Loss struct {
	// Kinds that the store had and that were not read.
	Kinds int
	// Calibration says that the calibration of the intervals was not read: it starts anew.
	Calibration bool
	// Problems of the parts, in their order.
	Problems []string
}

// Any says whether anything was lost.
func (l *Loss) Any() bool { return l.Kinds > 0 || l.Calibration || len(l.Problems) > 0 }

// String says what was lost, and why.
func (l *Loss) String() string {
	var lost []string
	if l.Kinds > 0 {
		lost = append(lost, fmt.Sprintf("%d kinds of jobs", l.Kinds))
	}
	if l.Calibration {
		lost = append(lost, "the calibration of the intervals")
	}
	if len(lost) == 0 {
		lost = append(lost, "nothing")
	}
	return strings.Join(append([]string{"lost " + strings.Join(lost, " and ")}, l.Problems...), "; ")
}

// Decode reads what Encode wrote into a store of at most so many kinds. Blocks that are damaged or missing are left out and reported;
// it never fails. Of a kind that is in two parts, as where an old part was left, the later one counts.
func Decode(parts [][]byte, kinds int) (*Store, Loss) {
	d := decoder{store: NewStore(kinds)}
	d.loss.Calibration = len(parts) > 0
	stated := 0
	for i, part := range parts {
		most, err := d.part(part)
		if err != nil {
			d.loss.Problems = append(d.loss.Problems, fmt.Sprintf("part %d: %v", i+1, err))
		}
		stated = max(stated, most)
	}
	d.loss.Kinds = max(stated-len(d.store.entries), 0)
	d.store.forget()
	return d.store, d.loss
}

type decoder struct {
	store *Store
	loss  Loss
}

// part reads the blocks of a part, and returns how many kinds it states. The error is of the first block that is damaged.
func (d *decoder) part(data []byte) (stated int, problem error) {
	if len(data) < headerSize || string(data[:len(magic)]) != magic || data[len(magic)] != encodingVersion {
		return 0, fmt.Errorf("%d bytes do not begin as version %d of a store of jobs", len(data), encodingVersion)
	}
	stated = int(min(binary.BigEndian.Uint32(data[headerSize-4:]), 1<<20))
	at := headerSize
	for at < len(data) {
		content, next, err := block(data, at)
		if err == nil {
			err = d.content(content)
		}
		if err != nil && problem == nil {
			problem = fmt.Errorf("block at byte %d: %w", at, err)
		}
		at = next
	}
	return stated, problem
}

// block at a place, and where the next one begins: behind a damaged one, where the next marker of a whole block is.
func block(data []byte, at int) (content []byte, next int, err error) {
	content, err = whole(data[at:])
	if err == nil {
		return content, at + frameSize + len(content), nil
	}
	for next = at + 1; next+frameSize < len(data); next++ {
		if _, inside := whole(data[next:]); inside == nil {
			return nil, next, err
		}
	}
	return nil, len(data), err
}

// whole is the content of a block that is at the beginning of the data and undamaged.
func whole(data []byte) ([]byte, error) {
	if len(data) < frameSize {
		return nil, fmt.Errorf("it ends after %d bytes", len(data))
	}
	if binary.BigEndian.Uint16(data) != marker {
		return nil, fmt.Errorf("it begins with %x", data[:2])
	}
	length, sum := binary.BigEndian.Uint32(data[2:]), binary.BigEndian.Uint32(data[6:])
	data = data[frameSize:]
	if uint64(length) > uint64(len(data)) {
		return nil, fmt.Errorf("it ends after %d of %d bytes", len(data), length)
	}
	if crc32.ChecksumIEEE(data[:length]) != sum {
		return nil, fmt.Errorf("its checksum is wrong")
	}
	return data[:length], nil
}

// content of a block. What is wrong in spite of its checksum is left out as well.
func (d *decoder) content(content []byte) error {
	r := reader{data: content}
	switch kind := r.byte(); kind {
	case calibrationBlock:
		return d.calibration(&r)
	case kindsBlock, sourcedBlock:
		for len(r.data) > 0 && r.err == nil {
			sources := Sources(1 << Pods)
			if kind == sourcedBlock {
				sources = r.sources()
			}
			at, e := r.entry()
			if e.sources = sources; r.err == nil {
				d.keep(at, e)
			}
		}
		return r.err
	case cursorBlock:
		name, p := r.cursor()
		if r.err == nil {
			d.store.cursors[name] = p
		}
		return r.err
	default:
		return fmt.Errorf("it is of an unknown kind %q", kind)
	}
}

func (d *decoder) keep(at place, e *entry) {
	if old := d.store.entries[at]; old == nil || old.last <= e.last {
		d.store.entries[at] = e
	}
	if e.sources.Has(Pods) {
		d.store.last = max(d.store.last, e.last)
	}
}

func (d *decoder) calibration(r *reader) error {
	last := r.uint64()
	read := &calibration{}
	for m := range read {
		for l := range read[m] {
			for g := range read[m][l] {
				r.scores(&read[m][l][g])
			}
		}
	}
	if r.err == nil && (len(r.data) > 0 || last > maxTime) {
		r.err = fmt.Errorf("%d bytes follow a calibration of time %d", len(r.data), last)
	}
	if r.err != nil {
		return r.err
	}
	d.store.scores, d.loss.Calibration = read, false
	d.store.last = max(d.store.last, int64(last))
	return nil
}

// within says whether a number is between two others; NaN is not.
func within(value, low, high float64) bool {
	return value >= low && value <= high && !math.IsNaN(value)
}
