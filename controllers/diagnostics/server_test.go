package diagnostics

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	clocktesting "k8s.io/utils/clock/testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/schedulerclient"
)

var noon = time.Date(2030, time.March, 1, 12, 0, 0, 0, time.UTC)

// recorder answers all kinds of questions and records what it was asked.
type recorder struct {
	pods []string
	// quotas are those that were asked about.
	quotas []string
	// overviews are the names and selectors of nodes.
	overviews []string
	// mu guards nodes, about which several questions are asked at the same time.
	mu    sync.Mutex
	nodes []string
	// gone is a node that does not exist.
	gone string
	err  error
	// clock is what the server's clock shows, and took how far each answer moves it on.
	clock *clocktesting.FakePassiveClock
	took  time.Duration
	// metrics is where the server registers its own, if anywhere.
	metrics prometheus.Registerer
}

// think takes the time an answer takes.
func (r *recorder) think() {
	if r.clock != nil {
		r.clock.SetTime(r.clock.Now().Add(r.took))
	}
}

func (r *recorder) ExplainPod(_ context.Context, question *diagnosticsv1alpha1.PodExplanation) (*diagnosticsv1alpha1.PodExplanation, error) {
	r.think()
	r.pods = append(r.pods, question.Namespace+"/"+question.Spec.PodName)
	answer := question.DeepCopy()
	answer.Status = diagnosticsv1alpha1.PodExplanationStatus{
		Verdict: diagnosticsv1alpha1.PodUnschedulable, Summary: "no node has room", NodesTotal: 30,
	}
	return answer, r.err
}

func (r *recorder) ExplainNode(_ context.Context, spec diagnosticsv1alpha1.NodeExplanationSpec) (diagnosticsv1alpha1.NodeExplanationStatus, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.think()
	r.nodes = append(r.nodes, spec.NodeName)
	if spec.NodeName == r.gone {
		return diagnosticsv1alpha1.NodeExplanationStatus{}, apierrors.NewNotFound(corev1.Resource("nodes"), spec.NodeName)
	}
	return diagnosticsv1alpha1.NodeExplanationStatus{
		Summary: "8 cores are reclaimed", Node: diagnosticsv1alpha1.NodeFacts{Name: spec.NodeName},
		Metric: diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricFresh},
	}, r.err
}

func (r *recorder) ReviewPlacements(_ context.Context, question *diagnosticsv1alpha1.PlacementReview) (*diagnosticsv1alpha1.PlacementReview, error) {
	answer := question.DeepCopy()
	for _, pod := range question.Spec.Pods {
		answer.Status.Placements = append(answer.Status.Placements, diagnosticsv1alpha1.PodPlacement{
			Namespace: pod.Namespace, Name: pod.Name, Verdict: diagnosticsv1alpha1.PlacementFound, From: "worker-1", Node: "worker-2", Summary: "1/2 nodes are available",
		})
	}
	return answer, r.err
}

// NodeOverviews lists two nodes, of which the second one says nothing, or the one that is asked for.
func (r *recorder) NodeOverviews(_ context.Context, name string, matching labels.Selector) (*diagnosticsv1alpha1.NodeOverviewList, error) {
	r.overviews = append(r.overviews, name+" "+matching.String())
	if name != "" && name == r.gone {
		return nil, fmt.Errorf("get node: %w", apierrors.NewNotFound(corev1.Resource("nodes"), name))
	}
	node := func(name string) diagnosticsv1alpha1.NodeOverview {
		return diagnosticsv1alpha1.NodeOverview{
			TypeMeta:   metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: "NodeOverview"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pool": "gold"}},
			Load:       diagnosticsv1alpha1.LoadOverview{State: diagnosticsv1alpha1.LoadUnknown},
		}
	}
	one, two := node("n1"), node("n2")
	one.Load = diagnosticsv1alpha1.LoadOverview{State: diagnosticsv1alpha1.LoadHot, Message: "cpu usage 75% > threshold 65%"}
	one.Metric.State = diagnosticsv1alpha1.MetricFresh
	one.CPU = diagnosticsv1alpha1.ResourceOverview{
		Allocatable: 20000, RawAllocatable: new(int64(10000)), Used: new(int64(7500)), BatchRequested: new(int64(1000)), BatchAllocatable: new(int64(2000)),
	}
	one.Memory = diagnosticsv1alpha1.ResourceOverview{Allocatable: 32 << 30}
	list := &diagnosticsv1alpha1.NodeOverviewList{
		TypeMeta: metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: "NodeOverviewList"},
		Items:    []diagnosticsv1alpha1.NodeOverview{one, two},
	}
	list.Items = slices.DeleteFunc(list.Items, func(n diagnosticsv1alpha1.NodeOverview) bool { return name != "" && n.Name != name })
	return list, r.err
}

// ExplainQuota has a resource with a max and one without.
func (r *recorder) ExplainQuota(_ context.Context, namespace, name string) (*diagnosticsv1alpha1.QuotaExplanation, error) {
	r.quotas = append(r.quotas, namespace+"/"+name)
	if name == r.gone {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: "scheduling.sigs.k8s.io", Resource: "elasticquotas"}, name)
	}
	return &diagnosticsv1alpha1.QuotaExplanation{
		TypeMeta:   metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: "QuotaExplanation"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		QuotaFacts: diagnosticsv1alpha1.QuotaFacts{State: "Borrowing", Reason: "uses more than its min"},
		Divisions: []diagnosticsv1alpha1.QuotaDivision{
			{Resource: "cpu", Unit: diagnosticsv1alpha1.MilliCPU, Used: 3000, Runtime: 4000, Max: new(int64(8000)), Available: 1000},
			{Resource: "memory", Unit: diagnosticsv1alpha1.Bytes, Used: 2 << 30, Runtime: 2 << 30},
			{Resource: "nvidia.com/gpu", Unit: diagnosticsv1alpha1.Count, Used: 1, Runtime: 2, Available: 1},
		},
	}, r.err
}

// newTestServer serves the whole API over HTTP for one user with the permissions that allow grants.
func newTestServer(t *testing.T, explainer *recorder, allow func(authorizer.Attributes) bool) *httptest.Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	explainer.clock = clocktesting.NewFakePassiveClock(noon)
	server := &Server{
		Pods: explainer, Nodes: explainer, Overviews: explainer, Quotas: explainer, Placements: explainer, Identity: "manager-1", Leader: func() bool { return true },
		Clock: explainer.clock, Registerer: explainer.metrics,
	}
	config, err := server.newConfig(listener)
	if err != nil {
		t.Fatal(err)
	}
	config.Authentication.Authenticator = authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
		return &authenticator.Response{User: &user.DefaultInfo{Name: "alice", Groups: []string{user.AllAuthenticated}}}, true, nil
	})
	config.Authorization.Authorizer = authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if allow(a) {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})
	built, err := server.build(config)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(built.PrepareRun().Handler)
	t.Cleanup(front.Close)
	t.Cleanup(built.Destroy)
	return front
}

func everything(authorizer.Attributes) bool { return true }

const (
	podsPath  = "/apis/diagnostics.koordinator.sh/v1alpha1/namespaces/shop/podexplanations"
	nodesPath = "/apis/diagnostics.koordinator.sh/v1alpha1/nodeexplanations"
)

// send makes a request and returns the answer's code and body.
func send(t *testing.T, server *httptest.Server, method, path, accept, body string) (int, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", accept)
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, data
}

func decode[T any](t *testing.T, data []byte) T {
	t.Helper()
	var value T
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatalf("decode %s: %v", data, err)
	}
	return value
}

const podQuestion = `{"apiVersion":"diagnostics.koordinator.sh/v1alpha1","kind":"PodExplanation","spec":{"podName":"web-1"},"status":{"verdict":"Bound"}}`

func TestAPodQuestionIsAnsweredAndNamedAfterThePod(t *testing.T) {
	explainer := &recorder{}
	code, data := send(t, newTestServer(t, explainer, everything), http.MethodPost, podsPath+"?fieldValidation=Strict", "application/json", podQuestion)
	if code != http.StatusCreated {
		t.Fatalf("status %d: %s", code, data)
	}
	want := diagnosticsv1alpha1.PodExplanation{
		TypeMeta:   metav1.TypeMeta{APIVersion: "diagnostics.koordinator.sh/v1alpha1", Kind: "PodExplanation"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1"},
		Spec:       diagnosticsv1alpha1.PodExplanationSpec{PodName: "web-1"},
		Status: diagnosticsv1alpha1.PodExplanationStatus{
			Verdict: diagnosticsv1alpha1.PodUnschedulable, Summary: "no node has room", NodesTotal: 30,
		},
	}
	if diff := cmp.Diff(want, decode[diagnosticsv1alpha1.PodExplanation](t, data)); diff != "" {
		t.Errorf("answer differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"shop/web-1"}, explainer.pods); diff != "" {
		t.Errorf("questions differ (-want +got):\n%s", diff)
	}
}

func TestANodeAnswerSaysWhoAnsweredAndWhen(t *testing.T) {
	code, data := send(t, newTestServer(t, &recorder{}, everything), http.MethodPost, nodesPath, "application/json",
		`{"apiVersion":"diagnostics.koordinator.sh/v1alpha1","kind":"NodeExplanation","metadata":{"generateName":"ask-"},"spec":{"nodeName":"n1","resources":["batch-cpu"]}}`)
	if code != http.StatusCreated {
		t.Fatalf("status %d: %s", code, data)
	}
	got := decode[diagnosticsv1alpha1.NodeExplanation](t, data)
	want := diagnosticsv1alpha1.Origin{Component: "koord-manager", Instance: "manager-1", Leader: true, EvaluatedAt: metav1.NewTime(noon)}
	if diff := cmp.Diff(want, got.Status.Origin); diff != "" {
		t.Errorf("origin differs (-want +got):\n%s", diff)
	}
	if got.Name != "n1" || got.Namespace != "" {
		t.Errorf("the answer is named %q in namespace %q", got.Name, got.Namespace)
	}
}

func TestDiscoveryOffersQuestionsAndTheListOfNodes(t *testing.T) {
	server := newTestServer(t, &recorder{}, everything)
	_, data := send(t, server, http.MethodGet, "/apis/diagnostics.koordinator.sh/v1alpha1", "application/json", "")
	got := map[string]metav1.APIResource{}
	for _, resource := range decode[metav1.APIResourceList](t, data).APIResources {
		got[resource.Name] = metav1.APIResource{
			Kind: resource.Kind, Namespaced: resource.Namespaced, SingularName: resource.SingularName, Verbs: resource.Verbs,
		}
	}
	want := map[string]metav1.APIResource{
		"nodeoverviews":          {Kind: "NodeOverview", SingularName: "nodeoverview", Verbs: metav1.Verbs{"get", "list"}},
		"quotaexplanations":      {Kind: "QuotaExplanation", Namespaced: true, SingularName: "quotaexplanation", Verbs: metav1.Verbs{"get"}},
		"placementreviews":       {Kind: "PlacementReview", SingularName: "placementreview", Verbs: metav1.Verbs{"create"}},
		"podexplanations":        {Kind: "PodExplanation", Namespaced: true, SingularName: "podexplanation", Verbs: metav1.Verbs{"create"}},
		"nodeexplanations":       {Kind: "NodeExplanation", SingularName: "nodeexplanation", Verbs: metav1.Verbs{"create"}},
		"nodeexplanationbatches": {Kind: "NodeExplanationBatch", SingularName: "nodeexplanationbatch", Verbs: metav1.Verbs{"create"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resources differ (-want +got):\n%s", diff)
	}
	if code, _ := send(t, server, http.MethodGet, podsPath, "application/json", ""); code != http.StatusMethodNotAllowed {
		t.Errorf("listing answers %d, want %d", code, http.StatusMethodNotAllowed)
	}
}

func TestAskingTakesTheRightToGetTheSubject(t *testing.T) {
	tests := map[string]struct {
		path, body string
		denied     string
		wantText   []string
	}{
		"no right to create the question": {
			path: podsPath, body: podQuestion, denied: "create podexplanations",
			wantText: []string{`"alice" cannot create resource "podexplanations"`, `in the namespace "shop"`},
		},
		"no right to get the pod": {
			path: podsPath, body: podQuestion, denied: "get pods",
			wantText: []string{`pods "web-1" is forbidden`, `"alice" cannot get resource "pods"`, `in the namespace "shop"`},
		},
		"no right to get the node": {
			path:     nodesPath,
			body:     `{"apiVersion":"diagnostics.koordinator.sh/v1alpha1","kind":"NodeExplanation","spec":{"nodeName":"n1"}}`,
			denied:   "get nodes",
			wantText: []string{`nodes "n1" is forbidden`, `"alice" cannot get resource "nodes"`, "at the cluster scope"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			explainer := &recorder{}
			server := newTestServer(t, explainer, func(a authorizer.Attributes) bool {
				return a.GetVerb()+" "+a.GetResource() != tc.denied
			})
			code, data := send(t, server, http.MethodPost, tc.path, "application/json", tc.body)
			status := decode[metav1.Status](t, data)
			if code != http.StatusForbidden || status.Reason != metav1.StatusReasonForbidden {
				t.Fatalf("status %d %s: %s", code, status.Reason, data)
			}
			for _, text := range tc.wantText {
				if !strings.Contains(status.Message, text) {
					t.Errorf("message %q lacks %q", status.Message, text)
				}
			}
			if len(explainer.pods)+len(explainer.nodes) > 0 {
				t.Error("the question was asked all the same")
			}
		})
	}
}

// TestWhyTheSchedulerDidNotAnswerIsForWhoMayGetEverything: the error has its addresses, and may name anything.
func TestWhyTheSchedulerDidNotAnswerIsForWhoMayGetEverything(t *testing.T) {
	const secret = "10.9.8.7:10260"
	tests := map[string]struct {
		err      error
		allow    func(authorizer.Attributes) bool
		wantCode int
		wantTold bool
	}{
		"no answer, for who may get everything": {schedulerclient.Unavailable(errors.New(secret)), everything, http.StatusServiceUnavailable, true},
		"no answer, for others":                 {schedulerclient.Unavailable(errors.New(secret)), withoutNodes, http.StatusServiceUnavailable, false},
		"an error, for others":                  {errors.New(secret), withoutNodes, http.StatusInternalServerError, false},
		"a pod that is not there, for others":   {apierrors.NewNotFound(corev1.Resource("pods"), "web-1"), withoutNodes, http.StatusNotFound, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := newTestServer(t, &recorder{err: tc.err}, tc.allow)
			code, data := send(t, server, http.MethodPost, podsPath, "application/json", `{"apiVersion":"diagnostics.koordinator.sh/v1alpha1","kind":"PodExplanation","spec":{"podName":"web-1"}}`)
			if code != tc.wantCode || strings.Contains(string(data), secret) != tc.wantTold {
				t.Errorf("status %d: %s; want %d, and told %t", code, data, tc.wantCode, tc.wantTold)
			}
		})
	}
}

func withoutNodes(a authorizer.Attributes) bool {
	return a.GetResource() != "nodes" && a.GetVerb() != "*"
}

func TestBadQuestionsAreRefusedWithTheirFields(t *testing.T) {
	const head = `{"apiVersion":"diagnostics.koordinator.sh/v1alpha1","kind":`
	tests := map[string]struct {
		path, body string
		wantCode   int
		wantFields []string
	}{
		"a pod question without a pod": {
			path: podsPath, body: head + `"PodExplanation","spec":{}}`,
			wantCode: http.StatusUnprocessableEntity, wantFields: []string{"spec.podName"},
		},
		"a pod and a reservation at once": {
			path: podsPath, body: head + `"PodExplanation","spec":{"podName":"web-1","reservationName":"r"}}`,
			wantCode: http.StatusUnprocessableEntity, wantFields: []string{"spec.podName"},
		},
		"a path for a reservation": {
			path: podsPath, body: head + `"PodExplanation","spec":{"reservationName":"../r"}}`,
			wantCode: http.StatusUnprocessableEntity, wantFields: []string{"spec.reservationName"},
		},
		"everything wrong at once": {
			path: podsPath, body: head + `"PodExplanation","spec":{"podName":"No/Such","maxNodes":5001}}`,
			wantCode: http.StatusUnprocessableEntity, wantFields: []string{"spec.maxNodes", "spec.podName"},
		},
		"a node question for unknown and repeated resources": {
			path:     nodesPath,
			body:     head + `"NodeExplanation","spec":{"nodeName":"n1","resources":["batch-cpu","gold","batch-cpu"],"maxParts":-1}}`,
			wantCode: http.StatusUnprocessableEntity, wantFields: []string{"spec.maxParts", "spec.resources[1]", "spec.resources[2]"},
		},
		"a misspelt field": {
			path: podsPath + "?fieldValidation=Strict", body: head + `"PodExplanation","spec":{"podname":"web-1"}}`,
			wantCode: http.StatusBadRequest,
		},
		"another namespace than the request's": {
			path: podsPath, body: head + `"PodExplanation","metadata":{"namespace":"other"},"spec":{"podName":"web-1"}}`,
			wantCode: http.StatusBadRequest,
		},
		"a question of several megabytes": {
			path: podsPath, body: head + `"PodExplanation","spec":{"podName":"` + strings.Repeat("a", maxQuestionBytes) + `"}}`,
			wantCode: http.StatusRequestEntityTooLarge,
		},
		"not JSON": {path: podsPath, body: `{`, wantCode: http.StatusBadRequest},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			explainer := &recorder{}
			code, data := send(t, newTestServer(t, explainer, everything), http.MethodPost, tc.path, "application/json", tc.body)
			if code != tc.wantCode {
				t.Fatalf("status %d, want %d: %.500s", code, tc.wantCode, data)
			}
			var fields []string
			if details := decode[metav1.Status](t, data).Details; details != nil {
				for _, cause := range details.Causes {
					if cause.Field != "" {
						fields = append(fields, cause.Field)
					}
				}
			}
			slices.Sort(fields)
			if diff := cmp.Diff(tc.wantFields, fields); diff != "" {
				t.Errorf("fields differ (-want +got):\n%s", diff)
			}
			if len(explainer.pods)+len(explainer.nodes) > 0 {
				t.Error("a bad question was asked all the same")
			}
		})
	}
}

func TestTheExplainersErrorsReachTheUser(t *testing.T) {
	tests := map[string]struct {
		err      error
		wantCode int
		wantText string
	}{
		"no such pod":            {apierrors.NewNotFound(corev1.Resource("pods"), "web-1"), http.StatusNotFound, `pods "web-1" not found`},
		"scheduler is down":      {schedulerclient.Unavailable(errors.New("connection refused")), http.StatusServiceUnavailable, "KOORD0005"},
		"a wrapped refusal":      {fmt.Errorf("ask: %w", apierrors.NewTooManyRequests("busy", 1)), http.StatusTooManyRequests, "busy"},
		"an error of our own":    {errors.New("cache is empty"), http.StatusInternalServerError, "cache is empty"},
		"the question took ages": {apierrors.NewTimeoutError("too slow", 1), http.StatusGatewayTimeout, "too slow"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			code, data := send(t, newTestServer(t, &recorder{err: tc.err}, everything), http.MethodPost, podsPath, "application/json", podQuestion)
			if code != tc.wantCode || !bytes.Contains(data, []byte(tc.wantText)) && !strings.Contains(decode[metav1.Status](t, data).Message, tc.wantText) {
				t.Errorf("status %d (want %d): %s", code, tc.wantCode, data)
			}
		})
	}
}

func TestAnUnknownNodeIsNotFoundHoweverItsErrorIsWrapped(t *testing.T) {
	explainer := &recorder{err: fmt.Errorf("get node: %w", apierrors.NewNotFound(schema.GroupResource{Resource: "Node"}, "n1"))}
	code, data := send(t, newTestServer(t, explainer, everything), http.MethodPost, nodesPath, "application/json",
		`{"apiVersion":"diagnostics.koordinator.sh/v1alpha1","kind":"NodeExplanation","spec":{"nodeName":"n1"}}`)
	if message := decode[metav1.Status](t, data).Message; code != http.StatusNotFound || message != `nodes "n1" not found` {
		t.Errorf("status %d: %q", code, message)
	}
}

func TestAnswersRenderAsTables(t *testing.T) {
	server := newTestServer(t, &recorder{}, everything)
	_, data := send(t, server, http.MethodPost, podsPath, "application/json;as=Table;v=v1;g=meta.k8s.io", podQuestion)
	table := decode[metav1.Table](t, data)
	if len(table.Rows) != 1 || len(table.ColumnDefinitions) != len(table.Rows[0].Cells) {
		t.Fatalf("not a table of one row: %s", data)
	}
	if diff := cmp.Diff([]any{"web-1", "Unschedulable", "0/30", "no node has room"}, table.Rows[0].Cells); diff != "" {
		t.Errorf("cells differ (-want +got):\n%s", diff)
	}
}

func TestAnswersRenderAsYAML(t *testing.T) {
	code, data := send(t, newTestServer(t, &recorder{}, everything), http.MethodPost, podsPath, "application/yaml", podQuestion)
	if code != http.StatusCreated || !bytes.Contains(data, []byte("summary: no node has room")) {
		t.Errorf("status %d: %s", code, data)
	}
}

func TestOpenAPIDescribesTheKinds(t *testing.T) {
	server := newTestServer(t, &recorder{}, everything)
	for name, tc := range map[string]struct{ path, accept string }{
		"version 2": {"/openapi/v2", "application/json"},
		"version 3": {"/openapi/v3/apis/diagnostics.koordinator.sh/v1alpha1", "application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			code, data := send(t, server, http.MethodGet, tc.path, tc.accept, "")
			if code != http.StatusOK {
				t.Fatalf("status %d: %.300s", code, data)
			}
			for _, text := range []string{`"kind":"PodExplanation"`, `"kind":"NodeExplanation"`, `"kind":"NodeExplanationBatch"`, `"podName"`, `MaxNodes bounds the nodes listed`} {
				if !bytes.Contains(data, []byte(text)) {
					t.Errorf("the description lacks %s", text)
				}
			}
		})
	}
}
