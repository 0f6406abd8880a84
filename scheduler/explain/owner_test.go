package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ownedBy makes a pod one of a controller.
func ownedBy(kind, name string, pod *corev1.Pod) *corev1.Pod {
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID("uid-" + name), Controller: new(true)}}
	return pod
}

// templateOf is that of a controller of pods like one.
func templateOf(pod *corev1.Pod) corev1.PodTemplateSpec {
	template := corev1.PodTemplateSpec{Spec: *pod.Spec.DeepCopy()}
	template.Labels = map[string]string{"app": "web", appsv1.DefaultDeploymentUniqueLabelKey: "5d8f"}
	return template
}

// TestTheTemplateOfAControllerIsChanged says how the change of a pod is carried out that a controller creates.
func TestTheTemplateOfAControllerIsChanged(t *testing.T) {
	const reduced = `'{"spec":{"template":{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"16"}}}]}}}}'`
	tests := map[string]struct {
		// asked is the pod, and template what it was made from; of the ReplicaSet of a Deployment unless a kind says otherwise.
		asked    func() *corev1.Pod
		template func(*corev1.PodTemplateSpec)
		kind     string
		// above is the kind of controller of the ReplicaSet.
		above                  string
		wantOwner, wantCommand string
	}{
		"a Deployment": {
			asked: func() *corev1.Pod { return newPod("asked", "cpu", "17") }, kind: "ReplicaSet", above: "Deployment",
			wantOwner: "Deployment/above", wantCommand: "kubectl patch deployment -n default above -p " + reduced,
		},
		"a node selector that is removed, beside one that stays": {
			asked: func() *corev1.Pod {
				pod := newPod("asked", "cpu", "1")
				pod.Spec.NodeSelector = map[string]string{"disk": "nvme", corev1.LabelHostname: "node-0"}
				return pod
			}, kind: "ReplicaSet", above: "Deployment",
			wantOwner: "Deployment/above", wantCommand: `kubectl patch deployment -n default above -p '{"spec":{"template":{"spec":{"nodeSelector":{"disk":null}}}}}'`,
		},
		"a template with a limit in the place of a request": {
			asked: func() *corev1.Pod {
				pod := newPod("asked", "cpu", "17")
				pod.Spec.Containers[0].Resources.Limits = list("cpu", "17")
				return pod
			},
			template: func(template *corev1.PodTemplateSpec) { template.Spec.Containers[0].Resources.Requests = nil }, kind: "ReplicaSet", above: "Deployment",
			wantOwner:   "Deployment/above",
			wantCommand: `kubectl patch deployment -n default above -p '{"spec":{"template":{"spec":{"containers":[{"name":"main","resources":{"limits":{"cpu":"16"},"requests":{"cpu":"16"}}}]}}}}'`,
		},
		"a ReplicaSet, which does not replace pods that exist": {
			asked: func() *corev1.Pod { return newPod("asked", "cpu", "17") }, kind: "ReplicaSet",
			wantOwner: "ReplicaSet/web", wantCommand: "kubectl patch replicaset -n default web -p " + reduced + " && kubectl delete pod -n default asked",
		},
		"a StatefulSet, which waits for a pod to be ready": {
			asked: func() *corev1.Pod { return newPod("asked", "cpu", "17") }, kind: "StatefulSet",
			wantOwner: "StatefulSet/web", wantCommand: "kubectl patch statefulset -n default web -p " + reduced + " && kubectl delete pod -n default asked",
		},
		"a pod of which admission has made something else": {
			asked: func() *corev1.Pod { return newPod("asked", "cpu", "17") },
			template: func(template *corev1.PodTemplateSpec) {
				template.Spec.Containers[0].Resources.Requests = list("cpu", "12")
			}, kind: "ReplicaSet", above: "Deployment",
			wantOwner: "Deployment/above",
		},
		"a pod with a container that its template does not have": {
			asked: func() *corev1.Pod { return newPod("asked", "cpu", "17") },
			template: func(template *corev1.PodTemplateSpec) {
				template.Spec.Containers[0].Name = "other"
			}, kind: "ReplicaSet", above: "Deployment",
			wantOwner: "Deployment/above",
		},
		"a ReplicaSet of another project's controller, which would change it back": {
			asked: func() *corev1.Pod { return newPod("asked", "cpu", "17") }, kind: "ReplicaSet", above: "Rollout",
			wantOwner: "Rollout/above",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newShippedCluster(t)
			c.addNode(newNode(0))
			pod := ownedBy(test.kind, "web", test.asked())
			template := templateOf(pod)
			if test.template != nil {
				test.template(&template)
			}
			meta := metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid-web"}
			if test.above != "" {
				meta.OwnerReferences = []metav1.OwnerReference{{Kind: test.above, Name: "above", Controller: new(true)}}
			}
			c.must(c.informers.Apps().V1().ReplicaSets().Informer().GetIndexer().Add(&appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Template: template}}))
			c.must(c.informers.Apps().V1().StatefulSets().Informer().GetIndexer().Add(&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Template: template}}))
			c.addPod(pod)
			fix := c.explain("asked").Fix
			if fix == nil || !fix.Verified || !fix.Recreate || fix.Manifest != "" {
				t.Fatalf("fix %+v", fix)
			}
			if diff := cmp.Diff([]string{test.wantOwner, test.wantCommand}, []string{fix.Owner, fix.Command}); diff != "" {
				t.Errorf("owner and command (-want +got):\n%s", diff)
			}
		})
	}
}
