package disclosure

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// secret is in every string of an answer that was filled.
const secret = "secret"

// fill gives every field a value: a string is a secret, a list has one element, and terms have parts of two levels.
func fill(value reflect.Value, depth int) {
	switch value.Type() {
	case reflect.TypeFor[diagnosticsv1alpha1.SourceRef]():
		value.Set(reflect.ValueOf(diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: secret, Name: secret, Field: secret}))
		return
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime](), reflect.TypeFor[corev1.ResourceList]():
		return
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString(secret)
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int32, reflect.Int64:
		value.SetInt(7)
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(value.Elem(), depth)
	case reflect.Slice:
		if value.Type().Elem() == reflect.TypeFor[diagnosticsv1alpha1.Term]() {
			if depth++; depth > 3 {
				return
			}
		}
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		fill(value.Index(0), depth)
	case reflect.Struct:
		for i := range value.NumField() {
			fill(value.Field(i), depth)
		}
	}
}

// nobody is the access of a caller without any rights.
func nobody(Request) bool { return false }

// secrets lists the fields of an answer that still are secrets.
func secrets(t *testing.T, answer any) []string {
	t.Helper()
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var found []string
	var look func(path string, value any)
	look = func(path string, value any) {
		switch typed := value.(type) {
		case string:
			if strings.Contains(typed, secret) {
				found = append(found, strings.TrimPrefix(path, "."))
			}
		case []any:
			for _, element := range typed {
				look(path, element)
			}
		case map[string]any:
			for key, element := range typed {
				look(path+"."+key, element)
			}
		}
	}
	look("", document)
	slices.Sort(found)
	return slices.Compact(found)
}

// TestEveryFieldOfAPodExplanationIsConsidered: of an answer in which every string is a secret, only those fields stay that are words of a
// list, made of such words, or of the pod itself. A field that is added to the API fails the test until somebody has thought of it.
func TestEveryFieldOfAPodExplanationIsConsidered(t *testing.T) {
	words := []string{
		"code", "findings.code", "findings.severity", "fixBeyondRights.kind", "groups.class", "groups.code", "groups.plugin",
		"history.outcome", "history.refusals.code", "history.refusals.plugin", "origin.component", "placement.note",
		"preemption.declined.plugin", "preemption.plugin", "preemption.refusals.code", "preemption.refusals.plugin", "preemption.verdict",
		"reservations.refusals.code", "unknown.input", "unknown.reason", "verdict",
	}
	// The hint is an annotation of the pod, with all that it says of nodes.
	ofPod := []string{
		"pod.hint.code", "pod.hint.leftOut.nodes", "pod.hint.leftOut.reason", "pod.hint.only", "pod.hint.preferred.message",
		"pod.hint.preferred.node", "pod.hint.summary", "pod.hint.writer",
		"pod.name", "pod.namespace", "pod.nodeName", "pod.phase", "pod.priorityBand", "pod.qosClass", "pod.reservationName", "pod.schedulerName",
	}
	// They name a verb and a resource, or the plugin whose reason is withheld.
	ofWords := []string{"fixBeyondRights.needs", "groups.message", "groups.reason", "history.refusals.reason", "preemption.refusals.reason", "summary"}
	var status diagnosticsv1alpha1.PodExplanationStatus
	fill(reflect.ValueOf(&status).Elem(), 0)
	status.Verdict = diagnosticsv1alpha1.PodUnschedulable
	apart(&status)
	PodExplanation(&status, nobody)
	status.Verdict = secret
	for _, reason := range []string{
		status.Groups[0].Reason, status.Groups[0].Message, status.History[0].Refusals[0].Reason, status.Preemption.Refusals[0].Reason,
		strings.TrimSuffix(strings.TrimPrefix(status.Summary, "7/7 nodes are available: 7 "), "."),
	} {
		if reason != "refused by plugin "+secret {
			t.Errorf("a reason is %q", reason)
		}
	}
	want := slices.Sorted(slices.Values(slices.Concat(words, ofPod, ofWords)))
	if diff := cmp.Diff(want, secrets(t, status)); diff != "" {
		t.Errorf("fields that stay (-want +got):\n%s", diff)
	}
}

// apart names other objects than the pod does.
func apart(status *diagnosticsv1alpha1.PodExplanationStatus) {
	status.Pod.Name, status.Pod.NodeName, status.Pod.ReservationName = "pod-"+secret, "node-"+secret, "reservation-"+secret
}

// TestEveryFieldOfANodeExplanationIsConsidered is the same for a node and a caller that may get no pods: the configuration, and what
// the manager and the agent say of the node itself, stays.
func TestEveryFieldOfANodeExplanationIsConsidered(t *testing.T) {
	want := []string{
		"agent.agents.name", "agent.agents.socket",
		"agent.cgroups", "agent.component", "agent.cpus.all", "agent.cpus.ownersUnknown", "agent.cpus.pools.cpus", "agent.cpus.pools.name", "agent.cpus.zones.cores",
		"agent.evictions.triggers.candidatesUnknown", "agent.evictions.triggers.feature", "agent.evictions.triggers.held",
		"agent.evictions.triggers.reason", "agent.evictions.triggers.state", "agent.evictions.triggers.tier", "agent.evictions.triggers.unit",
		"agent.features.active", "agent.features.configured", "agent.features.effective", "agent.features.name", "agent.features.reason",
		"agent.features.supported", "agent.incomplete", "agent.instance",
		"agent.suppression.budget.message", "agent.suppression.budget.policy", "agent.suppression.budget.resource", "agent.suppression.budget.unit",
		"agent.suppression.cpuNote", "agent.suppression.cpus", "agent.suppression.effectiveCPUs", "agent.suppression.hold",
		"agent.suppression.message", "agent.suppression.policy", "agent.suppression.quotaNote", "agent.unknown.input", "agent.unknown.reason",
		"findings.code", "findings.severity", "incomplete", "metric.notEnforcing", "metric.problem", "metric.state", "node.name", "origin.component",
		"outlook.lowest.message", "outlook.lowest.policy", "outlook.lowest.resource", "outlook.lowest.unit", "outlook.note", "outlook.predictor",
		"outlook.resource", "outlook.unit",
		"published.reason", "published.resource", "published.state", "published.unit", "strategy.key", "strategy.layer", "strategy.value",
		"summary", "unknown.input", "unknown.reason", "waterfalls.message", "waterfalls.policy", "waterfalls.resource", "waterfalls.unit",
	}
	var status diagnosticsv1alpha1.NodeExplanationStatus
	fill(reflect.ValueOf(&status).Elem(), 0)
	NodeExplanation(&status, nobody)
	if diff := cmp.Diff(want, secrets(t, status)); diff != "" {
		t.Errorf("fields that stay (-want +got):\n%s", diff)
	}
}
