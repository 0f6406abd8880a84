package services

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// plugin is a provider with fixed endpoints.
type plugin struct {
	name      string
	endpoints []Endpoint
}

func (p plugin) Name() string          { return p.name }
func (p plugin) Endpoints() []Endpoint { return p.endpoints }

func says(text string, err error) func(context.Context, Call) (any, error) {
	return func(_ context.Context, call Call) (any, error) {
		return map[string]string{"text": text + call.Parameter("name") + call.Query.Get("q")}, err
	}
}

func yes() bool { return true }

// world is a cache with one node that has one pod.
func world(t *testing.T) *World {
	t.Helper()
	logger := klog.Background()
	metrics.Register()
	filled := cache.New(t.Context(), nil, false)
	filled.AddNode(logger, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		"cpu": resource.MustParse("8"), "example.com/gpu": resource.MustParse("2"), "pods": resource.MustParse("110"),
	}}})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: types.UID("u")}, Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{
		Env: []corev1.EnvVar{{Name: "SECRET", Value: "hidden"}}, Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("500m")}},
	}}}}
	if err := filled.AddPod(logger, pod); err != nil {
		t.Fatal(err)
	}
	return NewWorld(filled)
}

func TestHandler(t *testing.T) {
	providers := []Provider{
		plugin{"A", []Endpoint{{"things", says("all", nil)}, {"things/{name}", says("one ", nil)}, {"broken", says("", errors.New("no luck"))}, {"gone", says("", NotFound("cannot find it"))}}},
		plugin{"A", []Endpoint{{"things", says("of another profile", nil)}}},
		plugin{"B", []Endpoint{{"endless", func(context.Context, Call) (any, error) { return func() {}, nil }}}},
	}
	tests := []struct {
		name, method, path string
		follower, filling  bool
		wantCode           int
		wantText           string
	}{
		{name: "a list", path: "plugins/A/things?q=!", wantCode: 200, wantText: `{"text":"all!"}`},
		{name: "one of them", path: "plugins/A/things/x", wantCode: 200, wantText: `{"text":"one x"}`},
		{name: "an error", path: "plugins/A/broken", wantCode: 500, wantText: `{"message":"no luck"}`},
		{name: "what does not exist", path: "plugins/A/gone", wantCode: 404, wantText: `{"message":"cannot find it"}`},
		{name: "what cannot be encoded", path: "plugins/B/endless", wantCode: 500, wantText: `{"message":"the answer cannot be encoded"}`},
		{name: "an unknown path", path: "plugins/C/things", wantCode: 404, wantText: `{"message":"unknown path; /apis/v1/__services__ lists those that are served"}`},
		{name: "a write", method: http.MethodPut, path: "plugins/A/things", wantCode: 405, wantText: `{"message":"these paths can only be read"}`},
		{name: "not the leader", path: "plugins/A/things", follower: true, wantCode: 503, wantText: `{"message":"the instance is not leader"}`},
		{name: "not ready", path: "plugins/A/things", filling: true, wantCode: 503, wantText: `{"message":"the scheduler is still reading the cluster"}`},
		{
			name: "the list of paths", path: "__services__", wantCode: 200,
			wantText: `{"GET":["/apis/v1/__services__","/apis/v1/nodes/:nodeName","/apis/v1/plugins/A/broken","/apis/v1/plugins/A/gone","/apis/v1/plugins/A/things","/apis/v1/plugins/A/things/:name","/apis/v1/plugins/B/endless"]}`,
		},
		{name: "an unknown node", path: "nodes/m", wantCode: 404, wantText: `{"message":"cannot find node m"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			handler := NewHandler(Options{
				Providers: providers, Leads: func() bool { return !test.follower }, Ready: func() bool { return !test.filling }, Nodes: world(t).Nodes,
			})
			method := test.method
			if method == "" {
				method = http.MethodGet
			}
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, Base+test.path, nil))
			if answer.Code != test.wantCode {
				t.Errorf("code %d, want %d", answer.Code, test.wantCode)
			}
			if diff := cmp.Diff(test.wantText, strings.TrimSpace(answer.Body.String())); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNodesAreShownWithoutWhatPodsContain(t *testing.T) {
	handler := NewHandler(Options{Leads: yes, Ready: yes, Nodes: world(t).Nodes})
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, Base+"nodes/n", nil))
	text := answer.Body.String()
	for _, want := range []string{`"name":"n"`, `{"metadata":{"namespace":"ns","name":"p","uid":"u"}}`, `"requested":{"cpu":"500m"`, `"example.com/gpu":"2"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	if strings.Contains(text, "hidden") {
		t.Errorf("the environment of a pod is shown: %s", text)
	}
}

func TestNodesThatWereHandedOutStayAsTheyAre(t *testing.T) {
	from := world(t)
	nodes, err := from.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, err := nodes.Get("n")
	if err != nil {
		t.Fatal(err)
	}
	logger := klog.Background()
	if err := from.cache.AddPod(logger, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "q", UID: "v"}, Spec: corev1.PodSpec{NodeName: "n"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Nodes(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(before.GetPods()) != 1 {
		t.Errorf("it has %d pods all of a sudden", len(before.GetPods()))
	}
	if list, err := nodes.List(); err != nil || len(list) != 1 || len(list[0].GetPods()) != 2 {
		t.Errorf("list %v, error %v", list, err)
	}
}

func TestRequestsAreBounded(t *testing.T) {
	release, entered := make(chan struct{}), make(chan struct{}, maxWaiting)
	slow := plugin{"A", []Endpoint{{"slow", func(context.Context, Call) (any, error) {
		entered <- struct{}{}
		<-release
		return "done", nil
	}}}}
	handler := NewHandler(Options{Providers: []Provider{slow}, Leads: yes, Ready: yes, Nodes: world(t).Nodes})
	ask := func() int {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, Base+"plugins/A/slow", nil))
		return answer.Code
	}
	var asking sync.WaitGroup
	for range maxWaiting {
		asking.Go(func() {
			if code := ask(); code != http.StatusOK {
				t.Errorf("code %d", code)
			}
		})
	}
	for range maxWaiting {
		<-entered
	}
	if code := ask(); code != http.StatusTooManyRequests {
		t.Errorf("one too many gets code %d", code)
	}
	close(release)
	asking.Wait()
}
