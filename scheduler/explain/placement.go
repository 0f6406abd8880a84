package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// place scores the nodes that pass, and ranks one of them; without a name, the best one.
func (s *simulation) place(ctx context.Context, e *evaluation, node string, limit int) (*diagnosticsv1alpha1.Placement, error) {
	feasible := e.feasible()
	if len(feasible) == 0 {
		return &diagnosticsv1alpha1.Placement{Node: node}, nil
	}
	if status := s.framework.RunPreScorePlugins(ctx, e.state, e.pod, feasible); !status.IsSuccess() {
		return nil, fmt.Errorf("prepare scores: %w", status.AsError())
	}
	scored, status := s.framework.RunScorePlugins(ctx, e.state, e.pod, feasible)
	if !status.IsSuccess() {
		return nil, fmt.Errorf("score %d nodes: %w", len(feasible), status.AsError())
	}
	slices.SortFunc(scored, func(a, b fwk.NodePluginScores) int {
		return cmp.Or(cmp.Compare(b.TotalScore, a.TotalScore), cmp.Compare(a.Name, b.Name))
	})
	if node == "" {
		node = scored[0].Name
	}
	placement := &diagnosticsv1alpha1.Placement{Node: node}
	for i := range scored {
		chosen := scored[i].Name == node
		if chosen {
			placement.Rank = 1 + int32(slices.IndexFunc(scored, func(other fwk.NodePluginScores) bool { return other.TotalScore == scored[i].TotalScore }))
		}
		if chosen || i < limit {
			placement.Scores = append(placement.Scores, s.publishScore(scored[i]))
		}
	}
	return placement, nil
}

func (s *simulation) publishScore(scored fwk.NodePluginScores) diagnosticsv1alpha1.NodeScore {
	published := diagnosticsv1alpha1.NodeScore{Node: scored.Name, Total: scored.TotalScore}
	for _, score := range scored.Scores {
		published.Plugins = append(published.Plugins, diagnosticsv1alpha1.PluginScore{Plugin: score.Name, Score: score.Score, Weight: s.weights[score.Name]})
	}
	slices.SortStableFunc(published.Plugins, func(a, b diagnosticsv1alpha1.PluginScore) int { return cmp.Compare(b.Score, a.Score) })
	return published
}
