package overcommit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
)

func (c *calculation) explainReserved(t *term, k kind) {
	if t == nil {
		return
	}
	t.Note = "the larger of kubelet and annotation reservation"
	t.Parts = c.reservedParts(k)
}

func (c *calculation) reservedParts(k kind) []term {
	parts := []term{{
		Name: "kubeletReserved", Operator: diagnosticsv1alpha1.Start, Value: k.of(c.kubeletReserved), Unit: k.unit(),
		Source: c.nodeSource("status.allocatable." + string(k.plain())), Note: "capacity - allocatable",
	}}
	if kept := k.of(c.annotationReserved); kept > 0 {
		parts = append(parts, term{
			Name: "annotationReserved", Operator: diagnosticsv1alpha1.Max, Value: kept, Unit: k.unit(),
			Source: c.nodeSource(annotationField(extension.AnnotationNodeReservation)),
		})
	}
	return parts
}

// explainSystem lists what system use is made of: measured, plus applications, but at least what is reserved.
func (c *calculation) explainSystem(t *term, k kind) {
	if t == nil {
		return
	}
	t.ObservedAt = c.metric.facts.UpdateTime
	t.Source = c.metricSource("status.nodeMetric.systemUsage.resources." + string(k.plain()))
	t.Parts = c.systemParts(k)
	if measured := t.Parts[0]; t.Value == k.of(c.reserved) && t.Value != measured.Value {
		t.Source, t.ObservedAt = t.Parts[len(t.Parts)-1].Source, nil
		t.Note = "reserved; the system uses less"
	}
}

func (c *calculation) systemParts(k kind) []term {
	measured := term{
		Name: "systemUsage", Operator: diagnosticsv1alpha1.Start, Value: k.of(c.metric.system), Unit: k.unit(),
		Source:     c.metricSource("status.nodeMetric.systemUsage.resources." + string(k.plain())),
		ObservedAt: c.metric.facts.UpdateTime,
	}
	if c.metric.systemDerived {
		measured.Source.Field = "status.nodeMetric.nodeUsage.resources." + string(k.plain())
		measured.Note = "not reported: node usage - pod usage"
	}
	parts := []term{measured}
	hostApplications(c.in.Metric, k.mid, func(app *slov1alpha1.HostApplicationMetricInfo, used podrequest.Amount) {
		parts = append(parts, term{
			Name: app.Name, Operator: diagnosticsv1alpha1.Plus, Value: k.of(used), Unit: k.unit(),
			Source:     c.metricSource("status.hostApplicationMetric[].usage.resources." + string(k.plain())),
			ObservedAt: c.metric.facts.UpdateTime, Note: "host application outside Kubernetes",
		})
	})
	for _, reserved := range c.reservedParts(k) {
		reserved.Operator = diagnosticsv1alpha1.Max
		parts = append(parts, reserved)
	}
	return parts
}

// explainPods lists the pods of a sum, largest first.
func (c *calculation) explainPods(t *term, k kind, policy string, pods []podPart, pick func(podPart) int64) {
	if t == nil {
		return
	}
	t.Note = map[string]string{
		string(configuration.CalculateByPodUsage):           "usage of pods above batch",
		string(configuration.CalculateByPodRequest):         "requests of pods above batch",
		string(configuration.CalculateByPodMaxUsageRequest): "the larger of request and usage of each pod",
	}[policy]
	if policy != string(configuration.CalculateByPodRequest) {
		t.ObservedAt = c.metric.facts.UpdateTime
		t.Source = c.metricSource("status.podsMetric[].podUsage.resources." + string(k.plain()))
	}
	parts := make([]term, 0, len(pods))
	for _, pod := range pods {
		if value := pick(pod); value != 0 {
			parts = append(parts, c.podTerm(k, pod, value, policy))
		}
	}
	t.Parts, t.PartsOmitted = largest(parts, c.trace.MaxParts)
}

func (c *calculation) podTerm(k kind, pod podPart, value int64, policy string) term {
	out := term{Operator: diagnosticsv1alpha1.Plus, Value: value, Unit: k.unit()}
	if pod.pod != nil {
		out.Name = pod.pod.Namespace + "/" + pod.pod.Name
		out.Source = &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: pod.pod.Namespace, Name: pod.pod.Name,
			Field: "spec.containers[].resources.requests." + string(k.plain())}
	} else {
		info := c.metric.pods[pod.reading].info
		out.Name = info.Namespace + "/" + info.Name
		out.Object = &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: info.Namespace, Name: info.Name}
		out.Note = "measured, but the pod no longer exists"
	}
	byRequest := policy == string(configuration.CalculateByPodRequest)
	switch {
	case !byRequest && pod.reading < 0:
		out.Note = "not measured: its request counts"
	case !byRequest && value == c.measuredOf(k, pod):
		if pod.pod != nil {
			out.Object = &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: pod.pod.Namespace, Name: pod.pod.Name}
		}
		out.Source = c.metricSource(fmt.Sprintf("status.podsMetric[%d].podUsage.resources.%s", pod.reading, k.plain()))
		out.ObservedAt = c.metric.facts.UpdateTime
	case pod.held && k.cpu && policy == string(configuration.CalculateByPodUsage):
		out.Note = "LSE: its request counts, because its CPUs are exclusive"
	}
	return out
}

func (c *calculation) measuredOf(k kind, pod podPart) int64 {
	if pod.reading < 0 {
		return 0
	}
	return k.of(c.metric.pods[pod.reading].used)
}

// largest keeps the largest parts and counts the rest.
func largest(parts []term, limit int) ([]term, int32) {
	slices.SortStableFunc(parts, func(a, b term) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), strings.Compare(a.Name, b.Name))
	})
	if omitted := len(parts) - max(limit, 0); omitted > 0 {
		return parts[:len(parts)-omitted], int32(min(omitted, 1<<30))
	}
	return parts, 0
}
