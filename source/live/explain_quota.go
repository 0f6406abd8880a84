package live

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/scheduling/quotaview"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.QuotaExplainer = (*Source)(nil)

// notDivided is the consequence of an input of the division that cannot be read.
const notDivided = "how the runtime is computed is unknown"

// ExplainQuota asks koord-scheduler. Where it does not answer, ExplainQuota reads the ElasticQuotas, pods, nodes and the scheduler's
// configuration at the same time, and divides as koord-scheduler does.
func (s *Source) ExplainQuota(ctx context.Context, namespace, name string, limit int) (*diagnosticsv1alpha1.QuotaExplanation, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	if answer := c.quotaExplanation(ctx, namespace, name, limit); answer != nil {
		return answer, nil
	}
	in := quotaview.Input{Limit: limit}
	missing, err := s.readQuotaInput(ctx, c, namespace, &in, podListDrop)
	if err != nil {
		return nil, err
	}
	quotas := objects.Quotas(in.Objects)
	at := slices.IndexFunc(quotas, func(q source.Quota) bool { return q.Namespace == namespace && q.Name == name })
	if at < 0 {
		return nil, c.missingQuota(ctx, namespace, name)
	}
	in.Quota = &quotas[at]
	answer := quotaview.Explain(in)
	answer.TypeMeta, answer.Incomplete = kind("QuotaExplanation"), missing
	return answer, nil
}

// quotaExplanation asks the diagnostics API for an explanation that names up to limit pods. It is nil where the answer is not what the objects say,
// for whatever reason: a component does not run or is of an earlier version, the user may not ask, the quota does not exist, or more pods are
// wanted than it names.
func (c *clients) quotaExplanation(ctx context.Context, namespace, name string, limit int) *diagnosticsv1alpha1.QuotaExplanation {
	if limit > diagnosticsv1alpha1.MaxQuotaPods || name == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	answer := &diagnosticsv1alpha1.QuotaExplanation{}
	err := c.diagnostics.Get().Namespace(namespace).Resource("quotaexplanations").Name(name).MaxRetries(0).Do(ctx).Into(answer)
	if err != nil || answer.Name != name || answer.Namespace != namespace || answer.State == "" {
		return nil
	}
	answer.TypeMeta = kind("QuotaExplanation")
	if more := len(answer.Pods) - limit; more > 0 {
		answer.Pods, answer.PodsOmitted = answer.Pods[:limit], answer.PodsOmitted+int32(more)
	}
	if more := len(answer.Refused) - limit; more > 0 {
		answer.Refused, answer.RefusedOmitted = answer.Refused[:limit], answer.RefusedOmitted+int32(more)
	}
	return answer
}

// readQuotaInput reads what an explanation of a quota needs, of pods without what is dropped, and returns what it lacks.
func (s *Source) readQuotaInput(ctx context.Context, c *clients, namespace string, in *quotaview.Input, drop dropped) ([]string, error) {
	var divisionGaps, otherGaps gaps
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		var denied []string
		in.Objects, denied, err = c.allQuotas(groupContext, namespace, notDivided)
		for _, line := range denied {
			divisionGaps.add(line)
		}
		return err
	})
	group.Go(func() (err error) {
		// Conditions say whether a resize in place is infeasible, and so what a pod requests.
		in.Pods, err = c.pods(groupContext, selection{}, drop)
		return divisionGaps.lacks(err, notDivided+", and so is who uses the quota")
	})
	group.Go(func() (err error) {
		in.Nodes, err = c.nodes(groupContext, selection{})
		return divisionGaps.lacks(err, notDivided)
	})
	group.Go(func() error {
		settings, err := s.schedulerSettings(groupContext, c)
		in.Args = settings.Quotas
		return otherGaps.note(err, unknown.SchedulerConfiguration, "the default arguments of plugin ElasticQuota are assumed")
	})
	err := group.Wait()
	in.Unseen = len(divisionGaps.all()) > 0
	return slices.Concat(divisionGaps.all(), otherGaps.all()), err
}
