package live

import (
	"context"

	"golang.org/x/sync/errgroup"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/quotaadmission"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.QuotaLinter = (*Source)(nil)

// LintQuotas reads the ElasticQuotas and the nodes of the cluster, and holds the manifests against them.
func (s *Source) LintQuotas(ctx context.Context, quotas []schedulingsigsv1alpha1.ElasticQuota) (*diagnosticsv1alpha1.QuotaLintList, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	in := quotaadmission.LintInput{Objects: quotas, Whole: true}
	var (
		gaps  gaps
		nodes []corev1.Node
	)
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		in.Existing, err = c.elasticQuotas(groupContext, selection{})
		return err
	})
	group.Go(func() (err error) {
		nodes, err = c.nodes(groupContext, selection{})
		return gaps.lacks(err, "mins are not compared with what the nodes have")
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	in.Total = objects.TotalOf(nodes)
	return &diagnosticsv1alpha1.QuotaLintList{TypeMeta: kind("QuotaLintList"), Items: objects.LintQuotas(in), Incomplete: gaps.all()}, nil
}
