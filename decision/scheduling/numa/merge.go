package numa

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"koordinator.sh/koord/api/extension"
)

// maxListedMasks bounds the sets that a reason lists for one resource.
const maxListedMasks = 16

// Merge picks the zones that suit every resource. The keys of providers name resources; a nil slice is a resource that
// does not care, an empty one that is not nil a resource that no set of zones can give.
//
// The result is what the best choice of one hint for each resource has in common. It is preferred when all chosen hints
// are and name the same zones. Preferred results come first, then narrower ones, then those with the larger sum of
// scores, then lower zones. When the hints have nothing in common, and when the result is refused, it has no affinity.
//
// BestEffort admits any result, Restricted only a preferred one, and SingleNUMANode only a preferred one of exactly one
// zone, looking at no other hints; resources that do not care never stand in the way. Reasons are given when the result
// is refused or not aligned.
func Merge(policy extension.NUMATopologyPolicy, providers map[string][]Hint) (best Hint, admitted bool, reasons []string) {
	if policy == extension.NUMATopologyPolicyNone {
		return Hint{Preferred: true}, true, nil
	}
	lists, possible := candidates(policy, providers)
	switch {
	case len(lists) == 0:
		best = Hint{Preferred: possible}
	case possible:
		best = mergeAligned(lists)
	}
	if !best.Preferred && policy == extension.NUMATopologyPolicyBestEffort && len(lists) > 0 {
		best = mergeCommon(lists)
	}
	if !best.Preferred {
		reasons = []string{unaligned(providers)}
	}
	return best, best.Preferred || policy == extension.NUMATopologyPolicyBestEffort, reasons
}

// candidates are the hints that may be chosen, by resource; possible is false when some resource has none.
func candidates(policy extension.NUMATopologyPolicy, providers map[string][]Hint) (lists [][]Hint, possible bool) {
	possible = true
	for _, resource := range slices.Sorted(maps.Keys(providers)) {
		hints := providers[resource]
		if hints == nil {
			continue
		}
		var usable []Hint
		for _, hint := range hints {
			if hint.Mask != 0 && (policy != extension.NUMATopologyPolicySingleNUMANode || hint.Single() && hint.Preferred) {
				usable = append(usable, hint)
			}
		}
		if len(usable) == 0 {
			possible = false
			continue
		}
		lists = append(lists, usable)
	}
	return lists, possible
}

// mergeAligned finds the best set that every resource prefers; the zero Hint when there is none.
func mergeAligned(lists [][]Hint) Hint {
	var scores map[Mask]int64
	for i, hints := range lists {
		scores = alignWith(scores, hints, i == 0)
	}
	return bestOf(scores, true)
}

// mergeCommon finds the best of what one hint of each resource can have in common, without walking through all
// combinations: there are at most as many results as sets of zones.
func mergeCommon(lists [][]Hint) Hint {
	var scores map[Mask]int64
	for i, hints := range lists {
		scores = intersectWith(scores, hints, i == 0)
	}
	return bestOf(scores, false)
}

func bestOf(scores map[Mask]int64, preferred bool) (best Hint) {
	found := false
	for mask, score := range scores {
		if hint := (Hint{Mask: mask, Preferred: preferred, Score: score}); !found || hint.better(best) {
			best, found = hint, true
		}
	}
	return best
}

// alignWith keeps the sets that this resource prefers too.
func alignWith(before map[Mask]int64, hints []Hint, first bool) map[Mask]int64 {
	after := map[Mask]int64{}
	for _, hint := range hints {
		score, known := before[hint.Mask]
		if hint.Preferred && (first || known) {
			raise(after, hint.Mask, score+hint.Score)
		}
	}
	return after
}

// intersectWith makes all sets that this resource has in common with those before it.
func intersectWith(before map[Mask]int64, hints []Hint, first bool) map[Mask]int64 {
	after := map[Mask]int64{}
	for _, hint := range hints {
		if first {
			raise(after, hint.Mask, hint.Score)
			continue
		}
		for mask, score := range before {
			if both := mask & hint.Mask; both != 0 {
				raise(after, both, score+hint.Score)
			}
		}
	}
	return after
}

func raise(scores map[Mask]int64, mask Mask, score int64) {
	if known, ok := scores[mask]; !ok || score > known {
		scores[mask] = score
	}
}

// unaligned says what each resource would take.
func unaligned(providers map[string][]Hint) string {
	var parts []string
	for _, resource := range slices.Sorted(maps.Keys(providers)) {
		hints := providers[resource]
		if hints == nil {
			continue
		}
		var preferred, all []string
		for _, hint := range hints {
			if hint.Preferred && len(preferred) < maxListedMasks {
				preferred = append(preferred, hint.Mask.String())
			}
			if len(all) < maxListedMasks {
				all = append(all, hint.Mask.String())
			}
		}
		parts = append(parts, fmt.Sprintf("%s prefer %v among %v", resource, preferred, all))
	}
	return fmt.Sprintf("%s %s", ReasonUnaligned, strings.Join(parts, ","))
}
