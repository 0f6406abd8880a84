package rebalance

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

// job adds a pod of a Job that may be limited to so many cores at the least.
func (w *world) job(node int, cpu, least, limit float64) *Pod {
	pod := w.pod(node, cpu, 1)
	pod.Limit = &CPULimit{Now: limit, Least: least}
	return pod
}

// resizes are the steps that change limits.
func resizes(plan Plan) []Step {
	var found []Step
	for _, step := range plan.Steps {
		if step.Remedy == LowerCPULimit || step.Remedy == RestoreCPULimit {
			found = append(found, step)
		}
	}
	return found
}

// resize does what the steps of a plan do to limits, to pods that use as much as they may.
func (w *world) resize(plan Plan) {
	for _, step := range resizes(plan) {
		pod := &w.Pods[step.Pod]
		limit, usage := *pod.Limit, pod.Usage[0]
		if step.Remedy == LowerCPULimit {
			if limit.Before == 0 {
				limit.Before, limit.Usage = limit.Now, usage
			}
			limit.Now = step.Limit
			pod.Usage = []float64{step.Limit, pod.Usage[1]}
		} else {
			pod.Usage = []float64{max(usage, limit.Usage), pod.Usage[1]}
			limit = CPULimit{Now: limit.Before, Least: limit.Least}
		}
		pod.Limit = &limit
		w.Nodes[step.Node].Usage[0] += pod.Usage[0] - usage
	}
}

func TestLimitsOfJobs(t *testing.T) {
	for _, test := range []struct {
		name  string
		build func(w *world)
		want  []Step
		// wantMoves of the same pass.
		wantMoves int
	}{
		{
			name:  "a job is throttled until its node is at the threshold",
			build: func(w *world) { w.job(w.node(50, 10), 40, 5, 60) },
			want:  []Step{{Remedy: LowerCPULimit, Node: 0, Pod: 0, Target: -1, Limit: 25}},
		},
		{
			name:  "never to less than it requests, and what is left is moved",
			build: func(w *world) { n := w.node(50, 10); w.job(n, 20, 15, 60); w.pod(n, 20, 1); w.node(10, 10) },
			want:  []Step{{Remedy: LowerCPULimit, Node: 0, Pod: 0, Target: -1, Limit: 15}}, wantMoves: 1,
		},
		{
			name: "the one of the lowest priority first, then the one that uses the most beyond its requests",
			build: func(w *world) {
				n := w.node(50, 10)
				w.job(n, 12, 10, 60)
				w.job(n, 16, 10, 60)
				w.job(n, 8, 4, 60)
				w.Pods[0].Priority, w.Pods[1].Priority, w.Pods[2].Priority = 0, 0, 10
			},
			want: []Step{
				{Remedy: LowerCPULimit, Node: 0, Pod: 1, Target: -1, Limit: 10}, {Remedy: LowerCPULimit, Node: 0, Pod: 0, Target: -1, Limit: 10},
				{Remedy: LowerCPULimit, Node: 0, Pod: 2, Target: -1, Limit: 5},
			},
		},
		{name: "a limit that is above what the pod uses relieves nothing by itself", build: func(w *world) { w.job(w.node(80, 10), 4, 5, 60) }},
		{name: "a node below the threshold", build: func(w *world) { w.job(w.node(30, 10), 40, 5, 60) }},
		{name: "a node that lacks memory alone", build: func(w *world) { w.job(w.node(10, 90), 40, 5, 60) }},
		{name: "a limit that is kept", build: func(w *world) { w.job(w.node(50, 10), 40, 5, 60).Limit.Kept = true }},
		{name: "a service, whose limit is not known", build: func(w *world) { w.pod(w.node(50, 10), 40, 1) }},
		{
			name:  "a pod that a rollout may remove",
			build: func(w *world) { w.job(w.node(50, 10), 40, 5, 60); w.Workloads[0].Freeze = Rollout },
		},
		{
			name:  "a pod that may not be evicted may be throttled",
			build: func(w *world) { w.job(w.node(50, 10), 40, 5, 60).Protected = "local storage" },
			want:  []Step{{Remedy: LowerCPULimit, Node: 0, Pod: 0, Target: -1, Limit: 25}},
		},
		{name: "a pod without a measurement", build: func(w *world) { w.job(w.node(50, 10), 40, 5, 60).Usage = nil }},
		{name: "switched off", build: func(w *world) { w.job(w.node(50, 10), 40, 5, 60); w.Args.ResizeInPlace = new(false) }},
		{
			name: "the CPU is not looked at",
			build: func(w *world) {
				w.Args.HighThresholds = map[corev1.ResourceName]int64{corev1.ResourceMemory: 80}
				w.Resources = []corev1.ResourceName{corev1.ResourceMemory}
				n := w.node(0, 0)
				w.Nodes[n].Capacity, w.Nodes[n].Usage = []float64{100}, []float64{90}
				w.Workloads = []Workload{{Key: "a"}}
				w.Pods = []Pod{{Name: "a/b", Usage: []float64{90}, Limit: &CPULimit{Now: 5, Least: 1}}}
			},
		},
		{
			name: "a limit is given back on a node that has room for what the pod used",
			build: func(w *world) {
				w.job(w.node(30, 10), 10, 5, 10).Limit = &CPULimit{Now: 10, Least: 5, Before: 60, Usage: 40}
			},
			want: []Step{{Remedy: RestoreCPULimit, Node: 0, Pod: 0, Target: -1, Limit: 60}},
		},
		{
			name: "and not on one that would be within the margin of the threshold",
			build: func(w *world) {
				w.job(w.node(31, 10), 10, 5, 10).Limit = &CPULimit{Now: 10, Least: 5, Before: 60, Usage: 40}
			},
		},
		{
			name: "a node takes back as many as it has room for, the one of the highest priority first",
			build: func(w *world) {
				n := w.node(20, 10)
				w.job(n, 10, 5, 10).Limit = &CPULimit{Now: 10, Least: 5, Before: 60, Usage: 35}
				w.job(n, 10, 5, 10).Limit = &CPULimit{Now: 10, Least: 5, Before: 60, Usage: 35}
				w.Pods[1].Priority = 5
			},
			want: []Step{{Remedy: RestoreCPULimit, Node: 0, Pod: 1, Target: -1, Limit: 60}},
		},
		{
			name: "withdrawn whatever the load",
			build: func(w *world) {
				w.job(w.node(90, 10), 5, 5, 5).Limit = &CPULimit{Now: 5, Least: 5, Before: 60, Usage: 40, Kept: true, Withdrawn: true}
			},
			want: []Step{{Remedy: RestoreCPULimit, Node: 0, Pod: 0, Target: -1, Limit: 60}},
		},
		{
			name: "switched off, they are given back, of a node without a report, too",
			build: func(w *world) {
				w.Args.ResizeInPlace = new(false)
				w.job(w.node(90, 10), 5, 5, 5).Limit = &CPULimit{Now: 5, Least: 5, Before: 60, Usage: 40}
				w.Nodes[0].Usage = nil
			},
			want: []Step{{Remedy: RestoreCPULimit, Node: 0, Pod: 0, Target: -1, Limit: 60}},
		},
		{
			name: "a node without a report gives nothing back by itself",
			build: func(w *world) {
				w.job(w.node(10, 10), 5, 5, 5).Limit = &CPULimit{Now: 5, Least: 5, Before: 60, Usage: 40}
				w.Nodes[0].Usage = nil
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld()
			test.build(w)
			plan := Decide(w.Input, nil)
			if diff := cmp.Diff(test.want, resizes(plan), cmpopts.EquateApprox(0, 1.1/limitsPerCore)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if got := len(plan.Moves()); got != test.wantMoves {
				t.Errorf("%d moves, want %d", got, test.wantMoves)
			}
		})
	}
}

func TestResizesAreTraced(t *testing.T) {
	w := newWorld()
	w.job(w.node(50, 10), 40, 5, 60)
	w.job(w.node(30, 10), 10, 5, 10).Limit = &CPULimit{Now: 10, Least: 5, Before: 60, Usage: 40}
	trace := &Trace{}
	plan := Decide(w.Input, trace)
	want := []ResizeTrace{
		{Pod: "default/pod-0", Node: "node-0", Remedy: LowerCPULimit, From: 60, To: 25, Usage: 40, Before: 0.9, After: 0.75},
		{Pod: "default/pod-1", Node: "node-1", Remedy: RestoreCPULimit, From: 10, To: 60, Usage: 10, Before: 0.4, After: 0.7},
	}
	if diff := cmp.Diff(want, trace.Resizes, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	if got, want := trace.Message(plan), "0 pods are moved, 1 CPU limit of jobs is lowered, 1 CPU limit of jobs is given back"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

// TestResizesEnd: under a fixed load, of pods that use what they may, limits are lowered and given back in a few passes and then stay, within
// their bounds, and no node that gets a limit back is overutilized by it.
func TestResizesEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		for range rapid.IntRange(1, 6).Draw(t, "nodes") {
			n := w.node(rapid.Float64Range(0, 70).Draw(t, "services"), 10)
			for range rapid.IntRange(0, 4).Draw(t, "jobs") {
				least := rapid.Float64Range(0.01, 10).Draw(t, "least")
				used := least + rapid.Float64Range(0, 20).Draw(t, "beyond")
				pod := w.job(n, used, least, used+rapid.Float64Range(0, 5).Draw(t, "free"))
				pod.Protected = "only resizes are looked at"
				pod.Priority = int32(rapid.IntRange(0, 2).Draw(t, "priority"))
				if rapid.Bool().Draw(t, "lowered") {
					pod.Limit.Before = pod.Limit.Now + rapid.Float64Range(0.01, 20).Draw(t, "taken")
					pod.Limit.Usage = rapid.Float64Range(pod.Usage[0], pod.Limit.Before).Draw(t, "used before")
				}
			}
		}
		const passes = 4
		for number := 1; ; number++ {
			plan := Decide(w.Input, nil)
			steps := resizes(plan)
			if len(steps) == 0 {
				return
			}
			if number > passes {
				t.Fatalf("pass %d still has the steps %+v", number, steps)
			}
			for _, step := range steps {
				limit := w.Pods[step.Pod].Limit
				if step.Remedy == LowerCPULimit && (step.Limit < limit.Least || step.Limit >= limit.Now) || step.Remedy == RestoreCPULimit && step.Limit != limit.Before {
					t.Fatalf("step %+v of a pod with %+v", step, *limit)
				}
			}
			w.resize(plan)
			for _, step := range steps {
				if used := w.Nodes[step.Node].Usage[0]; step.Remedy == RestoreCPULimit && used > 70+1e-6 {
					t.Fatalf("node %d is at %v after a limit was given back", step.Node, used)
				}
			}
		}
	})
}
