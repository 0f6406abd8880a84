package frameworkext

import (
	"context"
	"slices"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// found is what the search for one pod found, brought up to date with the pods that were placed by it.
type found struct {
	signature fwk.PodSignature
	// at is when the search was made.
	at time.Time
	// cycle is that of the last pod placed.
	cycle int64
	// nodes are the feasible ones, and scores theirs, in any order.
	nodes  []fwk.NodeInfo
	scores []fwk.NodePluginScores
	// chosen is the node of the last pod.
	chosen string
	// before are the scores of the chosen node that depend on those of the others, as the plugins gave them before the pod was
	// placed there.
	before map[string]int64
}

// best returns the node with the highest score.
func (f *found) best() string {
	best := 0
	for i := range f.scores {
		if f.scores[i].TotalScore > f.scores[best].TotalScore {
			best = i
		}
	}
	return f.scores[best].Name
}

// remove drops a node that has no room any more.
func (f *found) remove(name string) {
	f.nodes = slices.DeleteFunc(f.nodes, func(info fwk.NodeInfo) bool { return info.Node() == nil || info.Node().Name == name })
	f.scores = slices.DeleteFunc(f.scores, func(s fwk.NodePluginScores) bool { return s.Name == name })
}

// choose notes the node that the pod of a cycle is given, before the pod counts there. It is false when the scores of the other
// nodes may depend on that.
func (b *batch) choose(ctx context.Context, cycle batchCycle, kept *found, chosen string) bool {
	info, err := b.of.SnapshotSharedLister().NodeInfos().Get(chosen)
	if err != nil || len(kept.scores) == 0 {
		return false
	}
	kept.chosen, kept.before = chosen, map[string]int64{}
	for _, score := range kept.scores[0].Scores {
		if score.Name == names.PodTopologySpread {
			return false
		}
		if plugin := b.relative[score.Name]; plugin != nil {
			raw, status := plugin.Score(ctx, cycle.state, cycle.pod, info)
			if !status.IsSuccess() {
				return false
			}
			kept.before[score.Name] = raw
		}
	}
	return true
}

// rescore brings the score of the node up to date that took the last pod, or drops the node when it is full. It is false when it
// cannot: the node is gone, or the scores of all nodes change with its own.
func (b *batch) rescore(ctx context.Context) bool {
	cycle, kept := &b.open, b.kept
	info, err := b.of.SnapshotSharedLister().NodeInfos().Get(kept.chosen)
	if err != nil || info.Node() == nil {
		return false
	}
	fits := b.of.RunFilterPluginsWithNominatedPods(ctx, cycle.state, cycle.pod, info)
	if !fits.IsSuccess() && !fits.IsRejected() {
		return false
	}
	if !fits.IsSuccess() {
		kept.remove(kept.chosen)
	}
	if status := b.of.RunPreScorePlugins(ctx, cycle.state, cycle.pod, kept.nodes); !status.IsSuccess() || !fits.IsSuccess() {
		return status.IsSuccess()
	}
	scores, status := b.of.Framework.RunScorePlugins(ctx, cycle.state, cycle.pod, []fwk.NodeInfo{info})
	return status.IsSuccess() && len(scores) == 1 && b.replace(ctx, info, scores[0])
}

// replace puts a score in the place of the one that its node had. Scores that depend on those of the other nodes stay, as long as
// what they were made from is the same.
func (b *batch) replace(ctx context.Context, info fwk.NodeInfo, score fwk.NodePluginScores) bool {
	kept := b.kept
	at := slices.IndexFunc(kept.scores, func(s fwk.NodePluginScores) bool { return s.Name == score.Name })
	if at < 0 || len(kept.scores[at].Scores) != len(score.Scores) {
		return false
	}
	score.TotalScore = 0
	for i, before := range kept.scores[at].Scores {
		if score.Scores[i].Name != before.Name {
			return false
		}
		if plugin := b.relative[before.Name]; plugin != nil {
			raw, status := plugin.Score(ctx, b.open.state, b.open.pod, info)
			if !status.IsSuccess() || raw != kept.before[before.Name] {
				return false
			}
			score.Scores[i].Score = before.Score
		}
		score.TotalScore += score.Scores[i].Score
	}
	kept.scores[at] = score
	return true
}
