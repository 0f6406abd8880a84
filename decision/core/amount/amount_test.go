package amount

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestAmountsArePrintedForPeople(t *testing.T) {
	tests := map[string]struct {
		resource corev1.ResourceName
		quantity string
		want     string
	}{
		"whole CPUs":                               {"cpu", "4", "4"},
		"a part of a CPU":                          {"cpu", "1500m", "1.5"},
		"batch CPUs, which are counted in milli":   {"kubernetes.io/batch-cpu", "8854", "8.854"},
		"memory in the largest unit, rounded down": {"memory", "14538501455", "13.54Gi"},
		"memory below all units":                   {"memory", "1000", "1000"},
		"huge pages":                               {"hugepages-2Mi", "4Mi", "4Mi"},
		"devices":                                  {"nvidia.com/gpu", "2", "2"},
		"nothing":                                  {"memory", "0", "0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Format(test.resource, Of(test.resource, resource.MustParse(test.quantity))); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestComparedAmountsDoNotLookTheSame(t *testing.T) {
	if a, b := FormatPair("memory", 1<<30+1, 1<<30); a != "1073741825" || b != "1073741824" {
		t.Errorf("%s and %s are compared", a, b)
	}
	if a, b := FormatPair("memory", 1<<30, 1<<30); a != "1Gi" || b != "1Gi" {
		t.Errorf("%s and %s are equal", a, b)
	}
}
