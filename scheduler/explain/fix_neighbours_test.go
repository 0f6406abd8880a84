package explain

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ofWeb gives a pod the label that the demands below select.
func ofWeb(pod *corev1.Pod) *corev1.Pod {
	pod.Labels = map[string]string{"app": "web"}
	return pod
}

// TestDemandsOnPodsAroundBecomeWishes has one node, on which a pod runs that is labelled app=web and has host port 80.
func TestDemandsOnPodsAroundBecomeWishes(t *testing.T) {
	selects := func(app string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	}
	term := func(app string) []corev1.PodAffinityTerm {
		return []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: selects(app)}}
	}
	spread := func(when corev1.UnsatisfiableConstraintAction) corev1.TopologySpreadConstraint {
		return corev1.TopologySpreadConstraint{TopologyKey: corev1.LabelHostname, MaxSkew: 1, WhenUnsatisfiable: when, LabelSelector: selects("web")}
	}
	port := []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 80, Protocol: corev1.ProtocolTCP}}
	tests := map[string]struct {
		demand                 func(*corev1.PodSpec)
		wantKind, want         string
		wantManifest, wantGone string
	}{
		"pod anti-affinity": {
			demand: func(spec *corev1.PodSpec) {
				spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term("web")}}
			},
			wantKind: "preferPodAntiAffinity", want: "prefer the pod anti-affinity instead of requiring it",
			wantManifest: "preferredDuringScheduling", wantGone: "requiredDuringScheduling",
		},
		"pod affinity": {
			demand: func(spec *corev1.PodSpec) {
				spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term("cache")}}
			},
			wantKind: "preferPodAffinity", want: "prefer the pod affinity instead of requiring it",
			wantManifest: "preferredDuringScheduling", wantGone: "requiredDuringScheduling",
		},
		"topology spread": {
			demand: func(spec *corev1.PodSpec) {
				constraint := spread(corev1.DoNotSchedule)
				constraint.MinDomains = new(int32(2))
				spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{constraint}
			},
			wantKind: "preferTopologySpread", want: "prefer the topology spread over kubernetes.io/hostname instead of requiring it: whenUnsatisfiable ScheduleAnyway",
			wantManifest: "whenUnsatisfiable: ScheduleAnyway", wantGone: "minDomains",
		},
		"topology spread over a key that is preferred, too": {
			demand: func(spec *corev1.PodSpec) {
				constraint := spread(corev1.DoNotSchedule)
				constraint.MinDomains = new(int32(2))
				spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{constraint, spread(corev1.ScheduleAnyway)}
			},
			wantKind: "preferTopologySpread", want: "prefer the topology spread over kubernetes.io/hostname instead of requiring it: whenUnsatisfiable ScheduleAnyway",
			wantManifest: "whenUnsatisfiable: ScheduleAnyway", wantGone: "DoNotSchedule",
		},
		"a host port": {
			demand:   func(spec *corev1.PodSpec) { spec.Containers[0].Ports = port },
			wantKind: "removeHostPort", want: "remove host port 80/TCP", wantManifest: "containerPort: 8080", wantGone: "hostPort",
		},
		"a host port of a pod in the network of its node": {
			demand: func(spec *corev1.PodSpec) {
				spec.HostNetwork, spec.Containers[0].Ports = true, port
			},
			wantKind: kindAddNode, want: "add a node like node-0, or drain one: the pod fits on it without other pods",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newShippedCluster(t)
			c.addNode(newNode(0))
			other := ofWeb(newPod("other", "cpu", "1"))
			other.Spec.Containers[0].Ports = port
			c.addPod(on(0, other))
			pod := ofWeb(newPod("asked", "cpu", "1"))
			test.demand(&pod.Spec)
			c.addPod(pod)
			fix := c.explain("asked").Fix
			if fix == nil || fix.Kind != test.wantKind || fix.Description != test.want || !fix.Verified {
				t.Fatalf("fix %+v, want %s: %q", fix, test.wantKind, test.want)
			}
			if !strings.Contains(fix.Manifest, test.wantManifest) || test.wantGone != "" && strings.Contains(fix.Manifest, test.wantGone) {
				t.Errorf("manifest is to have %q and not %q:\n%s", test.wantManifest, test.wantGone, fix.Manifest)
			}
		})
	}
}
