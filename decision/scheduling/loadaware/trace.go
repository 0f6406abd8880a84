package loadaware

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
)

// maxParts bounds the assigned pods that a trace lists.
const maxParts = 10

// Trace records the operands of one Filter call. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	// Comparisons in the order they were made.
	Comparisons []Comparison
	input       Input
	profile     Profile
	// limited is false when no threshold applies.
	limited bool
}

// Comparison is one usage held against one threshold. Amounts are in milliCPU or the resource's own unit.
type Comparison struct {
	Resource corev1.ResourceName
	// Capacity is the node's raw allocatable.
	Capacity int64
	// Used is reported by the NodeMetric.
	Used int64
	// Assigned is what pods on the node will use beyond what is reported of them.
	Assigned int64
	// Pod is the estimate of the pod in question.
	Pod int64
	// Percent is (Used+Assigned+Pod)/Capacity.
	Percent int64
	// Threshold that Percent must not exceed.
	Threshold int64
	index     int
}

// UsedPercent is the reported usage in percent of capacity.
func (c Comparison) UsedPercent() int64 { return percent(c.Used, c.Capacity) }

// AssignedPercent is what assigned pods add; with UsedPercent it makes the rounded sum of both.
func (c Comparison) AssignedPercent() int64 {
	return percent(c.Used+c.Assigned, c.Capacity) - c.UsedPercent()
}

// PodPercent is what the pod adds; with the other two it makes Percent.
func (c Comparison) PodPercent() int64 {
	return c.Percent - percent(c.Used+c.Assigned, c.Capacity)
}

func (t *Trace) begin(in *Input, profile Profile, limited bool) {
	if t != nil {
		t.Comparisons, t.input, t.profile, t.limited = t.Comparisons[:0], *in, profile, limited
	}
}

func (t *Trace) compared(in *Input, profile Profile, i int, limit int64) {
	base, pending := in.Node.usage(profile)
	t.Comparisons = append(t.Comparisons, Comparison{
		Resource: in.Policy.resources[i], Capacity: in.Node.capacity[i], Threshold: limit, index: i,
		Used: base[i], Assigned: pending[i], Pod: in.Pod.Usage[i],
		Percent: percent(base[i]+pending[i]+in.Pod.Usage[i], in.Node.capacity[i]),
	})
}

// Message says the verdict with its numbers: "cpu usage 78 % + this pod 6 % > threshold 65 %".
func (t *Trace) Message(verdict Verdict) string {
	if verdict.Passed() {
		return t.passedBecause()
	}
	if verdict.Resource == "" {
		return expiredMessage(&t.input.Node.metric, t.input.Policy.expiration, t.input.Now)
	}
	for _, c := range t.Comparisons {
		if c.Resource == verdict.Resource {
			return t.sentence(c, ">")
		}
	}
	return verdict.Reason()
}

// passedBecause says why a node was let pass.
func (t *Trace) passedBecause() string {
	metric := &t.input.Node.metric
	switch {
	case t.input.Pod.DaemonSet:
		return "DaemonSet pods pass on every node"
	case !t.limited:
		return "no threshold applies"
	case len(t.Comparisons) > 0:
		sentences := make([]string, len(t.Comparisons))
		for i, c := range t.Comparisons {
			sentences[i] = t.sentence(c, "<=")
		}
		return strings.Join(sentences, ", ")
	}
	if problem := metric.unknownBecause(t.input.Now); problem != "" {
		return problem + ", so the node passes"
	}
	if metric.stateAt(t.input.Now, t.input.Policy.expiration) == expired {
		return expiredMessage(metric, t.input.Policy.expiration, t.input.Now) + ", and such nodes pass by configuration"
	}
	return "the node has none of the resources that have a threshold"
}

func (t *Trace) sentence(c Comparison, relation string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s usage %d%%", t.prefix(), c.Resource, c.UsedPercent())
	if share := c.AssignedPercent(); share != 0 {
		fmt.Fprintf(&b, " + just assigned %d%%", share)
	}
	if c.Pod > 0 {
		fmt.Fprintf(&b, " + this pod %d%%", c.PodPercent())
	}
	fmt.Fprintf(&b, " %s threshold %d%%", relation, c.Threshold)
	return b.String()
}

// prefix says in front of the resource which usage is meant.
func (t *Trace) prefix() string {
	switch found := t.input.Node.metric.window; {
	case t.profile == Prod:
		return "prod "
	case t.profile == Aggregated && found.aggregation != "":
		return fmt.Sprintf("%s (%s) ", found.aggregation, found.duration)
	}
	return ""
}

// Operands of the verdict: those of the resource that decided first, percent before amounts.
func (t *Trace) Operands(verdict Verdict) []diagnosticsv1alpha1.Term {
	metric := &t.input.Node.metric
	if !verdict.Passed() && verdict.Resource == "" {
		return ageOperands(metric, t.input.Policy.expiration, t.input.Now)
	}
	ordered := slices.Clone(t.Comparisons)
	slices.SortStableFunc(ordered, func(a, b Comparison) int {
		return rank(a, verdict) - rank(b, verdict)
	})
	var terms []diagnosticsv1alpha1.Term
	for _, c := range ordered {
		terms = append(terms, t.operandsOf(c)...)
	}
	return terms
}

func rank(c Comparison, verdict Verdict) int {
	if c.Resource == verdict.Resource {
		return 0
	}
	return 1
}

func (t *Trace) operandsOf(c Comparison) []diagnosticsv1alpha1.Term {
	key, unit := termName(c.Resource), unitOf(c.Resource)
	metric := &t.input.Node.metric
	source, at := metricSource(metric, usageField(metric, t.profile)), metric.observedAt()
	node := &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: t.input.Node.name, Field: "status.allocatable"}
	info := diagnosticsv1alpha1.Info
	parts, omitted := t.parts(c)
	return []diagnosticsv1alpha1.Term{
		{Name: key + "Usage", Operator: info, Value: c.UsedPercent(), Unit: diagnosticsv1alpha1.Percent, Source: source, ObservedAt: at, Note: "of raw allocatable"},
		{Name: key + "Assigned", Operator: info, Value: c.AssignedPercent(), Unit: diagnosticsv1alpha1.Percent, Note: "estimate of pods not fully reported yet"},
		{Name: key + "ThisPod", Operator: info, Value: c.PodPercent(), Unit: diagnosticsv1alpha1.Percent, Note: "estimate"},
		{Name: key + "Total", Operator: info, Value: c.Percent, Unit: diagnosticsv1alpha1.Percent},
		{Name: key + "Threshold", Operator: info, Value: c.Threshold, Unit: diagnosticsv1alpha1.Percent, Source: t.thresholdSource()},
		{Name: key + "Used", Operator: info, Value: c.Used, Unit: unit, Source: source, ObservedAt: at},
		{Name: key + "AssignedEstimate", Operator: info, Value: c.Assigned, Unit: unit, Parts: parts, PartsOmitted: omitted},
		{Name: key + "PodEstimate", Operator: info, Value: c.Pod, Unit: unit},
		{Name: key + "Capacity", Operator: info, Value: c.Capacity, Unit: unit, Source: node, Note: "raw allocatable"},
	}
}

// parts lists the assigned pods that count by their estimate, largest first.
func (t *Trace) parts(c Comparison) ([]diagnosticsv1alpha1.Term, int32) {
	var parts []diagnosticsv1alpha1.Term
	for i := range t.input.Node.pending {
		pod := &t.input.Node.pending[i]
		beyond := pod.beyond
		if t.profile == Prod {
			beyond = pod.beyondProd
		}
		if beyond == nil || beyond[c.index] == 0 {
			continue
		}
		parts = append(parts, diagnosticsv1alpha1.Term{
			Name: pod.namespace + "/" + pod.name, Operator: diagnosticsv1alpha1.Plus, Value: beyond[c.index], Unit: unitOf(c.Resource),
			Source: &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: pod.namespace, Name: pod.name},
		})
	}
	slices.SortStableFunc(parts, func(a, b diagnosticsv1alpha1.Term) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), strings.Compare(a.Name, b.Name))
	})
	if len(parts) > maxParts {
		return parts[:maxParts], int32(len(parts) - maxParts)
	}
	return parts, 0
}

func (t *Trace) thresholdSource() *diagnosticsv1alpha1.SourceRef {
	if t.input.Node.thresholds.fromNode {
		return &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: t.input.Node.name, Field: "metadata.annotations"}
	}
	field := map[Profile]string{Plain: "usageThresholds", Prod: "prodUsageThresholds", Aggregated: "aggregated.usageThresholds"}[t.profile]
	return &diagnosticsv1alpha1.SourceRef{Kind: Kind, Field: field}
}

func usageField(m *metric, profile Profile) string {
	switch {
	case profile == Prod:
		return "status.podsMetric"
	case profile == Aggregated && m.window.aggregation != "":
		return "status.nodeMetric.aggregatedNodeUsages"
	}
	return "status.nodeMetric.nodeUsage"
}

func metricSource(m *metric, field string) *diagnosticsv1alpha1.SourceRef {
	return &diagnosticsv1alpha1.SourceRef{Kind: "NodeMetric", Name: m.name, Field: field}
}

func ageOperands(m *metric, expiration time.Duration, now time.Time) []diagnosticsv1alpha1.Term {
	limit := diagnosticsv1alpha1.Term{
		Name: "expiration", Operator: diagnosticsv1alpha1.Info, Value: int64(expiration.Seconds()), Unit: diagnosticsv1alpha1.Seconds,
		Source: &diagnosticsv1alpha1.SourceRef{Kind: Kind, Field: "nodeMetricExpirationSeconds"},
	}
	if m.updateTime.IsZero() {
		return []diagnosticsv1alpha1.Term{limit}
	}
	age := diagnosticsv1alpha1.Term{
		Name: "age", Operator: diagnosticsv1alpha1.Info, Value: freshness.Seconds(now, m.updateTime), Unit: diagnosticsv1alpha1.Seconds,
		Source: metricSource(m, "status.updateTime"), ObservedAt: m.observedAt(),
	}
	return []diagnosticsv1alpha1.Term{age, limit}
}

func expiredMessage(m *metric, expiration time.Duration, now time.Time) string {
	if m.updateTime.IsZero() {
		return "NodeMetric was never reported"
	}
	return fmt.Sprintf("NodeMetric is %s old, expired after %s", freshness.Distance(now, m.updateTime, time.Second), expiration)
}

// unknownBecause says why nothing is known of the load; empty when something is.
func (m *metric) unknownBecause(now time.Time) string {
	switch {
	case !m.object:
		return "no NodeMetric"
	case m.problem != "":
		return "NodeMetric is invalid: " + m.problem
	case m.updateTime.After(now.Add(clockSkew)):
		return fmt.Sprintf("NodeMetric is invalid: it was updated %s in the future", freshness.Distance(now, m.updateTime, time.Second))
	case !m.updateTime.IsZero() && m.latest == nil:
		return "NodeMetric reports no usage"
	}
	return ""
}

// termName makes a lowerCamelCase key of a resource name: cpu, memory, ephemeralStorage.
func termName(name corev1.ResourceName) string {
	words := strings.FieldsFunc(string(name), func(r rune) bool { return r == '-' || r == '/' || r == '.' })
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

func unitOf(name corev1.ResourceName) diagnosticsv1alpha1.Unit {
	switch name {
	case corev1.ResourceCPU:
		return diagnosticsv1alpha1.MilliCPU
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return diagnosticsv1alpha1.Bytes
	}
	if strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
		return diagnosticsv1alpha1.Bytes
	}
	return diagnosticsv1alpha1.Count
}
