package overcommit

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/configmerge"
)

// findings are what a reader should know beside the numbers, worst first as they were noticed.
func (c *calculation) findings() []diagnosticsv1alpha1.Finding {
	var out []diagnosticsv1alpha1.Finding
	if code, ok := metricCodes[c.metric.facts.State]; ok {
		out = append(out, found(code, "Node "+c.in.Node.Name+": "+c.metricSentence()+".",
			"kubectl get nodemetric "+c.in.Node.Name+" -o yaml", c.metricSource("status")))
	}
	if c.unenforced != "" {
		problem := NotEnforcing(c.in.Node.Name, c.unenforced)
		problem.Object = c.metricSource("status.conditions")
		out = append(out, problem)
	}
	if c.disabled {
		out = append(out, found(finding.ColocationDisabled, "Co-location is disabled for node "+c.in.Node.Name+".",
			configmerge.EditHint, c.settingSource("enable")))
	}
	for _, problem := range c.in.Strategy.Problems {
		name := c.in.configMap()
		out = append(out, problem.Finding(name.Namespace, name.Name))
	}
	problems := c.capacity.Problems
	if c.unreadable != "" {
		problems = append([]string{c.unreadable}, problems...)
	}
	for _, problem := range problems {
		out = append(out, found(finding.ConfigMalformed, "Node "+c.in.Node.Name+": "+problem+".",
			"kubectl edit node "+c.in.Node.Name, c.nodeSource("metadata.annotations")))
	}
	out = append(out, c.ignoredAllocations()...)
	for _, excess := range Excesses(*c.in, Calculate(*c.in, nil)) {
		out = append(out, excess.Finding(c.in))
	}
	return out
}

// metricCodes are the findings of measurements that are not fresh.
var metricCodes = map[diagnosticsv1alpha1.MetricState]finding.Code{
	diagnosticsv1alpha1.MetricStale:   finding.MetricStale,
	diagnosticsv1alpha1.MetricExpired: finding.MetricExpired,
	diagnosticsv1alpha1.MetricAbsent:  finding.MetricAbsent,
	diagnosticsv1alpha1.MetricInvalid: finding.MetricInvalid,
}

func found(code finding.Code, message, hint string, object *diagnosticsv1alpha1.SourceRef) diagnosticsv1alpha1.Finding {
	return diagnosticsv1alpha1.Finding{Code: string(code), Severity: diagnosticsv1alpha1.Severity(code.Severity()), Message: message, Hint: hint, Object: object}
}
