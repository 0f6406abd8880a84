package noderesource

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/core/configmerge"
)

func TestEveryKeyOfTheConfigurationReachesTheNodes(t *testing.T) {
	got := slices.Concat(configmerge.NodeSLOKeys(), keys())
	slices.Sort(got)
	if diff := cmp.Diff(slices.Sorted(slices.Values(configuration.Keys())), got); diff != "" {
		t.Errorf("keys that NodeSLOs or what nodes offer come from (-want +got):\n%s", diff)
	}
}
