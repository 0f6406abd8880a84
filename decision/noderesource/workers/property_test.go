package workers

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/waterfall"
)

func seconds(t *rapid.T, name string) int  { return rapid.IntRange(0, 600).Draw(t, name) }
func cpus(t *rapid.T, name string) int64   { return rapid.Int64Range(-2000, 12_000).Draw(t, name) }
func whether(t *rapid.T, name string) bool { return rapid.Bool().Draw(t, name) }
func after(t *rapid.T, n string) time.Time {
	return now.Add(-time.Duration(seconds(t, n)) * time.Second)
}
func rate(t *rapid.T, of string) (out Rate) {
	return Rate{
		Pods: rapid.Int32Range(1, 20).Draw(t, of+" pods"), Period: time.Duration(seconds(t, of+" period")) * time.Second,
		Stabilization: time.Duration(seconds(t, of+" stabilization")) * time.Second,
	}
}

func drawn(t *rapid.T) Input {
	in := Input{Now: now, Current: rapid.Int32Range(0, 30).Draw(t, "current")}
	in.Spec = Spec{Min: rapid.Int32Range(0, 5).Draw(t, "min"), HeadroomPercent: rapid.Int32Range(0, 100).Draw(t, "headroom"), Up: rate(t, "up"), Down: rate(t, "down"), Ordinals: whether(t, "ordinals")}
	in.Spec.Max = in.Spec.Min + rapid.Int32Range(1, 20).Draw(t, "more")
	if whether(t, "known") {
		in.Request = map[corev1.ResourceName]int64{extension.BatchCPU: rapid.Int64Range(1, 3000).Draw(t, "cpu"), corev1.ResourcePods: 1}
	}
	for i := range rapid.IntRange(0, 5).Draw(t, "nodes") {
		node := Node{Name: fmt.Sprintf("n%d", i), Lost: whether(t, "lost"), Free: cpu(cpus(t, "free"))}
		node.Free[corev1.ResourcePods] = rapid.Int64Range(0, 10).Draw(t, "free pods")
		if whether(t, "predicted") {
			node.Later = cpu(cpus(t, "later"))
		}
		if whether(t, "closed") {
			node.Closed = "its node is cordoned"
		}
		in.Nodes = append(in.Nodes, node)
	}
	for i := range rapid.IntRange(0, 30).Draw(t, "pods") {
		pod := Pod{Name: fmt.Sprintf("w%d", i), Ordinal: i, Used: rapid.Int64Range(-1, 3).Draw(t, "used"), Draining: rapid.IntRange(0, 4).Draw(t, "draining") == 0}
		if node := rapid.IntRange(-1, 5).Draw(t, "node"); node >= 0 {
			pod.Node = fmt.Sprintf("n%d", node)
		}
		if whether(t, "budgeted") {
			pod.Budgets = []string{"pdb"}
		}
		in.Pods = append(in.Pods, pod)
	}
	for range rapid.IntRange(0, 3).Draw(t, "waiting") {
		in.Waiting = append(in.Waiting, Waiting{Count: rapid.IntRange(0, 4).Draw(t, "alike"), Request: cpu(rapid.Int64Range(1, 5000).Draw(t, "waiting cpu"))})
	}
	if whether(t, "quota") {
		in.Quota = &Quota{Name: "q", Fits: rapid.Int64Range(-3, 30).Draw(t, "quota fits")}
	}
	in.Budgets = map[string]int32{"pdb": rapid.Int32Range(0, 3).Draw(t, "budget")}
	if whether(t, "trend") {
		in.History.Trend = &Trend{rapid.SampledFrom([]Direction{Up, Down}).Draw(t, "direction"), after(t, "since"), rapid.Int32Range(0, 30).Draw(t, "replicas")}
	}
	if whether(t, "stepped") {
		in.History.Up, in.History.Down = after(t, "up"), after(t, "down")
	}
	return in
}

// TestWhatAlwaysHolds: the terms make the size, with and without a trace; bounds and steps hold; and who goes is a worker that stays yet.
func TestWhatAlwaysHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, trace := drawn(t), &Trace{}
		got := Decide(in, trace)
		if diff := cmp.Diff(got, Decide(in, nil)); diff != "" {
			t.Fatalf("the verdict differs without a trace:\n%s", diff)
		}
		value := int64(0)
		for _, term := range trace.Terms {
			value = waterfall.Apply(term.Operator, value, term.Value)
		}
		if value != int64(got.Desired) || !slices.ContainsFunc(trace.Terms, func(t waterfall.Term) bool { return t.Name == got.LimitedBy }) {
			t.Fatalf("the terms %v make %d, want %d by %s", trace.Terms, value, got.Desired, got.LimitedBy)
		}
		checkBounds(t, in, got)
		checkDrained(t, in, got)
	})
}

// crowded is an input in which pods wait for nodes of which several would do.
func crowded(t *rapid.T) Input {
	in := Input{Now: now, Request: both(rapid.Int64Range(1, 3000).Draw(t, "cpu"), 1)}
	for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
		in.Nodes = append(in.Nodes, Node{Name: fmt.Sprintf("n%d", i), Free: both(cpus(t, "free"), rapid.Int64Range(0, 10).Draw(t, "free pods"))})
	}
	for range rapid.IntRange(1, 4).Draw(t, "waiting") {
		group := Waiting{Count: rapid.IntRange(0, 4).Draw(t, "alike"), Request: both(rapid.Int64Range(1, 5000).Draw(t, "waiting cpu"), 1)}
		if whether(t, "picky") {
			group.Nodes = map[string]bool{"n0": whether(t, "n0"), "n2": true, "n4": true}
		}
		in.Waiting = append(in.Waiting, group)
	}
	return in
}

// TestWaitingPodsGetTheNodesThatCostWorkersLeast compares with one pod after the other, each of which looks at all nodes.
func TestWaitingPodsGetTheNodesThatCostWorkersLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := crowded(t)
		got, want := newRooms(&in), rooms{in: &in, names: requested(&in), runs: map[string]int32{}}
		want.request, want.scratch, want.runs = got.request, make(vector, len(want.names)), got.runs
		want.free = make([]vector, len(in.Nodes))
		for i := range in.Nodes {
			want.free[i] = want.vector(in.Nodes[i].Free)
		}
		for i := range in.Waiting {
			for range max(in.Waiting[i].Count, 1) {
				want.placeOne(&in.Waiting[i])
			}
		}
		if diff := cmp.Diff(want.free, got.free); diff != "" || want.placed != got.placed || want.waiting != got.waiting {
			t.Fatalf("%d pods take the room of %d workers, want %d and %d; what is free (-want +got):\n%s", got.placed, got.waiting, want.placed, want.waiting, diff)
		}
	})
}

func (r *rooms) placeOne(pod *Waiting) {
	request, best, lost, room := r.vector(pod.Request), -1, int32(0), int32(0)
	for n := range r.in.Nodes {
		node := &r.in.Nodes[n]
		if node.Lost || node.Closed != "" || pod.Nodes != nil && !pod.Nodes[node.Name] || fits(r.free[n], request) == 0 {
			continue
		}
		left := slices.Clone(r.free[n])
		for i := range left {
			left[i] -= request[i]
		}
		before, after := r.fit(n, r.free[n]), r.fit(n, left)
		if best < 0 || before-after < lost || before-after == lost && after > room {
			best, lost, room = n, before-after, after
		}
	}
	if best < 0 {
		return
	}
	for i := range request {
		r.free[best][i] -= request[i]
	}
	r.waiting += int64(lost)
	r.placed++
}

func checkBounds(t *rapid.T, in Input, got Verdict) {
	draining := int32(0)
	for _, pod := range in.Pods {
		if pod.Draining {
			draining++
		}
	}
	base := max(in.Current-draining, 0)
	kept := got.LimitedBy == Budget || in.Spec.Ordinals && draining > 0
	if !kept && (got.Desired < in.Spec.Min || got.Desired > in.Spec.Max) {
		t.Fatalf("desired %d, want %d to %d", got.Desired, in.Spec.Min, in.Spec.Max)
	}
	if got.Desired < in.Spec.Min && got.Desired < base {
		t.Fatalf("desired %d is below both the minimum %d and the size %d", got.Desired, in.Spec.Min, base)
	}
	if base < in.Spec.Min || base > in.Spec.Max {
		return // brought within the bounds at once
	}
	rate, last, trend := in.Spec.Up, in.History.Up, Up
	if got.Desired < base {
		rate, last, trend = in.Spec.Down, in.History.Down, Down
	}
	if step := max(got.Desired-base, base-got.Desired); step > rate.Pods {
		t.Fatalf("a step of %d, want at most %d", step, rate.Pods)
	} else if step > 0 && !last.IsZero() && now.Sub(last) < rate.Period {
		t.Fatalf("a step %s after the last one, want at least %s", now.Sub(last), rate.Period)
	} else if before := in.History.Trend; step > 0 && rate.Stabilization > 0 && (before == nil || before.Direction != trend || now.Sub(before.Since) < rate.Stabilization) {
		t.Fatalf("a step %s without a trend of %s: %+v", trend, rate.Stabilization, before)
	}
}

func checkDrained(t *rapid.T, in Input, got Verdict) {
	budgeted, seen := int32(0), map[string]bool{}
	for _, candidate := range got.Drain {
		i := slices.IndexFunc(in.Pods, func(p Pod) bool { return p.Name == candidate.Name })
		if i < 0 || in.Pods[i].Draining || seen[candidate.Name] || candidate.Reason == "" {
			t.Fatalf("%+v is no worker, drains already or has no reason", candidate)
		}
		seen[candidate.Name] = true
		if len(in.Pods[i].Budgets) > 0 {
			budgeted++
		}
	}
	if budgeted > in.Budgets["pdb"] {
		t.Fatalf("%d workers of a budget of %d", budgeted, in.Budgets["pdb"])
	}
	if over := int32(len(got.Drain)) - max(in.Current-got.Desired, 0); over > 0 {
		t.Fatalf("%d more go than have to", over)
	}
}

// TestNoFlapping: whatever nodes offer from pass to pass, sizes do not change in both directions within the stabilization window.
func TestNoFlapping(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := engine("a", "a", "a", "a", "a").with(Node{Name: "a"})
		in.Spec.Down.Stabilization = 5 * time.Minute
		var grown time.Time
		for range rapid.IntRange(1, 60).Draw(t, "passes") {
			in.Now = in.Now.Add(15 * time.Second)
			in.Nodes[0].Free = cpu(rapid.Int64Range(0, 20_000).Draw(t, "free"))
			got := Decide(in, nil)
			if got.Desired < in.Current && !grown.IsZero() && in.Now.Sub(grown) < in.Spec.Down.Stabilization {
				t.Fatalf("shrinks %s after it grew", in.Now.Sub(grown))
			}
			if got.Desired > in.Current {
				grown = in.Now
			}
			in.Current, in.History, in.Pods = got.Desired, got.History, in.Pods[:0]
			for i := range got.Desired {
				in.Pods = append(in.Pods, Pod{Name: fmt.Sprintf("w%d", i), Node: "a", Used: -1})
			}
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	in := engine()
	for i := range 1000 {
		name := fmt.Sprintf("n%d", i)
		in = in.with(Node{Name: name, Free: cpu(8000)})
		in.Pods = append(in.Pods, Pod{Name: "w" + name, Node: name, Used: -1})
	}
	in.Current = 1000
	in.Spec.Max = 10_000
	for b.Loop() {
		Decide(in, nil)
	}
}
