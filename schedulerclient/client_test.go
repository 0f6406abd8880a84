package schedulerclient

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

var podResource = corev1.Resource("pods")

func newQuestion() *diagnosticsv1alpha1.PodExplanation {
	return &diagnosticsv1alpha1.PodExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1"},
		Spec:       diagnosticsv1alpha1.PodExplanationSpec{PodName: "web-1"},
	}
}

func bundleOf(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func newTestClient(t *testing.T, server *httptest.Server) *Client {
	t.Helper()
	client, err := New(&rest.Config{BearerToken: "of-the-manager"}, server.URL, func() []byte { return bundleOf(server) })
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func respond(t *testing.T, w http.ResponseWriter, code int, body any) {
	t.Helper()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		t.Error(err)
	}
}

func statusBody(err *apierrors.StatusError) metav1.Status {
	status := err.ErrStatus
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	return status
}

func TestTheQuestionReachesTheSchedulerWithTheManagersCredentials(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/explain/pod" {
			t.Errorf("%s %s", r.Method, r.URL.Path)
		}
		if got := r.Header.Get("Authorization"); got != "Bearer of-the-manager" {
			t.Errorf("authorization is %q", got)
		}
		var question diagnosticsv1alpha1.PodExplanation
		if err := json.NewDecoder(r.Body).Decode(&question); err != nil {
			t.Error(err)
		}
		if question.Kind != "PodExplanation" || question.Namespace != "shop" || question.Spec.PodName != "web-1" {
			t.Errorf("question is %+v", question)
		}
		question.Status.Verdict = diagnosticsv1alpha1.PodBound
		respond(t, w, http.StatusOK, question)
	}))
	defer server.Close()
	answer, err := newTestClient(t, server).ExplainPod(t.Context(), newQuestion())
	if err != nil {
		t.Fatal(err)
	}
	if answer.Status.Verdict != diagnosticsv1alpha1.PodBound {
		t.Errorf("verdict is %q", answer.Status.Verdict)
	}
}

func TestWhatTheSchedulerSaysAboutTheQuestionIsPassedOn(t *testing.T) {
	tests := map[string]struct {
		answer   *apierrors.StatusError
		wantCode int32
		wantText string
	}{
		"an unknown pod":             {apierrors.NewNotFound(podResource, "web-1"), http.StatusNotFound, "not found"},
		"too many questions":         {apierrors.NewTooManyRequests("busy", 1), http.StatusTooManyRequests, "busy"},
		"a standby":                  {apierrors.NewServiceUnavailable("not the leader"), http.StatusServiceUnavailable, "KOORD0005"},
		"a refusal of the manager":   {apierrors.NewForbidden(podResource, "", errors.New("no")), http.StatusServiceUnavailable, "KOORD0005"},
		"a failure of the scheduler": {apierrors.NewInternalError(errors.New("panic")), http.StatusServiceUnavailable, "panic"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				respond(t, w, int(tc.answer.ErrStatus.Code), statusBody(tc.answer))
			}))
			defer server.Close()
			_, err := newTestClient(t, server).ExplainPod(t.Context(), newQuestion())
			checkStatus(t, err, tc.wantCode, tc.wantText)
		})
	}
}

func checkStatus(t *testing.T, err error, wantCode int32, wantText string) {
	t.Helper()
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		t.Fatalf("error %v is not a status", err)
	}
	if status.ErrStatus.Code != wantCode || !strings.Contains(status.ErrStatus.Message, wantText) {
		t.Errorf("status %d %q, want %d with %q", status.ErrStatus.Code, status.ErrStatus.Message, wantCode, wantText)
	}
}

func TestReviewsAreAskedOnTheirPath(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var question diagnosticsv1alpha1.PlacementReview
		if err := json.NewDecoder(r.Body).Decode(&question); err != nil || question.Kind != "PlacementReview" || r.URL.Path != "/review/placements" {
			t.Errorf("%s got %+v, error %v", r.URL.Path, question, err)
		}
		question.Status.Origin.Leader = true
		question.Status.Placements = []diagnosticsv1alpha1.PodPlacement{{Node: "worker-1"}}
		respond(t, w, http.StatusOK, question)
	}))
	defer server.Close()
	answer, err := newTestClient(t, server).ReviewPlacements(t.Context(), &diagnosticsv1alpha1.PlacementReview{
		Spec: diagnosticsv1alpha1.PlacementReviewSpec{Pods: []diagnosticsv1alpha1.PlacementReviewPod{{Namespace: "shop", Name: "web-1"}}},
	})
	if err != nil || len(answer.Status.Placements) != 1 || answer.Status.Placements[0].Node != "worker-1" {
		t.Errorf("answer %+v, error %v", answer, err)
	}
}

func TestQuotasAreAskedAboutByNameAlone(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var question metav1.PartialObjectMetadata
		if err := json.NewDecoder(r.Body).Decode(&question); err != nil || question.Kind != "QuotaExplanation" || r.URL.Path != "/explain/quota" {
			t.Errorf("%s got %+v, error %v", r.URL.Path, question, err)
		}
		respond(t, w, http.StatusOK, diagnosticsv1alpha1.QuotaExplanation{ObjectMeta: metav1.ObjectMeta{Namespace: question.Namespace, Name: question.Name}})
	}))
	defer server.Close()
	answer, err := newTestClient(t, server).ExplainQuota(t.Context(), "team", "batch")
	if err != nil || answer.Namespace != "team" || answer.Name != "batch" {
		t.Errorf("answer %+v, error %v", answer, err)
	}
}

func TestAnAbsentSchedulerYieldsItsCode(t *testing.T) {
	tests := map[string]func(t *testing.T) *Client{
		"nothing listens": func(t *testing.T) *Client {
			server := httptest.NewTLSServer(http.NotFoundHandler())
			client := newTestClient(t, server)
			server.Close()
			return client
		},
		"the name does not resolve": func(t *testing.T) *Client {
			client, err := New(&rest.Config{}, "https://koord-scheduler.example:10260", func() []byte { return []byte("x") })
			if err != nil {
				t.Fatal(err)
			}
			client.lookup = func(context.Context, string) ([]string, error) { return nil, errors.New("no such host") }
			return client
		},
		"its certificate is not ours": func(t *testing.T) *Client {
			server := httptest.NewTLSServer(http.NotFoundHandler())
			t.Cleanup(server.Close)
			client := newTestClient(t, server)
			client.endpoint.Host = net.JoinHostPort("localhost", client.endpoint.Port())
			return client
		},
		"no certificate was issued yet": func(t *testing.T) *Client {
			server := httptest.NewTLSServer(http.NotFoundHandler())
			t.Cleanup(server.Close)
			client := newTestClient(t, server)
			client.bundle = func() []byte { return nil }
			return client
		},
		"something else answers": func(t *testing.T) *Client {
			server := httptest.NewTLSServer(http.NotFoundHandler())
			t.Cleanup(server.Close)
			return newTestClient(t, server)
		},
	}
	for name, build := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := build(t).ExplainPod(t.Context(), newQuestion())
			checkStatus(t, err, http.StatusServiceUnavailable, "KOORD0005")
			var status *apierrors.StatusError
			if errors.As(err, &status) && (status.ErrStatus.Details == nil || status.ErrStatus.Details.Causes[0].Type != "KOORD0005") {
				t.Errorf("the code is not a cause: %+v", status.ErrStatus.Details)
			}
		})
	}
}

func TestTheLeaderIsFoundAmongTheReplicas(t *testing.T) {
	tests := map[string]struct {
		// standby and leader say how each replica answers; a nil error is an answer.
		standby, leader *apierrors.StatusError
		wantLeader      bool
		wantAsked       []int32
	}{
		"the standby refuses": {
			standby: apierrors.NewServiceUnavailable("still reading the cluster"), wantLeader: true, wantAsked: []int32{1, 3},
		},
		"the standby answers too": {wantLeader: true, wantAsked: []int32{1, 3}},
		"the leader is down":      {leader: apierrors.NewServiceUnavailable("stopping"), wantAsked: []int32{3, 3}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var asked [2]atomic.Int32
			replica := func(i int, refusal *apierrors.StatusError) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					asked[i].Add(1)
					if refusal != nil {
						respond(t, w, int(refusal.ErrStatus.Code), statusBody(refusal))
						return
					}
					answer := newQuestion()
					answer.Status.Origin.Leader = i == 1
					respond(t, w, http.StatusOK, answer)
				})
			}
			client := newReplicatedClient(t, replica(0, tc.standby), replica(1, tc.leader))
			for range 3 {
				answer, err := client.ExplainPod(t.Context(), newQuestion())
				if err != nil {
					t.Fatal(err)
				}
				if answer.Status.Origin.Leader != tc.wantLeader {
					t.Errorf("answered by the leader: %v, want %v", answer.Status.Origin.Leader, tc.wantLeader)
				}
			}
			if diff := cmp.Diff(tc.wantAsked, []int32{asked[0].Load(), asked[1].Load()}); diff != "" {
				t.Errorf("questions a replica differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAReplicaThatHangsLeavesTimeForTheOthers(t *testing.T) {
	released := make(chan struct{})
	hanging := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		// The server notices that the client went once the body has been read.
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
		case <-released:
		}
	})
	leader := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer := newQuestion()
		answer.Status.Origin.Leader = true
		respond(t, w, http.StatusOK, answer)
	})
	client := newReplicatedClient(t, hanging, leader)
	t.Cleanup(func() { close(released) })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	answer, err := client.ExplainPod(ctx, newQuestion())
	if err != nil || !answer.Status.Origin.Leader {
		t.Errorf("answer %+v, error %v; want the leader's", answer, err)
	}
}

// newReplicatedClient serves two replicas on one port of two addresses, as the pods of a headless service do, and
// returns a client of both.
func newReplicatedClient(t *testing.T, first, second http.Handler) *Client {
	t.Helper()
	one := httptest.NewTLSServer(first)
	t.Cleanup(one.Close)
	_, port, err := net.SplitHostPort(one.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	two := httptest.NewUnstartedServer(second)
	if err := two.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	if two.Listener, err = net.Listen("tcp", net.JoinHostPort("127.0.0.2", port)); err != nil {
		t.Skipf("this machine has no second loopback address: %v", err)
	}
	two.StartTLS()
	t.Cleanup(two.Close)
	client := newTestClient(t, one)
	client.endpoint.Host = net.JoinHostPort("example.com", port)
	client.lookup = func(context.Context, string) ([]string, error) { return []string{"127.0.0.1", "127.0.0.2"}, nil }
	return client
}

func TestANewBundleIsTakenUp(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		respond(t, w, http.StatusOK, newQuestion())
	}))
	defer server.Close()
	client := newTestClient(t, server)
	right := client.bundle()
	bundle := []byte(nil)
	client.bundle = func() []byte { return bundle }
	if _, err := client.ExplainPod(t.Context(), newQuestion()); err == nil {
		t.Fatal("a scheduler was trusted without a certificate")
	}
	bundle = right
	if _, err := client.ExplainPod(t.Context(), newQuestion()); err != nil {
		t.Errorf("after the bundle came: %v", err)
	}
}

func TestEndpointsMustBeHTTPS(t *testing.T) {
	for _, endpoint := range []string{"http://localhost:10260", "localhost:10260", "https://", "://"} {
		if _, err := New(&rest.Config{}, endpoint, nil); err == nil {
			t.Errorf("endpoint %q was accepted", endpoint)
		}
	}
}

func TestANameWithoutAddressesIsAnAbsentScheduler(t *testing.T) {
	client, err := New(&rest.Config{}, "https://koord-scheduler.koordinator-system.svc", func() []byte { return nil })
	if err != nil {
		t.Fatal(err)
	}
	client.lookup = func(context.Context, string) ([]string, error) { return nil, nil }
	_, err = client.ExplainPod(t.Context(), newQuestion())
	checkStatus(t, err, http.StatusServiceUnavailable, "koord-scheduler.koordinator-system.svc has no address")
}
