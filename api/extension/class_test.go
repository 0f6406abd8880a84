package extension

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func podWith(labels map[string]string, priority *int32, className string, resources corev1.ResourceRequirements) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: corev1.PodSpec{
			Priority: priority, PriorityClassName: className,
			Containers: []corev1.Container{{Resources: resources}},
		},
	}
}

func list(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func TestPodClasses(t *testing.T) {
	none := corev1.ResourceRequirements{}
	tests := map[string]struct {
		pod              *corev1.Pod
		wantQoS          QoSClass
		wantQoSDefault   QoSClass
		wantClass        PriorityClass
		wantClassDefault PriorityClass
	}{
		"no pod": {},
		"nothing said, no requests": {
			pod: podWith(nil, nil, "", none), wantQoSDefault: QoSBE, wantClassDefault: PriorityBatch,
		},
		"requests only": {
			pod:            podWith(nil, nil, "", corev1.ResourceRequirements{Requests: list("1", "1Gi")}),
			wantQoSDefault: QoSLS, wantClassDefault: PriorityProd,
		},
		"limits only are guaranteed": {
			pod:            podWith(nil, nil, "", corev1.ResourceRequirements{Limits: list("1", "1Gi")}),
			wantQoSDefault: QoSLSR, wantClassDefault: PriorityProd,
		},
		"requests below limits": {
			pod:            podWith(nil, nil, "", corev1.ResourceRequirements{Limits: list("2", "1Gi"), Requests: list("1", "1Gi")}),
			wantQoSDefault: QoSLS, wantClassDefault: PriorityProd,
		},
		"label and priority": {
			pod:     podWith(map[string]string{LabelPodQoS: "BE"}, new(int32(5999)), "koord-prod", none),
			wantQoS: QoSBE, wantQoSDefault: QoSBE, wantClass: PriorityBatch, wantClassDefault: PriorityBatch,
		},
		"unknown QoS label": {
			pod:            podWith(map[string]string{LabelPodQoS: "be"}, new(int32(6000)), "", none),
			wantQoSDefault: QoSBE, wantClassDefault: PriorityBatch,
		},
		"class name before admission": {
			pod:            podWith(nil, nil, "koord-mid", none),
			wantQoSDefault: QoSBE, wantClass: PriorityMid, wantClassDefault: PriorityMid,
		},
		"class label wins": {
			pod:            podWith(map[string]string{LabelPodPriorityClass: "koord-free"}, new(int32(9000)), "", none),
			wantQoSDefault: QoSBE, wantClass: PriorityFree, wantClassDefault: PriorityFree,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := PodQoSClass(tc.pod); got != tc.wantQoS {
				t.Errorf("PodQoSClass = %q, want %q", got, tc.wantQoS)
			}
			if got := PodQoSClassWithDefault(tc.pod); got != tc.wantQoSDefault {
				t.Errorf("PodQoSClassWithDefault = %q, want %q", got, tc.wantQoSDefault)
			}
			if got := PodPriorityClass(tc.pod); got != tc.wantClass {
				t.Errorf("PodPriorityClass = %q, want %q", got, tc.wantClass)
			}
			if got := PodPriorityClassWithDefault(tc.pod); got != tc.wantClassDefault {
				t.Errorf("PodPriorityClassWithDefault = %q, want %q", got, tc.wantClassDefault)
			}
		})
	}
}

func TestPriorityBandsAgreeWithValues(t *testing.T) {
	for _, band := range PriorityBands() {
		for _, value := range []int32{band.Min, band.Default, band.Max} {
			if got := PriorityClassOfValue(value); got != band.Class {
				t.Errorf("PriorityClassOfValue(%d) = %q, want %q", value, got, band.Class)
			}
		}
		for _, value := range []int32{band.Min - 1, band.Max + 1} {
			if got := PriorityClassOfValue(value); got != PriorityNone {
				t.Errorf("PriorityClassOfValue(%d) = %q, want none", value, got)
			}
		}
		if got, ok := band.Class.Band(); !ok || got != band {
			t.Errorf("%s.Band() = %v, %v", band.Class, got, ok)
		}
	}
}

func TestTranslateResourceName(t *testing.T) {
	tests := map[string]struct {
		class PriorityClass
		name  corev1.ResourceName
		want  corev1.ResourceName
	}{
		"prod cpu":     {PriorityProd, corev1.ResourceCPU, corev1.ResourceCPU},
		"no class":     {PriorityNone, corev1.ResourceMemory, corev1.ResourceMemory},
		"batch cpu":    {PriorityBatch, corev1.ResourceCPU, "kubernetes.io/batch-cpu"},
		"batch memory": {PriorityBatch, corev1.ResourceMemory, "kubernetes.io/batch-memory"},
		"mid cpu":      {PriorityMid, corev1.ResourceCPU, "kubernetes.io/mid-cpu"},
		"mid memory":   {PriorityMid, corev1.ResourceMemory, "kubernetes.io/mid-memory"},
		"free cpu":     {PriorityFree, corev1.ResourceCPU, corev1.ResourceCPU},
		"batch gpu":    {PriorityBatch, ResourceNvidiaGPU, ResourceNvidiaGPU},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := TranslateResourceName(tc.class, tc.name)
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if plain, class := PlainResourceName(got); got != tc.name && (plain != tc.name || class != tc.class) {
				t.Errorf("PlainResourceName(%q) = %q, %q", got, plain, class)
			}
		})
	}
	if got := CanonicalResourceName("koordinator.sh/batch-cpu"); got != BatchCPU {
		t.Errorf("CanonicalResourceName = %q", got)
	}
}
