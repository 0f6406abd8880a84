package koordlet

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/qos/coresched"
	"koordinator.sh/koord/agent/qos/network"
	"koordinator.sh/koord/agent/qos/resctrl"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func TestWhichReconcilersWork(t *testing.T) {
	tests := map[string]struct {
		gates map[string]bool
		want  []string
	}{
		"by default":                        {nil, []string{"RdtResctrl"}},
		"nothing":                           {map[string]bool{"RdtResctrl": false}, nil},
		"shares of single pods alone":       {map[string]bool{"RdtResctrl": false, "Resctrl": true}, []string{"RdtResctrl"}},
		"everything":                        {map[string]bool{"CoreSched": true, "TCNetworkQoS": true, "TerwayQoS": true, "CPICollector": true}, []string{"CoreSched", "TCNetworkQoS", "TerwayQoS", "RdtResctrl", "CPICollector"}},
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
			reconcilers, err := newReconcilers(&featureBuild{options: options, trees: &trees{proc: tree, sys: tree, cgroup: tree}, layout: cgroup.Layout{Version: cgroup.V2}, audit: audit.NewLog(1)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, names(reconcilers.on)); diff != "" || len(reconcilers.on)+len(reconcilers.off) != 5 {
				t.Errorf("%d are off, on are (-want +got):\n%s", len(reconcilers.off), diff)
			}
			if err := reconcilers.restore(t.Context()); err != nil {
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

// TestADamagedAccountStopsItsFeatureAlone has every account be damaged: the agent starts, and says of each what is the matter.
func TestADamagedAccountStopsItsFeatureAlone(t *testing.T) {
	directory := t.TempDir()
	for _, name := range []string{"resctrl", "coresched", "network", "terway"} {
		if err := os.WriteFile(filepath.Join(directory, name+".json"), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := files.NewReal(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tree.Close() }() // nothing was written
	options := &Options{FeatureGates: map[string]bool{"TCNetworkQoS": true}, StateDirectory: directory, Sys: directory, Proc: directory, Cgroup: directory}
	reconcilers, err := newReconcilers(&featureBuild{options: options, trees: &trees{proc: tree, sys: tree, cgroup: tree}, layout: cgroup.Layout{Version: cgroup.V2}, audit: audit.NewLog(1)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"TCNetworkQoS", "RdtResctrl"}, names(reconcilers.on)); diff != "" {
		t.Errorf("on are (-want +got):\n%s", diff)
	}
	failures := map[string]string{}
	reconcilers.reconcile(t.Context(), qos.NodeSnapshot{SLO: &slov1alpha1.NodeSLOSpec{}}, func(reconciler string, err error, _ time.Time) {
		if coded, is := finding.From(err); is {
			failures[reconciler] = string(coded.Code)
		}
	})
	if diff := cmp.Diff(map[string]string{"RdtResctrl": "KOORD0301", "TCNetworkQoS": "KOORD0301"}, failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"CoreSched", "TerwayQoS"}, names(reconcilers.off)); diff != "" {
		t.Errorf("those that have something to give back still (-want +got):\n%s", diff)
	}
	for _, state := range []bool{reconcilerOf[*resctrl.Reconciler](reconcilers).State().At.IsZero(), reconcilerOf[*network.Reconciler](reconcilers).State().At.IsZero(), reconcilerOf[*coresched.Reconciler](reconcilers).State().At.IsZero()} {
		if !state {
			t.Error("a feature that does nothing has looked at something")
		}
	}
	if err := reconcilers.restore(t.Context()); err == nil {
		t.Error("everything was given back, although nobody knows what")
	}
	if entries, err := os.ReadDir(directory); err != nil || len(entries) != 4 {
		t.Errorf("%d files, %v, want the four accounts as they were", len(entries), err)
	}
}

func names(reconcilers []qos.Reconciler) []string {
	var out []string
	for _, reconciler := range reconcilers {
		out = append(out, reconciler.Name())
	}
	return out
}
