package explain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func (c *cluster) explainReservation(name string) *diagnosticsv1alpha1.PodExplanationStatus {
	c.t.Helper()
	ask := question("")
	ask.Spec.ReservationName = name
	answer, err := c.engine.Explain(c.t.Context(), ask)
	if err != nil {
		c.t.Fatal(err)
	}
	return &answer.Status
}

func TestReservationsAreExplained(t *testing.T) {
	c := newShippedCluster(t)
	tests := []struct {
		name  string
		build func()
		want  string
	}{
		{
			name: "one that no node has room for, with the change of its template",
			build: func() {
				c.addNode(newNode(0))
				c.addPod(on(0, newPod("peer", "cpu", "10")))
				c.addReservation(newReservation("asked", "cpu", "8"))
			},
			want: "Unschedulable KOORD1901 0/1 nodes are available: 1 Insufficient cpu (requested 8, at most 6 free, on node-0).; " +
				"in the template of the reservation, reduce the pod's cpu request from 8 to 6 (by 2): kubectl edit reservation asked; " +
				"Helpless: reservations evict no pods unless enablePreemption of the plugin's arguments is set",
		},
		{
			name: "one that names its node",
			build: func() {
				c.addNode(newNode(0))
				node := newNode(1)
				node.Spec.Unschedulable = true
				c.addNode(node)
				object := newReservation("asked", "cpu", "8")
				object.Spec.Template.Spec.NodeName = "node-1"
				c.addReservation(object)
			},
			want: "Unschedulable KOORD1904 0/2 nodes are available: 1 node(s) didn't match the node name of the reservation, 1 node(s) were unschedulable.; uncordon node node-1: kubectl uncordon node-1; " +
				"Helpless: reservations evict no pods unless enablePreemption of the plugin's arguments is set",
		},
		{
			name: "one that a node would take",
			build: func() {
				c.addNode(newNode(0))
				c.addReservation(newReservation("asked", "cpu", "8"))
			},
			want: "Schedulable  1/1 nodes are available, node-0 scores highest; ; ",
		},
		{
			name: "one that has its node",
			build: func() {
				c.addNode(newNode(0))
				c.addReservation(available(0, newReservation("asked", "cpu", "8")))
				c.addPod(using("asked", on(0, newPod("user", "cpu", "2"))))
			},
			want: "Bound  available on node-0, used by 1 pod; ; ",
		},
		{
			name: "one that ended",
			build: func() {
				object := available(0, newReservation("asked", "cpu", "8"))
				object.Status.Phase = schedulingv1alpha1.ReservationFailed
				c.addReservation(object)
			},
			want: "Finished  the reservation has failed; ; ",
		},
		{
			name: "one that another scheduler is responsible for",
			build: func() {
				object := newReservation("asked", "cpu", "8")
				object.Spec.Template.Spec.SchedulerName = "other"
				c.addReservation(object)
			},
			want: `NotResponsible KOORD1915 scheduler "other" is not a profile of koord-scheduler; ; `,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c.clear()
			test.build()
			status := c.explainReservation("asked")
			got := fmt.Sprintf("%s %s %s; %s; %s", status.Verdict, status.Code, status.Summary, fixText(status.Fix), shortPreemption(status.Preemption))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if status.Pod.ReservationName != "asked" {
				t.Errorf("facts %+v", status.Pod)
			}
		})
	}
}

func fixText(fix *diagnosticsv1alpha1.Fix) string {
	if fix == nil {
		return ""
	}
	return fix.Description + ": " + fix.Command
}

func shortPreemption(p *diagnosticsv1alpha1.Preemption) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%s: %s", p.Verdict, p.Message)
}

func TestUnknownReservationsAreNotFound(t *testing.T) {
	ask := question("")
	ask.Spec.ReservationName = "gone"
	if _, err := newShippedCluster(t).engine.Explain(t.Context(), ask); !apierrors.IsNotFound(err) {
		t.Errorf("error %v, want one that says NotFound", err)
	}
}

// TestReservationsPreemptWhenTheyMay has the arguments under which reserve pods evict.
func TestReservationsPreemptWhenTheyMay(t *testing.T) {
	c := newClusterWith(t, strings.Replace(profileYAML, "{name: LoadAwareScheduling}", "{name: LoadAwareScheduling}, {name: Reservation}", 1)+
		"  pluginConfig: [{name: Reservation, args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: ReservationArgs, enablePreemption: true}}]\n")
	c.addNode(newNode(0))
	c.addPod(of(100, on(0, newPod("cheap", "cpu", "10"))))
	spared := of(50, on(0, newPod("spared", "cpu", "4")))
	spared.Labels = map[string]string{extension.LabelDisablePreemptible: "true"}
	c.addPod(spared)
	c.addReservation(newReservation("asked", "cpu", "8"))
	want := `Evicts Reservation "node-0" [cheap:100] 0 1/1: Reservation would evict 1 pod from node node-0; `
	if diff := cmp.Diff(want, preemptionText(c.explainReservation("asked").Preemption)); diff != "" {
		t.Errorf("preemption (-want +got):\n%s", diff)
	}
}

func TestUsersOfReservationsAreVictimsOnlyForThoseWhoMayUseThem(t *testing.T) {
	c := newShippedCluster(t)
	c.addNode(newNode(0))
	c.addReservation(available(0, newReservation("r", "cpu", "12")))
	c.addPod(using("r", of(100, on(0, newPod("user", "cpu", "12")))))
	for owns, want := range map[string]diagnosticsv1alpha1.PreemptionVerdict{"": diagnosticsv1alpha1.PreemptionHelpless, "r": diagnosticsv1alpha1.PreemptionEvicts} {
		pod := newPod("asked", "cpu", "12")
		pod.Labels = map[string]string{"owns": owns}
		c.addPod(pod)
		if got := c.explain("asked").Preemption; got == nil || got.Verdict != want {
			t.Errorf("a pod that owns %q: %s, want %s", owns, preemptionText(got), want)
		}
	}
}

func TestAReservationIsAVictimByItsName(t *testing.T) {
	c := newShippedCluster(t)
	c.addNode(newNode(0))
	object := available(0, newReservation("r", "cpu", "12"))
	object.Labels[extension.LabelPodPriority] = "100"
	c.addReservation(object)
	c.addPod(newPod("asked", "cpu", "12"))
	status := c.explain("asked")
	want := []diagnosticsv1alpha1.PreemptionVictim{{ReservationName: "r", Namespace: "default", Name: "uid-r", Priority: 100}}
	if diff := cmp.Diff(want, status.Preemption.Victims); diff != "" {
		t.Errorf("victims (-want +got):\n%s", diff)
	}
	c.addPod(on(0, newPod("rest", "cpu", "4"))) // so that asking for less does not help
	status = c.explain("asked")
	if want := "end reservation r, which holds resources on node node-0: kubectl delete reservation r"; fixText(status.Fix) != want {
		t.Errorf("fix %q, want %q", fixText(status.Fix), want)
	}
}

// TestEveryFixOfAReservationWorks keeps the promise of an explanation for Reservations that find no node.
func TestEveryFixOfAReservationWorks(t *testing.T) {
	c := newShippedCluster(t, newDevice("node-0", gpusOn["node-0"]), newDevice("node-3", gpusOn["node-3"]))
	kinds := map[string]int{}
	for range rounds(30) { // of as many clusters as rapid draws at a time
		rapid.Check(t, func(t *rapid.T) {
			c.drawShipped(t)
			c.addReservation(drawReserving(t))
			c.checkExplanation(t, kinds)
		})
	}
	expectKinds(t, kinds, "reduceRequest", "addToleration", "uncordon", "evictPod", "endReservation", "refreshNodeMetric", "relaxBindPolicy", "relaxNUMAPolicy", "pair", "none")
	t.Logf("fixes: %v", kinds)
}

// drawReserving is a pending Reservation.
func drawReserving(t *rapid.T) *schedulingv1alpha1.Reservation {
	object := newReservation("asked", "cpu", rapid.SampledFrom([]string{"2", "4", "7", "9", "14"}).Draw(t, "cpu of the reservation"), "memory", "1Gi")
	template := object.Spec.Template
	template.Labels, template.Annotations = map[string]string{}, map[string]string{}
	switch rapid.SampledFrom([]string{"plain", "plain", "binds", "aligns", "accelerates"}).Draw(t, "reserves") {
	case "binds":
		template.Labels[extension.LabelPodQoS], template.Spec.Priority = string(extension.QoSLSR), new(int32(9500))
		object.Labels[extension.LabelPodPriority] = "9500"
		template.Annotations[extension.AnnotationResourceSpec] = `{"requiredCPUBindPolicy":"FullPCPUs"}`
	case "aligns":
		template.Annotations[extension.AnnotationNUMATopologySpec] = `{"numaTopologyPolicy":"SingleNUMANode"}`
	case "accelerates":
		ask(&corev1.Pod{Spec: template.Spec}, extension.ResourceNvidiaGPU, "2")
	}
	return object
}

// TestAUserThatGoesGivesItsRoomBackToItsReservation has a node that is full of the users of a reservation.
func TestAUserThatGoesGivesItsRoomBackToItsReservation(t *testing.T) {
	c := newShippedCluster(t)
	c.addNode(newNode(0))
	c.addReservation(available(0, newReservation("r", "cpu", "12")))
	c.addPod(using("r", of(100, on(0, newPod("user", "cpu", "12")))))
	c.addPod(on(0, newPod("peer", "cpu", "4")))
	for owns, want := range map[string]string{"": "evictPod+endReservation", "r": "evictPod"} {
		pod := newPod("asked", "cpu", "12")
		pod.Labels = map[string]string{"owns": owns}
		c.addPod(pod)
		if fix := c.explain("asked").Fix; fix == nil || fix.Kind != want {
			t.Errorf("a pod that owns %q: fix %q, want one of kind %s", owns, fixText(fix), want)
		}
	}
}

// TestATooSmallReservationIsOneRefusal: its status says so in two texts, of which the first only introduces the second. A node without
// a reservation is left out by PreFilter, and has the text that events have for that.
func TestATooSmallReservationIsOneRefusal(t *testing.T) {
	c := newShippedCluster(t)
	c.addNode(newNode(0))
	c.addNode(newNode(1))
	object := available(0, newReservation("r", "cpu", "8"))
	object.Spec.AllocatePolicy = schedulingv1alpha1.ReservationAllocatePolicyRestricted
	c.addReservation(object)
	c.addPod(using("r", on(0, newPod("user", "cpu", "4"))))
	pod := newPod("asked", "cpu", "6")
	pod.Labels = map[string]string{"owns": "r"}
	pod.Annotations = map[string]string{extension.AnnotationReservationAffinity: `{"name":"r"}`}
	c.addPod(pod)
	type row struct {
		Code, Reason, Introduction string
		Count, Sole                int32
	}
	var got []row
	for _, group := range c.explain("asked").Groups {
		got = append(got, row{group.Code, group.Reason, group.Introduction, group.Count, group.Sole})
	}
	want := []row{
		{"KOORD1151", "node(s) didn't satisfy plugin(s) [Reservation]", "", 1, 1},
		{"KOORD1161", "Reservation(s) Insufficient cpu", "node(s) no reservation(s) to meet the requirements", 1, 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}
