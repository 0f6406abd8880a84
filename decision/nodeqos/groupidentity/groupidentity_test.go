package groupidentity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// strategy has the built-in values, switched on for some classes.
func strategy(on ...extension.QoSClass) *slov1alpha1.ResourceQOSStrategy {
	out := configuration.DefaultResourceQOSStrategy()
	for _, class := range on {
		switch class {
		case extension.QoSLSR:
			out.LSRClass.CPUQOS.Enable = new(true)
		case extension.QoSLS:
			out.LSClass.CPUQOS.Enable = new(true)
		case extension.QoSBE:
			out.BEClass.CPUQOS.Enable = new(true)
		}
	}
	return out
}

func coreSched() *slov1alpha1.ResourceQOSStrategy {
	out := strategy(extension.QoSLS, extension.QoSBE)
	out.Policies.CPUPolicy = new(slov1alpha1.CPUQOSPolicyCoreSched)
	return out
}

func annotated(json string) map[string]string {
	return map[string]string{extension.AnnotationPodCPUQOS: json}
}

func TestOfPod(t *testing.T) {
	all := strategy(extension.QoSLSR, extension.QoSLS, extension.QoSBE)
	const guaranteed, burstable, bestEffort = corev1.PodQOSGuaranteed, corev1.PodQOSBurstable, corev1.PodQOSBestEffort
	tests := map[string]struct {
		strategy    *slov1alpha1.ResourceQOSStrategy
		pod         Pod
		want        int64
		wantSource  Source
		wantProblem bool
	}{
		"LSE as LSR":                           {all, Pod{QoS: extension.QoSLSE}, 2, FromClass, false},
		"LSR":                                  {all, Pod{QoS: extension.QoSLSR}, 2, FromClass, false},
		"LS":                                   {all, Pod{QoS: extension.QoSLS}, 2, FromClass, false},
		"BE":                                   {all, Pod{QoS: extension.QoSBE}, -1, FromClass, false},
		"SYSTEM is not ranked":                 {all, Pod{QoS: extension.QoSSystem}, 0, FromReset, false},
		"burstable without a label":            {all, Pod{KubeQOS: burstable}, 2, FromClass, false},
		"best effort without a label":          {all, Pod{KubeQOS: bestEffort}, -1, FromClass, false},
		"guaranteed without a label":           {all, Pod{KubeQOS: guaranteed}, 2, FromClass, false},
		"guaranteed where only LS is on":       {strategy(extension.QoSLS), Pod{KubeQOS: guaranteed}, 2, FromClass, false},
		"guaranteed where only BE is on":       {strategy(extension.QoSBE), Pod{KubeQOS: guaranteed}, 0, FromReset, false},
		"nothing known of the pod":             {all, Pod{}, 0, FromReset, false},
		"a class that is off is reset":         {strategy(extension.QoSLS), Pod{QoS: extension.QoSBE}, 0, FromReset, false},
		"nothing is on":                        {strategy(), Pod{QoS: extension.QoSBE, Annotations: annotated(`{"groupIdentity":1}`)}, 0, FromReset, false},
		"no strategy":                          {nil, Pod{QoS: extension.QoSBE}, 0, FromReset, false},
		"core scheduling ranks instead":        {coreSched(), Pod{QoS: extension.QoSBE}, 0, FromCoreScheduling, false},
		"an identity of its own":               {all, Pod{QoS: extension.QoSBE, Annotations: annotated(`{"groupIdentity":1}`)}, 1, FromAnnotation, false},
		"one of zero":                          {all, Pod{QoS: extension.QoSLS, Annotations: annotated(`{"groupIdentity":0}`)}, 0, FromAnnotation, false},
		"one beyond the bounds":                {all, Pod{QoS: extension.QoSLS, Annotations: annotated(`{"groupIdentity":3}`)}, 2, FromClass, true},
		"one that cannot be read":              {all, Pod{QoS: extension.QoSLS, Annotations: annotated(`{`)}, 2, FromClass, true},
		"an annotation that says nothing here": {all, Pod{QoS: extension.QoSLS, Annotations: annotated(`{"schedIdle":1}`)}, 2, FromClass, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := OfPod(tc.strategy, tc.pod)
			if got.Value != tc.want || got.Source != tc.wantSource || (got.Problem != "") != tc.wantProblem {
				t.Errorf("%+v, want %d from %s", got, tc.want, tc.wantSource)
			}
		})
	}
}

func TestOfGroup(t *testing.T) {
	all := strategy(extension.QoSLSR, extension.QoSLS, extension.QoSBE)
	tests := map[string]struct {
		strategy *slov1alpha1.ResourceQOSStrategy
		group    corev1.PodQOSClass
		want     Identity
	}{
		"all pods are not ranked":      {all, corev1.PodQOSGuaranteed, Identity{Source: FromGroup}},
		"burstable as LS":              {all, corev1.PodQOSBurstable, Identity{Value: 2, Source: FromClass}},
		"best effort as BE":            {all, corev1.PodQOSBestEffort, Identity{Value: -1, Source: FromClass}},
		"reset where the class is off": {strategy(extension.QoSLS), corev1.PodQOSBestEffort, Identity{Source: FromReset}},
		"reset where nothing is on":    {strategy(), corev1.PodQOSBurstable, Identity{Source: FromReset}},
		"core scheduling":              {coreSched(), corev1.PodQOSBestEffort, Identity{Source: FromCoreScheduling}},
	}
	for name, tc := range tests {
		if diff := cmp.Diff(tc.want, OfGroup(tc.strategy, tc.group)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := OfHostApplication(all, extension.QoSBE); got.Value != -1 {
		t.Errorf("an application of class BE has %+v", got)
	}
}

func TestValuesByKernel(t *testing.T) {
	value := func(v int64) *int64 { return &v }
	tests := map[string]struct {
		identity int64
		kernel   Capability
		want     Values
	}{
		"group identity, yielding":        {-1, Capability{BVT: true, Idle: true}, Values{BVT: value(-1)}},
		"group identity, first":           {2, Capability{BVT: true}, Values{BVT: value(2)}},
		"idle groups, yielding":           {-1, Capability{Idle: true}, Values{Idle: value(1), LeaveShares: true}},
		"idle groups, first":              {2, Capability{Idle: true}, Values{Idle: value(0)}},
		"idle groups, reset":              {0, Capability{Idle: true}, Values{Idle: value(0)}},
		"neither, yielding":               {-1, Capability{}, Values{Shares: value(2), LeaveShares: true}},
		"neither, and nothing to be done": {0, Capability{}, Values{}},
	}
	for name, tc := range tests {
		got := Identity{Value: tc.identity}.PodValues(tc.kernel)
		if (got.Note == "") != (tc.kernel.BVT || tc.identity == 0) {
			t.Errorf("%s: note %q", name, got.Note)
		}
		got.Note = ""
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := (Identity{Value: -1}).GroupValues(Capability{Idle: true}); got.Idle != nil || got.Shares != nil || got.BVT != nil || got.Note == "" {
		t.Errorf("a group of pods is made idle: %+v", got)
	}
	if got := (Identity{Value: -1}).GroupValues(Capability{BVT: true}); got.BVT == nil || *got.BVT != -1 {
		t.Errorf("a group of pods has %+v", got)
	}
}
