package diagnostics

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/disclosure"
	"koordinator.sh/koord/grants"
	"koordinator.sh/koord/reviewhttp"
)

// explainerFunc answers with a function.
type explainerFunc func(context.Context, *diagnosticsv1alpha1.PodExplanation) (*diagnosticsv1alpha1.PodExplanation, error)

func (f explainerFunc) ExplainFor(ctx context.Context, question *diagnosticsv1alpha1.PodExplanation, _ disclosure.Access) (*diagnosticsv1alpha1.PodExplanation, error) {
	return f(ctx, question)
}

// ReviewPlacements finds a node for the first pod.
func (f explainerFunc) ReviewPlacements(_ context.Context, question *diagnosticsv1alpha1.PlacementReview) (*diagnosticsv1alpha1.PlacementReview, error) {
	answer := question.DeepCopy()
	answer.Status.Placements = []diagnosticsv1alpha1.PodPlacement{{Name: question.Spec.Pods[0].Name, Verdict: diagnosticsv1alpha1.PlacementFound, Node: "worker-1"}}
	return answer, nil
}

// onBehalf says that a request is made for a user.
func onBehalf(t *testing.T, request *http.Request) *http.Request {
	t.Helper()
	if err := grants.SetCaller(request.Header, &user.DefaultInfo{Name: "someone"}); err != nil {
		t.Fatal(err)
	}
	return request
}

func echo(_ context.Context, question *diagnosticsv1alpha1.PodExplanation) (*diagnosticsv1alpha1.PodExplanation, error) {
	answer := question.DeepCopy()
	answer.Status.Summary = "usage > threshold"
	return answer, nil
}

// objects explains quotas, of which there is one.
var objects = map[string]ObjectExplainer{"quota": func(_ context.Context, namespace, name string) (any, error) {
	if name == "gone" {
		return nil, apierrors.NewNotFound(diagnosticsv1alpha1.Resource("elasticquotas"), name)
	}
	return &diagnosticsv1alpha1.QuotaExplanation{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}, nil
}}

const goodQuestion = `{"metadata":{"namespace":"default"},"spec":{"podName":"web-1"}}`

func TestHandler(t *testing.T) {
	fails := func(err error) explainerFunc {
		return func(context.Context, *diagnosticsv1alpha1.PodExplanation) (*diagnosticsv1alpha1.PodExplanation, error) {
			return nil, err
		}
	}
	tests := []struct {
		name        string
		explain     explainerFunc
		method      string
		path        string
		contentType string
		body        string
		notReady    bool
		wantCode    int
		wantText    string
	}{
		{name: "a question is answered", body: goodQuestion, wantCode: 200, wantText: `"summary":"usage > threshold"`},
		{name: "a review is answered", path: ReviewPath, body: `{"spec":{"pods":[{"namespace":"shop","name":"web-1"}]}}`, wantCode: 200, wantText: `"node":"worker-1"`},
		{name: "a review of no pod", path: ReviewPath, body: `{}`, wantCode: 422, wantText: "spec.pods"},
		{name: "a review by GET", path: ReviewPath, method: http.MethodGet, wantCode: 405, wantText: "MethodNotAllowed"},
		{name: "a quota is explained", path: "/explain/quota", body: `{"metadata":{"namespace":"team","name":"batch"}}`, wantCode: 200, wantText: `"name":"batch","namespace":"team"`},
		{name: "a quota that does not exist", path: "/explain/quota", body: `{"metadata":{"namespace":"team","name":"gone"}}`, wantCode: 404, wantText: "gone"},
		{name: "a quota without a name", path: "/explain/quota", body: `{"metadata":{"namespace":"team"}}`, wantCode: 422, wantText: "metadata.name"},
		{name: "a path for the namespace of a quota", path: "/explain/quota", body: `{"metadata":{"namespace":"../..","name":"batch"}}`, wantCode: 422, wantText: "metadata.namespace"},
		{name: "a quota by GET", path: "/explain/quota", method: http.MethodGet, wantCode: 405, wantText: "MethodNotAllowed"},
		{name: "a quota while the caches are not filled", path: "/explain/quota", notReady: true, body: `{"metadata":{"namespace":"team","name":"batch"}}`, wantCode: 503, wantText: "still reading"},
		{name: "a charset does no harm", contentType: "application/json; charset=utf-8", body: goodQuestion, wantCode: 200, wantText: "usage"},
		{name: "another method", method: http.MethodGet, wantCode: 405, wantText: "MethodNotAllowed"},
		{name: "another path", path: "/explain/gang", body: goodQuestion, wantCode: 404, wantText: ExplainPath},
		{name: "another content type", contentType: "application/yaml", body: goodQuestion, wantCode: 415, wantText: "application/yaml"},
		{name: "not JSON", body: "?", wantCode: 400, wantText: "decode the request"},
		{name: "another kind", body: `{"kind":"NodeExplanation","metadata":{"namespace":"default"},"spec":{"podName":"web-1"}}`, wantCode: 422, wantText: "NodeExplanation"},
		{name: "no pod", body: `{"metadata":{"namespace":"default"}}`, wantCode: 422, wantText: "spec.podName"},
		{name: "a pod and a reservation", body: `{"metadata":{"namespace":"default"},"spec":{"podName":"web-1","reservationName":"r"}}`, wantCode: 422, wantText: "spec.podName"},
		{name: "a path for a reservation", body: `{"metadata":{"namespace":"default"},"spec":{"reservationName":"../r"}}`, wantCode: 422, wantText: "spec.reservationName"},
		{name: "a path for a namespace", body: `{"metadata":{"namespace":"../.."},"spec":{"podName":"web-1"}}`, wantCode: 422, wantText: "metadata.namespace"},
		{name: "too many nodes", body: `{"metadata":{"namespace":"default"},"spec":{"podName":"web-1","maxNodes":5001}}`, wantCode: 422, wantText: "spec.maxNodes"},
		{name: "too large", body: `{"metadata":{"namespace":"` + strings.Repeat("a", reviewhttp.MaxBody) + `"}}`, wantCode: 413, wantText: "limit is 65536 bytes"},
		{name: "the caches are not filled yet", notReady: true, body: goodQuestion, wantCode: 503, wantText: "still reading"},
		{name: "an unknown pod", body: goodQuestion, wantCode: 404, wantText: "NotFound", explain: fails(apierrors.NewNotFound(corev1.Resource("pods"), "web-1"))},
		{name: "an answer that takes too long", body: goodQuestion, wantCode: 504, wantText: "Timeout", explain: fails(context.DeadlineExceeded)},
		{name: "any other failure", body: goodQuestion, wantCode: 500, wantText: "broken", explain: fails(errors.New("broken"))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.explain == nil {
				test.explain = echo
			}
			method, path := http.MethodPost, ExplainPath
			if test.method != "" {
				method = test.method
			}
			if test.path != "" {
				path = test.path
			}
			request := onBehalf(t, httptest.NewRequest(method, path, strings.NewReader(test.body)))
			if test.contentType != "" {
				request.Header.Set("Content-Type", test.contentType)
			}
			recorder := httptest.NewRecorder()
			newHandler(test.explain, objects, func() bool { return !test.notReady }, nil).ServeHTTP(recorder, request)
			if recorder.Code != test.wantCode || !strings.Contains(recorder.Body.String(), test.wantText) {
				t.Errorf("answer %d %s, want %d with %q", recorder.Code, recorder.Body, test.wantCode, test.wantText)
			}
			if test.wantCode >= 400 {
				checkStatus(t, recorder, test.wantCode)
			}
		})
	}
}

func checkStatus(t *testing.T, recorder *httptest.ResponseRecorder, code int) {
	t.Helper()
	status := metav1.Status{}
	if err := json.Unmarshal(recorder.Body.Bytes(), &status); err != nil || status.Kind != "Status" || status.APIVersion != "v1" || int(status.Code) != code {
		t.Errorf("the error is not a Status: %s (%v)", recorder.Body, err)
	}
}

func TestHandlerBoundsWhatItAnswersAtOnce(t *testing.T) {
	release, entered := make(chan struct{}), make(chan struct{})
	slow := explainerFunc(func(ctx context.Context, question *diagnosticsv1alpha1.PodExplanation) (*diagnosticsv1alpha1.PodExplanation, error) {
		entered <- struct{}{}
		<-release
		return echo(ctx, question)
	})
	served := newHandler(slow, nil, func() bool { return true }, nil)
	ask := func() *httptest.ResponseRecorder {
		recorder := httptest.NewRecorder()
		served.ServeHTTP(recorder, onBehalf(t, httptest.NewRequest(http.MethodPost, ExplainPath, strings.NewReader(goodQuestion))))
		return recorder
	}
	codes := make(chan int, maxWaiting)
	for range maxWaiting {
		go func() { codes <- ask().Code }()
		<-entered
	}
	if refused := ask(); refused.Code != http.StatusTooManyRequests || refused.Header().Get("Retry-After") == "" {
		t.Errorf("one question too many gets %d with Retry-After %q", refused.Code, refused.Header().Get("Retry-After"))
	}
	close(release)
	for range maxWaiting {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("a question that waited gets %d", code)
		}
	}
}

func TestNobodyPassesUnknownOrUnauthorized(t *testing.T) {
	authentication := authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		name := r.Header.Get("Test-User")
		return &authenticator.Response{User: &user.DefaultInfo{Name: name}}, name != "", nil
	})
	authorization := authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetUser().GetName() == "manager" && a.GetVerb() == "post" && a.GetPath() == ExplainPath && !a.IsResourceRequest() {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})
	server := protect(newHandler(explainerFunc(echo), nil, func() bool { return true }, authorization), authentication, authorization)
	for name, want := range map[string]int{"": http.StatusUnauthorized, "nobody": http.StatusForbidden, "manager": http.StatusOK} {
		request := httptest.NewRequest(http.MethodPost, ExplainPath, strings.NewReader(goodQuestion))
		request.Header.Set("Test-User", name)
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, request)
		if recorder.Code != want {
			t.Errorf("user %q gets %d, want %d: %s", name, recorder.Code, want, recorder.Body)
		}
	}
}
