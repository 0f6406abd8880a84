package live

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
)

const (
	// batchNodes are asked about by one question; the diagnostics API takes no more.
	batchNodes = 200
	// batchesTogether are asked at the same time, and nodesTogether where each node is asked about on its own: the diagnostics API
	// answers twice as many of those at most.
	batchesTogether, nodesTogether = 2, 8
	// batchTimeout bounds the wait for the answer about a batch. The diagnostics API gives up after 34 s.
	batchTimeout = 30 * time.Second
)

var _ source.BatchExplainer = (*Source)(nil)

// ExplainNodes asks about many nodes together, and about each on its own where the diagnostics API does not answer that: koord-manager
// may be of an earlier version, or the user may get some nodes and not all.
func (s *Source) ExplainNodes(ctx context.Context, names []string, spec diagnosticsv1alpha1.NodeExplanationSpec) ([]diagnosticsv1alpha1.NodeExplanation, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	pages := slices.Collect(slices.Chunk(names, batchNodes))
	answers := make([][]diagnosticsv1alpha1.NodeExplanation, len(pages))
	var refused atomic.Bool
	group, groupContext := errgroup.WithContext(ctx)
	group.SetLimit(batchesTogether)
	for i, page := range pages {
		group.Go(func() error {
			var err error
			if !refused.Load() {
				if answers[i], err = c.explainBatch(groupContext, page, spec); err == nil {
					return nil
				}
				refused.Store(true)
			}
			answers[i], err = s.explainEach(groupContext, page, spec)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	all := make([]diagnosticsv1alpha1.NodeExplanation, 0, len(names))
	for _, page := range answers {
		all = append(all, page...)
	}
	return all, nil
}

// explainBatch asks the diagnostics API about nodes at once.
func (c *clients) explainBatch(ctx context.Context, names []string, spec diagnosticsv1alpha1.NodeExplanationSpec) ([]diagnosticsv1alpha1.NodeExplanation, error) {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	question := &diagnosticsv1alpha1.NodeExplanationBatch{Spec: diagnosticsv1alpha1.NodeExplanationBatchSpec{
		NodeNames: names, Resources: spec.Resources, MaxParts: spec.MaxParts, Agent: spec.Agent, Outlook: spec.Outlook,
	}}
	answer := &diagnosticsv1alpha1.NodeExplanationBatch{}
	if err := c.diagnostics.Post().Resource("nodeexplanationbatches").MaxRetries(0).Body(question).Do(ctx).Into(answer); err != nil {
		return nil, err
	}
	explained := make([]diagnosticsv1alpha1.NodeExplanation, len(answer.Status.Nodes))
	for i, status := range answer.Status.Nodes {
		about := spec
		about.NodeName = status.Node.Name
		explained[i] = diagnosticsv1alpha1.NodeExplanation{
			TypeMeta: kind("NodeExplanation"), ObjectMeta: metav1.ObjectMeta{Name: about.NodeName}, Spec: about, Status: status,
		}
	}
	return explained, nil
}

// explainEach asks about each node on its own.
func (s *Source) explainEach(ctx context.Context, names []string, spec diagnosticsv1alpha1.NodeExplanationSpec) ([]diagnosticsv1alpha1.NodeExplanation, error) {
	answers := make([]*diagnosticsv1alpha1.NodeExplanation, len(names))
	group, groupContext := errgroup.WithContext(ctx)
	group.SetLimit(nodesTogether / batchesTogether)
	for i, name := range names {
		group.Go(func() error {
			answer, err := s.ExplainNode(groupContext, name, *spec.DeepCopy())
			if coded, has := finding.From(err); has && coded.Code == finding.NotFound {
				return nil
			}
			answers[i] = answer
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var explained []diagnosticsv1alpha1.NodeExplanation
	for _, answer := range answers {
		if answer != nil {
			explained = append(explained, *answer)
		}
	}
	return explained, nil
}
