package loadaware

import (
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/scheduler/services/servicestest"
	"koordinator.sh/koord/scheduler/state"
)

func TestWhatCountsOnANode(t *testing.T) {
	f := newFixture(t, "", newNode("n"))
	pod := newPod("late", "4")
	pod.Namespace = "ns"
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f.state.assigned["n"] = state.Assigned{Version: 1, Pods: []loadaware.AssignedPod{{Pod: pod, AssignedAt: at}}}
	code, got := servicestest.Get(t, f.plugin, servicestest.Nodes{infoOf(newNode("n"))}, "node/n")
	for _, want := range []string{
		`"pods":[{"timestamp":"2026-01-02T03:04:05Z","pod":{"metadata":{"namespace":"ns","name":"late"`, `"estimated":{"cpu":"3400m"`,
		`"nodeDelta":{"cpu":"3400m"`, `"nodeDeltaPods":["ns/late"]`,
	} {
		if code != 200 || !strings.Contains(got, want) {
			t.Errorf("code %d, %s is missing in %s", code, want, got)
		}
	}
	if code, got := servicestest.Get(t, f.plugin, nil, "node/m"); code != 200 || strings.TrimSpace(got) != "{}" {
		t.Errorf("of an unknown node: code %d, %s", code, got)
	}
}
