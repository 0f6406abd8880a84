package tui

import (
	"testing"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
)

// TestWhichScaleIsAskedFor: that of a workload of a kind that can be scaled, to a number of replicas.
func TestWhichScaleIsAskedFor(t *testing.T) {
	of := func(kind int, namespace string, replicas int32) source.CopiedPods {
		return source.CopiedPods{Kind: source.WorkloadKinds[kind], Namespace: namespace, Name: "web", Replicas: replicas}
	}
	const usage = "workload and replicas required: :scale NAMESPACE/KIND/NAME REPLICAS"
	for line, tc := range map[string]struct {
		crumbs, says string
		want         source.CopiedPods
	}{
		":scale shop/deployment/web 20":           {"nodes > scale shop/deployment/web 20", "", of(0, "shop", 20)},
		":scale shop/sts/web 1":                   {"nodes > scale shop/statefulset/web 1", "", of(1, "shop", 1)},
		":scale deployments/web 20":               {"nodes > scale default/deployment/web 20", "", of(0, "default", 20)},
		":scale":                                  {nodesName, usage, source.CopiedPods{}},
		":scale shop/deployment/web":              {nodesName, usage, source.CopiedPods{}},
		":scale shop/deployment/web 2 3":          {nodesName, usage, source.CopiedPods{}},
		":scale web 20":                           {nodesName, `"web": must be NAMESPACE/KIND/NAME, such as shop/deployment/web`, source.CopiedPods{}},
		":scale a/shop/deployment/web 20":         {nodesName, `"a/shop/deployment/web": must be NAMESPACE/KIND/NAME, such as shop/deployment/web`, source.CopiedPods{}},
		":scale shop/deployment/ 20":              {nodesName, `"shop/deployment/": must be NAMESPACE/KIND/NAME, such as shop/deployment/web`, source.CopiedPods{}},
		":scale shop/job/web 20":                  {nodesName, `"job": must be a deployment, statefulset or replicaset`, source.CopiedPods{}},
		":scale shop/deployment/web 0":            {nodesName, `replicas "0": must be a number, 1 or more`, source.CopiedPods{}},
		":scale shop/deployment/web many":         {nodesName, `replicas "many": must be a number, 1 or more`, source.CopiedPods{}},
		":scale shop/deployment/web 1e9":          {nodesName, `replicas "1e9": must be a number, 1 or more`, source.CopiedPods{}},
		":scale shop/deployment/web 999999999999": {nodesName, `replicas "999999999999": must be a number, 1 or more`, source.CopiedPods{}},
	} {
		t.Run(line, func(t *testing.T) {
			r := newRig(t, 30)
			p := &placed{Source: r.src.Source, answer: copiesOf(diagnostics.PlacementFits, func(*diagnostics.PlacementForecast) {})}
			r.src.Source = p
			if r.start().press(line, "enter"); r.crumbs() != tc.crumbs || r.m.flash.text != tc.says || p.asked.Copied != tc.want {
				t.Errorf("leads to %q, says %q and asks %+v", r.crumbs(), r.m.flash.text, p.asked.Copied)
			}
		})
	}
}

// TestAWorkloadIsScaled from the replicas that it has, which a source may not know.
func TestAWorkloadIsScaled(t *testing.T) {
	for name, tc := range map[string]struct {
		workload    *diagnostics.ForecastWorkload
		want, never []string
	}{
		"both are known":       {&diagnostics.ForecastWorkload{Replicas: 3, Wanted: new(int32(20))}, []string{"▲ Partial  shop/web  3 → 20 replicas", "Reasons against one more"}, nil},
		"no number is wanted":  {&diagnostics.ForecastWorkload{Replicas: 3}, []string{"▲ Partial  shop/web"}, []string{"replicas"}},
		"nothing is known yet": {nil, []string{"▲ Partial  shop/web"}, []string{"replicas"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := copiesOf(diagnostics.PlacementPartial, func(f *diagnostics.PlacementForecast) { f.Workload = tc.workload })
			says(t, forecastOf(t, f, ":scale shop/deployment/web 20", "enter"), tc.want, tc.never)
		})
	}
}

// TestAWorkloadIsNotDescribed: no screen explains its kind, so that commands about the object of a page need a name.
func TestAWorkloadIsNotDescribed(t *testing.T) {
	r := newRig(t, 30).start().openScreen(scaleName)
	for _, line := range []string{":describe", ":yaml"} {
		crumbs := r.crumbs()
		if r.press(line, "enter"); r.crumbs() != crumbs || r.m.flash.text != "name required: "+line+" NODE|NAMESPACE/POD" {
			t.Errorf("%s leads to %q and says %q", line, r.crumbs(), r.m.flash.text)
		}
	}
}
