package quota

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// Shortage is one resource of which a quota has too little for a pod, and why it has no more.
type Shortage struct {
	// Quota that refuses, its level from 0 for the pod's own, and its tree's quotas from it to the top.
	Quota    string              `json:"quota"`
	Level    int                 `json:"level"`
	Path     []string            `json:"path"`
	Resource corev1.ResourceName `json:"resource"`
	Used     int64               `json:"used"`
	Asked    int64               `json:"asked"`
	Limit    int64               `json:"limit"`
	Min      int64               `json:"min"`
	Max      int64               `json:"max"`
	// Guaranteed is what Min counts for, less where the mins add up to more than there is.
	Guaranteed int64 `json:"guaranteed"`
	// Bound is the quota whose max bounds the runtime, the root where the total of the tree does.
	Bound string `json:"bound"`
	// BoundAmount is that max or total.
	BoundAmount int64 `json:"boundAmount"`
	// Holders are quotas on the way up to Bound that got more than their min, the largest first.
	Holders []Holder `json:"holders,omitempty"`
	// Reserved is the part of their mins that quotas on the way do not lend and do not use.
	Reserved int64 `json:"reserved,omitempty"`
	// Problems of the quotas of Path, which may be why there is no more.
	Problems []Problem `json:"problems,omitempty"`
	code     finding.Code
}

// Attach gives the first shortage the problems of the quotas between the pod and the top of the tree.
func Attach(list []Shortage, problems []Problem) {
	if len(list) == 0 {
		return
	}
	for _, problem := range problems {
		if slices.Contains(list[0].Path, problem.Quota) {
			list[0].Problems = append(list[0].Problems, problem)
		}
	}
}

// Missing is by how much the pod does not fit.
func (s *Shortage) Missing() int64 { return s.Used + s.Asked - s.Limit }

// Holder is a quota that has more than its min.
type Holder struct {
	Quota string `json:"quota"`
	// Under is the quota whose runtime it shares.
	Under    string `json:"under"`
	Borrowed int64  `json:"borrowed"`
	Runtime  int64  `json:"runtime"`
	// Min as far as it counts.
	Min  int64 `json:"min"`
	Used int64 `json:"used"`
}

// Shortages says what is behind a refusal by an admission that was made from the tree just now.
func (t *Tree) Shortages(admission *Admission, verdict Verdict) []Shortage {
	if verdict.Passed() {
		return nil
	}
	row, found := t.row[admission.Quotas[verdict.Level]]
	if !found {
		return nil
	}
	var list []Shortage
	for column, c := range admission.level(verdict.Level) {
		if !admission.refuses(verdict, &c) || column >= len(t.keys) {
			continue
		}
		name := t.nodes[row].spec.Name
		shortage := Shortage{
			Quota: name, Level: verdict.Level, Path: append([]string{name}, t.Ancestors(name)...), Resource: t.keys[column],
			Used: c.used, Asked: c.asked, Limit: c.limit(admission.rules), Min: c.min, Max: c.max,
			Guaranteed: min(c.min, t.shares[t.at(row, column)].floor), Bound: name, BoundAmount: c.max, code: verdict.Code,
		}
		switch {
		case verdict.Code == finding.QuotaNonPreemptibleExceeded:
			shortage.Used, shortage.Limit, shortage.BoundAmount = c.nonPreemptibleUsed, c.min, c.min
		case shortage.Limit < c.max:
			t.findHolders(row, column, &shortage)
		}
		list = append(list, shortage)
	}
	return list
}

// findHolders goes up to the first quota that has all that its max allows. On each level there, siblings compete for what
// is left over.
func (t *Tree) findHolders(row int32, column int, shortage *Shortage) {
	for parent := t.nodes[row].parent; parent != none; row, parent = parent, t.nodes[parent].parent {
		first := t.nodes[parent].first
		for sibling := first; sibling < first+t.nodes[parent].count; sibling++ {
			if sibling != row {
				t.addHolder(sibling, column, parent, shortage)
			}
		}
		shortage.Bound, shortage.BoundAmount = t.nodes[parent].spec.Name, t.available(parent, column)
		if limit := t.sums[t.at(parent, column)].max; parent != 0 && limit >= 0 && shortage.BoundAmount >= limit {
			break
		}
	}
	slices.SortFunc(shortage.Holders, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(b.Borrowed, a.Borrowed), strings.Compare(a.Quota, b.Quota))
	})
}

func (t *Tree) addHolder(row int32, column int, parent int32, shortage *Shortage) {
	share, used := &t.shares[t.at(row, column)], t.sums[t.at(row, column)].used.value()
	guaranteed := min(share.min, share.floor)
	if borrowed := share.runtime - guaranteed; borrowed > 0 {
		shortage.Holders = append(shortage.Holders, Holder{
			Quota: t.nodes[row].spec.Name, Under: t.nodes[parent].spec.Name, Borrowed: borrowed, Runtime: share.runtime, Min: guaranteed, Used: used,
		})
	}
	if !t.nodes[row].spec.Lends && used < share.runtime {
		shortage.Reserved = saturatedSum(shortage.Reserved, min(share.runtime, guaranteed)-min(used, share.runtime, guaranteed))
	}
}

// isRoot reports whether a bound is the total of the tree.
func isRoot(name string) bool { return name == extension.RootQuotaName }
