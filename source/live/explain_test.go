package live

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/live/livetest"
)

func small() *livetest.Server {
	server := largeCluster(2, 1)
	pending := largePod("pending", "")
	pending.Status = corev1.PodStatus{Phase: corev1.PodPending}
	server.Pods = append(server.Pods, pending)
	return server
}

func status(code int, reason metav1.StatusReason, causes ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s := metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: int32(code), Reason: reason, Message: "broken", Details: &metav1.StatusDetails{}}
		for _, cause := range causes {
			s.Details.Causes = append(s.Details.Causes, metav1.StatusCause{Type: metav1.CauseType(cause)})
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(s)
	})
}

func TestExplainPodAsksTheObjectsWhereTheAPICannotAnswer(t *testing.T) {
	answers := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var question diagnosticsv1alpha1.PodExplanation
		_ = json.NewDecoder(r.Body).Decode(&question)
		question.Status.Verdict, question.Status.Origin.Component = diagnosticsv1alpha1.PodSchedulable, "koord-scheduler"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(question)
	})
	noVerdict := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"diagnostics.koordinator.sh/v1alpha1","kind":"PodExplanation","spec":{"podName":"pending"}}`))
	})
	tests := map[string]struct {
		api           http.Handler
		denied        []string
		wantComponent string
		wantCode      finding.Code
		wantErr       string
	}{
		"the API answers":                {api: answers, wantComponent: "koord-scheduler"},
		"no API":                         {wantComponent: "koordctl", wantCode: finding.DiagnosticsUnavailable},
		"API service unavailable":        {api: status(503, metav1.StatusReasonServiceUnavailable), wantComponent: "koordctl", wantCode: finding.DiagnosticsUnavailable},
		"scheduler down":                 {api: status(503, metav1.StatusReasonServiceUnavailable, "KOORD0005"), wantComponent: "koordctl", wantCode: finding.SchedulerUnavailable},
		"an answer without verdict":      {api: noVerdict, wantComponent: "koordctl", wantCode: finding.SchedulerUnavailable},
		"not permitted to ask":           {api: answers, denied: []string{"create podexplanations"}, wantComponent: "koordctl", wantCode: finding.Forbidden},
		"a question the API will refuse": {api: status(422, metav1.StatusReasonInvalid), wantErr: "broken"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := small()
			server.Diagnostics, server.Denied = tc.api, tc.denied
			server.Start(t)
			answer, err := New(server.Config("default"), Options{}).ExplainPod(t.Context(), "default", "pending", diagnosticsv1alpha1.PodExplanationSpec{})
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("got error %v, want %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if answer.Status.Origin.Component != tc.wantComponent || answer.Kind != "PodExplanation" || answer.Status.Verdict == "" {
				t.Errorf("got kind %q, verdict %q from %q, want one from %q", answer.Kind, answer.Status.Verdict, answer.Status.Origin.Component, tc.wantComponent)
			}
			if tc.wantCode != "" && (len(answer.Status.Findings) == 0 || answer.Status.Findings[0].Code != string(tc.wantCode)) {
				t.Errorf("got findings %v, want %s first", answer.Status.Findings, tc.wantCode)
			}
		})
	}
}

func TestExplainNodeFallsBackToo(t *testing.T) {
	server := small()
	server.Diagnostics = status(503, metav1.StatusReasonServiceUnavailable)
	server.Start(t)
	answer, err := New(server.Config(""), Options{}).ExplainNode(t.Context(), "node-0000", diagnosticsv1alpha1.NodeExplanationSpec{Resources: []string{"batch-cpu"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Status.Waterfalls) != 1 || answer.Status.Findings[0].Code != string(finding.DiagnosticsUnavailable) {
		t.Errorf("got %+v", answer.Status)
	}
}

// TestAReservationThatIsNotThereIsNotFound: the diagnostics API answers 404 about it, as a cluster without that API does.
func TestAReservationThatIsNotThereIsNotFound(t *testing.T) {
	notFound := status(http.StatusNotFound, metav1.StatusReasonNotFound)
	tests := map[string]struct {
		api      http.Handler
		name     string
		edit     func(*livetest.Server)
		wantCode finding.Code
		wantText string
	}{
		"a misspelt name":           {api: notFound, name: "nightli", wantCode: finding.NotFound, wantText: `reservation "nightli" not found, did you mean "nightly"?`},
		"a name far from any other": {api: notFound, name: "x", wantCode: finding.NotFound, wantText: `reservation "x" not found`},
		"a misspelt name of a cluster without the diagnostics API": {name: "nightli", wantCode: finding.NotFound,
			wantText: `reservation "nightli" not found, did you mean "nightly"?`},
		"a misspelt name where nobody may list": {api: notFound, name: "nightli", edit: func(s *livetest.Server) { s.Denied = []string{"list reservations"} },
			wantCode: finding.NotFound, wantText: `reservation "nightli" not found`},
		"one that is there, without the diagnostics API": {name: "nightly", wantCode: finding.DiagnosticsUnavailable,
			wantText: `explain reservation "nightly", which only koord-scheduler can: this cluster has no diagnostics API`},
		"one that is there, without a scheduler": {api: status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, string(finding.SchedulerUnavailable)),
			name: "nightly", wantCode: finding.SchedulerUnavailable,
			wantText: `explain reservation "nightly", which only koord-scheduler can: koord-scheduler did not respond: broken`},
		"a cluster without Reservations": {name: "nightly", edit: func(s *livetest.Server) { s.NoCRDs = true }, wantCode: finding.NotInstalled,
			wantText: "list reservations.scheduling.koordinator.sh: the server doesn't have this resource type"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := small()
			server.Diagnostics = tc.api
			server.Reservations = []schedulingv1alpha1.Reservation{{ObjectMeta: metav1.ObjectMeta{Name: "nightly"}}}
			if tc.edit != nil {
				tc.edit(server)
			}
			server.Start(t)
			_, err := New(server.Config("default"), Options{}).ExplainPod(t.Context(), "default", tc.name, diagnosticsv1alpha1.PodExplanationSpec{ReservationName: tc.name})
			if !hasCode(err, tc.wantCode) || err.Error() != tc.wantText {
				t.Errorf("got %v, want %s %q", err, tc.wantCode, tc.wantText)
			}
		})
	}
}

// TestAPodOfAnotherSchedulerIsToldWhichProfileMissedIt by the scheduler and by objects alone.
func TestAPodOfAnotherSchedulerIsToldWhichProfileMissedIt(t *testing.T) {
	foreign := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var question diagnosticsv1alpha1.PodExplanation
		_ = json.NewDecoder(r.Body).Decode(&question)
		question.Status.Verdict, question.Status.Code, question.Status.Summary = diagnosticsv1alpha1.PodNotResponsible, string(finding.OtherScheduler), "another scheduler"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(question)
	})
	label := metav1.LabelSelector{MatchLabels: map[string]string{"koordinator.sh/enable-colocation": "true"}}
	profile := configv1alpha1.ClusterColocationProfile{ObjectMeta: metav1.ObjectMeta{Name: "batch"}, Spec: configv1alpha1.ClusterColocationProfileSpec{
		NamespaceSelector: &label, SchedulerName: "koord-scheduler",
	}}
	const missed = `colocation profile "batch", which names koord-scheduler, was not applied: namespace has no label koordinator.sh/enable-colocation, ` +
		"but the selector requires koordinator.sh/enable-colocation=true"
	const wantHint = "kubectl label namespace default koordinator.sh/enable-colocation=true --overwrite, and create the pod again"
	tests := map[string]struct {
		api            http.Handler
		profiles       []configv1alpha1.ClusterColocationProfile
		denied         []string
		wantSummary    string
		wantHint       string
		wantIncomplete string
	}{
		"by the scheduler": {api: foreign, profiles: []configv1alpha1.ClusterColocationProfile{profile}, wantSummary: "another scheduler; " + missed, wantHint: wantHint},
		"by the objects": {profiles: []configv1alpha1.ClusterColocationProfile{profile}, wantHint: wantHint,
			wantSummary: `scheduler "default-scheduler" is not a profile of koord-scheduler; ` + missed},
		"without profiles": {api: foreign, wantSummary: "another scheduler"},
		"where profiles may not be listed": {api: foreign, denied: []string{"list clustercolocationprofiles"}, wantSummary: "another scheduler",
			wantIncomplete: "why no colocation profile named koord-scheduler is unknown"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := small()
			server.Diagnostics, server.Profiles, server.Denied = tc.api, tc.profiles, tc.denied
			server.Namespaces = append(server.Namespaces, corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
			for i := range server.Pods {
				if server.Pods[i].Name == "pending" {
					server.Pods[i].Spec.SchedulerName = "default-scheduler"
				}
			}
			server.Start(t)
			answer, err := New(server.Config("default"), Options{}).ExplainPod(t.Context(), "default", "pending", diagnosticsv1alpha1.PodExplanationSpec{})
			if err != nil {
				t.Fatal(err)
			}
			if answer.Status.Summary != tc.wantSummary {
				t.Errorf("summary %q, want %q", answer.Status.Summary, tc.wantSummary)
			}
			hint := ""
			for _, f := range answer.Status.Findings {
				if f.Code == string(finding.OtherScheduler) {
					hint = f.Hint
				}
			}
			if hint != tc.wantHint || !strings.Contains(strings.Join(answer.Status.Incomplete, "\n"), tc.wantIncomplete) {
				t.Errorf("hint %q, want %q; incomplete %v, want %q", hint, tc.wantHint, answer.Status.Incomplete, tc.wantIncomplete)
			}
		})
	}
}

func TestErrorsCarryCodes(t *testing.T) {
	tests := map[string]struct {
		edit     func(*livetest.Server)
		ask      func(context.Context, *Source) error
		wantCode finding.Code
		wantText string
	}{
		"unknown node": {ask: func(ctx context.Context, s *Source) error {
			_, err := s.ExplainNode(ctx, "node-000", diagnosticsv1alpha1.NodeExplanationSpec{})
			return err
		}, wantCode: finding.NotFound, wantText: `node "node-000" not found, did you mean "node-0000"?`},
		"unknown pod": {ask: func(ctx context.Context, s *Source) error {
			_, err := s.Pods(ctx, source.PodQuery{Namespace: "default", Names: []string{"pendin"}})
			return err
		}, wantCode: finding.NotFound, wantText: `pod "pendin" not found in namespace "default", did you mean "pending"?`},
		"one unknown node of two": {ask: func(ctx context.Context, s *Source) error {
			_, err := s.Nodes(ctx, source.NodeQuery{Names: []string{"node-0000", "elsewhere"}})
			return err
		}, wantCode: finding.NotFound, wantText: `node "elsewhere" not found`},
		"nodes not permitted": {edit: func(s *livetest.Server) { s.Denied = []string{"list nodes"} }, ask: func(ctx context.Context, s *Source) error {
			_, err := s.Nodes(ctx, source.NodeQuery{})
			return err
		}, wantCode: finding.Forbidden, wantText: `list nodes: not permitted for user "eve"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := small()
			if tc.edit != nil {
				tc.edit(server)
			}
			server.Start(t)
			err := tc.ask(t.Context(), New(server.Config("default"), Options{}))
			if !hasCode(err, tc.wantCode) || err.Error() != tc.wantText {
				t.Errorf("got %v, want %s %q", err, tc.wantCode, tc.wantText)
			}
		})
	}
}

func TestACanceledQuestionIsCanceled(t *testing.T) {
	server := small()
	server.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(server.Config(""), Options{}).Nodes(ctx, source.NodeQuery{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAnUnreachableServerFailsFast(t *testing.T) {
	server := small()
	server.Start(t)
	config := server.Kubeconfig("")
	config.Clusters["test"].Server = "https://127.0.0.1:1"
	begin := time.Now()
	_, err := New(clientConfig(config), Options{}).Nodes(t.Context(), source.NodeQuery{})
	if !hasCode(err, finding.ClusterUnreachable) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestWhatAnAnswerCanDoWithoutIsAGap(t *testing.T) {
	server := small()
	server.Denied = []string{"list pods", "list nodemetrics", "get configmaps"}
	server.Start(t)
	list, err := New(server.Config(""), Options{}).Nodes(t.Context(), source.NodeQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 2 || len(list.Incomplete) != 4 {
		t.Errorf("got %d nodes and %q", len(list.Items), list.Incomplete)
	}
}

func TestNoKubeconfigSaysSo(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	_, err := New(genericclioptions.NewConfigFlags(true).ToRawKubeConfigLoader(), Options{}).Nodes(t.Context(), source.NodeQuery{})
	if !hasCode(err, finding.ClusterUnreachable) || !strings.Contains(err.Error(), "there is no kubeconfig") {
		t.Errorf("got %v", err)
	}
}

func TestOperandsOfTheLoadAreAskedFor(t *testing.T) {
	server := small()
	server.Start(t)
	src := New(server.Config(""), Options{})
	for _, operands := range []bool{false, true} {
		list, err := src.Nodes(t.Context(), source.NodeQuery{Names: []string{"node-0001"}, Operands: operands})
		if err != nil || len(list.Items) != 1 || (len(list.Items[0].Load.Operands) > 0) != operands {
			t.Errorf("asked for operands: %t, got %+v, %v", operands, list, err)
		}
	}
}

func TestOneNodeIsNotPaidForWithAll(t *testing.T) {
	server := small()
	server.Start(t)
	if _, err := New(server.Config(""), Options{}).Nodes(t.Context(), source.NodeQuery{Names: []string{"node-0001"}}); err != nil {
		t.Fatal(err)
	}
	for _, asked := range server.Requests() {
		if strings.Contains(asked, "configmaps") {
			continue
		}
		if !strings.Contains(asked, "node-0001") {
			t.Errorf("%s selects more than the node", asked)
		}
	}
}

func TestDescribeWithoutConnection(t *testing.T) {
	server := small()
	server.Start(t)
	got, err := New(server.Config("shop"), Options{}).Describe(t.Context())
	if err != nil || got.Context != "test" || got.User != "eve" || got.Namespace != "shop" || got.ServerVersion != "v1.36.3" {
		t.Errorf("got %+v, %v", got, err)
	}
	config := server.Kubeconfig("shop")
	config.Clusters["test"].Server = "https://127.0.0.1:1"
	got, err = New(clientConfig(config), Options{}).Describe(t.Context())
	if err == nil || got.Context != "test" || got.ServerVersion != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}
