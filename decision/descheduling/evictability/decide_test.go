package evictability

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/descheduling/loopguard"
)

// podWith is a running pod of a ReplicaSet on node-0 that requests one CPU, changed as the options say.
func podWith(options ...func(pod *corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", Labels: map[string]string{"app": "web"}, Annotations: map[string]string{},
			OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-1", UID: "rs", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: "node-0", Containers: []corev1.Container{{
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, option := range options {
		option(pod)
	}
	return pod
}

func annotated(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations[key] = value }
}

func ownedBy(kind string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.OwnerReferences[0].Kind = kind }
}

func withoutOwner(pod *corev1.Pod) { pod.OwnerReferences = nil }

func failed(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }

func deleted(pod *corev1.Pod) {
	pod.DeletionTimestamp = &metav1.Time{Time: time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC)}
}

func withPriority(priority int32) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.Priority = &priority }
}

func withVolumes(volumes ...corev1.VolumeSource) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		for i, source := range volumes {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: string(rune('a' + i)), VolumeSource: source})
		}
	}
}

var (
	emptyDir = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	hostPath = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/data"}}
	claim    = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "orders"}}
)

func nodeOf(name, cpu string, cordoned bool) Node {
	return Node{Node: &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}, Spec: corev1.NodeSpec{Unschedulable: cordoned},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourcePods: resource.MustParse("10"),
		}},
	}}
}

func selecting(t *testing.T, text string) labels.Selector {
	t.Helper()
	selector, err := labels.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return selector
}

func TestGates(t *testing.T) {
	nodes := []Node{nodeOf("node-0", "8", false), nodeOf("node-1", "500m", false), nodeOf("node-2", "8", true)}
	circle := &loopguard.Loop{Code: finding.MigrationLoop, Message: "w left node a and was moved back to it from b 1h0m0s later", Until: time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC)}
	for name, test := range map[string]struct {
		pod    *corev1.Pod
		policy Policy
		nodes  []Node
		loop   *loopguard.Loop
		// wantGates in order, and what the first message says.
		wantGates   []Gate
		wantMessage string
	}{
		"a pod of a ReplicaSet": {pod: podWith()},
		"a mirror pod, even if annotated": {
			pod:       podWith(annotated(corev1.MirrorPodAnnotationKey, "x"), annotated(extension.AnnotationEvict, "")),
			wantGates: []Gate{StaticPod}, wantMessage: "mirror of a static pod",
		},
		"a static pod": {pod: podWith(annotated(annotationConfigSource, "file")), wantGates: []Gate{StaticPod}, wantMessage: "reads from file"},
		"a pod that the kubelet got from the API server": {pod: podWith(annotated(annotationConfigSource, "api"))},
		"a pod that is being deleted, even if annotated": {
			pod: podWith(deleted, annotated(extension.AnnotationEvict, "")), wantGates: []Gate{Terminating}, wantMessage: "since 2026-05-04T12:00:00Z",
		},
		"the highest eviction cost, even if annotated": {
			pod:       podWith(annotated(extension.AnnotationEvictionCost, "2147483647"), annotated(extension.AnnotationEvict, "")),
			wantGates: []Gate{EvictionCost}, wantMessage: "2147483647",
		},
		"an eviction cost below the highest": {pod: podWith(annotated(extension.AnnotationEvictionCost, "2147483646"))},
		"an invalid eviction cost":           {pod: podWith(annotated(extension.AnnotationEvictionCost, "+2147483647"))},
		"its workload goes in circles": {
			pod: podWith(), loop: circle, wantGates: []Gate{MigrationLoop},
			wantMessage: "KOORD1501: w left node a and was moved back to it from b 1h0m0s later; plugins do not move its pods until 2026-05-04T12:00:00Z",
		},
		"its workload goes in circles, even if annotated and the gate skipped": {
			pod: podWith(annotated(extension.AnnotationEvict, "")), loop: circle, policy: Policy{SkippedGates: []Gate{MigrationLoop}}, wantGates: []Gate{MigrationLoop}, wantMessage: "KOORD1501",
		},
		"it prefers not to be evicted": {pod: podWith(annotated(extension.AnnotationPreferNoEviction, ""))},
		"it prefers not to be evicted, and that is binding": {
			pod: podWith(annotated(extension.AnnotationPreferNoEviction, "")), policy: Policy{MandatoryNoEviction: true},
			wantGates: []Gate{NoEviction}, wantMessage: "noEvictionPolicy is Mandatory",
		},
		"a DaemonSet": {
			pod: podWith(ownedBy("DaemonSet")), policy: Policy{SkippedGates: []Gate{DaemonSet}}, wantGates: []Gate{DaemonSet}, wantMessage: "DaemonSet web-1",
		},
		"no owner":                 {pod: podWith(withoutOwner), wantGates: []Gate{BarePods}, wantMessage: "evictAllBarePods is false"},
		"no owner, and all may go": {pod: podWith(withoutOwner), policy: Policy{EvictAllBarePods: true}},
		"no owner, and failed ones may go": {
			pod: podWith(withoutOwner), policy: Policy{EvictFailedBarePods: true}, wantGates: []Gate{BarePods}, wantMessage: "is running",
		},
		"no owner and failed, and failed ones may go": {pod: podWith(withoutOwner, failed), policy: Policy{EvictFailedBarePods: true}},
		"no owner, and the gate is skipped":           {pod: podWith(withoutOwner), policy: Policy{SkippedGates: []Gate{BarePods}}},
		"local storage": {
			pod: podWith(withVolumes(emptyDir, hostPath)), wantGates: []Gate{LocalStorage}, wantMessage: "emptyDir a, hostPath b (/var/data)",
		},
		"local storage, which may go": {pod: podWith(withVolumes(emptyDir)), policy: Policy{EvictLocalStoragePods: true}},
		"system-critical":             {pod: podWith(withPriority(2000001000)), wantGates: []Gate{SystemCritical}, wantMessage: "2000001000"},
		"system-critical, which may go whatever the threshold": {
			pod: podWith(withPriority(2000001000)), policy: Policy{EvictSystemCriticalPods: true, PriorityThreshold: new(int32(5))},
		},
		"at the threshold": {
			pod: podWith(withPriority(9000)), policy: Policy{PriorityThreshold: new(int32(9000))},
			wantGates: []Gate{PriorityThreshold}, wantMessage: "priority 9000 is not below the priorityThreshold 9000",
		},
		"below the threshold": {pod: podWith(withPriority(8999)), policy: Policy{PriorityThreshold: new(int32(9000))}},
		"a claim":             {pod: podWith(withVolumes(claim))},
		"a claim, and claims are protected": {
			pod: podWith(withVolumes(claim)), policy: Policy{IgnorePVCPods: true}, wantGates: []Gate{PVC}, wantMessage: "claims orders",
		},
		"labels that are not selected": {
			pod: podWith(), policy: Policy{LabelSelector: selecting(t, "app=db")}, wantGates: []Gate{LabelSelector}, wantMessage: "app=db",
		},
		"labels that are selected": {pod: podWith(), policy: Policy{LabelSelector: selecting(t, "app=web")}},
		"an excluded namespace": {
			pod: podWith(), policy: Policy{ExcludedNamespaces: []string{"shop"}}, wantGates: []Gate{Namespaces}, wantMessage: "shop is excluded",
		},
		"a namespace that is not included": {
			pod: podWith(), policy: Policy{IncludedNamespaces: []string{"a", "b"}}, wantGates: []Gate{Namespaces}, wantMessage: "a, b",
		},
		"no node takes it": {
			pod: podWith(), policy: Policy{NodeFit: true}, nodes: nodes,
			wantGates: []Gate{NodeFit}, wantMessage: "none of 2 other nodes takes it, and nodeFit is true: 1 Insufficient cpu, 1 node(s) were unschedulable",
		},
		"a node takes it": {pod: podWith(), policy: Policy{NodeFit: true}, nodes: append(nodes[:3:3], nodeOf("node-3", "2", false))},
		"the node that takes it is not selected": {
			pod: podWith(), policy: Policy{NodeFit: true, NodeSelector: selecting(t, "name=none")}, nodes: append(nodes[:3:3], nodeOf("node-3", "2", false)),
			wantGates: []Gate{NodeFit}, wantMessage: "no other node",
		},
		"many gates refuse": {
			pod:       podWith(withoutOwner, withVolumes(emptyDir, claim), withPriority(2000000000)),
			policy:    Policy{IgnorePVCPods: true, PriorityThreshold: new(int32(5)), ExcludedNamespaces: []string{"shop"}, NodeFit: true},
			wantGates: []Gate{BarePods, LocalStorage, SystemCritical, PriorityThreshold, PVC, Namespaces, NodeFit},
		},
		"many gates would refuse, and the pod is annotated": {
			pod:    podWith(withoutOwner, withVolumes(emptyDir), withPriority(2000000000), annotated(extension.AnnotationEvict, "false")),
			policy: Policy{NodeFit: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Decide(Input{Pod: test.pod, Policy: test.policy, Nodes: test.nodes, Loop: test.loop})
			var gates []Gate
			for _, refusal := range got.Refusals {
				gates = append(gates, refusal.Gate)
			}
			if diff := cmp.Diff(test.wantGates, gates); diff != "" {
				t.Errorf("gates (-want +got):\n%s", diff)
			}
			if got.Allowed != (len(test.wantGates) == 0) {
				t.Errorf("allowed is %t with the gates %v", got.Allowed, gates)
			}
			if !strings.Contains(got.Message(), test.wantMessage) {
				t.Errorf("message %q, want it to contain %q", got.Message(), test.wantMessage)
			}
		})
	}
}

func TestAPodWithThePreferenceIsDiscouraged(t *testing.T) {
	if got := Decide(Input{Pod: podWith(annotated(extension.AnnotationPreferNoEviction, ""))}); !got.Allowed || !got.Discouraged {
		t.Errorf("verdict %+v, want one that is allowed and discouraged", got)
	}
}

// TestSkippingAGateLiftsItAlone: every gate that may be skipped, and only that one, is missing from the refusals.
func TestSkippingAGateLiftsItAlone(t *testing.T) {
	pod := podWith(withoutOwner, withVolumes(emptyDir, claim), withPriority(2000000000))
	policy := Policy{
		IgnorePVCPods: true, PriorityThreshold: new(int32(5)), ExcludedNamespaces: []string{"shop"}, NodeFit: true, LabelSelector: selecting(t, "app=db"),
	}
	all := Decide(Input{Pod: pod, Policy: policy}).Refusals
	rapid.Check(t, func(t *rapid.T) {
		policy := policy
		policy.SkippedGates = rapid.SliceOf(rapid.SampledFrom(Gates())).Draw(t, "skipped")
		var want []Refusal
		for _, refusal := range all {
			if policy.asks(refusal.Gate, false) {
				want = append(want, refusal)
			}
		}
		for _, gate := range policy.SkippedGates {
			if gate.Skippable() == policy.asks(gate, false) {
				t.Fatalf("%s is skippable: %t, and asked: %t", gate, gate.Skippable(), policy.asks(gate, false))
			}
		}
		if diff := cmp.Diff(want, Decide(Input{Pod: pod, Policy: policy}).Refusals); diff != "" {
			t.Fatalf("refusals (-want +got):\n%s", diff)
		}
	})
}

// TestAPodThatMayBeEvictedCostsNoMemory, because every pass asks about every pod.
func TestAPodThatMayBeEvictedCostsNoMemory(t *testing.T) {
	in := Input{Pod: podWith()}
	if got := testing.AllocsPerRun(100, func() {
		if !Decide(in).Allowed {
			t.Fatal("the pod may not be evicted")
		}
	}); got > 0 {
		t.Errorf("%.0f allocations, want none", got)
	}
}
