package explain

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
)

// shippedPlugins are the plugins that the shipped profile enables besides those of Kubernetes, in order.
func shippedPlugins(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile("../app/default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	inTree, found := plugins.NewInTreeRegistry(), map[string]bool{}
	enabled := profiles(t, string(text))[0].Plugins
	for _, set := range []config.PluginSet{
		enabled.PreEnqueue, enabled.QueueSort, enabled.PreFilter, enabled.Filter, enabled.PostFilter, enabled.PreScore, enabled.Score,
		enabled.Reserve, enabled.Permit, enabled.PreBind, enabled.Bind, enabled.PostBind, enabled.MultiPoint,
	} {
		for _, plugin := range set.Enabled {
			if inTree[plugin.Name] == nil {
				found[plugin.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// TestEveryShippedPluginIsCovered fails when a plugin is added to the profile and not to the clusters of these tests.
func TestEveryShippedPluginIsCovered(t *testing.T) {
	c := newShippedCluster(t)
	made := c.parts.Registry()
	if diff := cmp.Diff(shippedPlugins(t), slices.Sorted(maps.Keys(made))); diff != "" {
		t.Errorf("plugins of the profile and of the tests (-want +got):\n%s", diff)
	}
}

// TestPluginsThatRefuseSayWhy requires of every shipped plugin that may refuse a pod that it knows its refusals, with their state
// and by their text alone.
func TestPluginsThatRefuseSayWhy(t *testing.T) {
	c := newShippedCluster(t)
	sim := c.engine.simulations[schedulerName]
	refusing := 0
	for _, name := range shippedPlugins(t) {
		if !mayRefuse(sim, name) {
			continue
		}
		refusing++
		if sim.coders[name] == nil {
			t.Errorf("%s names no codes for its texts", name)
		}
		if sim.explainers[name] == nil {
			t.Errorf("%s does not explain its refusals", name)
		}
	}
	if refusing < 8 {
		t.Errorf("only %d plugins refuse pods; the test has lost its power", refusing)
	}
}

func mayRefuse(sim *simulation, name string) bool {
	named := func(plugin fwk.Plugin) bool { return plugin.Name() == name }
	return slices.ContainsFunc(sim.preFilter, func(p fwk.PreFilterPlugin) bool { return named(p) }) ||
		slices.ContainsFunc(sim.filter, func(p fwk.FilterPlugin) bool { return named(p) })
}
