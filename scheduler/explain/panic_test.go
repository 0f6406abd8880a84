package explain

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

func TestAPluginThatPanicsOnANodeRefusesThatNodeAlone(t *testing.T) {
	c := newCluster(t)
	c.addNode(newNode(1))
	c.addNode(newNode(2))
	c.state.panicsOn = "node-1"
	c.addPod(newPod("p", "cpu", "1"))
	status := c.explain("p")
	if status.Verdict != diagnosticsv1alpha1.PodSchedulable || status.Placement == nil || status.Placement.Node != "node-2" {
		t.Errorf("verdict %s, placement %+v: %s", status.Verdict, status.Placement, status.Summary)
	}
	if len(status.Groups) != 1 || status.Groups[0].Code != string(finding.PluginPanicked) || status.Groups[0].Count != 1 {
		t.Fatalf("groups %+v", status.Groups)
	}
	if want := "plugin LoadAwareScheduling panicked in Filter: NodeMetric of node-1"; status.Groups[0].Message != want {
		t.Errorf("message %q, want %q", status.Groups[0].Message, want)
	}
}

func TestAnExplanationThatPanicsIsAnError(t *testing.T) {
	c := newCluster(t)
	c.addNode(newNode(1))
	c.addPod(newPod("p", "cpu", "1"))
	c.engine.config.Leader = func() bool { panic("no lock") }
	answer, err := c.engine.Explain(t.Context(), question("p"))
	if answer != nil || err == nil || !strings.Contains(err.Error(), "explain pod default/p: panic: no lock") {
		t.Errorf("answer %v, error %v", answer, err)
	}
	c.engine.config.Leader = func() bool { return true }
	if status := c.explain("p"); status.Verdict != diagnosticsv1alpha1.PodSchedulable {
		t.Errorf("asked again: verdict %s", status.Verdict)
	}
}

func TestAPanicOfParallelWorkComesToTheCaller(t *testing.T) {
	defer func() {
		if diff := cmp.Diff("work 7", recover()); diff != "" {
			t.Errorf("recovered (-want +got):\n%s", diff)
		}
	}()
	inParallel(context.Background(), 8, func(i int) {
		if i == 7 {
			panic("work 7")
		}
	})
	t.Fatal(errors.New("inParallel returned"))
}

func TestFixesAreNotLookedForOnNodesWhereAPluginPanics(t *testing.T) {
	c := newCluster(t)
	c.addNode(newNode(1))
	c.addNode(newNode(2))
	c.state.panicsOn = "node-1"
	c.addPod(newPod("p", "cpu", "17"))
	status := c.explain("p")
	if status.Verdict != diagnosticsv1alpha1.PodUnschedulable || status.Fix == nil || status.Fix.Node == "node-1" {
		t.Errorf("verdict %s, fix %+v", status.Verdict, status.Fix)
	}
}
