package proposal

import (
	"context"
	"maps"
	"slices"
	"time"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/config/configplan"
	decision "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/source"
)

// Plan is what a change would do, with what was noticed on the way.
type Plan struct {
	Change Change
	*configplan.Plan
	// Found is what was noticed about the new configuration.
	Found []decision.Finding
	// Unknown are the inputs that could not be read, and Missing says what follows from that.
	Unknown unknown.Inputs
	Missing []string
}

// Of reads what a change has an effect on and computes what it would do.
func Of(ctx context.Context, configurator source.Configurator, c Change, now time.Time) (*Plan, error) {
	impact, err := configurator.Impact(ctx)
	if err != nil {
		return nil, err
	}
	before := InForceNow(c.Current)
	in := configplan.Input{
		Old: before, New: InForce(c.Data, before.Data()), Nodes: impact.Nodes, Pods: impact.Pods, Metrics: impact.Metrics,
		Quotas: impact.Quotas, QuotaArgs: c.Current.ElasticQuota, Features: c.Current.Features, Unknown: unknown.Inputs{}, Now: now,
	}
	maps.Copy(in.Unknown, c.Current.Unknown)
	maps.Copy(in.Unknown, impact.Unknown)
	if impact.KnowsSLOs {
		// None at all is known too, and then every node lacks its own.
		in.SLOs = append([]slov1alpha1.NodeSLO{}, impact.SLOs...)
	}
	if c.Data[configuration.CPUNormalizationConfigKey] != c.Current.Data[configuration.CPUNormalizationConfigKey] {
		cpus, err := configurator.CPUs(ctx)
		if err != nil {
			impact.Incomplete = append(impact.Incomplete, "the CPUs of the nodes are unknown, and so is the effect of normalization: "+err.Error())
			in.Unknown[unknown.Topologies] = unread(err)
		}
		in.CPUs = cpus
	}
	plan := configplan.Of(in)
	return &Plan{
		Change: c, Plan: plan, Unknown: in.Unknown, Found: append(c.Current.Judge(c.Data, impact.Nodes), plan.Findings()...),
		Missing: slices.Concat(impact.Incomplete, c.Current.Incomplete, plan.Incomplete),
	}, nil
}

// unread is the cause of an input that could not be read.
func unread(err error) unknown.Cause {
	cause := unknown.Cause{Reason: diagnosticsv1alpha1.UnknownFailed, Message: err.Error()}
	if coded, ok := finding.From(err); ok && coded.Code == finding.Forbidden {
		cause.Reason = diagnosticsv1alpha1.UnknownForbidden
	}
	return cause
}
