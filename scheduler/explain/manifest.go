package explain

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

// tokenVolume begins the names of the volumes that admission adds for the token of a ServiceAccount.
const tokenVolume = "kube-api-access-"

// admissionTolerations are the taints that admission has every pod tolerate for five minutes.
var admissionTolerations = []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable}

// allocations are the annotations in which the scheduler records what a pod was allocated.
var allocations = []string{
	extension.AnnotationDeviceAllocated, extension.AnnotationResourceStatus, extension.AnnotationGPUMinors, extension.AnnotationReservationAllocated,
}

// manifest is the pod as a person would write it: without what the API server, its admission and the scheduler wrote, which they write
// again.
func manifest(pod *corev1.Pod) any {
	kept := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, Labels: pod.Labels, Annotations: maps.Clone(pod.Annotations)},
		Spec:       *pod.Spec.DeepCopy(),
	}
	for _, key := range allocations {
		delete(kept.Annotations, key)
	}
	delete(kept.Annotations, corev1.LastAppliedConfigAnnotation)
	delete(kept.Annotations, extension.AnnotationExtendedResourceSpec) // which admission makes of the resources
	kept.Spec.NodeName = ""
	withoutAdmitted(&kept.Spec)
	return struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        metav1.ObjectMeta `json:"metadata"`
		Spec            corev1.PodSpec    `json:"spec"`
	}{kept.TypeMeta, kept.ObjectMeta, kept.Spec}
}

// withoutAdmitted takes out of a spec what admission adds to every pod.
func withoutAdmitted(spec *corev1.PodSpec) {
	spec.Volumes = slices.DeleteFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Projected != nil && strings.HasPrefix(v.Name, tokenVolume) })
	spec.Tolerations = slices.DeleteFunc(spec.Tolerations, func(t corev1.Toleration) bool {
		return slices.Contains(admissionTolerations, t.Key) && t.Operator == corev1.TolerationOpExists && t.Effect == corev1.TaintEffectNoExecute &&
			t.TolerationSeconds != nil && *t.TolerationSeconds == 300
	})
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			c := &containers[i]
			c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return strings.HasPrefix(m.Name, tokenVolume) })
			if c.TerminationMessagePath == corev1.TerminationMessagePathDefault && c.TerminationMessagePolicy == corev1.TerminationMessageReadFile {
				c.TerminationMessagePath, c.TerminationMessagePolicy = "", ""
			}
		}
	}
	if spec.PriorityClassName != "" { // from which both follow
		spec.Priority, spec.PreemptionPolicy = nil, nil
	}
	spec.DeprecatedServiceAccount = ""
	if spec.ServiceAccountName == "default" {
		spec.ServiceAccountName = ""
	}
	withoutDefaults(spec)
}

// withoutDefaults takes out of a spec what the API server sets where a pod says nothing.
func withoutDefaults(spec *corev1.PodSpec) {
	if apiequality.Semantic.DeepEqual(spec.SecurityContext, &corev1.PodSecurityContext{}) {
		spec.SecurityContext = nil
	}
	if spec.EnableServiceLinks != nil && *spec.EnableServiceLinks == corev1.DefaultEnableServiceLinks {
		spec.EnableServiceLinks = nil
	}
	if spec.DNSPolicy == corev1.DNSClusterFirst {
		spec.DNSPolicy = ""
	}
	if seconds := spec.TerminationGracePeriodSeconds; seconds != nil && *seconds == corev1.DefaultTerminationGracePeriodSeconds {
		spec.TerminationGracePeriodSeconds = nil
	}
	if spec.RestartPolicy == corev1.RestartPolicyAlways {
		spec.RestartPolicy = ""
	}
}
