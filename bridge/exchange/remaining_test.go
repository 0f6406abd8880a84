package exchange

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"koordinator.sh/koord/bridge/engine"
	"koordinator.sh/koord/decision/noderesource/thirdparty"
)

// TestWorkThatRemainsOnADrainedNodeIsReported, once, and once that it has ended. YARN shows a node that is being resized as empty for an
// instant, which is not the end.
func TestWorkThatRemainsOnADrainedNodeIsReported(t *testing.T) {
	some := engine.Amount{MilliCPU: 2000, Memory: 1 << 30}
	remains := "Warning EngineWorkRemains KOORD1607 The node takes no new work of slurm, and still runs some with 2 cores of batch-cpu and 1Gi of batch-memory"
	ended := "Normal EngineWorkEnded No work of slurm is left on the node"
	steps := []struct {
		name             string
		stopped          bool
		allocated, taken engine.Amount
		want             []string
	}{
		{name: "work runs", allocated: some, taken: some},
		{name: "the node is cordoned", stopped: true, allocated: some, taken: some, want: []string{remains}},
		{name: "nothing changes", stopped: true, allocated: some, taken: some},
		{name: "it seems to be empty", stopped: true, taken: some},
		{name: "the work has ended", stopped: true, want: []string{ended}},
		{name: "nothing runs any more", stopped: true},
		{name: "the node takes work again", allocated: some, taken: some},
		{name: "it is cordoned again", stopped: true, allocated: some, taken: some, want: []string{remains}},
		{name: "it takes work before all has ended", allocated: some, taken: some},
		{name: "all has ended", taken: engine.Amount{}},
	}
	recorder := events.NewFakeRecorder(10)
	x := &Exchange{engine: &killer{}, recorder: recorder}
	s := &shared{Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, kept: &remembered{}}
	for _, step := range steps {
		s.in.Stopped, s.own.Allocated = step.stopped, step.allocated
		x.reportRemaining(s, thirdparty.Verdict{Taken: step.taken})
		var got []string
		for len(recorder.Events) > 0 {
			got = append(got, <-recorder.Events)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s, events (-want +got):\n%s", step.name, diff)
		}
	}
}
