package explain

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

// TestPodsThatCannotBeChangedAreRecreated says for each fix of a pod how it is carried out: by a command where a pod that exists can
// be changed so, and else from a manifest or by the owner of the pod.
func TestPodsThatCannotBeChangedAreRecreated(t *testing.T) {
	c := newShippedCluster(t)
	lsr := func() *corev1.Pod {
		pod := newPod("asked", "cpu", "4500m")
		pod.Labels = map[string]string{extension.LabelPodQoS: string(extension.QoSLS), extension.LabelQuotaName: "a"}
		return pod
	}
	tests := map[string]struct {
		build func()
		// wantKind of fix, wantCommand as it is, and wantManifest as a part of it.
		wantKind, wantCommand, wantManifest, wantOwner string
	}{
		"another quota: the label is immutable": {
			build: func() {
				c.addNode(newNode(0))
				c.addQuota(newQuota("a", "", 0, 4))
				c.addQuota(newQuota("b", "", 0, 9))
				c.addPod(on(0, inQuota("a", newPod("peer", "cpu", "4"))))
				c.addPod(lsr())
			},
			wantKind: "changeQuota", wantManifest: "    quota.scheduling.koordinator.sh/name: b\n",
		},
		"a smaller request of a pod that a controller owns": {
			build: func() {
				c.addNode(newNode(0))
				pod := newPod("asked", "cpu", "17")
				pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "train", Controller: new(true)}}
				c.addPod(pod)
			},
			wantKind: "reduceRequest", wantOwner: "Job/train",
		},
		"a smaller request of a pod of its own": {
			build: func() {
				c.addNode(newNode(0))
				c.addPod(newPod("asked", "cpu", "17"))
			},
			wantKind: "reduceRequest", wantManifest: "        cpu: \"16\"\n",
		},
		"a toleration is added to the pod as it is": {
			build: func() {
				node := newNode(0)
				node.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}}
				c.addNode(node)
				c.addPod(newPod("asked", "cpu", "1"))
			},
			wantKind: "addToleration",
			wantCommand: `kubectl patch pod -n default asked --type json -p '[{"op":"add","path":"/spec/tolerations","value":[]},` +
				`{"op":"add","path":"/spec/tolerations/-","value":{"key":"dedicated","operator":"Equal","value":"db","effect":"NoSchedule"}}]'`,
		},
		"an annotation is removed from the pod as it is": {
			build: func() {
				c.addNode(newNode(0))
				pod := newPod("asked", "cpu", "1")
				pod.Annotations = map[string]string{extension.AnnotationSchedulingHint: `{"nodeNames":["node-9"]}`}
				c.addPod(pod)
			},
			wantKind: "removeSchedulingHint", wantCommand: "kubectl annotate pod -n default asked internal.scheduling.koordinator.sh/scheduling-hint-",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c.clear()
			test.build()
			fix := c.explain("asked").Fix
			if fix == nil || fix.Kind != test.wantKind {
				t.Fatalf("fix %+v, want %s", fix, test.wantKind)
			}
			if fix.Command != test.wantCommand || fix.Owner != test.wantOwner || !strings.Contains(fix.Manifest, test.wantManifest) {
				t.Errorf("command %q, owner %q, manifest:\n%s", fix.Command, fix.Owner, fix.Manifest)
			}
			if recreate := test.wantCommand == ""; fix.Recreate != recreate || (fix.Manifest != "") != (recreate && test.wantOwner == "") {
				t.Errorf("recreate %v, manifest %q", fix.Recreate, fix.Manifest)
			}
		})
	}
}
