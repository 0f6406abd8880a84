package kubectlplugin

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source"
)

// restarting is a node whose agent answers with a page, is away, and answers as another instance. Then the cluster is.
type restarting struct {
	source.Source
	asked []diagnosticsv1alpha1.AuditQuestion
}

func (r *restarting) ExplainNode(_ context.Context, name string, spec diagnosticsv1alpha1.NodeExplanationSpec) (*diagnosticsv1alpha1.NodeExplanation, error) {
	r.asked = append(r.asked, *spec.Agent.Audit)
	page := func(instance, object string, number int64) *diagnosticsv1alpha1.AgentExplanation {
		return &diagnosticsv1alpha1.AgentExplanation{Instance: instance, Audit: &diagnosticsv1alpha1.AuditPage{
			Last: number, Entries: []diagnosticsv1alpha1.AuditEntry{{Number: number, Time: metav1.NewMicroTime(testNow), Object: object}},
		}}
	}
	agents := []*diagnosticsv1alpha1.AgentExplanation{page("one", "before", 7), {}, {}, page("two", "after", 1)}
	if len(r.asked) > len(agents) {
		return nil, errors.New("the cluster is gone")
	}
	answer := &diagnosticsv1alpha1.NodeExplanation{Spec: diagnosticsv1alpha1.NodeExplanationSpec{NodeName: name}}
	answer.Status.Agent = agents[len(r.asked)-1]
	return answer, nil
}

// hurrying is a clock without waiters.
type hurrying struct{ *clocktesting.FakeClock }

func (hurrying) After(time.Duration) <-chan time.Time {
	passed := make(chan time.Time, 1)
	passed <- testNow
	return passed
}

func TestTheLogOfAnAgentIsFollowedOverItsRestart(t *testing.T) {
	node := &restarting{}
	got := run(t, cluster(), "audit node worker-1 -f", func(o *Options) {
		o.Clock = hurrying{clocktesting.NewFakeClock(testNow)}
		o.Connect = func(clientcmd.ClientConfig, Connection) (source.Source, error) { return node, nil }
	})
	if !strings.Contains(got.stdout, "before") || !strings.Contains(got.stdout, "after") || strings.Count(got.stdout, "OBJECT") != 1 {
		t.Errorf("stdout:\n%s", got.stdout)
	}
	if strings.Count(got.stderr, "is not responding, waiting for it") != 1 || !strings.Contains(got.stderr, "the cluster is gone") {
		t.Errorf("stderr:\n%s", got.stderr)
	}
	if len(node.asked) != 5 || node.asked[1].Instance != "one" || *node.asked[3].After != 7 || node.asked[4].Instance != "two" || *node.asked[4].After != 1 {
		t.Errorf("asked %+v", node.asked)
	}
}

// simulated is a node without a log.
type simulated struct{ source.Source }

func (simulated) ExplainNode(context.Context, string, diagnosticsv1alpha1.NodeExplanationSpec) (*diagnosticsv1alpha1.NodeExplanation, error) {
	return &diagnosticsv1alpha1.NodeExplanation{Status: diagnosticsv1alpha1.NodeExplanationStatus{Agent: &diagnosticsv1alpha1.AgentExplanation{
		Component: "simulated-koordlet", Incomplete: []string{"what koordlet wrote on the node is unknown: the node is simulated, and has no kernel"},
	}}}, nil
}

func TestTheLogOfASimulatedNodeIsToBeHadElsewhere(t *testing.T) {
	got := run(t, cluster(), "audit node worker-1", func(o *Options) {
		o.Connect = func(clientcmd.ClientConfig, Connection) (source.Source, error) { return simulated{}, nil }
	})
	if got.code == 0 || !strings.Contains(got.stderr, "the node is simulated") || !strings.Contains(got.stderr, "koordctl sandbox up --real-node") {
		t.Errorf("exit code %d, stderr:\n%s", got.code, got.stderr)
	}
}

// moving is a node whose agent evicted a pod, with a job that failed to move another one and one of other nodes.
type moving struct{ source.Source }

func (moving) ExplainNode(_ context.Context, name string, _ diagnosticsv1alpha1.NodeExplanationSpec) (*diagnosticsv1alpha1.NodeExplanation, error) {
	answer := &diagnosticsv1alpha1.NodeExplanation{TypeMeta: metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: "NodeExplanation"}, Spec: diagnosticsv1alpha1.NodeExplanationSpec{NodeName: name}}
	answer.Status.Agent = &diagnosticsv1alpha1.AgentExplanation{Instance: "one", Audit: &diagnosticsv1alpha1.AuditPage{Last: 1, Entries: []diagnosticsv1alpha1.AuditEntry{
		{Number: 1, Time: metav1.NewMicroTime(testNow.Add(-5 * time.Minute)), Owner: "BEMemoryEvict", Object: "pod shop/batch", New: "evicted", Why: "memory"},
	}}}
	return answer, nil
}

func (moving) MigrationJobs(context.Context) ([]schedulingv1alpha1.PodMigrationJob, error) {
	job := func(name, from string) schedulingv1alpha1.PodMigrationJob {
		out := schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{
			Name: name, CreationTimestamp: metav1.NewTime(testNow.Add(-time.Hour)), Annotations: map[string]string{
				"descheduler.koordinator.sh/source-node": from, "descheduler.koordinator.sh/target-node": "worker-2", "descheduler.koordinator.sh/passed-arbitration": "true",
			},
		}}
		out.Spec.PodRef = &corev1.ObjectReference{Namespace: "shop", Name: "web-0"}
		out.Status = schedulingv1alpha1.PodMigrationJobStatus{
			Phase: schedulingv1alpha1.PodMigrationJobFailed, Reason: "Timeout", Message: "the job took longer than its ttl", Conditions: []schedulingv1alpha1.PodMigrationJobCondition{
				{Type: "ReservationCreated", Status: "True", LastTransitionTime: metav1.NewTime(testNow.Add(-10 * time.Minute))},
				{Type: "ReservationScheduled", Status: "False", LastTransitionTime: metav1.NewTime(testNow.Add(-time.Minute))},
			},
		}
		return out
	}
	return []schedulingv1alpha1.PodMigrationJob{job("web-0-1", "worker-1"), job("of-others", "worker-3")}, nil
}

func TestMigrationsStandBesideTheActionsOfTheAgent(t *testing.T) {
	tests := map[string]struct {
		flags string
		// want are the objects with what was done, in order.
		want []string
	}{
		"all, by time": {"", []string{
			"pod shop/web-0 Created", "pod shop/web-0 Arbitrated", "pod shop/web-0 ReservationCreated", "pod shop/batch evicted", "pod shop/web-0 Failed",
		}},
		"of one pod":     {" --pod shop/batch", []string{"pod shop/batch evicted"}},
		"lately":         {" --since 7m", []string{"pod shop/batch evicted", "pod shop/web-0 Failed"}},
		"both":           {" --since 7m --pod web-0", []string{"pod shop/web-0 Failed"}},
		"none is so new": {" --since 1s", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := run(t, cluster(), "audit node worker-1 -o json"+test.flags, func(o *Options) {
				o.Clock = clocktesting.NewFakeClock(testNow)
				o.Connect = func(clientcmd.ClientConfig, Connection) (source.Source, error) { return moving{}, nil }
			})
			var answer diagnosticsv1alpha1.NodeExplanation
			if err := json.Unmarshal([]byte(got.stdout), &answer); err != nil || got.code != 0 {
				t.Fatalf("exit code %d, %v\n%s%s", got.code, err, got.stdout, got.stderr)
			}
			var entries []string
			for _, entry := range answer.Status.Agent.Audit.Entries {
				entries = append(entries, entry.Object+" "+entry.New)
				if entry.New == "Failed" && (entry.Old != "worker-1" || entry.Why != "PodMigrationJob web-0-1 to node worker-2: the job took longer than its ttl") {
					t.Errorf("the failure is %+v", entry)
				}
			}
			if diff := cmp.Diff(test.want, entries); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnAuditSinceTheFutureIsRefused(t *testing.T) {
	if got := run(t, cluster(), "audit node worker-1 --since -1m"); got.code == 0 || !strings.Contains(got.stderr, "must not be negative") {
		t.Errorf("exit code %d, stderr:\n%s", got.code, got.stderr)
	}
}
