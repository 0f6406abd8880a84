package live

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

const (
	rebalancing = `- plugins: {balance: {enabled: [{name: LoadAwareRebalancing}]}}
  pluginConfig: [{name: LoadAwareRebalancing, args: {highThresholds: {cpu: 75}}}]
`
	lowNodeLoad = `- plugins: {balance: {enabled: [{name: LowNodeLoad}]}}
  pluginConfig: [{name: LowNodeLoad, args: {lowThresholds: {cpu: 45}, highThresholds: {cpu: 75}}}]
`
	fromMean = `- plugins: {balance: {enabled: [{name: LowNodeLoad}]}}
  pluginConfig: [{name: LowNodeLoad, args: {useDeviationThresholds: true, lowThresholds: {cpu: 10}, highThresholds: {cpu: 10}}}]
`
	bothPlugins = lowNodeLoad + rebalancing
)

// balancedCluster has a node of which the system uses 90 % of the CPU, and an idle one.
func balancedCluster() *clusterBuilder {
	b := makeCluster().node("worker-1").node("worker-2").usage("worker-1", "28", time.Minute).usage("worker-2", "3100m", time.Minute)
	for i := range b.server.Metrics {
		metric := b.server.Metrics[i].Status.NodeMetric
		metric.SystemUsage = metric.NodeUsage
	}
	return b
}

func TestNodesHaveTheVerdictOfTheDeschedulerWhereItIsAskedFor(t *testing.T) {
	tests := map[string]struct {
		cluster *clusterBuilder
		query   source.NodeQuery
		want    []string
	}{
		"not asked for": {balancedCluster().descheduler(lowNodeLoad), source.NodeQuery{}, []string{"", ""}},
		"LowNodeLoad": {
			balancedCluster().descheduler(lowNodeLoad), source.NodeQuery{Balance: true},
			[]string{"Overutilized: cpu 90% > 75%", "Underutilized: cpu 10% <= 45%"},
		},
		"LoadAwareRebalancing": {
			balancedCluster().descheduler(rebalancing), source.NodeQuery{Balance: true},
			[]string{"Overutilized: cpu 90% > 75%", "Normal: cpu 10% <= 75%"},
		},
		"a ConfigMap that does not exist": {balancedCluster(), source.NodeQuery{Balance: true}, []string{"", ""}},
		"no permission to read the ConfigMap": {
			balancedCluster().descheduler(lowNodeLoad).denied("get configmaps"), source.NodeQuery{Balance: true},
			[]string{"Unknown: no permission to read koord-descheduler-config", "Unknown: no permission to read koord-descheduler-config"},
		},
		"no permission to read the NodeMetrics": {
			balancedCluster().descheduler(lowNodeLoad).denied("list nodemetrics"), source.NodeQuery{Balance: true},
			[]string{"Unknown: no permission to read the NodeMetrics", "Unknown: no permission to read the NodeMetrics"},
		},
		"a ConfigMap that cannot be read": {
			balancedCluster().descheduler("- nodeSelector: 3"), source.NodeQuery{Balance: true},
			[]string{"Unknown: koord-descheduler-config could not be read", "Unknown: koord-descheduler-config could not be read"},
		},
		"distances from the mean of all nodes": {
			balancedCluster().descheduler(fromMean), source.NodeQuery{Balance: true},
			[]string{"Overutilized: cpu 90% > 60%", "Underutilized: cpu 10% <= 40%"},
		},
		"but not of one of them": {
			balancedCluster().descheduler(fromMean), source.NodeQuery{Balance: true, Names: []string{"worker-1"}},
			[]string{"Unknown: useDeviationThresholds compares with the mean of all nodes of the pool, and only some nodes were listed"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			list, err := tc.cluster.source(t).Nodes(t.Context(), tc.query)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range list.Items {
				line := ""
				if balance := list.Items[i].Balance; balance != nil {
					line = string(balance.State) + ": " + balance.Message
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("balance (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTheConfigurationOfTheDeschedulerIsReadOnlyWhereItIsAskedFor: what is not shown costs no request, and leaves no gap.
func TestTheConfigurationOfTheDeschedulerIsReadOnlyWhereItIsAskedFor(t *testing.T) {
	tests := map[string]struct {
		query    source.NodeQuery
		denied   string
		wantRead bool
		wantGaps int
	}{
		"asked for":                    {source.NodeQuery{Balance: true}, "", true, 0},
		"not asked for":                {source.NodeQuery{}, "", false, 0},
		"no permission, asked for":     {source.NodeQuery{Balance: true}, "get configmaps", true, 1},
		"no permission, not asked for": {source.NodeQuery{}, "get configmaps", false, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := balancedCluster().descheduler(lowNodeLoad).denied(tc.denied)
			list, err := cluster.source(t).Nodes(t.Context(), tc.query)
			if err != nil {
				t.Fatal(err)
			}
			of := func(line string) bool { return strings.Contains(line, objects.DeschedulerConfigMap) }
			if read := slices.ContainsFunc(cluster.server.Requests(), of); read != tc.wantRead {
				t.Errorf("read %t, want %t: %q", read, tc.wantRead, cluster.server.Requests())
			}
			gaps := slices.DeleteFunc(slices.Clone(list.Incomplete), func(line string) bool { return !of(line) })
			if len(gaps) != tc.wantGaps {
				t.Errorf("gaps %q, want %d", gaps, tc.wantGaps)
			}
			if unread := slices.ContainsFunc(list.Unknown, func(u diagnosticsv1alpha1.UnknownInput) bool { return of(u.Input) }); unread != (tc.wantGaps > 0) {
				t.Errorf("unknown %+v", list.Unknown)
			}
		})
	}
}
