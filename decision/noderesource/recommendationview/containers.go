package recommendationview

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/core/podresize"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

// containers by name: what is published of each, what its pods request, and how the figures came about.
func containers(in Input, pods []*corev1.Pod, learned recommend.Learned) []diagnosticsv1alpha1.ContainerRecommendation {
	r := in.Recommendation
	published := map[string]*analysisv1alpha1.RecommendedContainerStatus{}
	if r.Status.PodStatus != nil {
		for i := range r.Status.PodStatus.ContainerStatuses {
			published[r.Status.PodStatus.ContainerStatuses[i].ContainerName] = &r.Status.PodStatus.ContainerStatuses[i]
		}
	}
	running := map[string][]*corev1.Container{}
	for _, pod := range pods {
		for _, c := range podresize.Containers(pod) {
			running[c.Name] = append(running[c.Name], c)
		}
	}
	names := maps.Clone(running)
	for name := range published {
		names[name] = running[name]
	}
	var out []diagnosticsv1alpha1.ContainerRecommendation
	perPod := recommend.PerPod(pods)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		each := container(name, published[name], running[name])
		if known := learned.Containers[name]; known != nil && known.Known() {
			derive(&each, in, known, perPod)
		}
		out = append(out, each)
	}
	return out
}

// container as it is published, and as its pods request it.
func container(name string, published *analysisv1alpha1.RecommendedContainerStatus, running []*corev1.Container) diagnosticsv1alpha1.ContainerRecommendation {
	names := recommend.Names{CPU: corev1.ResourceCPU, Memory: corev1.ResourceMemory}
	switch {
	case len(running) > 0:
		names = recommend.NamesOf(running[0])
	case published != nil:
		names = recommend.NamesOf(&corev1.Container{Resources: corev1.ResourceRequirements{Requests: published.Resources}})
	}
	out := diagnosticsv1alpha1.ContainerRecommendation{Name: name, Tier: tier(names)}
	if published != nil {
		// The API server keeps what the recommender recommended; a container without lower and upper bound is one of a definition
		// that drops them.
		fill(&out.CPU, published, names.CPU)
		fill(&out.Memory, published, names.Memory)
	}
	for _, c := range running {
		cpu, memory := recommend.Requests(c)
		count(&out.CPU, cpu)
		count(&out.Memory, memory)
	}
	return out
}

// derive says how the figures came about, for pods of so many containers.
func derive(out *diagnosticsv1alpha1.ContainerRecommendation, in Input, learned *recommend.Container, perPod int) {
	trace := &recommend.Trace{}
	learned.Recommend(in.Options, perPod, in.Now, trace)
	out.CPU.Terms = terms(trace.CPU, in.Options.CPU, 1000, diagnosticsv1alpha1.MilliCPU, runsNote(learned.Job, "mean CPU", in.Options.CPU))
	out.Memory.Terms = terms(trace.Memory, in.Options.Memory, 1, diagnosticsv1alpha1.Bytes, runsNote(learned.Job, "peak memory", in.Options.Memory))
	seconds := int64(learned.Observed() * (24 * time.Hour).Seconds())
	out.ConfidenceSeconds = &seconds
	if learned.Job != nil {
		out.Runs = new(learned.Job.Runs)
	}
	out.FirstSampleAt, out.LastSampleAt, out.LastOOMAt = moment(learned.First), moment(learned.Last), moment(learned.OOM)
}

func tier(names recommend.Names) string {
	switch names.CPU {
	case extension.BatchCPU:
		return "batch"
	case extension.MidCPU:
		return "mid"
	}
	return "plain"
}

// fill in what is published.
func fill(out *diagnosticsv1alpha1.ResourceRecommendation, published *analysisv1alpha1.RecommendedContainerStatus, name corev1.ResourceName) {
	amount := func(list corev1.ResourceList) *int64 {
		quantity, ok := list[name]
		switch {
		case !ok:
			return nil
		case name == corev1.ResourceCPU:
			return new(quantity.MilliValue())
		}
		return new(quantity.Value())
	}
	out.Lower, out.Target, out.Upper = amount(published.LowerBound), amount(published.Resources), amount(published.UpperBound)
}

// count the request of one pod, and what the target saves of it.
func count(out *diagnosticsv1alpha1.ResourceRecommendation, request *int64) {
	if request == nil {
		return
	}
	if out.Requested == nil {
		out.Requested, out.RequestedLeast = new(*request), new(*request)
	}
	*out.Requested, *out.RequestedLeast = max(*out.Requested, *request), min(*out.RequestedLeast, *request)
	if out.Target == nil {
		return
	}
	if out.Savings == nil {
		out.Savings = new(int64(0))
	}
	*out.Savings = add(*out.Savings, *request-*out.Target)
}

// add stops at the largest amounts.
func add(a, b int64) int64 {
	switch sum := a + b; {
	case b > 0 && sum < a:
		return math.MaxInt64
	case b < 0 && sum > a:
		return math.MinInt64
	default:
		return sum
	}
}

// runsNote says what a prediction for a job is.
func runsNote(job *recommend.Job, what string, rule recommend.Rule) string {
	if job == nil {
		return ""
	}
	return fmt.Sprintf("the %gth percentile of the %s of a run, predicted from %s of the same %s", rule.Target*100, what, phrase.Counted(int(job.Runs), "run"), job.Basis)
}

// terms of a trace, scaled to whole numbers of a unit; percents have another. The note is that of a prediction from former runs.
func terms(trace []recommend.Term, rule recommend.Rule, scale float64, unit diagnosticsv1alpha1.Unit, note string) []diagnosticsv1alpha1.Term {
	out := make([]diagnosticsv1alpha1.Term, 0, len(trace))
	for _, term := range trace {
		each := diagnosticsv1alpha1.Term{Value: whole(term.Value * scale), Unit: unit, Operator: diagnosticsv1alpha1.Max}
		switch term.Name {
		case recommend.TermPercentile:
			each.Name, each.Operator, each.Note = "percentile", diagnosticsv1alpha1.Start, fmt.Sprintf("the %gth percentile of what was used", rule.Target*100)
		case recommend.TermRuns:
			each.Name, each.Operator, each.Note = "formerRuns", diagnosticsv1alpha1.Start, note
		case recommend.TermMargin:
			each.Name, each.Operator, each.Unit, each.Value = "margin", diagnosticsv1alpha1.Times, diagnosticsv1alpha1.Percent, whole(100+term.Value)
		case recommend.TermMinimum:
			each.Name, each.Note = "minimum", "the least that its part of a pod gets"
		case recommend.TermOutOfMemory:
			each.Name, each.Note = "outOfMemory", "because it ran out of memory"
		}
		out = append(out, each)
	}
	return out
}

func whole(value float64) int64 {
	if value >= math.MaxInt64/2 {
		return math.MaxInt64 / 2
	}
	return int64(math.Round(value))
}

func moment(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	return &metav1.Time{Time: at}
}
