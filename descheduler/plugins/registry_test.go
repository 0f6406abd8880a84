package plugins

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"
)

func TestEveryPluginOfTheSigsDeschedulerIsRegistered(t *testing.T) {
	want := []string{
		"DefaultEvictor", "HighNodeUtilization", "LowNodeUtilization", "PodLifeTime", "RemoveDuplicates", "RemoveFailedPods",
		"RemovePodsHavingTooManyRestarts", "RemovePodsViolatingInterPodAntiAffinity", "RemovePodsViolatingNodeAffinity",
		"RemovePodsViolatingNodeTaints", "RemovePodsViolatingTopologySpreadConstraint",
	}
	got := slices.Sorted(maps.Keys(Registry(Sources{})))
	missing := slices.DeleteFunc(want, func(name string) bool { return slices.Contains(got, name) })
	if diff := cmp.Diff([]string{}, missing); diff != "" {
		t.Errorf("missing plugins (-want +got):\n%s", diff)
	}
}

func TestAnOwnPluginIsBuiltWithItsArguments(t *testing.T) {
	type args struct{ Threshold int }
	got := 0
	entry := own("Sample", func(_ context.Context, args *args, _ frameworktypes.Handle) (frameworktypes.Plugin, error) {
		got = args.Threshold
		return nil, nil
	}, nil, func(args *args) { args.Threshold = 80 }, func(*args) field.ErrorList { return nil })
	object := entry.args.DeepCopyObject()
	entry.defaults(object)
	if _, err := entry.build(t.Context(), object, nil); err != nil || got != 80 {
		t.Errorf("built with threshold %d, %v; want the default 80", got, err)
	}
	if _, err := entry.build(t.Context(), &runtime.Unknown{}, nil); err == nil {
		t.Error("built with the arguments of another plugin")
	}
}

func TestArgumentsOfEveryPluginCanBeCopied(t *testing.T) {
	for name, plugin := range Registry(Sources{}) {
		if copied := plugin.PluginArgInstance.DeepCopyObject(); copied == nil {
			t.Errorf("the arguments of %s have no copy", name)
		}
	}
}
