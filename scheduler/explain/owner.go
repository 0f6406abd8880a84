package explain

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/informers"
	appslisters "k8s.io/client-go/listers/apps/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/kubectl"
)

// workloads are the controllers of pods of which the scheduler knows the pod template.
type workloads struct {
	replicaSets  appslisters.ReplicaSetLister
	statefulSets appslisters.StatefulSetLister
}

// workloadsOf reads them by informers that the scheduler has in any case.
func workloadsOf(factory informers.SharedInformerFactory) workloads {
	return workloads{replicaSets: factory.Apps().V1().ReplicaSets().Lister(), statefulSets: factory.Apps().V1().StatefulSets().Lister()}
}

// origin is where a pod comes from.
type origin struct {
	// owner as KIND/NAME: the object that a person edits.
	owner  string
	object kubectl.Object
	// template that the pod was created from; nil when it is not known.
	template *corev1.PodTemplateSpec
	// stays is true for a pod that its controller does not replace when the template changes.
	stays bool
}

// originOf finds the template of a pod; nil for a pod that no controller owns. Of a Deployment, the template is that of the
// ReplicaSet: the scheduler watches no Deployments.
func (w workloads) originOf(pod *corev1.Pod) *origin {
	controller := metav1.GetControllerOf(pod)
	if controller == nil {
		return nil
	}
	of := &origin{owner: controller.Kind + "/" + controller.Name}
	switch controller.Kind {
	case "ReplicaSet":
		set, err := w.replicaSets.ReplicaSets(pod.Namespace).Get(controller.Name)
		if err != nil || set.UID != controller.UID {
			return of
		}
		of.object, of.template, of.stays = kubectl.ReplicaSet(set.Namespace, set.Name), set.Spec.Template.DeepCopy(), true
		switch above := metav1.GetControllerOf(set); {
		case above == nil:
		case above.Kind == "Deployment":
			of.owner, of.object, of.stays = "Deployment/"+above.Name, kubectl.Deployment(set.Namespace, above.Name), false
			delete(of.template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
		default: // of another project, which would undo the change
			of.owner, of.template = above.Kind+"/"+above.Name, nil
		}
	case "StatefulSet":
		set, err := w.statefulSets.StatefulSets(pod.Namespace).Get(controller.Name)
		if err == nil && set.UID == controller.UID {
			// The controller waits for a pod to be ready before it replaces it.
			of.object, of.template, of.stays = kubectl.StatefulSet(set.Namespace, set.Name), set.Spec.Template.DeepCopy(), true
		}
	}
	return of
}

// steps change the template as a pod was changed; none when that cannot be written, because what the pod is differs from what its
// template says: admission has made something else of it.
func (o *origin) steps(pod, edited *corev1.Pod) []diagnosticsv1alpha1.FixStep {
	if o.template == nil {
		return nil
	}
	before := &corev1.Pod{ObjectMeta: o.template.ObjectMeta, Spec: o.template.Spec}
	if !sameContainers(pod.Spec.InitContainers, before.Spec.InitContainers) || !sameContainers(pod.Spec.Containers, before.Spec.Containers) {
		return nil
	}
	after := transfer(pod, edited, before)
	back := transfer(edited, pod, after)
	back.Spec.Tolerations = before.Spec.Tolerations // these are only ever added
	if !apiequality.Semantic.DeepEqual(withDefaultRequests(before), withDefaultRequests(back)) {
		return nil
	}
	patch, ok := templatePatch(before, after)
	if !ok {
		return nil
	}
	steps := []diagnosticsv1alpha1.FixStep{kubectl.Patch(o.object, map[string]any{"spec": map[string]any{"template": patch}})}
	if o.stays {
		steps = append(steps, kubectl.Delete(kubectl.Pod(pod.Namespace, pod.Name)))
	}
	return steps
}

func sameContainers(a, b []corev1.Container) bool {
	return slices.EqualFunc(a, b, func(x, y corev1.Container) bool { return x.Name == y.Name })
}

// withDefaultRequests is a template as pods are made from it: limits stand in for requests that it does not have.
func withDefaultRequests(pod *corev1.Pod) *corev1.Pod {
	made := pod.DeepCopy()
	for _, containers := range [][]corev1.Container{made.Spec.InitContainers, made.Spec.Containers} {
		for i := range containers {
			requests := maps.Clone(containers[i].Resources.Limits)
			if requests == nil {
				requests = corev1.ResourceList{}
			}
			maps.Copy(requests, containers[i].Resources.Requests)
			containers[i].Resources.Requests = requests
		}
	}
	return made
}

// templatePatch is the strategic merge patch that makes one template of another; false when there is none that does.
func templatePatch(before, after *corev1.Pod) (map[string]any, bool) {
	document := func(pod *corev1.Pod) ([]byte, error) {
		return json.Marshal(corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec})
	}
	old, err := document(before)
	if err != nil {
		return nil, false
	}
	changed, err := document(after)
	if err != nil {
		return nil, false
	}
	text, err := strategicpatch.CreateTwoWayMergePatch(old, changed, corev1.PodTemplateSpec{})
	if err != nil {
		return nil, false
	}
	patch := map[string]any{}
	if err := json.Unmarshal(text, &patch); err != nil || len(patch) == 0 {
		return nil, false
	}
	withoutOrder(patch)
	return patch, makes(old, patch, after)
}

// withoutOrder drops what a patch says of the order of lists: it stays as it is.
func withoutOrder(value any) {
	switch typed := value.(type) {
	case map[string]any:
		for key, inner := range typed {
			if strings.HasPrefix(key, "$setElementOrder/") {
				delete(typed, key)
				continue
			}
			withoutOrder(inner)
		}
	case []any:
		for _, inner := range typed {
			withoutOrder(inner)
		}
	}
}

// makes applies a patch, and reports whether the template is what it should be.
func makes(old []byte, patch map[string]any, want *corev1.Pod) bool {
	text, err := json.Marshal(patch)
	if err != nil {
		return false
	}
	patched, err := strategicpatch.StrategicMergePatch(old, text, corev1.PodTemplateSpec{})
	if err != nil {
		return false
	}
	var got corev1.PodTemplateSpec
	if err := json.Unmarshal(patched, &got); err != nil {
		return false
	}
	return apiequality.Semantic.DeepEqual(got, corev1.PodTemplateSpec{ObjectMeta: want.ObjectMeta, Spec: want.Spec})
}
