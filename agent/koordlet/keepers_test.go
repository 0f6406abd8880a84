package koordlet

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/qos"
)

func TestWhichKeepersWork(t *testing.T) {
	tests := map[string]struct {
		gates map[string]bool
		want  []string
	}{
		"by default":                        {nil, []string{"RdtResctrl"}},
		"nothing":                           {map[string]bool{"RdtResctrl": false}, nil},
		"shares of single pods alone":       {map[string]bool{"RdtResctrl": false, "Resctrl": true}, []string{"RdtResctrl"}},
		"everything":                        {map[string]bool{"CoreSched": true, "TCNetworkQoS": true, "TerwayQoS": true, "CPICollector": true}, []string{"RdtResctrl", "CoreSched", "TCNetworkQoS", "TerwayQoS", "CPICollector"}},
		"interference by pressure and none": {map[string]bool{"RdtResctrl": false, "PSICollector": true}, []string{"CPICollector"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			tree, err := files.NewReal(directory)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tree.Close() }() // nothing was written
			options := &Options{FeatureGates: tc.gates, StateDirectory: directory, Sys: directory, Proc: directory, Cgroup: directory}
			kept, err := newKeepers(options, &trees{proc: tree, sys: tree, cgroup: tree}, cgroup.Layout{Version: cgroup.V2}, audit.NewLog(1))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, names(kept.on)); diff != "" || len(kept.on)+len(kept.off) != 5 {
				t.Errorf("%d are off, on are (-want +got):\n%s", len(kept.off), diff)
			}
			if err := kept.release(t.Context()); err != nil {
				t.Error(err)
			}
			for gate := range tc.gates {
				if !slices.Contains(gates(), gate) {
					t.Errorf("there is no gate %q", gate)
				}
			}
		})
	}
}

func names(keepers []qos.Keeper) []string {
	var out []string
	for _, keeper := range keepers {
		out = append(out, keeper.Name())
	}
	return out
}
