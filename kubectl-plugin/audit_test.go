package kubectlplugin

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
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
