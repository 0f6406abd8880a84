package tui

import (
	corev1 "k8s.io/api/core/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/story"
)

// nodeRow is a node with what the table needs again and again.
type nodeRow struct {
	*diagnostics.NodeOverview
	cpu, memory story.Parts
	state       nodeState
}

func nodeRows(list *diagnostics.NodeOverviewList) []nodeRow {
	if list == nil {
		return nil
	}
	rows := make([]nodeRow, len(list.Items))
	for i := range list.Items {
		n := &list.Items[i]
		rows[i] = nodeRow{NodeOverview: n, cpu: story.Of(n.CPU), memory: story.Of(n.Memory), state: stateOf(n)}
	}
	return rows
}

// nodeState is a node's condition in one word, the gravest first.
type nodeState int

const (
	notReady nodeState = iota
	loadHot
	loadExpired
	loadUnknown
	cordoned
	metricStale
	loadNormal
)

func stateOf(n *diagnostics.NodeOverview) nodeState {
	switch {
	case !n.Ready:
		return notReady
	case n.Load.State == diagnostics.LoadHot:
		return loadHot
	case n.Load.State == diagnostics.LoadExpired, n.Metric.State == diagnostics.MetricExpired, n.Metric.State == diagnostics.MetricInvalid:
		return loadExpired
	case n.Unschedulable:
		return cordoned
	case n.Load.State == diagnostics.LoadNormal && n.Metric.State == diagnostics.MetricStale:
		return metricStale
	case n.Load.State == diagnostics.LoadNormal:
		return loadNormal
	}
	return loadUnknown
}

func (s nodeState) word() string {
	return [...]string{"NotReady", "Hot", "Expired", "Unknown", "Cordoned", "Stale", "Normal"}[s]
}

// nodeProblem selects nodes for problems-only mode.
func nodeProblem(r *nodeRow) bool { return r.state != loadNormal }

// podRow is a pod with its health.
type podRow struct {
	*diagnostics.PodOverview
}

func podRows(list *diagnostics.PodOverviewList) []podRow {
	if list == nil {
		return nil
	}
	rows := make([]podRow, len(list.Items))
	for i := range list.Items {
		rows[i] = podRow{&list.Items[i]}
	}
	return rows
}

func podKey(r *podRow) string { return r.Namespace + "/" + r.Name }

// podProblem selects pods for problems-only mode: those that do not run and have not succeeded.
func podProblem(r *podRow) bool {
	return r.Phase != corev1.PodRunning && r.Phase != corev1.PodSucceeded
}

// summary is the cluster in numbers.
type summary struct {
	cpu, memory                        story.Parts
	nodes, hot, late, notReady, unseen int
}

func summaryOf(rows []nodeRow) summary {
	s := summary{nodes: len(rows)}
	for i := range rows {
		s.cpu = s.cpu.Add(rows[i].cpu)
		s.memory = s.memory.Add(rows[i].memory)
		switch rows[i].state {
		case notReady:
			s.notReady++
		case loadHot:
			s.hot++
		case loadExpired, metricStale:
			s.late++
		case loadUnknown:
			s.unseen++
		}
	}
	return s
}
