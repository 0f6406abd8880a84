package quota

import (
	"math/bits"
)

// borrower is a quota that asks for more than it is guaranteed.
type borrower struct {
	row int32
	// runtime so far, and the request it grows to.
	runtime, want int64
	weight        uint64
	// gain and remainder of the round.
	gain, remainder uint64
}

// refresh makes the runtime of a quota right.
func (t *Tree) refresh(row int32) {
	parent := t.nodes[row].parent
	if parent == none {
		return
	}
	t.refresh(parent)
	if t.nodes[parent].stale {
		t.share(parent)
	}
}

// Refresh makes every runtime right.
func (t *Tree) Refresh() {
	for row := range t.nodes {
		if t.nodes[row].stale {
			t.share(int32(row))
		}
	}
}

// share divides what a quota has among its children.
func (t *Tree) share(parent int32) {
	t.nodes[parent].stale = false
	if t.nodes[parent].count == 0 {
		return
	}
	for column := range t.keys {
		t.shareColumn(parent, column, nil)
	}
}

// available is what the children of a quota share.
func (t *Tree) available(parent int32, column int) int64 {
	if parent != 0 {
		return t.shares[t.at(parent, column)].runtime
	}
	left := t.total[column]
	for row := int32(1); int(row) < len(t.nodes) && t.nodes[row].outside; row++ {
		left -= min(left, t.sums[t.at(row, column)].used.value())
	}
	return left
}

// shareColumn gives every child its guarantee, as far as it asks for it or does not lend it, and what is left over to those
// that ask for more. A nil trace records nothing.
func (t *Tree) shareColumn(parent int32, column int, trace *Sharing) {
	total := t.available(parent, column)
	fit := t.fit(parent, column, total)
	left, borrowers := total, t.borrowers[:0]
	first, last := t.nodes[parent].first, t.nodes[parent].first+t.nodes[parent].count
	for row := first; row < last; row++ {
		share := &t.shares[t.at(row, column)]
		share.floor = fit.floor(share, t.nodes[row].spec.FixedMin)
		floor := max(share.floor, t.guaranteedUsage(row, column))
		runtime := floor
		if share.limited <= floor && t.nodes[row].spec.Lends {
			runtime = share.limited
		}
		left -= min(left, fit.taken(runtime))
		trace.floor(t, row, column, floor, runtime)
		if share.limited > floor {
			borrowers = append(borrowers, borrower{row: row, runtime: runtime, want: share.limited, weight: t.weight(row, column)})
			continue
		}
		t.grant(row, column, runtime)
	}
	trace.begin(total, left)
	t.borrowers = borrowers
	for i := range t.fill(left, borrowers, column, trace) {
		t.grant(borrowers[i].row, column, borrowers[i].runtime)
	}
}

func (t *Tree) grant(row int32, column int, runtime int64) {
	share := &t.shares[t.at(row, column)]
	if share.runtime != runtime {
		share.runtime = runtime
		t.nodes[row].stale = true
	}
}

// fill pours what is left over into the borrowers by weight, in rounds: who has enough returns the surplus to the next
// round. It returns how many borrowers at the front of the slice are still short; the others have been granted theirs.
func (t *Tree) fill(left int64, borrowers []borrower, column int, trace *Sharing) int {
	for left > 0 && len(borrowers) > 0 {
		weights, shift := weigh(borrowers)
		if weights == 0 {
			break
		}
		divide(uint64(left), borrowers, weights, shift)
		trace.round(t, left, borrowers)
		left = 0
		short := borrowers[:0]
		for _, b := range borrowers {
			if b.runtime += int64(b.gain); b.runtime < b.want {
				short = append(short, b)
				continue
			}
			left += b.runtime - b.want
			t.grant(b.row, column, b.want)
		}
		borrowers = short
	}
	trace.end(left)
	return len(borrowers)
}

// weigh adds up the weights. Where the sum needs more than 64 bits, weights count in units of 2^shift.
func weigh(borrowers []borrower) (sum uint64, shift uint) {
	var high uint64
	for i := range borrowers {
		low, carry := bits.Add64(sum, borrowers[i].weight, 0)
		sum, high = low, high+carry
	}
	if high == 0 {
		return sum, 0
	}
	shift, sum = uint(bits.Len64(high)), 0
	for i := range borrowers {
		sum += borrowers[i].weight >> shift
	}
	return sum, shift
}

// divide splits an amount by weight, to the unit: everyone gets the whole part of the exact share, and those with the
// largest remainders one more, in order of names where they are equal.
func divide(amount uint64, borrowers []borrower, weights uint64, shift uint) {
	rest := amount
	for i := range borrowers {
		b := &borrowers[i]
		high, low := bits.Mul64(b.weight>>shift, amount)
		b.gain, b.remainder = bits.Div64(high, low, weights)
		rest -= b.gain
	}
	for i := range largestRemainders(borrowers, int(rest)) {
		borrowers[i].gain++
	}
}

// before is the order of remainders. Rows are in the order of names.
func (b *borrower) before(other *borrower) bool {
	if b.remainder != other.remainder {
		return b.remainder > other.remainder
	}
	return b.row < other.row
}

// largestRemainders moves the first n in that order to the front, in time proportional to the number of borrowers.
func largestRemainders(borrowers []borrower, n int) int {
	low, high := 0, len(borrowers)-1
	for low < high && n > 0 && n < len(borrowers) {
		pivot := borrowers[low+(high-low)/2]
		i, j := low, high
		for i <= j {
			for borrowers[i].before(&pivot) {
				i++
			}
			for pivot.before(&borrowers[j]) {
				j--
			}
			if i <= j {
				borrowers[i], borrowers[j] = borrowers[j], borrowers[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case n-1 <= j:
			high = j
		case n-1 >= i:
			low = i
		default:
			return n
		}
	}
	return n
}
