package configplan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

func TestAllocatableHasWhatWouldBeWritten(t *testing.T) {
	plan := &Plan{Nodes: []NodeChange{
		{Name: "more", Offers: []OfferChange{{Resource: extension.BatchCPU, New: new(int64(7500))}, {Resource: corev1.ResourceCPU, New: new(int64(1500))}}},
		{Name: "withdrawn", Offers: []OfferChange{{Resource: extension.BatchMemory, Old: new(int64(1)), Reason: "co-location is off"}}},
		{Name: "too-little", Offers: []OfferChange{{Resource: extension.BatchCPU, Old: new(int64(7500)), New: new(int64(7501)), Reason: "differs by less than 10%"}}},
		{Name: "settings-alone"},
	}}
	got := map[string]map[corev1.ResourceName]string{}
	for name, list := range plan.Allocatable() {
		got[name] = map[corev1.ResourceName]string{}
		for resource, quantity := range list {
			got[name][resource] = quantity.String()
		}
	}
	want := map[string]map[corev1.ResourceName]string{
		"more":      {extension.BatchCPU: "7500", corev1.ResourceCPU: "1500m"},
		"withdrawn": {extension.BatchMemory: "0"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("allocatable (-want +got):\n%s", diff)
	}
}
