package resctrl

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func TestDecide(t *testing.T) {
	machine := Machine{Vendor: Intel, Mask: 0x7ff, Bandwidth: true, Caches: []int{0}}
	class := func(enable bool) *slov1alpha1.ResourceQOS {
		return &slov1alpha1.ResourceQOS{ResctrlQOS: &slov1alpha1.ResctrlQOSCfg{Enable: &enable, ResctrlQOS: slov1alpha1.ResctrlQOS{CATRangeEndPercent: new(int64(30))}}}
	}
	strategy := &slov1alpha1.ResourceQOSStrategy{BEClass: class(true), LSClass: class(false), LSRClass: class(true)}
	own := &extension.ResctrlConfig{MB: extension.ResctrlResource{Schemata: extension.SchemataConfig{Percent: 20}}}
	pods := []Pod{{UID: "z", QoS: extension.QoSBE, Config: own}, {UID: "b", QoS: extension.QoSBE}, {UID: "s", QoS: extension.QoSLS}, {UID: "g", QoS: extension.QoSLSR}, {UID: "y", QoS: extension.QoSSystem}, {UID: "a", QoS: extension.QoSLS, Config: own}}
	tests := map[string]struct {
		machine   Machine
		inventory Inventory
		want      []string
		wantPods  map[string]string
		problems  int
	}{
		"room for all":                      {machine, Inventory{Room: -1}, []string{"BE", "LSR", "koordlet-a", "koordlet-z"}, map[string]string{"z": "koordlet-z", "b": "BE", "g": "LSR", "a": "koordlet-a"}, 0},
		"classes first, then by name":       {machine, Inventory{Room: 3}, []string{"BE", "LSR", "koordlet-a"}, map[string]string{"z": "BE", "b": "BE", "g": "LSR", "a": "koordlet-a"}, 1},
		"what exists keeps its place":       {machine, Inventory{Room: 3, Existing: []string{"koordlet-z"}}, []string{"BE", "LSR", "koordlet-z"}, map[string]string{"z": "koordlet-z", "b": "BE", "g": "LSR"}, 1},
		"best effort before all":            {machine, Inventory{Room: 1}, []string{"BE"}, map[string]string{"z": "BE", "b": "BE"}, 3},
		"no room at all":                    {machine, Inventory{}, nil, map[string]string{}, 4},
		"a machine that can divide nothing": {Machine{}, Inventory{Room: -1}, nil, map[string]string{}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Decide(tc.machine, strategy, pods, tc.inventory)
			var groups []string
			for _, group := range got.Groups {
				groups = append(groups, group.Name)
			}
			if diff := cmp.Diff(tc.want, groups); diff != "" || len(got.Problems) != tc.problems {
				t.Errorf("problems %q, groups (-want +got):\n%s", got.Problems, diff)
			}
			if diff := cmp.Diff(tc.wantPods, got.Pods); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
		})
	}
	if got := Decide(machine, nil, pods[1:2], Inventory{Room: -1}); len(got.Groups) > 0 || len(got.Pods) > 0 {
		t.Errorf("without a strategy: %+v", got)
	}
}

// TestPodsAreInGroupsThatThereAre: whatever the room, no pod is sent to a group that is not made, and room is kept.
func TestPodsAreInGroupsThatThereAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		strategy := &slov1alpha1.ResourceQOSStrategy{}
		for _, class := range []**slov1alpha1.ResourceQOS{&strategy.BEClass, &strategy.LSClass, &strategy.LSRClass} {
			*class = &slov1alpha1.ResourceQOS{ResctrlQOS: &slov1alpha1.ResctrlQOSCfg{Enable: new(rapid.Bool().Draw(t, "enabled"))}}
		}
		var pods []Pod
		for i := range rapid.IntRange(0, 12).Draw(t, "pods") {
			pod := Pod{UID: string(rune('a' + i)), QoS: rapid.SampledFrom([]extension.QoSClass{extension.QoSBE, extension.QoSLS, extension.QoSLSR, extension.QoSSystem}).Draw(t, "class")}
			if rapid.Bool().Draw(t, "own") {
				pod.Config = &extension.ResctrlConfig{LLC: extension.ResctrlResource{Schemata: extension.SchemataConfig{Range: []int{0, rapid.IntRange(0, 101).Draw(t, "end")}}}}
			}
			pods = append(pods, pod)
		}
		room := rapid.IntRange(0, 8).Draw(t, "room")
		plan := Decide(Machine{Vendor: Intel, Mask: 0x7ff, Caches: []int{0}}, strategy, pods, Inventory{Room: room})
		if len(plan.Groups) > room {
			t.Fatalf("%d groups in room for %d", len(plan.Groups), room)
		}
		for uid, name := range plan.Pods {
			if !slices.ContainsFunc(plan.Groups, func(g Group) bool { return g.Name == name }) {
				t.Fatalf("pod %s is in %s, which is not made", uid, name)
			}
		}
	})
}

func TestBandwidthInSteps(t *testing.T) {
	tests := map[string]struct {
		vendor               Vendor
		percent, step, least int64
		want                 int64
	}{
		"ARM in steps of one":           {ARM, 33, 1, 1, 33},
		"ARM has a least of its own":    {ARM, 1, 1, 5, 5},
		"Intel with a step of its own":  {Intel, 21, 20, 20, 40},
		"never more than everything":    {Intel, 99, 30, 10, 100},
		"a step that cannot be is ten":  {Intel, 81, 500, 10, 90},
		"AMD does not count in percent": {AMD, 50, 10, 10, 80},
	}
	for name, tc := range tests {
		if got, err := BandwidthInSteps(tc.vendor, tc.percent, tc.step, tc.least); got != tc.want || err != nil {
			t.Errorf("%s: %d %v, want %d", name, got, err, tc.want)
		}
	}
}

func TestSchemataOfCodeAndData(t *testing.T) {
	machine := Machine{Vendor: Intel, Mask: 0x7ff, CodeAndData: true, Bandwidth: true, Megabytes: true, Caches: []int{0}}
	got := OfClass(machine, &slov1alpha1.ResctrlQOSCfg{Enable: new(true), ResctrlQOS: slov1alpha1.ResctrlQOS{CATRangeEndPercent: new(int64(30))}})
	if diff := cmp.Diff([]string{"L3CODE:0=f", "L3DATA:0=f"}, got.Lines()); diff != "" || len(got.Problems) != 1 {
		t.Errorf("problems %q, lines (-want +got):\n%s", got.Problems, diff)
	}
}
