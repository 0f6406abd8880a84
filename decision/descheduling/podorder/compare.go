package podorder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// A criterion is one step of the order.
type criterion struct {
	name    string
	compare func(a, b *Rank) int
	value   func(r *Rank) string
}

// criteria in the order in which they are compared.
var criteria = []criterion{
	{
		"priority class", func(a, b *Rank) int { return classOrder(a.PriorityClass) - classOrder(b.PriorityClass) },
		func(r *Rank) string { return orNone(string(r.PriorityClass)) },
	},
	{
		"priority", func(a, b *Rank) int { return cmp.Compare(a.Priority, b.Priority) },
		func(r *Rank) string { return fmt.Sprint(r.Priority) },
	},
	{
		"Kubernetes QoS class", func(a, b *Rank) int { return kubeOrder(a.KubeQOS) - kubeOrder(b.KubeQOS) },
		func(r *Rank) string { return orNone(string(r.KubeQOS)) },
	},
	{
		"QoS class", func(a, b *Rank) int { return qosOrder(a.QoS) - qosOrder(b.QoS) },
		func(r *Rank) string { return orNone(string(r.QoS)) },
	},
	{
		"pod deletion cost", func(a, b *Rank) int { return cmp.Compare(a.DeletionCost, b.DeletionCost) },
		func(r *Rank) string { return fmt.Sprint(r.DeletionCost) },
	},
	{
		"eviction cost", func(a, b *Rank) int { return cmp.Compare(a.EvictionCost, b.EvictionCost) },
		func(r *Rank) string { return fmt.Sprint(r.EvictionCost) },
	},
	{
		"usage score", func(a, b *Rank) int { return cmp.Compare(b.Score, a.Score) },
		func(r *Rank) string { return scoreText(r.Score) },
	},
	{
		"creation time", func(a, b *Rank) int { return b.Created.Compare(a.Created) },
		func(r *Rank) string { return r.Created.UTC().Format("2006-01-02T15:04:05Z") },
	},
	{
		"work done", func(a, b *Rank) int { return cmp.Compare(a.Done, b.Done) },
		func(r *Rank) string { return fmt.Sprintf("%d%%", r.Done*25) },
	},
	{
		"name", func(a, b *Rank) int {
			return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
		},
		func(r *Rank) string { return r.Namespace + "/" + r.Name },
	},
}

// Compare is negative when a leaves before b. Of pods that are equal in all that Koordinator compares, those leave first that lose the least of
// the work of their jobs, and then those whose names come first.
func Compare(a, b *Rank) int {
	for i := range criteria {
		if order := criteria[i].compare(a, b); order != 0 {
			return order
		}
	}
	return 0
}

// Sort puts ranks in the order in which their pods leave.
func Sort(ranks []Rank) {
	slices.SortFunc(ranks, func(a, b Rank) int { return Compare(&a, &b) })
}

// Why says what put a before or after b: "priority: 100 before 5000"; empty for ranks of the same pod.
func Why(a, b *Rank) string {
	for i := range criteria {
		order := criteria[i].compare(a, b)
		if order == 0 {
			continue
		}
		relation := "before"
		if order > 0 {
			relation = "after"
		}
		return fmt.Sprintf("%s: %s %s %s", criteria[i].name, criteria[i].value(a), relation, criteria[i].value(b))
	}
	return ""
}

// classOrder is 1 for the class that leaves first; pods without a class leave last.
func classOrder(class extension.PriorityClass) int {
	switch class {
	case extension.PriorityFree:
		return 1
	case extension.PriorityBatch:
		return 2
	case extension.PriorityMid:
		return 3
	case extension.PriorityProd:
		return 4
	}
	return 5
}

func kubeOrder(class corev1.PodQOSClass) int {
	switch class {
	case corev1.PodQOSBestEffort:
		return 1
	case corev1.PodQOSBurstable:
		return 2
	}
	return 3
}

func qosOrder(class extension.QoSClass) int {
	switch class {
	case extension.QoSBE:
		return 1
	case extension.QoSLS:
		return 2
	case extension.QoSLSR:
		return 3
	case extension.QoSLSE, extension.QoSSystem:
		return 4
	}
	return 5
}

func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return value
}

func scoreText(score float64) string {
	if score == Unmeasured {
		return "no usage reported"
	}
	return fmt.Sprintf("%.3f", score)
}
