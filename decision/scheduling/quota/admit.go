package quota

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
)

// Admission is everything that decides whether one pod fits: what it asks for, and what its quota and those above it use
// and may use. It is a copy of the tree's numbers, and stays as it is when the tree changes.
type Admission struct {
	// Quotas that are checked: the pod's own, then those above.
	Quotas []string
	// Request of the pod.
	Request Amounts
	// NonPreemptible pods must also fit into min.
	NonPreemptible bool

	rules Rules
	keys  []corev1.ResourceName
	// cells hold one entry for each quota and key.
	cells []cell
}

type cell struct {
	asked, used, runtime, min, nonPreemptibleUsed int64
	// max is -1 where the quota does not limit the resource.
	max    int64
	minSet bool
}

// limit is what used is compared with.
func (c *cell) limit(rules Rules) int64 {
	if rules.Runtime {
		return min(c.runtime, c.max)
	}
	return c.max
}

func (c *cell) exceeds(rules Rules) bool {
	return c.asked > 0 && c.max >= 0 && c.used > c.limit(rules)-c.asked
}

func (c *cell) exceedsMin() bool {
	return c.asked > 0 && c.minSet && c.nonPreemptibleUsed > c.min-c.asked
}

// Verdict on a pod. The zero value admits it.
type Verdict struct {
	// Code is empty when the pod fits.
	Code finding.Code
	// Level of the quota that refuses: 0 for the pod's own, 1 for the one above.
	Level int
}

// Passed is true when the pod fits.
func (v Verdict) Passed() bool { return v.Code == "" }

// Admission collects the numbers for a pod that is counted in the tree with its request and is not assigned. It reports
// whether there is a quota of that name. The previous content of into is overwritten; nothing is allocated once it was
// used for as many levels.
func (t *Tree) Admission(quota string, holding Holding, rules Rules, into *Admission) bool {
	row, found := t.row[quota]
	if !found {
		return false
	}
	t.refresh(row)
	into.Quotas, into.cells = into.Quotas[:0], into.cells[:0]
	into.Request, into.NonPreemptible, into.rules, into.keys = holding.Request, holding.NonPreemptible, rules, t.keys
	for level := 0; row > 0 && (level == 0 || rules.Parents); level++ {
		into.Quotas = append(into.Quotas, t.nodes[row].spec.Name)
		for column := range t.keys {
			share, sums := &t.shares[t.at(row, column)], &t.sums[t.at(row, column)]
			into.cells = append(into.cells, cell{
				used: sums.used.value(), runtime: share.runtime, max: sums.max, min: share.min, minSet: sums.minSet,
				nonPreemptibleUsed: sums.nonPreemptibleUsed.value(),
			})
		}
		for i := range holding.Request {
			if column, known := t.column[holding.Request[i].Resource]; known {
				into.cells[level*len(t.keys)+column].asked = holding.Request[i].Value
			}
		}
		row = t.nodes[row].parent
	}
	return true
}

// Clone returns a copy that does not share what Remove and Add change.
func (a *Admission) Clone() *Admission {
	clone := *a
	clone.Quotas, clone.cells = slices.Clone(a.Quotas), slices.Clone(a.cells)
	return &clone
}

func (a *Admission) level(level int) []cell {
	return a.cells[level*len(a.keys) : (level+1)*len(a.keys)]
}

// Verdict compares: the pod's own quota first, then its min for a non-preemptible pod, then the quotas above.
func (a *Admission) Verdict() Verdict {
	for level := range a.Quotas {
		cells := a.level(level)
		for i := range cells {
			if cells[i].exceeds(a.rules) {
				return Verdict{Code: a.code(level), Level: level}
			}
		}
		for i := range cells {
			if level == 0 && a.NonPreemptible && cells[i].exceedsMin() {
				return Verdict{Code: finding.QuotaNonPreemptibleExceeded}
			}
		}
	}
	return Verdict{}
}

// code reports whether a larger share alone would do.
func (a *Admission) code(level int) finding.Code {
	if level > 0 {
		return finding.QuotaParentExceeded
	}
	for _, c := range a.level(level) {
		if c.exceeds(Rules{}) {
			return finding.QuotaMaxExceeded
		}
	}
	return finding.QuotaShareExceeded
}

// Remove supposes that a pod is gone that uses what its holding says, in a quota that has these ancestors.
func (a *Admission) Remove(quota string, ancestors []string, holding Holding) {
	a.shift(quota, ancestors, holding, -1)
}

// Add takes back Remove, or supposes another pod to be there.
func (a *Admission) Add(quota string, ancestors []string, holding Holding) {
	a.shift(quota, ancestors, holding, 1)
}

func (a *Admission) shift(quota string, ancestors []string, holding Holding, sign int64) {
	for level, name := range a.Quotas {
		if name != quota && !slices.Contains(ancestors, name) {
			continue
		}
		cells := a.level(level)
		for _, amount := range holding.Request {
			column, known := slices.BinarySearch(a.keys, amount.Resource)
			if !known {
				continue
			}
			cells[column].used += sign * amount.Value
			if holding.NonPreemptible {
				cells[column].nonPreemptibleUsed += sign * amount.Value
			}
		}
	}
}

// Beginnings of refusals as they stand in events, in upstream's words.
const (
	reasonOfQuota          = "Insufficient quotas, quotaName: "
	reasonOfParent         = "Insufficient quotas, quotaNameTopo: "
	reasonOfNonPreemptible = "Insufficient non-preemptible quotas, quotaName: "
)

// Reason is the refusal as it stands in events, in upstream's words.
func (a *Admission) Reason(verdict Verdict) string {
	var used, limit, minimum, held Amounts
	var exceeded []corev1.ResourceName
	for column, c := range a.level(verdict.Level) {
		key := a.keys[column]
		used = append(used, Amount{key, c.used})
		held = append(held, Amount{key, c.nonPreemptibleUsed})
		if c.max >= 0 {
			limit = append(limit, Amount{key, c.limit(a.rules)})
		}
		if c.minSet {
			minimum = append(minimum, Amount{key, c.min})
		}
		if a.refuses(verdict, &c) {
			exceeded = append(exceeded, key)
		}
	}
	switch verdict.Code {
	case finding.QuotaNonPreemptibleExceeded:
		return fmt.Sprintf(reasonOfNonPreemptible+"%v, min: %v, nonPreemptibleUsed: %v, pod's request: %v, exceedDimensions: %v",
			a.Quotas[0], minimum, held, a.Request, exceeded)
	case finding.QuotaParentExceeded:
		path := slices.Clone(a.Quotas[:verdict.Level+1])
		slices.Reverse(path)
		return fmt.Sprintf(reasonOfParent+"%v, runtime: %v, used: %v, pod's request: %v, exceedDimensions: %v",
			path, limit, used, a.Request, exceeded)
	}
	return fmt.Sprintf(reasonOfQuota+"%v, runtime: %v, used: %v, pod's request: %v, exceedDimensions: %v",
		a.Quotas[verdict.Level], limit, used, a.Request, exceeded)
}

func (a *Admission) refuses(verdict Verdict, c *cell) bool {
	if verdict.Code == finding.QuotaNonPreemptibleExceeded {
		return c.exceedsMin()
	}
	return c.exceeds(a.rules)
}

// IsReason reports whether a reason in an event is one of this package.
func IsReason(reason string) bool { return CodeOf(reason, Rules{}) != "" }

// CodeOf returns the code of a reason under the rules that made it, empty for a text that is not one of this package. A text
// does not tell whether a larger share would do; where shares count, the share is what it says is exceeded.
func CodeOf(reason string, rules Rules) finding.Code {
	switch {
	case strings.HasPrefix(reason, reasonOfNonPreemptible):
		return finding.QuotaNonPreemptibleExceeded
	case strings.HasPrefix(reason, reasonOfParent):
		return finding.QuotaParentExceeded
	case !strings.HasPrefix(reason, reasonOfQuota):
		return ""
	case rules.Runtime:
		return finding.QuotaShareExceeded
	}
	return finding.QuotaMaxExceeded
}
