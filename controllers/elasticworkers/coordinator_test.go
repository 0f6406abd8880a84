package elasticworkers

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// byCoordinator has workers asked through the Service of their coordinator, by name and address.
func byCoordinator(w *schedulingv1alpha1.ElasticWorkers) {
	drain := w.Spec.Drain.HTTP
	drain.Method, drain.Port, drain.Service = http.MethodPost, 0, &schedulingv1alpha1.ElasticWorkersService{Name: "dask-scheduler", Port: 8787}
	drain.Path, drain.Body = "/retire/$(POD_NAMESPACE)/$(POD_NAME)", `{"workers":["tcp://$(POD_IP):9000"],"cost":"$$(5)"}`
	drain.AnswerContains, drain.Done.Path = `"$(POD_NAME)"`, "/retire/$(POD_NAME)"
}

// coordinate creates the Service, and a pod that is ready behind it; edit changes them before.
func (r *rig) coordinate(edit func(*corev1.Service, *corev1.Pod)) *rig {
	r.t.Helper()
	labels := map[string]string{"app": "dask-scheduler"}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "sql", Name: "dask-scheduler"}, Spec: corev1.ServiceSpec{
		Selector: labels, Ports: []corev1.ServicePort{{Port: 8786}, {Port: 8787, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("http")}},
	}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "sql", Name: "dask-scheduler-0", Labels: labels}}
	pod.Spec.NodeName, pod.Spec.Containers = "node-a", []corev1.Container{{Name: "main", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: r.port()}}}}
	pod.Status.Phase, pod.Status.PodIP = corev1.PodRunning, "127.0.0.1"
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if edit != nil {
		edit(service, pod)
	}
	for _, object := range []client.Object{service, pod} {
		if err := r.client.Create(r.t.Context(), object); err != nil {
			r.t.Fatal(err)
		}
	}
	return r
}

// TestCoordinatorsAreAskedForWorkers: the request names the worker, and the answer says whether it has finished.
func TestCoordinatorsAreAskedForWorkers(t *testing.T) {
	var mutex sync.Mutex
	var requests []string
	r := newRig(t, byCoordinator).coordinate(nil).grown()
	r.engine = func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		mutex.Lock()
		defer mutex.Unlock()
		requests = append(requests, strings.TrimSpace(q.Method+" "+q.URL.Path+" "+string(body)))
		if q.Method == http.MethodGet {
			_, _ = io.WriteString(w, "yes")
			return
		}
		_, name, _ := strings.Cut(q.URL.Path, "/retire/sql/")
		_, _ = io.WriteString(w, `{"`+name+`":{}}`)
	}
	r.offer("3000")
	r.pass()
	r.pass()
	draining := r.object().Status.Draining
	if len(draining) != 1 || draining[0].Message != "was asked to finish" {
		t.Fatalf("draining %+v, want one that was asked to finish", draining)
	}
	r.pass()
	r.pass()
	name := draining[0].Name
	want := []string{`POST /retire/sql/` + name + ` {"workers":["tcp://127.0.0.1:9000"],"cost":"$(5)"}`, "GET /retire/" + name}
	if !slices.Equal(requests, want) || r.size() != 3 || slices.ContainsFunc(r.pods(), func(p corev1.Pod) bool { return p.Name == name }) {
		t.Errorf("%d workers, requests %q; want 3 without %s, and %q", r.size(), requests, name, want)
	}
}

// TestCoordinatorsThatDoNotRetireAWorkerAreAskedAgain: it is not taken away before it was asked to finish, or its deadline is over.
func TestCoordinatorsThatDoNotRetireAWorkerAreAskedAgain(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	tests := map[string]struct {
		edit        func(*corev1.Service, *corev1.Pod)
		engine      http.HandlerFunc
		wantMessage string
	}{
		"there is no such service":            {func(s *corev1.Service, _ *corev1.Pod) { s.Name = "other" }, nil, `read service "dask-scheduler": services "dask-scheduler" not found`},
		"the service is for any address":      {func(s *corev1.Service, _ *corev1.Pod) { s.Spec.Selector = nil }, nil, `service "dask-scheduler" does not select pods`},
		"the service is a name":               {func(s *corev1.Service, _ *corev1.Pod) { s.Spec.Type = corev1.ServiceTypeExternalName }, nil, "does not select pods"},
		"the service lacks the port":          {func(s *corev1.Service, _ *corev1.Pod) { s.Spec.Ports[1].Port = 80 }, nil, `service "dask-scheduler" has no TCP port 8787`},
		"the port is for UDP":                 {func(s *corev1.Service, _ *corev1.Pod) { s.Spec.Ports[1].Protocol = corev1.ProtocolUDP }, nil, "has no TCP port 8787"},
		"the pod has no port of the name":     {func(_ *corev1.Service, p *corev1.Pod) { p.Spec.Containers[0].Ports[0].Name = "" }, nil, `no container has a port "http"`},
		"the pod is not ready":                {func(_ *corev1.Service, p *corev1.Pod) { p.Status.Conditions = nil }, nil, `no pod of service "dask-scheduler" is ready`},
		"the pod is in another namespace":     {func(_ *corev1.Service, p *corev1.Pod) { p.Namespace = "other" }, nil, "is ready"},
		"the pod is on the host network":      {func(_ *corev1.Service, p *corev1.Pod) { p.Spec.HostNetwork = true }, nil, "the pod is on the host network"},
		"nothing listens there":               {func(s *corev1.Service, _ *corev1.Pod) { s.Spec.Ports[1].TargetPort = intstr.FromInt32(1) }, nil, "connection refused"},
		"it refuses":                          {nil, status(http.StatusForbidden), `answers "403 Forbidden"`},
		"it fails":                            {nil, status(http.StatusInternalServerError), `answers "500 Internal Server Error"`},
		"it knows no such worker":             {nil, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }, `the answer "{}" does not contain "\"trino-`},
		"it answers nothing":                  {nil, status(http.StatusOK), `the answer "" does not contain`},
		"it answers something else than HTTP": {nil, garbage, "malformed HTTP"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, byCoordinator).coordinate(tc.edit).grown()
			if tc.engine != nil {
				r.engine = tc.engine
			}
			r.offer("3000")
			for range 4 {
				r.pass()
			}
			draining := r.object().Status.Draining
			if len(draining) != 1 || !strings.Contains(draining[0].Message, tc.wantMessage) || !strings.HasPrefix(draining[0].Message, "could not be asked: ") || r.size() != 4 {
				t.Fatalf("%d workers, %+v; want 4, and one that could not be asked: %s", r.size(), draining, tc.wantMessage)
			}
			if asked := r.asked.Load(); tc.edit == nil && asked < 2 {
				t.Errorf("%d requests, want it to be asked again", asked)
			} else if tc.edit != nil && asked > 0 {
				t.Errorf("%d requests, want none", asked)
			}
		})
	}
}

// garbage answers what is not HTTP.
func garbage(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return // the answer is then empty, which the test does not take
	}
	_, _ = io.WriteString(connection, "nonsense\r\n\r\n")
	_ = connection.Close()
}
