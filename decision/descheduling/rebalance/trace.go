package rebalance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// Trace records why pods move and others do not. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	// Moves in the order of the plan's migrations.
	Moves []MoveTrace `json:"moves,omitempty"`
	// Skipped are the pods that were considered and not moved, in the order of the input.
	Skipped []Skip `json:"skipped,omitempty"`
	// Resizes in the order of the plan.
	Resizes []ResizeTrace `json:"resizes,omitempty"`

	skips   map[int]Skip
	runner  []Runner
	refused map[string]int
}

// MoveTrace is one move with its numbers.
type MoveTrace struct {
	Pod  string `json:"pod"`
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	// Before and After are the potential, and Cost that of the move in restarts of an ordinary pod.
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	Cost   float64 `json:"cost"`
	// Required is by how much the potential had to fall.
	Required float64 `json:"required"`
	// Done is the share of the work of the pod's job that is done, in quarters from 0 to 0.75, and Loss says what is lost of it; both are
	// empty for a pod of which nothing was predicted.
	Done float64 `json:"done,omitempty"`
	Loss string  `json:"loss,omitempty"`
	// Source and Target are the load of the two nodes.
	Source Change `json:"source"`
	Target Change `json:"target"`
	// Runners are other targets, the best first.
	Runners []Runner `json:"runners,omitempty"`
}

// ResizeTrace is a CPU limit that is lowered or given back.
type ResizeTrace struct {
	Pod    string `json:"pod"`
	Node   string `json:"node"`
	Remedy Remedy `json:"remedy"`
	// From and To are the limits in cores, and Usage what the pod is predicted to use now.
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Usage float64 `json:"usage,omitempty"`
	// Before and After are the CPU load of the node as fractions of its capacity; 0 where it is unknown.
	Before float64 `json:"before,omitempty"`
	After  float64 `json:"after,omitempty"`
}

// Change is the load of a node as fractions of its capacity, in the order of resources, before and after a move.
type Change struct {
	Before []float64 `json:"before,omitempty"`
	After  []float64 `json:"after,omitempty"`
}

// Runner is a target that was compared and not taken.
type Runner struct {
	Node string `json:"node"`
	// Gain is by how much the potential would have fallen.
	Gain float64 `json:"gain"`
	// Why it was not taken.
	Why string `json:"why"`
}

// Skip is a pod that was considered and not moved.
type Skip struct {
	Pod    string `json:"pod"`
	Node   string `json:"node"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

func (t *Trace) begin(_ *pass) {
	if t != nil {
		*t = Trace{skips: map[int]Skip{}, refused: map[string]int{}}
	}
}

func (t *Trace) end(p *pass, plan *Plan) {
	if t == nil {
		return
	}
	for _, step := range plan.Steps {
		delete(t.skips, step.Pod)
	}
	for _, pod := range slices.Sorted(maps.Keys(t.skips)) {
		t.Skipped = append(t.Skipped, t.skips[pod])
	}
}

func (t *Trace) skipped(p *pass, pod int, reason Reason, detail string) {
	if t == nil {
		return
	}
	of := &p.in.Pods[pod]
	if detail == "" && reason == NotEvictable {
		detail = of.Protected
	}
	if detail == "" && reason == Frozen {
		detail = string(p.in.Workloads[of.Workload].Freeze)
	}
	if detail == "" && reason == EndsSoon {
		detail = of.left()
	}
	if detail == "" && reason == Looping {
		detail = p.memory.loopOf(p.in.Workloads[of.Workload].Key)
	}
	t.skips[pod] = Skip{Pod: of.Name, Node: p.in.Nodes[of.Node].Name, Reason: reason, Detail: detail}
}

// small records a pod whose best move gains less than it costs.
func (t *Trace) small(p *pass, c *candidate, best float64) {
	if t == nil {
		return
	}
	detail := fmt.Sprintf("the best move gains %.4g, and %.4g are required at a cost of %.3g", best, p.least(c.cost), c.cost)
	if loss := p.in.Pods[c.pod].Loss(); loss != "" {
		detail += "; " + loss
	}
	t.skipped(p, c.pod, GainBelowCost, detail)
}

// infeasible records a target that the scheduler refuses.
func (t *Trace) infeasible(p *pass, o option, reason string) {
	if t != nil {
		t.runner = append(t.runner, Runner{Node: p.in.Nodes[o.node].Name, Gain: o.gain, Why: cmp.Or(reason, "not feasible")})
		t.refused[cmp.Or(reason, "not feasible")]++
	}
}

// runners records the targets behind the one at a place.
func (t *Trace) runners(p *pass, _ *candidate, options []option, taken int) {
	if t == nil {
		return
	}
	const most = 5
	for _, o := range options[taken+1:] {
		if len(t.runner) >= most {
			break
		}
		t.runner = append(t.runner, Runner{Node: p.in.Nodes[o.node].Name, Gain: o.gain, Why: "gains less"})
	}
}

// refusals are the reasons of the targets that were asked for one pod, the most frequent first.
func (t *Trace) refusals() string {
	if t == nil || len(t.refused) == 0 {
		return ""
	}
	reasons := slices.SortedFunc(maps.Keys(t.refused), func(a, b string) int { return cmp.Or(t.refused[b]-t.refused[a], cmp.Compare(a, b)) })
	for i, reason := range reasons {
		reasons[i] = fmt.Sprintf("%d %s", t.refused[reason], reason)
	}
	clear(t.refused)
	t.runner = nil
	return strings.Join(reasons, ", ")
}

func (t *Trace) moved(p *pass, c *candidate, choice option, before float64) {
	if t == nil {
		return
	}
	source, target := slices.Clone(p.load.row(c.node)), slices.Clone(p.load.row(choice.node))
	t.Moves = append(t.Moves, MoveTrace{
		Pod: p.in.Pods[c.pod].Name, From: p.in.Nodes[c.node].Name, To: p.in.Nodes[choice.node].Name,
		Before: before, After: p.load.phi, Cost: c.cost, Required: p.least(c.cost), Done: float64(c.quarter) / 4, Loss: p.in.Pods[c.pod].Loss(),
		Source: Change{Before: plus(source, p.loses, 1), After: source}, Target: Change{Before: plus(target, p.gains, -1), After: target}, Runners: t.runner,
	})
	t.runner = nil
	clear(t.refused)
}

func (t *Trace) resized(p *pass, i int, remedy Remedy, to, before, after float64) {
	if t == nil {
		return
	}
	pod := &p.in.Pods[i]
	one := ResizeTrace{Pod: pod.Name, Node: p.in.Nodes[pod.Node].Name, Remedy: remedy, From: pod.Limit.Now, To: to, Before: before, After: after}
	if r := p.cpu(); r >= 0 && p.measured(pod) {
		one.Usage = pod.Usage[r]
	}
	t.Resizes = append(t.Resizes, one)
}

func plus(row, change []float64, sign float64) []float64 {
	out := make([]float64, len(row))
	for r := range row {
		out[r] = row[r] + sign*change[r]
	}
	return out
}

// Message says in one sentence what the pass does and why the rest stays.
func (t *Trace) Message(plan Plan) string {
	counts := map[Remedy]int{}
	for _, step := range plan.Steps {
		counts[step.Remedy]++
	}
	if len(plan.Steps) == 0 && len(t.Skipped) == 0 {
		return "no node is overutilized and the load is spread: nothing to do"
	}
	text := fmt.Sprintf("%d pods are moved", counts[Migrate])
	if counts[Migrate] == 1 {
		text = "1 pod is moved"
	}
	if n := counts[HoldBack]; n > 0 {
		text += fmt.Sprintf(", best-effort pods are held back on %d nodes", n)
	}
	if n := counts[LowerCPULimit]; n > 0 {
		text += ", " + limitsOfJobs(n) + " lowered"
	}
	if n := counts[RestoreCPULimit]; n > 0 {
		text += ", " + limitsOfJobs(n) + " given back"
	}
	if n := counts[DeletionCost]; n > 0 {
		text += fmt.Sprintf(", %d pods are marked for the scale-down", n)
	}
	if reasons := t.reasons(); reasons != "" {
		text += "; not moved: " + reasons
	}
	return text
}

func limitsOfJobs(n int) string {
	if n == 1 {
		return "1 CPU limit of jobs is"
	}
	return phrase.Counted(n, "CPU limit") + " of jobs are"
}

func (t *Trace) reasons() string {
	counts := map[Reason]int{}
	for _, skip := range t.Skipped {
		counts[skip.Reason]++
	}
	ordered := slices.SortedFunc(maps.Keys(counts), func(a, b Reason) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	texts := make([]string, len(ordered))
	for i, reason := range ordered {
		texts[i] = fmt.Sprintf("%d %s", counts[reason], reason)
	}
	return strings.Join(texts, ", ")
}

// Operands of the plan: the potential before and after, in millionths.
func (t *Trace) Operands(plan Plan) []diagnosticsv1alpha1.Term {
	const millionths = 1e6
	term := func(name string, value float64) diagnosticsv1alpha1.Term {
		return diagnosticsv1alpha1.Term{Name: name, Operator: diagnosticsv1alpha1.Info, Value: int64(value * millionths), Unit: diagnosticsv1alpha1.Count, Note: "millionths"}
	}
	return []diagnosticsv1alpha1.Term{term("potentialBefore", plan.Before), term("potentialAfter", plan.After)}
}
