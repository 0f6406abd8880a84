package kubectlplugin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

type (
	node = diagnosticsv1alpha1.NodeOverview
	pod  = diagnosticsv1alpha1.PodOverview
)

// nodeOrders are the words of --sort-by for nodes. Amounts come largest first, a missing one last; age oldest first.
var nodeOrders = []order[node]{
	{"name", func(a, b *node) int { return strings.Compare(a.Name, b.Name) }},
	{"load", func(a, b *node) int { return cmp.Compare(loadRank(a.Load.State), loadRank(b.Load.State)) }},
	{"balance", func(a, b *node) int { return cmp.Compare(balanceRank(a.Balance), balanceRank(b.Balance)) }},
	{"age", func(a, b *node) int { return oldestFirst(a.Metric.UpdateTime, b.Metric.UpdateTime) }},
	{"cpu", func(a, b *node) int { return largestFirst(a.CPU.Used, b.CPU.Used) }},
	{"memory", func(a, b *node) int { return largestFirst(a.Memory.Used, b.Memory.Used) }},
	{"prod-cpu", func(a, b *node) int { return largestFirst(a.CPU.ProdUsed, b.CPU.ProdUsed) }},
	{"batch-cpu", func(a, b *node) int { return largestFirst(a.CPU.BatchAllocatable, b.CPU.BatchAllocatable) }},
	{"batch-memory", func(a, b *node) int { return largestFirst(a.Memory.BatchAllocatable, b.Memory.BatchAllocatable) }},
}

// podOrders are the words of --sort-by for pods.
var podOrders = []order[pod]{
	{"name", func(a, b *pod) int { return strings.Compare(a.Name, b.Name) }},
	{"node", func(a, b *pod) int { return strings.Compare(a.NodeName, b.NodeName) }},
	{"qos", func(a, b *pod) int { return strings.Compare(a.QoSClass, b.QoSClass) }},
	{"cpu", func(a, b *pod) int { return largestFirst(a.CPU.Used, b.CPU.Used) }},
	{"memory", func(a, b *pod) int { return largestFirst(a.Memory.Used, b.Memory.Used) }},
	{"cpu-request", func(a, b *pod) int { return cmp.Compare(b.CPU.Requested, a.CPU.Requested) }},
	{"memory-request", func(a, b *pod) int { return cmp.Compare(b.Memory.Requested, a.Memory.Requested) }},
}

// order is a word of --sort-by and how it compares.
type order[T any] struct {
	name    string
	compare func(a, b *T) int
}

// orderNames are the words of --sort-by as help lists them.
func orderNames[T any](orders []order[T]) string {
	names := make([]string, len(orders))
	for i := range orders {
		names[i] = orders[i].name
	}
	return strings.Join(names, ", ")
}

// words of --sort-by.
func words[T any](orders []order[T]) []string {
	names := strings.Split(orderNames(orders), ", ")
	slices.Sort(names)
	return names
}

func largestFirst(a, b *int64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	default:
		return cmp.Compare(*b, *a)
	}
}

// oldestFirst puts what was never seen first.
func oldestFirst(a, b *metav1.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	default:
		return a.Compare(b.Time)
	}
}

// loadRank puts what needs attention first.
func loadRank(state diagnosticsv1alpha1.LoadState) int {
	order := []diagnosticsv1alpha1.LoadState{diagnosticsv1alpha1.LoadHot, diagnosticsv1alpha1.LoadExpired, diagnosticsv1alpha1.LoadUnknown, diagnosticsv1alpha1.LoadNormal}
	if i := slices.Index(order, state); i >= 0 {
		return i
	}
	return len(order)
}

// balanceRank puts nodes that pods leave first, and those that are not judged last.
func balanceRank(balance *diagnosticsv1alpha1.BalanceOverview) int {
	order := []diagnosticsv1alpha1.BalanceState{
		diagnosticsv1alpha1.BalanceOverutilized, diagnosticsv1alpha1.BalanceUnknown, diagnosticsv1alpha1.BalanceNormal, diagnosticsv1alpha1.BalanceUnderutilized,
	}
	if balance != nil {
		if i := slices.Index(order, balance.State); i >= 0 {
			return i
		}
	}
	return len(order)
}

// sortItems orders by one of the words, or else by a JSONPath; empty leaves the items as they are.
func sortItems[T any, P interface {
	*T
	runtime.Object
}](items []T, orders []order[T], by string) error {
	if by == "" {
		return nil
	}
	if at := slices.IndexFunc(orders, func(o order[T]) bool { return o.name == by }); at >= 0 {
		slices.SortStableFunc(items, func(a, b T) int { return orders[at].compare(&a, &b) })
		return nil
	}
	return sortByPath(items, by, words(orders), func(item *T) runtime.Object { return P(item) })
}

// sortByPath orders by a JSONPath, ascending, as kubectl get --sort-by does; what lacks the value comes first. Numbers
// compare as numbers, everything else as text.
func sortByPath[T any](items []T, text string, words []string, object func(*T) runtime.Object) error {
	path, err := parsePath(text)
	if err != nil {
		return fmt.Errorf("order: %w", err)
	}
	type keyed struct {
		item T
		key  any
	}
	rows, known := make([]keyed, len(items)), len(items) == 0
	for i := range items {
		data, err := plain(object(&items[i]))
		if err != nil {
			return err
		}
		rows[i].item = items[i]
		if found, err := path.FindResults(data); err == nil && len(found) > 0 && len(found[0]) > 0 {
			rows[i].key, known = found[0][0].Interface(), true
		}
	}
	if !known {
		return usage("--sort-by %q: no item has this field; must be %s, or a JSONPath such as .cpu.used", text, strings.Join(words, ", "))
	}
	slices.SortStableFunc(rows, func(a, b keyed) int { return compareValues(a.key, b.key) })
	for i := range rows {
		items[i] = rows[i].item
	}
	return nil
}

func compareValues(a, b any) int {
	x, isNumber := number(a)
	y, areNumbers := number(b)
	switch {
	case a == nil || b == nil:
		return cmp.Compare(boolInt(a != nil), boolInt(b != nil))
	case isNumber && areNumbers:
		return cmp.Compare(x, y)
	default:
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	}
}

func number(value any) (float64, bool) {
	switch n := value.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	default:
		return 0, false
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// checkOrder refuses a --sort-by that is neither one of the words nor a JSONPath.
func checkOrder(by string, words []string) error {
	if by == "" || slices.Contains(words, by) {
		return nil
	}
	if !strings.ContainsAny(by, ".{") {
		return usage("--sort-by %q: must be %s, or a JSONPath such as .cpu.used", by, strings.Join(words, ", "))
	}
	if _, err := parsePath(by); err != nil {
		return usage("--sort-by: %w", err)
	}
	return nil
}

func checkSelector(selector string) error {
	if _, err := labels.Parse(selector); err != nil {
		return usage("--selector %q: %w", selector, err)
	}
	return nil
}
