package quota

import (
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// fit makes the mins of siblings fit into what they share, so that no quota takes another's share by a larger min: a claim beyond
// what there is counts for less the further beyond it is, and where the mins do not fit, the largest are cut to one level. Quotas
// whose min is below that keep theirs.
type fit struct {
	total int64
	// equal is what each of the children would have if all had the same.
	equal int64
	// level is the most that a min counts for, Unlimited where all fit.
	level int64
	// cuts is false where every quota is promised its min, whether there is as much or not.
	cuts bool
}

// fit of the children of a quota. Where all mins fit it changes none.
func (t *Tree) fit(parent int32, column int, total int64) fit {
	f := fit{total: total, equal: total / int64(max(1, t.nodes[parent].count)), level: Unlimited, cuts: t.options.ScaleMin}
	if !f.cuts {
		return f
	}
	var all, fixed wide
	first, last := t.nodes[parent].first, t.nodes[parent].first+t.nodes[parent].count
	for row := first; row < last; row++ {
		claim := f.credible(t.shares[t.at(row, column)].claim())
		all.add(claim)
		if t.nodes[row].spec.FixedMin {
			fixed.add(claim)
		}
	}
	if !all.exceeds(total) {
		return f
	}
	claims := make([]int64, 0, last-first)
	for row := first; row < last; row++ {
		if !t.nodes[row].spec.FixedMin {
			claims = append(claims, f.credible(t.shares[t.at(row, column)].claim()))
		}
	}
	f.level = levelOf(claims, total-min(total, fixed.value()))
	return f
}

// claim is the part of min that the quota asks for now.
func (s *share) claim() int64 { return min(s.min, s.limited) }

// credible is what a claim counts for: all of it, unless it is more than there is. Of that, a claim of k times the total is worth the
// k-th part, so that it never pays to claim more, and an equal share at least.
func (f fit) credible(claim int64) int64 {
	if claim <= f.total {
		return claim
	}
	high, low := bits.Mul64(uint64(f.total), uint64(f.total))
	part, _ := bits.Div64(high, low, uint64(claim)) // total < claim, and so high < claim
	return max(f.equal, int64(part))
}

// floor is what a quota is guaranteed of its min.
func (f fit) floor(share *share, fixed bool) int64 {
	if !f.cuts {
		return share.min
	}
	floor := min(share.min, f.total)
	if claim := share.claim(); claim > f.total {
		floor = f.credible(claim)
	}
	if fixed {
		return floor
	}
	return min(floor, f.level)
}

// taken is what a child takes of what the others share by what it keeps.
func (f fit) taken(kept int64) int64 {
	if f.cuts {
		return kept
	}
	return f.credible(kept)
}

// levelOf is the level to which claims that are more than there is are cut, for all to fit. It sorts the claims.
func levelOf(claims []int64, there int64) int64 {
	slices.Sort(claims)
	for i, claim := range claims {
		equal := there / int64(len(claims)-i)
		if claim > equal {
			return equal
		}
		there -= claim
	}
	return Unlimited
}

// guaranteedUsage is what a quota is guaranteed because it is used, 0 unless usage is guaranteed. The mins below it count for no more
// than its own does.
func (t *Tree) guaranteedUsage(row int32, column int) int64 {
	share := &t.shares[t.at(row, column)]
	if share.guaranteed <= share.floor {
		return 0
	}
	used := t.sums[t.at(row, column)].used.value()
	if t.nodes[row].count == 0 {
		return min(share.guaranteed, max(used, share.floor))
	}
	return min(share.guaranteed, saturatedSum(used, share.floor))
}

// leastWeight is the weight, in whole units, that counts in the smallest tree: weights may be meant as percentages.
const leastWeight = 100

// weight of a quota among its siblings, of which none has more than the tree has in total: no limit is a common max, and max is the
// weight of those that name none.
func (t *Tree) weight(row int32, column int) uint64 {
	least := int64(leastWeight)
	if t.keys[column] == corev1.ResourceCPU {
		least *= 1000
	}
	return uint64(min(t.shares[t.at(row, column)].weight, max(t.total[column], least)))
}
