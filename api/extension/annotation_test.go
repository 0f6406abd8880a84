package extension

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDecodeAnnotation(t *testing.T) {
	const key = AnnotationNodeThirdPartyAllocations
	batch := &ThirdPartyAllocations{Allocations: []ThirdPartyAllocation{{
		Name: "yarn", Priority: PriorityBatch,
		Resources: corev1.ResourceList{BatchCPU: resource.MustParse("2k")},
	}}}
	tests := map[string]struct {
		annotations map[string]string
		want        *ThirdPartyAllocations
		wantErr     string
	}{
		"no annotations": {},
		"empty value":    {annotations: map[string]string{key: ""}},
		"a document": {
			annotations: map[string]string{key: `{"allocations":[{"name":"yarn","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"2k"}}]}`},
			want:        batch,
		},
		"null":              {annotations: map[string]string{key: "null"}, want: &ThirdPartyAllocations{}},
		"not JSON":          {annotations: map[string]string{key: "{"}, wantErr: `"node.koordinator.sh/thirdPartyAllocations"`},
		"two documents":     {annotations: map[string]string{key: "{} {}"}, wantErr: "after top-level value"},
		"a megabyte":        {annotations: map[string]string{key: strings.Repeat(" ", 1<<20)}, wantErr: "1048576 bytes"},
		"deep nesting":      {annotations: map[string]string{key: strings.Repeat("[", 100000)}, wantErr: "decode"},
		"huge exponent":     {annotations: map[string]string{key: `{"allocations":[{"resources":{"cpu":"1e-99999999"}}]}`}, wantErr: "exponent"},
		"escaped exponent":  {annotations: map[string]string{key: `{"allocations":[{"resources":{"cpu":"1\u0065-99999999"}}]}`}, wantErr: "exponent"},
		"exponent in a key": {annotations: map[string]string{key: `{"1e-99999999":1}`}, wantErr: "exponent"},
		"bare exponent":     {annotations: map[string]string{key: `{"allocations":[{"resources":{"cpu":-1.5E+99999999}}]}`}, wantErr: "exponent"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := GetThirdPartyAllocations(tc.annotations)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("error %v, want one with %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("unexpected result (-want,+got):\n%s", diff)
			}
		})
	}
}

func TestHugeExponent(t *testing.T) {
	tests := map[string]bool{
		"": false, "1": false, "1e3": false, "1e-999": false, "2e": false, "e1000": false,
		"1e1000": true, "-1.5E+99999999": true, ".5e-4000": true, "12Gi": false,
		"3f1e2345-9b1c": false, "0000:1e1234": false, "1e1000x": false,
	}
	for text, want := range tests {
		if got := hugeExponent(text); got != want {
			t.Errorf("hugeExponent(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestSetWithNilRemovesTheKey(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"other": "kept"}}}
	if err := SetResourceStatus(pod, &ResourceStatus{CPUSet: "0-3"}); err != nil {
		t.Fatal(err)
	}
	if want := `{"cpuset":"0-3"}`; pod.Annotations[AnnotationResourceStatus] != want {
		t.Errorf("annotation %q, want %q", pod.Annotations[AnnotationResourceStatus], want)
	}
	if err := SetResourceStatus(pod, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"other": "kept"}, pod.Annotations); diff != "" {
		t.Errorf("unexpected annotations (-want,+got):\n%s", diff)
	}
}

func TestSetRefusesWhatNoOneCouldRead(t *testing.T) {
	pod := &corev1.Pod{}
	err := SetResourceStatus(pod, &ResourceStatus{CPUSet: strings.Repeat("0,", MaxAnnotationBytes)})
	if err == nil || len(pod.Annotations) != 0 {
		t.Errorf("error %v, annotations %d", err, len(pod.Annotations))
	}
}
