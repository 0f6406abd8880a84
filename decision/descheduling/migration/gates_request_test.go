package migration

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// requested is a job whose EvictionRequest was created a time ago, as far as the steps of the controller go.
func requested(t *testing.T) cluster {
	t.Helper()
	c := requesting(refusedOnce(0))
	for range 3 { // the request is recorded, created, and found
		c = c.step(DefaultArgs(), whole)
	}
	if !holds(&c.Job.Status, schedulingv1alpha1.PodMigrationJobConditionEvictionRequest) {
		t.Fatalf("no EvictionRequest is recorded: %+v", c.Job.Status)
	}
	return c
}

func TestAnEvictionIsRequestedOrTheEvictionAPIIsUsed(t *testing.T) {
	const name = "koord-job"
	at := func(after time.Duration) time.Time { return created.Add(after) }
	fallback := func(why string) string { return "the eviction API is used: " + why }
	for _, test := range []struct {
		name   string
		change func(*cluster)
		after  time.Duration
		// what the next step records and does.
		wantPhase               schedulingv1alpha1.PodMigrationJobPhase
		wantReason, wantMessage string
		wantRequest             string
		wantAction              Action
		wantAt                  time.Time
	}{
		{
			name: "a request that no controller has observed yet", wantPhase: "Running", wantReason: "Evicting", wantRequest: "Requested",
			wantMessage: "waiting for a controller to observe EvictionRequest " + name, wantAt: at(5 * time.Second),
		},
		{
			name: "a request that a controller observed", change: func(c *cluster) { c.Request.Observed = true }, after: 10 * time.Minute,
			wantPhase: "Running", wantReason: "Evicting", wantRequest: "Requested",
			wantMessage: "waiting for a responder to evict the pod, as EvictionRequest koord-job requests", wantAt: at(10*time.Minute + 5*time.Second),
		},
		{
			name: "a request that no controller observes", after: time.Minute, wantPhase: "Running", wantReason: "Evicting", wantRequest: "Unavailable",
			wantMessage: fallback("no controller observed EvictionRequest koord-job within 1m0s"), wantAt: at(time.Minute),
		},
		{
			name: "no responder is left", change: func(c *cluster) { c.Request.Observed, c.Request.Failed = true, "NoFurtherResponder: all completed" },
			wantPhase: "Failed", wantReason: "FailedEvict", wantRequest: "Requested", wantAt: created,
			wantMessage: `EvictionRequest "koord-job" failed: NoFurtherResponder: all completed`,
		},
		{
			name: "a user withdrew the request", change: func(c *cluster) { c.Request.Withdrawn = true },
			wantPhase: "Failed", wantReason: "FailedEvict", wantRequest: "Requested", wantMessage: `EvictionRequest "koord-job" was withdrawn`, wantAt: created,
		},
		{
			name: "a user deleted the request", change: func(c *cluster) { c.Request = nil },
			wantPhase: "Failed", wantReason: "FailedEvict", wantRequest: "Requested", wantMessage: `EvictionRequest "koord-job" was deleted`, wantAt: created,
		},
		{
			name: "another requester has the name", change: func(c *cluster) { c.Request.Owned = false }, wantPhase: "Failed", wantReason: "FailedEvict",
			wantRequest: "Requested", wantMessage: `EvictionRequest "koord-job" exists and is for another pod or by another requester`, wantAt: created,
		},
		{
			name: "the API server was set back to a version without the API", change: func(c *cluster) { c.Refusal = EvictionRequestsNotServed },
			wantPhase: "Running", wantReason: "Evicting", wantRequest: "Unavailable", wantMessage: fallback(EvictionRequestsNotServed), wantAt: created,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := requested(t)
			if test.change != nil {
				test.change(&c)
			}
			in := c.input(DefaultArgs())
			in.Now = created.Add(test.after)
			got := Decide(in, nil)
			if got.Status.Phase != test.wantPhase || got.Status.Reason != test.wantReason || got.Status.Message != test.wantMessage {
				t.Errorf("%s, %s: %s; want %s, %s: %s", got.Status.Phase, got.Status.Reason, got.Status.Message, test.wantPhase, test.wantReason, test.wantMessage)
			}
			if reason := Condition(&got.Status, schedulingv1alpha1.PodMigrationJobConditionEvictionRequest).Reason; reason != test.wantRequest {
				t.Errorf("condition EvictionRequest has reason %s, want %s", reason, test.wantRequest)
			}
			if got.Action != test.wantAction || !got.RequeueAt.Equal(test.wantAt) {
				t.Errorf("action %+v, next step at %s, want %+v at %s", got.Action, got.RequeueAt, test.wantAction, test.wantAt)
			}
		})
	}
}

func TestWithoutTheAPIThePodIsEvictedByTheEvictionAPI(t *testing.T) {
	for name, change := range map[string]func(*cluster){
		EvictionRequestsNotServed: func(c *cluster) { c.Refusal = EvictionRequestsNotServed },
		"the pod belongs to a PodGroup, whose pods EvictionRequest does not support": func(c *cluster) { c.Pod.Grouped = true },
	} {
		t.Run(name, func(t *testing.T) {
			c := requesting(refusedOnce(0))
			change(&c)
			c = c.step(DefaultArgs(), whole)
			if got := Decide(c.input(DefaultArgs()), nil).Action; got != (Action{Kind: EvictPod, UID: podUID, Policy: Eviction}) {
				t.Fatalf("action %+v, want an eviction by the eviction API", got)
			}
			status := EvictionTried(c.Job, Attempt{Disrupted: true, Message: "violates the budget"}, c.now())
			want := "the eviction was refused, attempt 1: violates the budget; the eviction API is used: " + name
			if got := Condition(&status, schedulingv1alpha1.PodMigrationJobConditionEviction).Message; got != want {
				t.Errorf("condition Eviction says %q, want %q", got, want)
			}
		})
	}
}

func TestAnUnobservedRequestIsWithdrawnBeforeTheEviction(t *testing.T) {
	c := requested(t)
	c.Ticks = 1
	var got []Action
	for range 3 {
		got = append(got, Decide(c.input(DefaultArgs()), nil).Action)
		c = c.step(DefaultArgs(), whole)
	}
	want := []Action{{}, {Kind: WithdrawRequest, UID: "request"}, {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	in := c.input(DefaultArgs())
	in.Now = in.Now.Add(maxBackoff)
	if action := Decide(in, nil).Action; action != (Action{Kind: EvictPod, UID: podUID, Policy: Eviction}) {
		t.Errorf("action %+v after the withdrawal, want an eviction by the eviction API", action)
	}
}

func TestAJobThatEndsWithdrawsItsRequest(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*cluster)
		want   Action
	}{
		{name: "the pod is there", want: Action{Kind: WithdrawRequest, UID: "request"}},
		{name: "the request is withdrawn", change: func(c *cluster) { c.Request.Withdrawn = true }},
		{name: "the request is of another requester", change: func(c *cluster) { c.Request.Owned = false }},
		{name: "the pod terminates", change: func(c *cluster) { c.Pod.Terminating = true }},
		{name: "the pod is gone", change: func(c *cluster) { c.Pod = nil }},
		{name: "the job succeeded", change: func(c *cluster) { c.Job.Status.Phase = "Succeeded" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := requested(t)
			c.Job.Status.Phase, c.Reservation = "Aborted", nil
			if test.change != nil {
				test.change(&c)
			}
			verdict := Decide(c.input(DefaultArgs()), nil)
			if verdict.Action != test.want || verdict.RequeueAt.IsZero() != (test.want == Action{}) {
				t.Errorf("action %+v, next step at %s, want %+v", verdict.Action, verdict.RequeueAt, test.want)
			}
		})
	}
}

func TestAnEvictionRequestIsReadBack(t *testing.T) {
	c := requested(t)
	c.Job.Spec.PodRef = &corev1.ObjectReference{Namespace: "default", Name: "web", UID: podUID}
	object := NewEvictionRequest(c.Job)
	object.SetUID("request")
	want := &EvictionRequest{Name: "koord-job", UID: "request", Owned: true}
	if diff := cmp.Diff(want, EvictionRequestOf(object, c.Job)); diff != "" {
		t.Errorf("a new request (-want +got):\n%s", diff)
	}
	object.Object["spec"].(map[string]any)["intent"] = "Withdrawn"
	object.Object["status"] = map[string]any{"observedGeneration": int64(1), "conditions": []any{
		map[string]any{"type": "TargetEvicted", "status": "False", "reason": "EvictionFailed"},
		map[string]any{"type": "Failed", "status": "True", "reason": "CanceledDueToNoRequesters", "message": "no requester is left"},
	}}
	want.Withdrawn, want.Observed, want.Failed = true, true, "CanceledDueToNoRequesters: no requester is left"
	if diff := cmp.Diff(want, EvictionRequestOf(object, c.Job)); diff != "" {
		t.Errorf("a withdrawn request (-want +got):\n%s", diff)
	}
	object.Object = map[string]any{"spec": "?", "status": map[string]any{"conditions": []any{"?", nil}}}
	if got := EvictionRequestOf(object, c.Job); got.Owned || !got.Withdrawn {
		t.Errorf("an object of another form is read as %+v", got)
	}
}
