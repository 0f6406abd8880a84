package podvalidation

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/podrequest"
)

// AnnotationReservePod marks the pods by which the scheduler places Reservations; only it may make them.
const AnnotationReservePod = extension.SchedulingDomainPrefix + "reserve-pod"

// Messages of refusals that name nothing of the pod.
const (
	ReservePodForbidden = "Forbidden: cannot set annotation of reserve pod"
	BatchNeedsBE        = "Required value: must specify koordinator QoS BE with koordinator colocation resources"
)

// Validate returns everything that is wrong, refusals and warnings; nothing when the pod is fine. What was wrong with the
// pod before an update is not held against the update: a pod from the time before admission must remain editable.
func Validate(in Input) []Finding {
	findings := check(in)
	if in.Old == nil || len(findings) == 0 {
		return findings
	}
	known := map[finding.Code]bool{}
	for _, f := range check(Input{Pod: in.Old, Options: in.Options}) {
		known[f.Code] = true
	}
	return slices.DeleteFunc(findings, func(f Finding) bool { return known[f.Code] && f.Code != finding.AdmissionFieldImmutable })
}

func check(in Input) []Finding {
	v := &validation{in: in}
	v.reservePod()
	v.immutable()
	v.tierNeedsClass()
	v.combination()
	v.wholeCPUs()
	v.quota()
	v.tiers()
	return v.findings
}

// Refused reports whether a finding refuses the pod.
func Refused(findings []Finding) bool {
	for i := range findings {
		if findings[i].Refused {
			return true
		}
	}
	return false
}

type validation struct {
	in       Input
	findings []Finding
}

func (v *validation) refuse(code finding.Code, field, format string, args ...any) {
	v.findings = append(v.findings, Finding{Code: code, Refused: true, Field: field, Message: fmt.Sprintf(format, args...)})
}

func (v *validation) warn(code finding.Code, field, format string, args ...any) {
	v.findings = append(v.findings, Finding{Code: code, Field: field, Message: fmt.Sprintf(format, args...)})
}

func (v *validation) reservePod() {
	if v.in.Old != nil {
		return
	}
	if _, ok := v.in.Pod.Annotations[AnnotationReservePod]; ok {
		v.refuse(finding.AdmissionReservePod, "annotations."+AnnotationReservePod, ReservePodForbidden)
	}
}

// immutableLabels are those by which a pod was scheduled and accounted for.
var immutableLabels = []string{
	extension.LabelPodQoS, extension.LabelPodPriorityClass, extension.LabelPodPriority, extension.LabelQuotaName,
	extension.LabelQuotaTreeID, extension.LabelQuotaPreemptible,
}

// ImmutableLabels are the labels that no update of a pod may change. The slice may be changed.
func ImmutableLabels() []string { return slices.Clone(immutableLabels) }

// immutable compares with the pod as it was. Kubernetes itself forbids to change spec.priority.
func (v *validation) immutable() {
	old := v.in.Old
	if old == nil {
		return
	}
	for _, key := range immutableLabels {
		before, had := old.Labels[key]
		after, has := v.in.Pod.Labels[key]
		if had != has || before != after {
			v.refuse(finding.AdmissionFieldImmutable, "labels."+key, "Invalid value: %q: field is immutable, it was %q", after, before)
		}
	}
	before, after := extension.PodPriorityClass(old), extension.PodPriorityClass(v.in.Pod)
	if _, labelled := v.in.Pod.Labels[extension.LabelPodPriorityClass]; before != after && !labelled {
		v.refuse(finding.AdmissionFieldImmutable, "spec.priority", "Invalid value: %q: field is immutable, it was %q", after, before)
	}
}

// tierNeedsClass: who uses batch resources must be prepared to lose them.
func (v *validation) tierNeedsClass() {
	if !requests(v.in.Pod, extension.BatchCPU, extension.BatchMemory) || extension.PodQoSClass(v.in.Pod) == extension.QoSBE {
		return
	}
	v.refuse(finding.AdmissionBatchNeedsBE, "labels."+extension.LabelPodQoS, BatchNeedsBE)
}

// forbidden are the priority bands that do not go with a QoS class.
var forbidden = map[extension.QoSClass][]extension.PriorityClass{
	extension.QoSBE:  {extension.PriorityNone, extension.PriorityProd},
	extension.QoSLSR: {extension.PriorityNone, extension.PriorityMid, extension.PriorityBatch, extension.PriorityFree},
}

// Forbidden are the priority bands that do not go with a QoS class. The slice may be changed.
func Forbidden(class extension.QoSClass) []extension.PriorityClass {
	return slices.Clone(forbidden[class])
}

func (v *validation) combination() {
	if v.in.Options.SkipPriority {
		return
	}
	qos, priority := extension.PodQoSClass(v.in.Pod), extension.PodPriorityClass(v.in.Pod)
	for _, class := range forbidden[qos] {
		if class == priority {
			v.refuse(finding.AdmissionClassForbidden, "Pod", "Forbidden: %s=%s and priorityClass=%s cannot be used in combination",
				extension.LabelPodQoS, qos, priority)
		}
	}
}

// wholeCPUs: CPUs of one's own come in whole numbers.
func (v *validation) wholeCPUs() {
	qos := extension.PodQoSClass(v.in.Pod)
	if qos != extension.QoSLSR && qos != extension.QoSLSE {
		return
	}
	// What the pod is to have counts, not what a resize has not reached yet.
	pod := *v.in.Pod
	pod.Status = corev1.PodStatus{}
	if milli := podrequest.Of(&pod).Requests.Plain.MilliCPU; milli <= 0 || milli%1000 != 0 {
		v.refuse(finding.CPUsNotInteger, "pod.spec.containers[*].resources.requests",
			"Invalid value: %q: the requested CPUs of %s Pod must be integer: pod cpu request must be integer", fmt.Sprintf("%dm", milli), qos)
	}
}

// quota: a pod counts against the quota of its label, or else of its namespace. No update moves it to another namespace.
func (v *validation) quota() {
	label, quota := v.in.Pod.Labels[extension.LabelQuotaName], v.in.Quota
	if quota == nil || v.in.Old != nil && v.in.Old.Labels[extension.LabelQuotaName] == label {
		return
	}
	field := "labels." + extension.LabelQuotaName
	if label == "" {
		field = "metadata.namespace"
	}
	switch {
	case !quota.Exists && v.in.Options.RequireQuota:
		v.refuse(finding.AdmissionQuotaMissing, field, "Not found: %q", quota.Name)
	case !quota.Exists:
		v.warn(finding.AdmissionQuotaMissing, field, "Not found: %q; the pod counts against the default quota", quota.Name)
	case quota.Exists && label != "" && v.in.Options.ProtectQuotas && !quota.Serves && quota.User == "":
		v.refuse(finding.AdmissionQuotaForeign, field, "Forbidden: quota %q is in namespace %s and does not list namespace %s, and neither the creator of the pod nor ServiceAccount %q may use it",
			quota.Name, quota.Namespace, v.in.Pod.Namespace, ServiceAccount(v.in.Pod))
	case quota.Parent && !v.in.Options.AllowParentQuota:
		v.refuse(finding.AdmissionParentQuota, field, "Forbidden: pod can not be linked to a parentQuotaGroup,quota:%s, pod:%s", quota.Name, v.in.Pod.Name)
	}
}

// ServiceAccount is the name of the one as which a pod runs.
func ServiceAccount(pod *corev1.Pod) string { return cmp.Or(pod.Spec.ServiceAccountName, "default") }

// CreatorCounts is true where who creates a pod decides what it is. Controllers create pods from the templates of others.
func CreatorCounts(pod *corev1.Pod) bool { return metav1.GetControllerOf(pod) == nil }

// tiers warns about resources that do not lie where the pod's priority does.
func (v *validation) tiers() {
	if v.in.Old != nil && !v.in.Resize {
		return
	}
	pod := v.in.Pod
	band := extension.PodPriorityClassWithDefault(pod)
	batch := requests(pod, extension.BatchCPU, extension.BatchMemory)
	mid := requests(pod, extension.MidCPU, extension.MidMemory)
	switch {
	case batch && mid:
		v.warn(finding.AdmissionTierMismatch, "spec.containers[*].resources", "the pod requests batch and mid resources")
	case mid && band != extension.PriorityMid:
		v.warn(finding.AdmissionTierMismatch, "spec.containers[*].resources", "the pod requests mid resources and its priority is %q", band)
	}
	if (batch || mid) && requests(pod, corev1.ResourceCPU, corev1.ResourceMemory) {
		v.warn(finding.AdmissionAmountLeft, "spec.containers[*].resources", "the pod also requests native cpu or memory, which is not counted as batch or mid")
	}
}

// requests reports whether a container requests, or is limited in, one of the resources; 0 counts as none.
func requests(pod *corev1.Pod, names ...corev1.ResourceName) bool {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for _, list := range []corev1.ResourceList{containers[i].Resources.Requests, containers[i].Resources.Limits} {
				for _, name := range names {
					if quantity, ok := list[name]; ok && quantity.Sign() != 0 {
						return true
					}
				}
			}
		}
	}
	return false
}

// Finding is one thing that is wrong with the pod.
type Finding struct {
	// Code of the catalogue, which has cause and fix.
	Code finding.Code `json:"code"`
	// Refused is true when the pod may not be stored like this; otherwise the finding is a warning.
	Refused bool `json:"refused"`
	// Field that is wrong.
	Field string `json:"field"`
	// Message says what is wrong.
	Message string `json:"message"`
}

// Text is the finding as Kubernetes words it, with the code.
func (f Finding) Text() string { return f.Field + ": " + f.Message + " (" + string(f.Code) + ")" }
