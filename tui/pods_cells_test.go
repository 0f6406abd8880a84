package tui

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/tui/internal/grid"
)

func podTableOf(rows ...podRow) *grid.Table[podRow] {
	table := newPodTable(true)
	table.SetRows(rows)
	return table
}

func TestCellsOfAPod(t *testing.T) {
	for name, tc := range map[string]struct {
		pod  *podBuilder
		want map[string]string
	}{
		"all is known": {
			makePod("shop", "web-1").on("node-1").class("LS", "koord-prod").requests(2000, 4*gib).uses(500, gib),
			map[string]string{"NAMESPACE": "shop", "NAME": "web-1", "STATUS": "Running", "QOS": "LS", "BAND": "prod", "NODE": "node-1",
				"CPU-USE": "0.50/2", "MEM-USE": "1Gi/4Gi", "TIER": "plain"},
		},
		"nothing is measured":              {makePod("a", "b").on("n").requests(1000, gib), map[string]string{"CPU-USE": "-/1", "MEM-USE": "-/1Gi"}},
		"a pod without class":              {makePod("a", "b").on("n"), map[string]string{"BAND": "-"}},
		"it requests nothing":              {makePod("a", "b").on("n").uses(100, gib), map[string]string{"CPU-USE": "0.10/0"}},
		"no node yet, and no reason":       {makePod("a", "b").phase(corev1.PodPending), map[string]string{"NODE": "<pending>", "STATUS": "Pending"}},
		"it has failed":                    {makePod("a", "b").phase(corev1.PodFailed), map[string]string{"STATUS": "Failed"}},
		"a band of another product":        {makePod("a", "b").on("n").class("BE", "acme-low"), map[string]string{"BAND": "acme-low"}},
		"a name with control characters":   {makePod("a", "b\x1b[31m").on("n"), map[string]string{"NAME": "b [31m"}},
		"batch resources are a tier of it": {makePod("a", "b").on("n").class("BE", "koord-batch"), map[string]string{"BAND": "batch"}},
	} {
		t.Run(name, func(t *testing.T) {
			row := tc.pod.row()
			cells := cellsOf(podColumns(true), &row)
			got := map[string]string{}
			for title := range tc.want {
				got[title] = cells[title]
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("unexpected cells (-want +got):\n%s\nall: %v", diff, cells)
			}
		})
	}
}

func TestPodsAreOrdered(t *testing.T) {
	rows := []podRow{
		makePod("b", "small").class("LS", "koord-prod").requests(1000, gib).uses(100, 3*gib).row(),
		makePod("a", "large").class("BE", "koord-batch").requests(1000, gib).uses(900, gib).row(),
		makePod("a", "waits").class("LSR", "koord-prod").pending("").row(),
		makePod("a", "done").phase(corev1.PodSucceeded).row(),
	}
	for name, tc := range map[string]struct {
		title        string
		largestFirst bool
		want         string
	}{
		"by name":                  {"NAME", false, "done large small waits"},
		"by QoS class, none first": {"QOS", false, "done large small waits"},
		"the largest use of cpu first, unmeasured last": {"CPU", true, "large small waits done"},
		"the largest use of memory first":               {"MEMORY", true, "small large waits done"},
		"what waits comes first":                        {"STATUS", true, "waits small large done"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(orderBy(podTableOf(rows...), tc.title, tc.largestFirst), " ")
			if got != tc.want {
				t.Errorf("unexpected order %q, want %q", got, tc.want)
			}
		})
	}
}

func TestOnlyPodsInTroubleAreProblems(t *testing.T) {
	for phase, want := range map[corev1.PodPhase]bool{
		corev1.PodRunning: false, corev1.PodSucceeded: false, corev1.PodPending: true, corev1.PodFailed: true, corev1.PodUnknown: true,
	} {
		row := makePod("a", "b").phase(phase).row()
		if got := podProblem(&row); got != want {
			t.Errorf("%s: problem %t, want %t", phase, got, want)
		}
	}
}

// TestTheNamespaceIsAColumnOfAllNamespacesOnly: in one namespace the title says it.
func TestTheNamespaceIsAColumnOfAllNamespacesOnly(t *testing.T) {
	r := newRig(t, 30).start().press(":pods", "enter")
	if text := r.plain(); !strings.Contains(text, "pods(all)") || !strings.Contains(text, "NAMESPACE") {
		t.Errorf("the pods of all namespaces have no column for it:\n%s", text)
	}
	r.press(":ns shop", "enter")
	if text := r.plain(); !strings.Contains(text, "pods(shop)") || strings.Contains(text, "NAMESPACE") {
		t.Errorf("the pods of one namespace repeat it in each row:\n%s", text)
	}
	r.press("0")
	if text := r.plain(); !strings.Contains(text, "NAMESPACE") {
		t.Errorf("the column does not come back:\n%s", text)
	}
}
