package livecgroup

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/connection"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/oomreport"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/test/eventually"
	"koordinator.sh/koord/test/livecgroup/work"
)

// limit bounds the memory of a cgroup.
func (r *rig) limit(at string) { r.write(cgroup.MemoryLimit, at, fmt.Sprint(16<<20)) }

// overrun has a process of a cgroup take more memory than the limit.
func (r *rig) overrun(at string) *Process { return r.Start(at, work.Hold(64<<20)) }

// TestAnAgentRecordsWhatTheKernelKills as an event on the container, by default.
func TestAnAgentRecordsWhatTheKernelKills(t *testing.T) {
	r := newRig(t)
	c := newCluster(r, nil)
	at, started := r.path("service/main"), uint64(0)
	r.limit(at)
	agent := c.start()
	var recorded []eventsv1.Event
	eventually.True(t, "the agent records an event", func() bool {
		if r.killed(at) >= started { // what is killed before the agent listens is not reported
			r.overrun(at)
			started++
		}
		if err := c.List("events", &recorded); err != nil {
			t.Fatal(err)
		}
		return len(recorded) > 0
	})
	agent.stop()
	object := r.pods[0].Object
	got, want := recorded[0], eventsv1.Event{
		Type: corev1.EventTypeWarning, Reason: "OOMKilling", Action: "ReportOOMKill", ReportingController: "koordlet",
		Regarding: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: object.Namespace, Name: object.Name, UID: object.UID, FieldPath: "spec.containers{main}"},
		Note:      fmt.Sprintf(`Out of memory: kernel killed %s in container "main" (memory limit 128Mi)`, processesIn(recorded[0].Note)),
	}
	got = eventsv1.Event{Type: got.Type, Reason: got.Reason, Action: got.Action, ReportingController: got.ReportingController, Regarding: got.Regarding, Note: got.Note}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

// processesIn is how many processes a note says that the kernel killed: more than one when it did not get enough memory by the first.
func processesIn(note string) string {
	return regexp.MustCompile(`killed (1 process|[1-9][0-9]* processes) in`).FindStringSubmatch(note + "killed 1 process in")[1]
}

// TestKillsAreCountedOnce, in what koordlet_pod_oom_kills_total shows, with one event for all of them.
func TestKillsAreCountedOnce(t *testing.T) {
	r := newRig(t)
	c := newCluster(r, nil)
	clients, err := connection.New(c.Config(), "test", 1000)
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := state.New(clients, nodeName)
	if err != nil {
		t.Fatal(err)
	}
	recorder := events.NewFakeRecorder(100)
	reporter := oomreport.New(oomreport.Options{Tree: r.Tree, Layout: r.Layout(), Events: recorder, Clock: clock.RealClock{}})
	open := descriptors(t)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	group.Go(func() { cluster.Run(ctx) })
	group.Go(func() { reporter.Run(ctx, cluster) })
	eventually.True(t, "the kernel is watched", func() bool { return cluster.Known() && descriptors(t) > open+1 })
	at := r.path("service/main")
	r.limit(at)
	for n := int64(1); n <= 3; n++ {
		r.overrun(at)
		eventually.True(t, fmt.Sprintf("kill %d is counted as the kernel does", n), func() bool {
			got := reporter.Counts(service)
			return got["main"] >= n && cmp.Equal(got, map[string]int64{"main": int64(r.killed(at))})
		})
	}
	if len(recorder.Events) != 1 {
		t.Errorf("%d events within a minute, want 1", len(recorder.Events))
	}
}
