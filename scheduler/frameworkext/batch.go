package frameworkext

import (
	"bytes"
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// maxBatchAge bounds for how long the scores of one search are used, as in kube-scheduler's own batching.
const maxBatchAge = 500 * time.Millisecond

// batch places pods that are equal to the one before without a search. Of all nodes that were found for that one, only the
// one that it was given scores differently now: it is scored again, and the best of them all is the hint. kube-scheduler's own
// batching gives a hint only where the node is full after a single pod.
//
// What else changes on the nodes while a batch lasts is overlooked in their scores, as in kube-scheduler's, and seen by Filter,
// which the scheduler runs on every node it is hinted at. A batch is used on the scheduling goroutine only.
type batch struct {
	of      *Framework
	signers *signers
	// relative are the Score plugins whose scores depend on those of the other nodes.
	relative map[string]fwk.ScorePlugin
	now      func() time.Time
	// open is the cycle that runs.
	open batchCycle
	// kept is nil when the next pod has to be searched for.
	kept *found
}

// batchCycle is one pod's.
type batchCycle struct {
	number    int64
	state     fwk.CycleState
	pod       *corev1.Pod
	signature fwk.PodSignature
	// hint that the batch gave; empty for none.
	hint   string
	nodes  []fwk.NodeInfo
	scores []fwk.NodePluginScores
}

// newBatch returns nil when pods of the profile cannot be compared.
func newBatch(of *Framework, known map[string]fwk.Plugin) *batch {
	b := &batch{of: of, signers: signersOf(of.Framework, known), relative: map[string]fwk.ScorePlugin{}, now: time.Now}
	if b.signers == nil {
		return nil
	}
	for name, plugin := range known {
		if scores, ok := plugin.(fwk.ScorePlugin); ok && scores.ScoreExtensions() != nil {
			b.relative[name] = scores
		}
	}
	return b
}

// begin opens a cycle whose PreFilter plugins have run.
func (b *batch) begin(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, number int64) {
	b.open = batchCycle{number: number, state: state, pod: pod}
	if len(restoredIn(state)) == 0 {
		b.open.signature = b.signers.of(ctx, state, pod)
	}
}

// hint returns the best node for the pod of the open cycle by what was found for the pods before; empty when it has to be
// searched for.
func (b *batch) hint(ctx context.Context) string {
	began, answer := b.now(), "no_hint"
	defer func() {
		metrics.GetNodeHintDuration.WithLabelValues(answer, b.of.ProfileName()).Observe(b.now().Sub(began).Seconds())
	}()
	if b.kept != nil {
		if why := b.refresh(ctx); why != "" {
			metrics.BatchCacheFlushed.WithLabelValues(b.of.ProfileName(), why).Inc()
			b.kept = nil
		}
	}
	if b.kept == nil {
		metrics.BatchAttemptStats.WithLabelValues(b.of.ProfileName(), metrics.BatchAttemptNoHint).Inc()
		return ""
	}
	answer, b.open.hint = "hint", b.kept.best()
	if b.of.recorder != nil {
		b.of.recorder.Scored(b.open.pod, b.kept.scores)
	}
	return b.open.hint
}

// refresh brings what is kept up to date with the last pod placed. When it cannot serve the pod of the open cycle, it says why.
func (b *batch) refresh(ctx context.Context) string {
	switch {
	case b.open.number != b.kept.cycle+1:
		return metrics.BatchFlushPodSkipped
	case b.open.signature == nil:
		return metrics.BatchFlushPodNotBatchable
	case !bytes.Equal(b.open.signature, b.kept.signature):
		return metrics.BatchFlushPodIncompatible
	case b.now().Sub(b.kept.at) > maxBatchAge:
		return metrics.BatchFlushExpired
	case !b.rescore(ctx):
		return metrics.BatchFlushNodeMissing
	case len(b.kept.scores) == 0:
		return metrics.BatchFlushEmptyList
	}
	return ""
}

// scored notes what was found for the pod of the open cycle.
func (b *batch) scored(state fwk.CycleState, nodes []fwk.NodeInfo, scores []fwk.NodePluginScores) {
	if b.open.state == state {
		b.open.nodes, b.open.scores = nodes, scores
	}
}

// close keeps what the next pod can use after the open cycle has chosen a node.
func (b *batch) close(ctx context.Context, number int64, chosen string) {
	defer metrics.StoreScheduleResultsDuration.ObserveSince(b.now(), b.of.ProfileName())()
	cycle, kept := b.open, b.kept
	b.open, b.kept = batchCycle{}, nil
	switch {
	case cycle.number != number || cycle.state == nil:
		return
	case cycle.hint != "" && cycle.hint == chosen:
		metrics.BatchAttemptStats.WithLabelValues(b.of.ProfileName(), metrics.BatchAttemptHintUsed).Inc()
		kept.cycle = number
	case cycle.signature == nil || len(cycle.scores) < 2:
		return
	default:
		if cycle.hint != "" {
			metrics.BatchAttemptStats.WithLabelValues(b.of.ProfileName(), metrics.BatchAttemptHintNotUsed).Inc()
		}
		kept = &found{signature: cycle.signature, at: b.now(), cycle: number, nodes: cycle.nodes, scores: cycle.scores}
	}
	if b.choose(ctx, cycle, kept, chosen) {
		b.kept = kept
	}
}
