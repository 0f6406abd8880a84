package ecosystem

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/sandboxtest"
)

// jobset would look for the certificate that it issues itself in a fixed directory of its image.
var jobset = controller{name: "jobset", configure: func(configuration map[string]any) {
	configuration["internalCertManagement"] = map[string]any{"enable": false}
}}

// ranks of each JobSet of the test: more than half of the nodes of the sandbox, each of which takes one.
const ranks = 5

// set is a JobSet with a leader and workers. Each of its pods needs a node without a pod of another set.
const set = `
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
spec:
  replicatedJobs:
  - name: leader
    template:
      spec: {parallelism: 1, completions: 1}
  - name: worker
    replicas: 2
    template:
      spec: {parallelism: 2, completions: 2}
`

const rank = `
metadata:
  labels: {rank: "true"}
spec:
  schedulerName: koord-scheduler
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {rank: "true"}}}
  containers:
  - {name: main, image: registry.k8s.io/pause:3.10, resources: {requests: {cpu: 100m, memory: 64Mi}}}
`

// TestJobSetWithGang has JobSet create the pods of a leader and of workers, which are of no use without each other.
func TestJobSetWithGang(t *testing.T) {
	r := newRig(t, jobset)
	namespace := r.space(t, "training")
	first := r.createSet(t, namespace, "first", true)
	r.awaitRanks(t, namespace, "first", ranks)

	t.Run("without a gang, a part of the pods runs and waits for the others", func(t *testing.T) {
		part := r.createSet(t, namespace, "part", false)
		r.awaitPart(t, namespace, "part")
		r.remove(t, part)
	})

	second := r.createSet(t, namespace, "second", true)
	t.Run("with a gang, no pod is bound until all fit", func(t *testing.T) {
		r.awaitRefused(t, namespace, "second")
		var explanation diagnosticsv1alpha1.GangExplanation
		r.ask(t, &explanation, "explain", "gang", "second", "-n", namespace)
		if counts := explanation.Counts; counts.Needed != ranks || counts.Created != ranks || counts.Bound != 0 {
			t.Errorf("the gang has %+v, want %d members that are not bound", counts, ranks)
		}
	})
	t.Run("once there is room, all run", func(t *testing.T) {
		r.remove(t, first)
		r.awaitRanks(t, namespace, "second", ranks)
	})
	r.remove(t, second)
	t.Run("MPI", r.runsMPI)
}

// createSet creates a JobSet, the pods of which are a gang of its name or none.
func (r *rig) createSet(t *testing.T, namespace, name string, gang bool, edits ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	t.Helper()
	var object unstructured.Unstructured
	var pod map[string]any
	if err := errors.Join(yaml.Unmarshal([]byte(set), &object.Object), yaml.Unmarshal([]byte(rank), &pod)); err != nil {
		t.Fatal(err)
	}
	if gang {
		pod["metadata"].(map[string]any)["annotations"] = map[string]any{
			extension.AnnotationGangName: name, extension.AnnotationGangMinAvailable: fmt.Sprint(ranks),
		}
	}
	object.SetNamespace(namespace)
	object.SetName(name)
	for _, job := range object.Object["spec"].(map[string]any)["replicatedJobs"].([]any) {
		if err := unstructured.SetNestedMap(job.(map[string]any), pod, "template", "spec", "template"); err != nil {
			t.Fatal(err)
		}
	}
	for _, edit := range edits {
		edit(&object)
	}
	r.create(t, &object)
	return &object
}

// remove deletes a JobSet, and waits until its pods are gone.
func (r *rig) remove(t *testing.T, set *unstructured.Unstructured) {
	t.Helper()
	if err := r.client.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, patience, func() error {
		pods, err := r.ranksOf(t, set.GetNamespace(), set.GetName())
		if err == nil && len(pods) > 0 {
			err = fmt.Errorf("%d pods of %s are left", len(pods), set.GetName())
		}
		return err
	})
}

// ranksOf are the pods of a JobSet.
func (r *rig) ranksOf(t *testing.T, namespace, name string) ([]corev1.Pod, error) {
	t.Helper()
	var list corev1.PodList
	err := r.client.List(t.Context(), &list, ctrlclient.InNamespace(namespace), ctrlclient.MatchingLabels{"jobset.sigs.k8s.io/jobset-name": name})
	return list.Items, err
}

// count says how many pods of a JobSet have a node, and how many the scheduler has refused.
func (r *rig) count(t *testing.T, namespace, name string) (bound, refused int, err error) {
	t.Helper()
	pods, err := r.ranksOf(t, namespace, name)
	for i := range pods {
		if pods[i].Spec.NodeName != "" {
			bound++
			continue
		}
		for _, condition := range pods[i].Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
				refused++
			}
		}
	}
	return bound, refused, err
}

// awaitRanks waits until pods of a JobSet run.
func (r *rig) awaitRanks(t *testing.T, namespace, name string, want int) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		pods, err := r.ranksOf(t, namespace, name)
		running := 0
		for i := range pods {
			if pods[i].Status.Phase == corev1.PodRunning {
				running++
			}
		}
		if err == nil && running != want {
			err = fmt.Errorf("%d of %d pods of %s run, want %d", running, len(pods), name, want)
		}
		return err
	})
}

// awaitPart waits until some pods of a JobSet are bound, and the others refused.
func (r *rig) awaitPart(t *testing.T, namespace, name string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		bound, refused, err := r.count(t, namespace, name)
		if err == nil && (bound == 0 || refused == 0 || bound+refused != ranks) {
			err = fmt.Errorf("%d pods are bound, %d refused; want some of both, and %d in all", bound, refused, ranks)
		}
		return err
	})
}

// awaitRefused waits until all pods of a JobSet are refused; none may be bound.
func (r *rig) awaitRefused(t *testing.T, namespace, name string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		bound, refused, err := r.count(t, namespace, name)
		if bound > 0 {
			t.Fatalf("%d pods of a gang that does not fit are bound", bound)
		}
		if err == nil && refused != ranks {
			err = fmt.Errorf("%d pods are refused, want %d", refused, ranks)
		}
		return err
	})
}
