package podvalidation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// pod builds a pod with labels, a priority (0 leaves it unset) and requests of one container.
func pod(labels map[string]string, priority int32, requests ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Labels: labels}}
	if priority != 0 {
		p.Spec.Priority = &priority
	}
	list := corev1.ResourceList{}
	for i := 0; i < len(requests); i += 2 {
		list[corev1.ResourceName(requests[i])] = resource.MustParse(requests[i+1])
	}
	p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: list}}}
	return p
}

// resized is a pod that runs with more CPUs than it is to have.
func resized(p *corev1.Pod, cpus string) *corev1.Pod {
	list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpus)}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", AllocatedResources: list, Resources: &corev1.ResourceRequirements{Requests: list}}}
	return p
}

func qos(class string) map[string]string { return map[string]string{extension.LabelPodQoS: class} }

func TestPodsAreRefusedWithACode(t *testing.T) {
	quota := map[string]string{extension.LabelQuotaName: "team"}
	annotated := pod(nil, 0)
	annotated.Annotations = map[string]string{AnnotationReservePod: "true"}
	tests := []struct {
		name string
		in   Input
		want []Finding
	}{
		{name: "a pod without co-location", in: Input{Pod: pod(nil, 0, "cpu", "100m")}},
		{name: "a batch pod", in: Input{Pod: pod(qos("BE"), 5500, "kubernetes.io/batch-cpu", "1000")}},
		{name: "a mid pod of class LS", in: Input{Pod: pod(qos("LS"), 7500, "kubernetes.io/mid-cpu", "1000")}},
		{name: "a pod of class BE and the free band", in: Input{Pod: pod(qos("BE"), 3000)}},
		{name: "whole CPUs for LSR", in: Input{Pod: pod(qos("LSR"), 9000, "cpu", "2")}},
		{
			name: "batch resources without a class", in: Input{Pod: pod(nil, 5500, "kubernetes.io/batch-memory", "1Gi")},
			want: []Finding{{Code: finding.AdmissionBatchNeedsBE, Refused: true, Field: "labels.koordinator.sh/qosClass",
				Message: "Required value: must specify koordinator QoS BE with koordinator colocation resources"}},
		},
		{name: "batch resources of zero ask for nothing", in: Input{Pod: pod(nil, 0, "kubernetes.io/batch-cpu", "0")}},
		{
			name: "BE with the prod band", in: Input{Pod: pod(qos("BE"), 9500)},
			want: []Finding{{Code: finding.AdmissionClassForbidden, Refused: true, Field: "Pod",
				Message: "Forbidden: koordinator.sh/qosClass=BE and priorityClass=koord-prod cannot be used in combination"}},
		},
		{
			name: "BE outside of all bands", in: Input{Pod: pod(qos("BE"), 4000)},
			want: []Finding{{Code: finding.AdmissionClassForbidden, Refused: true, Field: "Pod",
				Message: "Forbidden: koordinator.sh/qosClass=BE and priorityClass= cannot be used in combination"}},
		},
		{name: "combinations may be left unchecked", in: Input{Pod: pod(qos("BE"), 9500), Options: Options{SkipPriority: true}}},
		{
			name: "LSR with a fraction of a CPU and the batch band: both are reported", in: Input{Pod: pod(qos("LSR"), 5000, "cpu", "1500m")},
			want: []Finding{
				{Code: finding.AdmissionClassForbidden, Refused: true, Field: "Pod",
					Message: "Forbidden: koordinator.sh/qosClass=LSR and priorityClass=koord-batch cannot be used in combination"},
				{Code: finding.CPUsNotInteger, Refused: true, Field: "pod.spec.containers[*].resources.requests",
					Message: `Invalid value: "1500m": the requested CPUs of LSR Pod must be integer: pod cpu request must be integer`},
			},
		},
		{
			name: "LSE without CPUs", in: Input{Pod: pod(qos("LSE"), 9999)},
			want: []Finding{{Code: finding.CPUsNotInteger, Refused: true, Field: "pod.spec.containers[*].resources.requests",
				Message: `Invalid value: "0m": the requested CPUs of LSE Pod must be integer: pod cpu request must be integer`}},
		},
		{
			name: "a reserve pod", in: Input{Pod: annotated},
			want: []Finding{{Code: finding.AdmissionReservePod, Refused: true, Field: "annotations.scheduling.koordinator.sh/reserve-pod",
				Message: "Forbidden: cannot set annotation of reserve pod"}},
		},
		{name: "an update that touches nothing of ours", in: Input{Pod: pod(qos("BE"), 5500), Old: pod(qos("BE"), 5500)}},
		{
			name: "an update of the QoS class", in: Input{Pod: pod(qos("LS"), 5500), Old: pod(qos("BE"), 5500)},
			want: []Finding{{Code: finding.AdmissionFieldImmutable, Refused: true, Field: "labels.koordinator.sh/qosClass",
				Message: `Invalid value: "LS": field is immutable, it was "BE"`}},
		},
		{
			name: "an update that removes the sub-priority", in: Input{Pod: pod(nil, 5500), Old: pod(map[string]string{extension.LabelPodPriority: "7"}, 5500)},
			want: []Finding{{Code: finding.AdmissionFieldImmutable, Refused: true, Field: "labels.koordinator.sh/priority",
				Message: `Invalid value: "": field is immutable, it was "7"`}},
		},
		{
			name: "an update of the priority", in: Input{Pod: pod(nil, 9500), Old: pod(nil, 5500)},
			want: []Finding{{Code: finding.AdmissionFieldImmutable, Refused: true, Field: "spec.priority",
				Message: `Invalid value: "koord-prod": field is immutable, it was "koord-batch"`}},
		},
		{
			name: "a resize to a fraction of a CPU", in: Input{Pod: resized(pod(qos("LSR"), 9000, "cpu", "1500m"), "2"), Old: pod(qos("LSR"), 9000, "cpu", "2"), Resize: true},
			want: []Finding{{Code: finding.CPUsNotInteger, Refused: true, Field: "pod.spec.containers[*].resources.requests",
				Message: `Invalid value: "1500m": the requested CPUs of LSR Pod must be integer: pod cpu request must be integer`}},
		},
		{name: "a resize to whole CPUs", in: Input{Pod: pod(qos("LSR"), 9000, "cpu", "3"), Old: pod(qos("LSR"), 9000, "cpu", "2"), Resize: true}},
		{name: "a resize of a pod from the time before admission", in: Input{Pod: pod(qos("LSR"), 9000, "cpu", "1200m"), Old: pod(qos("LSR"), 9000, "cpu", "1100m"), Resize: true}},
		{
			name: "a resize of a batch pod to plain memory is a warning", in: Input{Pod: pod(qos("BE"), 5500, "kubernetes.io/batch-cpu", "1", "memory", "1Gi"),
				Old: pod(qos("BE"), 5500, "kubernetes.io/batch-cpu", "1"), Resize: true},
			want: []Finding{{Code: finding.AdmissionAmountLeft, Field: "spec.containers[*].resources", Message: "the pod also requests native cpu or memory, which is not counted as batch or mid"}},
		},
		{
			name: "a quota that does not exist is a warning", in: Input{Pod: pod(quota, 0), Quota: &Quota{Name: "team"}},
			want: []Finding{{Code: finding.AdmissionQuotaMissing, Field: "labels.quota.scheduling.koordinator.sh/name",
				Message: `Not found: "team"; the pod counts against the default quota`}},
		},
		{
			name: "a quota that must exist", in: Input{Pod: pod(quota, 0), Quota: &Quota{Name: "team"}, Options: Options{RequireQuota: true}},
			want: []Finding{{Code: finding.AdmissionQuotaMissing, Refused: true, Field: "labels.quota.scheduling.koordinator.sh/name", Message: `Not found: "team"`}},
		},
		{
			name: "a quota with children", in: Input{Pod: pod(quota, 0), Quota: &Quota{Name: "team", Exists: true, Parent: true}},
			want: []Finding{{Code: finding.AdmissionParentQuota, Refused: true, Field: "labels.quota.scheduling.koordinator.sh/name",
				Message: "Forbidden: pod can not be linked to a parentQuotaGroup,quota:team, pod:pod"}},
		},
		{
			name: "a quota with children, by the namespace", in: Input{Pod: pod(nil, 0), Quota: &Quota{Name: "dept", Exists: true, Parent: true}},
			want: []Finding{{Code: finding.AdmissionParentQuota, Refused: true, Field: "metadata.namespace",
				Message: "Forbidden: pod can not be linked to a parentQuotaGroup,quota:dept, pod:pod"}},
		},
		{
			name: "the quota of others", in: Input{Pod: pod(quota, 0), Quota: &Quota{Name: "team", Exists: true, Namespace: "others"}, Options: Options{ProtectQuotas: true}},
			want: []Finding{{Code: finding.AdmissionQuotaForeign, Refused: true, Field: "labels.quota.scheduling.koordinator.sh/name",
				Message: `Forbidden: quota "team" is in namespace others and does not list namespace , and neither the creator of the pod nor ServiceAccount "default" may use it`}},
		},
		{name: "the quota of others, as upstream has it", in: Input{Pod: pod(quota, 0), Quota: &Quota{Name: "team", Exists: true, Namespace: "others"}}},
		{name: "a quota that serves the namespace", in: Input{Pod: pod(quota, 0), Quota: &Quota{Name: "team", Exists: true, Serves: true}, Options: Options{ProtectQuotas: true}}},
		{name: "a quota that the creator may use", in: Input{Pod: pod(quota, 0), Quota: &Quota{Name: "team", Exists: true, User: CreatorUses}, Options: Options{ProtectQuotas: true}}},
		{name: "a quota that the pod may use", in: Input{Pod: pod(quota, 0), Quota: &Quota{Name: "team", Exists: true, User: ServiceAccountUses}, Options: Options{ProtectQuotas: true}}},
		{name: "a pod that was in it before", in: Input{Old: pod(quota, 0), Pod: pod(quota, 0), Quota: &Quota{Name: "team", Exists: true, Namespace: "others"}, Options: Options{ProtectQuotas: true}}},
		{name: "the quota of the namespace", in: Input{Pod: pod(nil, 0), Quota: &Quota{Name: "team", Exists: true, Namespace: "others"}, Options: Options{ProtectQuotas: true}}},
		{name: "an update of a pod in such a namespace", in: Input{Old: pod(nil, 0), Pod: pod(nil, 0), Quota: &Quota{Name: "dept", Exists: true, Parent: true}}},
		{name: "a quota with children where that is allowed", in: Input{Pod: pod(quota, 0), Quota: &Quota{Name: "team", Exists: true, Parent: true}, Options: Options{AllowParentQuota: true}}},
		{
			name: "mid resources of a prod pod are a warning", in: Input{Pod: pod(qos("LS"), 9500, "kubernetes.io/mid-cpu", "1")},
			want: []Finding{{Code: finding.AdmissionTierMismatch, Field: "spec.containers[*].resources", Message: `the pod requests mid resources and its priority is "koord-prod"`}},
		},
		{
			name: "batch resources beside plain ones are a warning", in: Input{Pod: pod(qos("BE"), 5500, "kubernetes.io/batch-cpu", "1", "cpu", "1")},
			want: []Finding{{Code: finding.AdmissionAmountLeft, Field: "spec.containers[*].resources", Message: "the pod also requests native cpu or memory, which is not counted as batch or mid"}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Validate(test.in)
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			for _, f := range got {
				if _, ok := finding.Lookup(f.Code); !ok {
					t.Errorf("%s is not in the catalogue", f.Code)
				}
			}
		})
	}
}

// TestEveryCombinationOfClassAndBand holds the table of combinations against the rule in words.
func TestEveryCombinationOfClassAndBand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		class := rapid.SampledFrom(append(extension.QoSClasses(), extension.QoSNone)).Draw(t, "class")
		priority := rapid.Int32Range(2900, 10100).Draw(t, "priority")
		p := pod(nil, priority, "cpu", "1")
		if class != extension.QoSNone {
			p.Labels = qos(string(class))
		}
		band := extension.PriorityClassOfValue(priority)
		want := class == extension.QoSBE && (band == extension.PriorityNone || band == extension.PriorityProd) ||
			class == extension.QoSLSR && band != extension.PriorityProd
		if got := Refused(Validate(Input{Pod: p})); got != want {
			t.Errorf("%s with %d: refused %v, want %v", class, priority, got, want)
		}
		if changed := Validate(Input{Pod: p, Old: p}); Refused(changed) {
			t.Errorf("an update without a change is refused: %v", changed)
		}
	})
}
