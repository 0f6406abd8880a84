package scheduleexplanations

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// crowded would find a place if a pod of the same namespace and one of another were evicted.
func crowded() *diagnosticsv1alpha1.PodExplanationStatus {
	status := unschedulable()
	status.Pod = diagnosticsv1alpha1.PodFacts{Namespace: "default", Name: "a"}
	status.Summary = "0/3 nodes are available: 2 node(s) had insufficient cpu on n1 and n2, 1 quota foreign exceeded"
	status.Groups[0].Code = string(finding.InsufficientResources)
	status.Groups[1].Reason = "quota foreign exceeded"
	status.Preemption = &diagnosticsv1alpha1.Preemption{
		Verdict: diagnosticsv1alpha1.PreemptionEvicts, Plugin: "DefaultPreemption", NodeName: "n1", Message: "DefaultPreemption would evict 2 pods from node n1",
		Victims: []diagnosticsv1alpha1.PreemptionVictim{{Namespace: "shop", Name: "foreign"}, {Namespace: "default", Name: "b"}},
	}
	status.Fix = &diagnosticsv1alpha1.Fix{
		Kind: "evictPod", Node: "n1", Verified: true, Description: "evict pod shop/foreign from node n1",
		Steps: []diagnosticsv1alpha1.FixStep{{Verb: "delete", Resource: "pods", Namespace: "shop", Name: "foreign"}},
	}
	return status
}

func TestReadersOfANamespaceAreToldOfItsObjectsAlone(t *testing.T) {
	byHost := func(p *corev1.Pod) { p.Labels = map[string]string{extension.LabelTopologyKeyToExplain: "zone"} }
	inBubble(t, func(f *fixture) {
		f.set(says(crowded()))
		f.ask("a")
		got := f.get(whyKey).Status
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"n1", "n2", "n3", "east", "west", "shop", "foreign"} {
			if strings.Contains(string(text), name) {
				t.Errorf("%q is named:\n%s", name, text)
			}
		}
		const message = "0/3 nodes are available: 2 Insufficient cpu, 1 refused by plugin TaintToleration [KOORD1901]; DefaultPreemption would evict 2 pods"
		want := schedulingv1alpha1.ScheduleExplanationStatus{
			SchedulableAfterPreemption: true, FailedMessage: message,
			DetailedExplanation: []schedulingv1alpha1.ExplanationDetail{{
				SchedulableAfterPreemption: true, FailedMessage: message,
				ScheduleExplanation: &schedulingv1alpha1.SchedulingResult{FailedMessage: message, NodeFailedDetails: []schedulingv1alpha1.NodeFailedDetail{
					{FailedPlugin: "NodeResourcesFit", Reason: "Insufficient cpu", PreemptMightHelp: true}, {FailedPlugin: "TaintToleration", Reason: "refused by plugin TaintToleration"},
				}},
				PreemptExplanation: &schedulingv1alpha1.SchedulingResult{Schedulable: true},
				NodePossibleVictims: []schedulingv1alpha1.NodePossibleVictim{{PossibleVictims: []schedulingv1alpha1.PossibleVictim{
					{NamespacedPod: podNamed("b"), IsNominatedPod: true},
				}}},
			}},
		}
		got.LastUpdateTime = nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}, newPod("a", byHost), newPod("b"), newNode("n1", "east"), newNode("n2", "west"), newNode("n3", "west"))
}

func TestAPlaceIsClaimedWithoutItsName(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.set(says(schedulable("n1", "n2")))
		f.ask("a")
		got := f.get(whyKey).Status
		if !got.Schedulable {
			t.Errorf("status %+v", got)
		}
		want := []schedulingv1alpha1.PodSchedulingResult{{NamespacedPod: podNamed("a")}}
		if diff := cmp.Diff(want, got.DetailedExplanation[0].ScheduleExplanation.FeasibleSchedulingResult); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}, newPod("a"), newNode("n1", "east"))
}

func TestTheSystemNamespaceIsToldEverything(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.set(says(crowded()))
		f.ask("default/a", inSystem)
		text, err := json.Marshal(f.get(systemKey).Status)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{`"failedNodes":["n1","n2"]`, `"nodeName":"n1"`, `"namespace":"shop","name":"foreign"`, "evict pod shop/foreign"} {
			if !strings.Contains(string(text), name) {
				t.Errorf("%s is not there:\n%s", name, text)
			}
		}
	}, newPod("a"), newPod("foreign", func(p *corev1.Pod) {
		p.ObjectMeta = metav1.ObjectMeta{Namespace: "shop", Name: "foreign", UID: "foreign"}
	}))
}
