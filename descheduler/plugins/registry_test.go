package plugins

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryPluginOfTheSigsDeschedulerIsRegistered(t *testing.T) {
	want := []string{
		"DefaultEvictor", "HighNodeUtilization", "LowNodeUtilization", "PodLifeTime", "RemoveDuplicates", "RemoveFailedPods",
		"RemovePodsHavingTooManyRestarts", "RemovePodsViolatingInterPodAntiAffinity", "RemovePodsViolatingNodeAffinity",
		"RemovePodsViolatingNodeTaints", "RemovePodsViolatingTopologySpreadConstraint",
	}
	got := slices.Sorted(maps.Keys(Registry()))
	missing := slices.DeleteFunc(want, func(name string) bool { return slices.Contains(got, name) })
	if diff := cmp.Diff([]string{}, missing); diff != "" {
		t.Errorf("missing plugins (-want +got):\n%s", diff)
	}
}
