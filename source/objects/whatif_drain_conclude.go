package objects

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/descheduling/drain"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// drainTally counts the pods of a forecast.
type drainTally struct {
	evicted, blocked, skipped, found, none, lost, unknown int
	// to are the pods that each node gets.
	to map[string]int
	// flags that are needed, with the number of pods that need each.
	flags map[string]int
	// first pod that needs each flag.
	first map[string]string
}

func (d *Drain) tally() drainTally {
	t := drainTally{to: map[string]int{}, flags: map[string]int{}, first: map[string]string{}}
	for i := range d.answer.Pods {
		pod := &d.answer.Pods[i]
		name := pod.Namespace + "/" + pod.Name
		for _, flag := range pod.Flags {
			t.flags[flag]++
			t.first[flag] = cmp.Or(t.first[flag], name)
		}
		switch {
		case pod.Action == diagnosticsv1alpha1.DrainSkip:
			t.skipped++
		case pod.Blocked != "":
			t.blocked++
			if pod.Place == diagnosticsv1alpha1.DrainPlaceNone {
				t.none++
			}
		default:
			t.evicted++
			t.place(pod)
		}
	}
	return t
}

func (t *drainTally) place(pod *diagnosticsv1alpha1.DrainedPod) {
	switch pod.Place {
	case diagnosticsv1alpha1.DrainPlaceFound:
		t.found++
		t.to[pod.To]++
	case diagnosticsv1alpha1.DrainPlaceNone:
		t.none++
	case diagnosticsv1alpha1.DrainPlaceLost:
		t.lost++
	case diagnosticsv1alpha1.DrainPlaceUnknown:
		t.unknown++
	}
}

// conclude fills in the verdict, the sentence, the command, the findings and the notes.
func (d *Drain) conclude() {
	t := d.tally()
	switch {
	case t.blocked > 0:
		d.answer.Verdict = diagnosticsv1alpha1.DrainBlocked
	case t.none > 0:
		d.answer.Verdict = diagnosticsv1alpha1.DrainUnplaced
	case t.unknown > 0 || d.in.NoBudgets && t.evicted > 0:
		d.answer.Verdict = diagnosticsv1alpha1.DrainUnknown
	default:
		d.answer.Verdict = diagnosticsv1alpha1.DrainCompletes
	}
	d.answer.Command = "kubectl drain " + strings.Join(d.in.Drained, " ")
	for _, flag := range drain.Flags() {
		if t.flags[string(flag)] > 0 {
			d.answer.Command += " " + string(flag)
		}
	}
	d.answer.Message = t.message(d.answer)
	if d.in.NoBudgets && t.evicted > 0 {
		d.answer.Message += "; whether PodDisruptionBudgets hold pods back is unknown"
	}
	d.findings(&t)
	d.notes(&t)
}

func (t *drainTally) message(answer *diagnosticsv1alpha1.DrainForecast) string {
	parts := []string{phrase.Counted(t.evicted, "pod") + " evicted"}
	if answer.Rounds > 1 {
		parts[0] += fmt.Sprintf(" in %d rounds", answer.Rounds)
	}
	if t.found > 0 {
		all := phrase.Counted(t.found, "pod") + " get a node"
		if t.found == t.evicted && t.found > 1 {
			all = "all get a node"
		} else if t.found == 1 {
			all = "1 pod gets a node"
		}
		parts = append(parts, all+": "+t.nodes())
	}
	for _, part := range []struct {
		n         int
		one, more string
	}{
		{t.none, "1 pod gets no node", "%d pods get no node"},
		{t.blocked, "1 pod is blocked by PodDisruptionBudgets", "%d pods are blocked by PodDisruptionBudgets"},
		{t.lost, "1 pod is not created again", "%d pods are not created again"},
		{t.unknown, "where 1 pod goes is unknown", "where %d pods go is unknown"},
		{t.skipped, "1 pod stays", "%d pods stay"},
	} {
		if part.n == 1 {
			parts = append(parts, part.one)
		} else if part.n > 1 {
			parts = append(parts, fmt.Sprintf(part.more, part.n))
		}
	}
	return strings.Join(parts, "; ")
}

// nodes are those that get most of the pods.
func (t *drainTally) nodes() string {
	const most = 3
	names := slices.SortedFunc(maps.Keys(t.to), func(a, b string) int { return cmp.Or(cmp.Compare(t.to[b], t.to[a]), strings.Compare(a, b)) })
	var parts []string
	for _, name := range names[:min(len(names), most)] {
		parts = append(parts, fmt.Sprintf("%d on %s", t.to[name], name))
	}
	if rest := len(names) - most; rest > 0 {
		parts = append(parts, "others on "+phrase.Counted(rest, "more node"))
	}
	return strings.Join(parts, ", ")
}

func (d *Drain) findings(t *drainTally) {
	found := func(code finding.Code, severity diagnosticsv1alpha1.Severity, hint, format string, values ...any) {
		d.answer.Findings = append(d.answer.Findings, diagnosticsv1alpha1.Finding{Code: string(code), Severity: severity, Message: fmt.Sprintf(format, values...), Hint: hint})
	}
	for i := range d.answer.Pods {
		if pod := &d.answer.Pods[i]; pod.Place == diagnosticsv1alpha1.DrainPlaceNone {
			found(finding.DrainUnplaced, diagnosticsv1alpha1.SeverityError, fmt.Sprintf("koordctl explain pod %s -n %s", pod.Name, pod.Namespace),
				"no other node takes pod %s/%s: %s", pod.Namespace, pod.Name, pod.Summary)
		}
	}
	for i := range d.answer.Budgets {
		if budget := &d.answer.Budgets[i]; budget.Blocked > 0 {
			found(finding.DrainBlocked, diagnosticsv1alpha1.SeverityError, fmt.Sprintf("kubectl describe poddisruptionbudget %s -n %s", budget.Name, budget.Namespace),
				"%s of namespace %s cannot be evicted: %s", phrase.Counted(int(budget.Blocked), "pod"), budget.Namespace, budget.Message)
		}
	}
	for _, flag := range drain.Flags() {
		if flag != drain.IgnoreDaemonSets && t.flags[string(flag)] > 0 {
			found(finding.DrainLoses, diagnosticsv1alpha1.SeverityWarning, d.answer.Command,
				"kubectl drain needs %s because of %s, such as %s: %s", flag, phrase.Counted(t.flags[string(flag)], "pod"), t.first[string(flag)], lossOf(flag))
		}
	}
	for i := range d.in.Nodes {
		node := &d.in.Nodes[i]
		if engines := enginesOn(node); len(engines) > 0 && slices.Contains(d.in.Drained, node.Name) {
			found(finding.EngineWorkRemains, diagnosticsv1alpha1.SeverityWarning, fmt.Sprintf("koordctl explain node %s batch-cpu", node.Name),
				"node %s may run work of %s, which kubectl drain neither ends nor waits for", node.Name, strings.Join(engines, ", "))
		}
	}
}

// enginesOn are the schedulers outside of Kubernetes that have taken something of a node, sorted; none where what they took cannot be read.
func enginesOn(node *corev1.Node) []string {
	allocations, err := extension.GetThirdPartyAllocations(node.Annotations)
	if err != nil || allocations == nil {
		return nil
	}
	names := map[string]bool{}
	for i := range allocations.Allocations {
		names[cmp.Or(allocations.Allocations[i].Name, "unnamed")] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func lossOf(flag drain.Flag) string {
	if flag == drain.Force {
		return "no controller creates such pods again"
	}
	return "the data of emptyDir volumes is lost"
}

func (d *Drain) notes(t *drainTally) {
	note := func(text string) { d.answer.Notes = append(d.answer.Notes, text) }
	if t.found+t.none > 0 {
		note("replacements are taken to be like the pods that they replace, and to be scheduled one after the other; among nodes that score the same, the scheduler chooses at random")
	}
	if d.answer.Rounds > 1 {
		note("replacements are taken to become ready; other pods may use up the disruptions that a budget allows")
	}
	if n := d.tolerating(); n > 0 {
		note(fmt.Sprintf("cordons are tolerated by %s, which may come back on a drained node", phrase.Counted(n, "pod")))
	}
	if t.found > 0 {
		note("batch and mid resources of nodes that get pods shrink with their usage, which is not forecast")
	}
}

// tolerating counts the pods that come back, and may run on a cordoned node.
func (d *Drain) tolerating() int {
	cordon, n := &corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}, 0
	for _, i := range d.asked {
		if nodefit.Tolerates(d.selected[i].Pod, cordon) {
			n++
		}
	}
	return n
}
