package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/admission/podvalidation"
	"koordinator.sh/koord/decision/core/kubectl"
	"koordinator.sh/koord/decision/scheduling/reservation"
)

// refusedByAdmission is true for an edited pod that could not be created either, for something that was not wrong with it before.
func (c candidate) refusedByAdmission(pod *corev1.Pod) bool {
	if c.pod == nil || reservation.IsReservePod(pod) {
		return false
	}
	known := map[string]bool{}
	for _, f := range podvalidation.Validate(podvalidation.Input{Pod: pod}) {
		known[string(f.Code)] = true
	}
	return slices.ContainsFunc(podvalidation.Validate(podvalidation.Input{Pod: c.pod}), func(f podvalidation.Finding) bool {
		return f.Refused && !known[string(f.Code)]
	})
}

// recreated marks a change that cannot be made to an existing pod: the pod has to be recreated, by its owner after a change of the
// pod template, or from a manifest. Commands that would edit the pod are left out then.
func (c *candidate) recreated(pod *corev1.Pod, known workloads) {
	_, edited, _ := candidate{links: podSteps(c.steps())}.apply(nil, pod)
	if edited == pod || reservation.IsReservePod(pod) || editable(pod, edited) {
		return
	}
	c.fix.Steps, c.fix.Recreate = nil, true
	for _, step := range c.steps() {
		if step.pod == nil {
			c.fix.Steps = append(c.fix.Steps, step.fix.Steps...)
		}
	}
	if from := known.originOf(pod); from != nil {
		c.fix.Owner = from.owner
		c.fix.Steps = append(c.fix.Steps, from.steps(pod, edited)...)
		return
	}
	if text, err := yaml.Marshal(manifest(edited)); err == nil {
		c.fix.Manifest = string(text)
	}
}

// comesLast is when a pod is created that is yet to be: it stands behind all others of its gang.
var comesLast = metav1.Unix(1<<33, 0)

// recreation is an edited pod as it would be recreated, if the change requires that.
func recreation(before, edited *corev1.Pod) *corev1.Pod {
	if before == edited || reservation.IsReservePod(before) || editable(before, edited) {
		return edited
	}
	made := edited.DeepCopy()
	made.CreationTimestamp = comesLast
	return made
}

func podSteps(steps []candidate) []candidate {
	return slices.DeleteFunc(slices.Clone(steps), func(step candidate) bool { return step.pod == nil })
}

// editable is true when an update of the pod can bring the change: of labels that are not immutable, annotations, and more
// tolerations.
func editable(before, after *corev1.Pod) bool {
	if podvalidation.Refused(podvalidation.Validate(podvalidation.Input{Pod: after, Old: before})) {
		return false
	}
	same := after.Spec.DeepCopy()
	same.Tolerations = before.Spec.Tolerations
	return apiequality.Semantic.DeepEqual(&before.Spec, same)
}

// tolerationStep adds tolerations to a pod that exists.
func tolerationStep(pod *corev1.Pod, added []corev1.Toleration) diagnosticsv1alpha1.FixStep {
	var operations []kubectl.Add
	if len(pod.Spec.Tolerations) == 0 {
		operations = append(operations, kubectl.Add{Path: "/spec/tolerations", Value: []corev1.Toleration{}})
	}
	for _, t := range added {
		operations = append(operations, kubectl.Add{Path: "/spec/tolerations/-", Value: t})
	}
	return kubectl.Insert(kubectl.Pod(pod.Namespace, pod.Name), operations...)
}
