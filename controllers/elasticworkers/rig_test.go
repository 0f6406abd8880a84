package elasticworkers

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

var noon = time.Date(2026, 7, 24, 12, 0, 0, 0, time.UTC)

// rig is a cluster with one node and a Deployment of workers of 1000 batch-cpu, and the controller.
type rig struct {
	t          *testing.T
	client     client.Client
	clock      *clocktesting.FakePassiveClock
	recorder   *events.FakeRecorder
	reconciler *reconciler
	outlook    []diagnosticsv1alpha1.OfferOutlook
	// engine answers the workers' requests, which are counted; refuse is answered to reads of the scale.
	engine http.HandlerFunc
	server *httptest.Server
	asked  atomic.Int32
	refuse error
	// evicted are the pods that were, by name.
	evicted []string
}

func newRig(t *testing.T, edit func(*schedulingv1alpha1.ElasticWorkers), objects ...client.Object) *rig {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, slov1alpha1.AddToScheme, schedulingv1alpha1.AddToScheme, schedulingsigsv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	r := &rig{t: t, clock: clocktesting.NewFakePassiveClock(noon), recorder: events.NewFakeRecorder(1000)}
	r.engine = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { r.asked.Add(1); r.engine(w, q) }))
	t.Cleanup(r.server.Close)
	objects = append(objects, r.workers("trino", edit), batchNode("4000"), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "sql", Name: "trino"}, Spec: appsv1.DeploymentSpec{Replicas: new(int32(0))},
	})
	r.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&schedulingv1alpha1.ElasticWorkers{}).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(pod client.Object) []string { return []string{pod.(*corev1.Pod).Spec.NodeName} }).
		WithIndex(&corev1.Pod{}, "status.phase", func(pod client.Object) []string { return []string{string(pod.(*corev1.Pod).Status.Phase)} }).
		WithInterceptorFuncs(interceptor.Funcs{SubResourceCreate: r.evict}).Build()
	r.restart()
	return r
}

// restart is a manager that knows nothing but what is in the cluster.
func (r *rig) restart() {
	asker := newAsker(r.client, r.client)
	asker.allows = func(netip.Addr) bool { return true } // the server of a test is on this machine
	asker.client.Timeout = 300 * time.Millisecond
	r.reconciler = &reconciler{client: r.client, live: r.client, scales: r, nodes: r, recorder: r.recorder, asker: asker, clock: r.clock}
}

func (r *rig) evict(_ context.Context, c client.Client, _ string, object client.Object, _ client.Object, _ ...client.SubResourceCreateOption) error {
	r.evicted = append(r.evicted, object.GetName())
	return c.Delete(r.t.Context(), object)
}

// port of the engine.
func (r *rig) port() int32 { return int32(r.server.Listener.Addr().(*net.TCPAddr).Port) }

// workers are ElasticWorkers of the Deployment with a drain by HTTP.
func (r *rig) workers(name string, edit func(*schedulingv1alpha1.ElasticWorkers)) *schedulingv1alpha1.ElasticWorkers {
	out := &schedulingv1alpha1.ElasticWorkers{ObjectMeta: metav1.ObjectMeta{Namespace: "sql", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(noon)}}
	out.Spec = schedulingv1alpha1.ElasticWorkersSpec{
		TargetRef: schedulingv1alpha1.ElasticWorkersTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "trino"}, MinReplicas: 1, MaxReplicas: 10,
		HeadroomPercent: new(int32(0)), ScaleDown: &schedulingv1alpha1.ElasticWorkersRate{StabilizationSeconds: new(int32(0)), PeriodSeconds: new(int32(1))},
		ScaleUp: &schedulingv1alpha1.ElasticWorkersRate{PeriodSeconds: new(int32(1))},
		Drain: &schedulingv1alpha1.ElasticWorkersDrain{
			HTTP: &schedulingv1alpha1.ElasticWorkersDrainHTTP{
				Port: r.port(), Path: "/v1/info/state", Body: `"SHUTTING_DOWN"`, ContentType: "application/json",
				Headers: []schedulingv1alpha1.ElasticWorkersHeader{{Name: "X-Trino-User", Value: "koordinator"}},
				Done:    &schedulingv1alpha1.ElasticWorkersDone{Path: "/done", Answer: "yes"},
			},
			DeadlineSeconds: new(int32(60)),
		},
	}
	if edit != nil {
		edit(out)
	}
	return out
}

func batchNode(amount string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}}
	node.Status.Allocatable = corev1.ResourceList{extension.BatchCPU: resource.MustParse(amount), corev1.ResourcePods: resource.MustParse("100")}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return node
}

func (r *rig) ExplainNode(context.Context, diagnosticsv1alpha1.NodeExplanationSpec) (diagnosticsv1alpha1.NodeExplanationStatus, error) {
	return diagnosticsv1alpha1.NodeExplanationStatus{Outlook: r.outlook}, nil
}

func (r *rig) get(ctx context.Context, namespace string, target schedulingv1alpha1.ElasticWorkersTarget) (*autoscalingv1.Scale, error) {
	if r.refuse != nil {
		return nil, r.refuse
	}
	if target.Kind != "Deployment" {
		return nil, &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: target.Kind}}
	}
	deployment := &appsv1.Deployment{}
	if err := r.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: target.Name}, deployment); err != nil {
		return nil, err
	}
	return &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: target.Name, ResourceVersion: deployment.ResourceVersion},
		Spec:       autoscalingv1.ScaleSpec{Replicas: *deployment.Spec.Replicas}, Status: autoscalingv1.ScaleStatus{Selector: "app=trino"},
	}, nil
}

func (r *rig) set(ctx context.Context, target schedulingv1alpha1.ElasticWorkersTarget, read *autoscalingv1.Scale, replicas int32) error {
	deployment := &appsv1.Deployment{}
	if err := r.client.Get(ctx, types.NamespacedName{Namespace: read.Namespace, Name: target.Name}, deployment); err != nil {
		return err
	}
	if deployment.ResourceVersion != read.ResourceVersion {
		return apierrors.NewConflict(appsv1.Resource("deployments"), target.Name, fmt.Errorf("it has changed"))
	}
	deployment.Spec.Replicas = &replicas
	return r.client.Update(ctx, deployment)
}

// pods of the workers, with an address, on the node.
func (r *rig) pods() []corev1.Pod {
	var list corev1.PodList
	if err := r.client.List(r.t.Context(), &list, client.InNamespace("sql"), client.MatchingLabels{"app": "trino"}); err != nil {
		r.t.Fatal(err)
	}
	return list.Items
}

// replicate does what the controllers of Deployments and ReplicaSets, the scheduler and the kubelet do: as many workers as wanted run, and
// those with the least deletion cost go.
func (r *rig) replicate() {
	r.t.Helper()
	wanted, pods := int(r.size()), r.pods()
	for i := 0; len(pods)-i < wanted; i-- {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "sql", GenerateName: "trino-", Labels: map[string]string{"app": "trino"}, CreationTimestamp: metav1.NewTime(r.clock.Now())}}
		pod.Spec.NodeName, pod.Status.Phase, pod.Status.PodIP = "node-a", corev1.PodRunning, "127.0.0.1"
		pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{extension.BatchCPU: resource.MustParse("1000")}}}}
		if err := r.client.Create(r.t.Context(), pod); err != nil {
			r.t.Fatal(err)
		}
		pod.UID = types.UID(pod.Name)
		if err := r.client.Update(r.t.Context(), pod); err != nil {
			r.t.Fatal(err)
		}
	}
	for over := len(pods) - wanted; over > 0; over-- {
		victim := len(pods) - 1
		for i := range pods {
			if pods[i].Annotations[annotationDeletionCost] == drainedCost && markOf(&pods[i], r.object()).Done {
				victim = i
			}
		}
		if err := r.client.Delete(r.t.Context(), &pods[victim]); err != nil {
			r.t.Fatal(err)
		}
		pods = append(pods[:victim], pods[victim+1:]...)
	}
}

func (r *rig) size() int32 {
	deployment := &appsv1.Deployment{}
	if err := r.client.Get(r.t.Context(), types.NamespacedName{Namespace: "sql", Name: "trino"}, deployment); err != nil {
		r.t.Fatal(err)
	}
	return *deployment.Spec.Replicas
}

func (r *rig) object() *schedulingv1alpha1.ElasticWorkers {
	object := &schedulingv1alpha1.ElasticWorkers{}
	if err := r.client.Get(r.t.Context(), types.NamespacedName{Namespace: "sql", Name: "trino"}, object); err != nil {
		r.t.Fatal(err)
	}
	return object
}

// offer changes what the node offers.
func (r *rig) offer(amount string) {
	r.t.Helper()
	node := batchNode(amount)
	if err := r.client.Get(r.t.Context(), client.ObjectKeyFromObject(node), node); err != nil {
		r.t.Fatal(err)
	}
	node.Status.Allocatable[extension.BatchCPU] = resource.MustParse(amount)
	if err := r.client.Status().Update(r.t.Context(), node); err != nil {
		r.t.Fatal(err)
	}
}

// pass is one pass some seconds later, after which the Deployment does its part.
func (r *rig) pass() {
	r.t.Helper()
	r.clock.SetTime(r.clock.Now().Add(5 * time.Second))
	if _, err := r.reconciler.Reconcile(r.t.Context(), reconcile.Request{}); err != nil {
		r.t.Fatal(err)
	}
	if r.refuse == nil {
		r.replicate()
	}
}

// grown is the rig once it has as many workers as the node offers.
func (r *rig) grown() *rig {
	r.t.Helper()
	for range 3 {
		r.pass()
	}
	if r.size() != 4 {
		r.t.Fatalf("the target has %d workers, want 4: %+v", r.size(), r.object().Status)
	}
	return r
}
