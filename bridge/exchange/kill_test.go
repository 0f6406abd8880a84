package exchange

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"koordinator.sh/koord/bridge/engine"
	"koordinator.sh/koord/decision/noderesource/thirdparty"
)

// killer is an engine that only notes what it is to end.
type killer struct {
	engine.Engine
	killed []engine.Amount
}

func (*killer) Name() string    { return "slurm" }
func (*killer) Cluster() string { return "__default__" }

func (k *killer) Kill(_ context.Context, _ string, over engine.Amount) ([]string, error) {
	k.killed = append(k.killed, over)
	return []string{"job 1"}, nil
}

// TestWorkIsEndedAfterTheDeadline, which begins again whenever the work fits, and after some was ended.
func TestWorkIsEndedAfterTheDeadline(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	over := thirdparty.Verdict{Reason: thirdparty.Exhausted, Capacity: engine.Amount{MilliCPU: 1000}}
	fits := thirdparty.Verdict{Reason: thirdparty.Share, Capacity: engine.Amount{MilliCPU: 4000}}
	excess := engine.Amount{MilliCPU: 3000}
	steps := []struct {
		after   time.Duration
		verdict thirdparty.Verdict
		want    []engine.Amount
	}{
		{after: 0, verdict: over},
		{after: 29 * time.Second, verdict: over},
		{after: 29500 * time.Millisecond, verdict: fits},
		{after: 30 * time.Second, verdict: over},
		{after: 59 * time.Second, verdict: over},
		{after: 60 * time.Second, verdict: over, want: []engine.Amount{excess}},
		{after: 61 * time.Second, verdict: over, want: []engine.Amount{excess}},
		{after: 90 * time.Second, verdict: over, want: []engine.Amount{excess, excess}},
	}
	k := &killer{}
	x := &Exchange{engine: k, settings: Settings{Deadline: 30 * time.Second}, recorder: events.NewFakeRecorder(10)}
	s := &shared{Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, kept: &remembered{}, key: "n1"}
	s.own.Allocated = engine.Amount{MilliCPU: 4000}
	for _, step := range steps {
		r := &round{Exchange: x, now: began.Add(step.after)}
		r.overdue(s, step.verdict)
		if err := r.kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, k.killed); diff != "" {
			t.Errorf("after %v, what was ended (-want +got):\n%s", step.after, diff)
		}
	}
}
