package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// answer decodes a command's -o json answer and checks its type.
func answer[T any](t *testing.T, wantKind string, args ...string) T {
	t.Helper()
	result := koordctl(t, 0, append(args, "-o", "json")...)
	var typed metav1.TypeMeta
	if err := json.Unmarshal([]byte(result.Stdout), &typed); err != nil {
		t.Fatalf("koordctl %v: %v\n%s", args, err, result.Stdout)
	}
	if typed.APIVersion != diagnosticsv1alpha1.GroupVersion.String() || typed.Kind != wantKind {
		t.Errorf("koordctl %v answers %s %s, want %s %s", args, typed.APIVersion, typed.Kind, diagnosticsv1alpha1.GroupVersion, wantKind)
	}
	var value T
	if err := json.Unmarshal([]byte(result.Stdout), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestBatchPodsRunOnWhatServicesLeave(t *testing.T) {
	sandboxtest.Eventually(t, patience, func() error {
		pods, err := client.CoreV1().Pods("analytics").List(t.Context(), metav1.ListOptions{LabelSelector: "app=spark-pi-exec"})
		if err != nil {
			return err
		}
		running := 0
		for i := range pods.Items {
			if pods.Items[i].Status.Phase == corev1.PodRunning {
				running++
			}
		}
		if running == 0 {
			return fmt.Errorf("none of %d executors runs", len(pods.Items))
		}
		return nil
	})
}

func TestTopNodesShowsEveryNodeWithItsState(t *testing.T) {
	sandboxtest.Eventually(t, 3*time.Minute, func() error {
		states := map[string]diagnosticsv1alpha1.LoadState{}
		list := answer[diagnosticsv1alpha1.NodeOverviewList](t, "NodeOverviewList", "top", "nodes")
		for _, node := range list.Items {
			states[node.Name] = node.Load.State
		}
		want := map[string]diagnosticsv1alpha1.LoadState{
			"sim-0001": diagnosticsv1alpha1.LoadNormal, "sim-0007": diagnosticsv1alpha1.LoadHot, "sim-0013": diagnosticsv1alpha1.LoadExpired,
		}
		for name, state := range want {
			if states[name] != state {
				return fmt.Errorf("node %s is %s, want %s", name, states[name], state)
			}
		}
		if len(states) != nodes {
			return fmt.Errorf("%d nodes, want %d", len(states), nodes)
		}
		return nil
	})
}

// TestTheManagerListsNodesAsTheirObjectsSay: `top nodes` of all nodes is koord-manager's answer, -o json is read from the objects.
func TestTheManagerListsNodesAsTheirObjectsSay(t *testing.T) {
	sandboxtest.Eventually(t, patience, func() error { // the API server asks a manager that was away when it has found that it is back
		asked := koordctl(t, 0, "top", "nodes", "-v=6")
		if !strings.Contains(asked.Stderr, "/nodeoverviews") || strings.Contains(asked.Stderr, "/nodemetrics") {
			return fmt.Errorf("koord-manager was not asked, or not alone:\n%s", asked.Stderr)
		}
		return nil
	})
	sandboxtest.Eventually(t, patience, func() error {
		var list diagnosticsv1alpha1.NodeOverviewList
		if err := json.Unmarshal([]byte(kubectl(t, "", "get", "nodeoverviews", "-o", "json").Stdout), &list); err != nil {
			return err
		}
		read := answer[diagnosticsv1alpha1.NodeOverviewList](t, "NodeOverviewList", "top", "nodes")
		ignored := cmpopts.IgnoreFields(diagnosticsv1alpha1.NodeOverview{}, "Balance")
		operands := cmpopts.IgnoreFields(diagnosticsv1alpha1.LoadOverview{}, "Operands", "Message") // a message has an age
		if diff := cmp.Diff(read.Items, list.Items, ignored, operands); diff != "" {
			return fmt.Errorf("koordctl reads, and koord-manager lists (-read +listed):\n%s", diff)
		}
		return nil
	})
}

func TestWaterfallEndsAtWhatTheNodeOffers(t *testing.T) {
	var status diagnosticsv1alpha1.NodeExplanationStatus
	sandboxtest.Eventually(t, patience, func() error { // a manager that just began to lead has not published yet
		status = answer[diagnosticsv1alpha1.NodeExplanation](t, "NodeExplanation", "explain", "node", "sim-0002", "batch-cpu", "batch-memory").Status
		for _, published := range status.Published {
			switch published.State {
			case diagnosticsv1alpha1.InSync, diagnosticsv1alpha1.WithinThreshold, diagnosticsv1alpha1.Pending:
			default:
				return fmt.Errorf("%s is %s: %s", published.Resource, published.State, published.Reason)
			}
		}
		return nil
	})
	if got := status.Origin.Component; got != "koord-manager" {
		t.Errorf("answered by %q, want koord-manager", got)
	}
	if len(status.Waterfalls) != 2 {
		t.Fatalf("%d waterfalls, want 2", len(status.Waterfalls))
	}
	for _, waterfall := range status.Waterfalls {
		if last := waterfall.Terms[len(waterfall.Terms)-1]; last.Value != waterfall.Result {
			t.Errorf("%s: last term %d, result %d", waterfall.Resource, last.Value, waterfall.Result)
		}
	}
}

func TestStaleNodeOffersNothing(t *testing.T) {
	explanation := answer[diagnosticsv1alpha1.NodeExplanation](t, "NodeExplanation", "explain", "node", "sim-0013", "batch-cpu")
	if got := explanation.Status.Metric.State; got != diagnosticsv1alpha1.MetricExpired {
		t.Errorf("metric is %s, want %s", got, diagnosticsv1alpha1.MetricExpired)
	}
	for _, waterfall := range explanation.Status.Waterfalls {
		if !waterfall.Degraded || waterfall.Result != 0 {
			t.Errorf("%s: degraded %v with result %d, want degraded to 0", waterfall.Resource, waterfall.Degraded, waterfall.Result)
		}
	}
}

func TestPendingPodsAreExplained(t *testing.T) {
	tests := map[string]struct {
		namespace, pod string
		wantCode       string
		wantPlugin     string
	}{
		"too large for any node's batch resources": {
			namespace: "analytics", pod: "monthly-report", wantCode: "KOORD1901", wantPlugin: "NodeResourcesFit",
		},
		"insists on the hot node": {
			namespace: "shop", pod: "cache-warmup", wantCode: "KOORD1102", wantPlugin: "LoadAwareScheduling",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			sandboxtest.Eventually(t, patience, func() error {
				status := answer[diagnosticsv1alpha1.PodExplanation](t, "PodExplanation", "explain", "pod", test.pod, "-n", test.namespace).Status
				if status.Verdict != diagnosticsv1alpha1.PodUnschedulable || status.Code != test.wantCode {
					return fmt.Errorf("verdict %s with code %s, want Unschedulable with %s: %s", status.Verdict, status.Code, test.wantCode, status.Summary)
				}
				if status.Origin.Component != "koord-scheduler" {
					return fmt.Errorf("answered by %s, want koord-scheduler", status.Origin.Component)
				}
				if status.Fix == nil || !status.Fix.Verified {
					return fmt.Errorf("no verified fix: %+v", status.Fix)
				}
				for _, group := range status.Groups {
					if group.Plugin == test.wantPlugin && group.Code == test.wantCode {
						return nil
					}
				}
				return fmt.Errorf("no group of plugin %s among %d", test.wantPlugin, len(status.Groups))
			})
		})
	}
}

func TestBoundPodIsExplainedByScores(t *testing.T) {
	// In the first minute the services just placed count with their estimates, so that a node may have no runner-up yet.
	sandboxtest.Eventually(t, 2*time.Minute, func() error {
		pods, err := client.CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{LabelSelector: "app=web", FieldSelector: "status.phase=Running"})
		if err != nil {
			return err
		}
		for _, pod := range pods.Items {
			status := answer[diagnosticsv1alpha1.PodExplanation](t, "PodExplanation", "explain", "pod", pod.Name, "-n", "shop").Status
			if status.Verdict != diagnosticsv1alpha1.PodBound || status.Placement == nil || status.Placement.Node != pod.Spec.NodeName {
				return fmt.Errorf("verdict %s, placement %+v, want bound to %s", status.Verdict, status.Placement, pod.Spec.NodeName)
			}
			if scores := status.Placement.Scores; len(scores) >= 2 && len(scores[0].Plugins) > 0 {
				return nil
			}
		}
		return fmt.Errorf("none of %d pods has scores per plugin for its node and a runner-up", len(pods.Items))
	})
}
