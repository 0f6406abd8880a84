package reservepods

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	fcache "k8s.io/client-go/tools/cache/testing"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/testing/defaults"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
	"koordinator.sh/koord/scheduler/plugins/reservation"
	"koordinator.sh/koord/scheduler/state/reservations"
	"koordinator.sh/koord/test/informertest"
)

const name = "koord-scheduler"

// objects are the Reservations of a cluster, kept as an API server would: it is a Writer, and the source of informers.
type objects struct {
	*fcache.FakeControllerSource
	mutex   sync.Mutex
	byName  map[string]*schedulingv1alpha1.Reservation
	version int
	// silent changes are not sent to watches, until look.
	silent bool
}

func newObjects() *objects {
	return &objects{FakeControllerSource: fcache.NewFakeControllerSource(), byName: map[string]*schedulingv1alpha1.Reservation{}}
}

func (o *objects) create(r *schedulingv1alpha1.Reservation) {
	o.change(r.Name, func(*schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation { return r.DeepCopy() })
}

// change replaces a Reservation, given as nil when there is none; nil deletes it.
func (o *objects) change(name string, edit func(*schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	before := o.byName[name]
	after := edit(before.DeepCopy())
	if after == nil {
		if before != nil {
			o.version++ // as the source counts
			delete(o.byName, name)
			o.send(watch.Deleted, before)
		}
		return
	}
	o.version++
	if before == nil || !equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		after.Generation++
	}
	after.ResourceVersion = fmt.Sprint(o.version)
	o.byName[name] = after
	if before == nil {
		o.Add(after.DeepCopy())
	} else {
		o.send(watch.Modified, after.DeepCopy())
	}
}

// send is a change of what is known.
func (o *objects) send(change watch.EventType, object runtime.Object) {
	probability := 1.0
	if o.silent {
		probability = 0
	}
	o.Change(watch.Event{Type: change, Object: object}, probability)
}

// hush keeps changes from watches.
func (o *objects) hush() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.silent = true
}

// look breaks watches, so that informers list what there is.
func (o *objects) look() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.silent = false
	o.ResetWatch()
}

func (o *objects) get(name string) *schedulingv1alpha1.Reservation {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.byName[name].DeepCopy()
}

// writer is the objects as a Writer.
type writer struct{ *objects }

var notFound = apierrors.NewNotFound(reservations.Resource.GroupResource(), "r")

func (w writer) Get(_ context.Context, name string) (*schedulingv1alpha1.Reservation, error) {
	if found := w.get(name); found != nil {
		return found, nil
	}
	return nil, notFound
}

func (w writer) Annotate(_ context.Context, object *schedulingv1alpha1.Reservation, annotations map[string]string) (changed *schedulingv1alpha1.Reservation, err error) {
	w.change(object.Name, func(r *schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation {
		if r == nil {
			err = notFound
			return nil
		}
		if r.Annotations == nil {
			r.Annotations = map[string]string{}
		}
		maps.Copy(r.Annotations, annotations)
		changed = r
		return r
	})
	return changed.DeepCopy(), err
}

func (w writer) WriteStatus(_ context.Context, object *schedulingv1alpha1.Reservation, status *schedulingv1alpha1.ReservationStatus) (err error) {
	w.change(object.Name, func(r *schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation {
		switch {
		case r == nil:
			err = notFound
		case r.UID != object.UID || r.ResourceVersion != object.ResourceVersion:
			err = apierrors.NewConflict(reservations.Resource.GroupResource(), object.Name, fmt.Errorf("version %s is not %s", object.ResourceVersion, r.ResourceVersion))
		default:
			r.Status = *status.DeepCopy()
		}
		return r
	})
	return err
}

func (w writer) Delete(_ context.Context, object *schedulingv1alpha1.Reservation) error {
	w.change(object.Name, func(*schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation { return nil })
	return nil
}

// cluster is what outlives a scheduler.
type cluster struct {
	client  *fake.Clientset
	objects *objects
}

func newCluster(objects ...runtime.Object) *cluster {
	c := &cluster{client: informertest.NewClientset(objects...), objects: newObjects()}
	c.client.PrependReactor("create", "pods", c.bind)
	return c
}

// bind does what the API server does with a binding.
func (c *cluster) bind(action clienttesting.Action) (bool, runtime.Object, error) {
	if action.GetSubresource() != "binding" {
		return false, nil, nil
	}
	binding := action.(clienttesting.CreateAction).GetObject().(*corev1.Binding)
	gvr := corev1.SchemeGroupVersion.WithResource("pods")
	object, err := c.client.Tracker().Get(gvr, binding.Namespace, binding.Name)
	if err != nil {
		return true, nil, err
	}
	pod := object.(*corev1.Pod).DeepCopy()
	pod.Spec.NodeName = binding.Target.Name
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	maps.Copy(pod.Annotations, binding.Annotations)
	return true, binding, c.client.Tracker().Update(gvr, pod, binding.Namespace)
}

// running is a scheduler at work.
type running struct {
	*cluster
	t          testing.TB
	scheduler  *scheduler.Scheduler
	state      *reservations.State
	controller *Controller
	stop       func()
}

// start runs a scheduler with the plugin on the cluster until stop or the end of the test.
func (c *cluster) start(t testing.TB, args string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	factory := scheduler.NewInformerFactory(c.client, 0)
	pods, nodes := factory.Core().V1().Pods().Informer(), factory.Core().V1().Nodes().Informer()
	state, err := reservations.NewFrom(c.objects, pods)
	if err != nil {
		t.Fatal(err)
	}
	var built []fwk.Plugin
	registry := frameworkruntime.Registry{
		defaultprebind.Name: defaultprebind.New,
		reservation.Name: func(ctx context.Context, object runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			plugin, err := reservation.Factory(state, writer{c.objects}, time.Now)(ctx, object, handle)
			built = append(built, plugin)
			return plugin, err
		},
	}
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: c.client.EventsV1()})
	sched, err := scheduler.New(ctx, c.client, factory, nil, profile.NewRecorderFactory(broadcaster),
		scheduler.WithProfiles(profileOf(args)), scheduler.WithFrameworkOutOfTreeRegistry(registry),
		scheduler.WithPodInitialBackoffSeconds(0), scheduler.WithPodMaxBackoffSeconds(0))
	if err != nil {
		t.Fatal(err)
	}
	for name, inner := range sched.Profiles {
		sched.Profiles[name] = frameworkext.Wrap(inner, built, nil)
	}
	bridge := New(state, writer{c.objects}, time.Now)
	if err := frameworkext.Apply(sched, bridge.Seams()); err != nil {
		t.Fatal(err)
	}
	decoded, _ := decision.DecodeArgs(&runtime.Unknown{Raw: []byte(args)})
	controller, err := NewController(Options{
		State: state, Writer: writer{c.objects}, Client: c.client, Pods: pods, Nodes: nodes, Args: decoded, Leading: func() bool { return true }, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for _, run := range []func(context.Context){state.Run, bridge.Run, controller.Run} {
		work.Go(func() { run(ctx) })
	}
	if err := sched.WaitForHandlersSync(ctx); err != nil {
		t.Fatal(err)
	}
	work.Go(func() { sched.Run(ctx) })
	r := &running{cluster: c, t: t, scheduler: sched, state: state, controller: controller, stop: sync.OnceFunc(func() { cancel(); work.Wait(); factory.Shutdown() })}
	t.Cleanup(r.stop)
	return r
}

func profileOf(args string) config.KubeSchedulerProfile {
	plugins := defaults.PluginsV1.DeepCopy()
	add := func(set *config.PluginSet, names ...string) {
		for _, name := range slices.Backward(names) {
			set.Enabled = slices.Insert(set.Enabled, 0, config.Plugin{Name: name})
		}
	}
	add(&plugins.PostFilter, reservation.Name)
	add(&plugins.Bind, reservation.Name, defaultprebind.Name)
	plugins.MultiPoint.Enabled = append(plugins.MultiPoint.Enabled, config.Plugin{Name: reservation.Name, Weight: 5000}, config.Plugin{Name: defaultprebind.Name})
	given := config.KubeSchedulerProfile{SchedulerName: name, Plugins: plugins, PluginConfig: slices.Clone(defaults.PluginConfigsV1)}
	if args != "" {
		given.PluginConfig = append(given.PluginConfig, config.PluginConfig{Name: reservation.Name, Args: &runtime.Unknown{Raw: []byte(args), ContentType: runtime.ContentTypeJSON}})
	}
	return given
}

func newNode(name, cpu string) *corev1.Node {
	amounts := corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("100Gi"), "pods": resource.MustParse("100")}
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}, Status: corev1.NodeStatus{Allocatable: amounts, Capacity: amounts}}
}

func newPod(name, app, cpu string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{SchedulerName: "koord-scheduler", Priority: new(int32(100)), Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)},
		}}}},
	}
}

// newReservation is pending, for pods labelled app=NAME.
func newReservation(name, cpu string, once bool) *schedulingv1alpha1.Reservation {
	return &schedulingv1alpha1.Reservation{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.Now()},
		Spec: schedulingv1alpha1.ReservationSpec{
			Template: &corev1.PodTemplateSpec{Spec: newPod("", "", cpu).Spec}, AllocateOnce: &once, AllocatePolicy: "Aligned",
			Owners: []schedulingv1alpha1.ReservationOwner{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}}},
		},
	}
}

func (r *running) create(pods ...*corev1.Pod) {
	r.t.Helper()
	for _, pod := range pods {
		if _, err := r.client.CoreV1().Pods(pod.Namespace).Create(context.Background(), pod, metav1.CreateOptions{}); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *running) delete(names ...string) {
	r.t.Helper()
	for _, name := range names {
		if err := r.client.CoreV1().Pods("default").Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (c *cluster) pod(name string) *corev1.Pod {
	pod, err := c.client.CoreV1().Pods("default").Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return pod
}

// placed returns the node of a pod and the reservation that it uses: "node-1", "node-1/r" or "".
func (c *cluster) placed(name string) string {
	pod := c.pod(name)
	if pod == nil {
		return "gone"
	}
	allocated, _ := extension.GetReservationAllocated(pod.Annotations)
	if pod.Spec.NodeName == "" || allocated == nil {
		return pod.Spec.NodeName
	}
	return pod.Spec.NodeName + "/" + allocated.Name
}

// requested is what a node has in use in the scheduler's cache, in milliCPU.
func (r *running) requested(node string) int64 {
	info := r.scheduler.Cache.Dump().Nodes[node]
	if info == nil {
		return -1
	}
	return info.Requested.MilliCPU
}

// held is what the reserve pods of a node hold.
func (r *running) held(node string) int64 {
	info := r.scheduler.Cache.Dump().Nodes[node]
	if info == nil {
		return -1
	}
	var sum int64
	for _, pod := range info.Pods {
		if decision.IsReservePod(pod.GetPod()) {
			sum += decision.RequestsOf(pod.GetPod())["cpu"]
		}
	}
	return sum
}

func until[T comparable](t testing.TB, what string, want T, get func() T) {
	t.Helper()
	var got T
	err := wait.PollUntilContextTimeout(context.Background(), 5*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		got = get()
		return got == want, nil
	})
	if err != nil {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

// phase of a Reservation and its node, once the scheduler has seen that it is placed.
func (r *running) phase(name string) func() string {
	return func() string {
		object := r.objects.get(name)
		if object == nil {
			return "gone"
		}
		if _, seen := r.state.ByUID(object.UID); decision.Active(object) && !seen {
			return "unseen"
		}
		return string(object.Status.Phase) + " " + object.Status.NodeName
	}
}

func (r *running) placement(name string) func() string {
	return func() string { return r.placed(name) }
}

// failed returns a condition that is true once a failed attempt to place the pod was reported.
func (r *running) failed(name string) func() bool {
	return func() bool {
		pod := r.pod(name)
		return pod != nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Reason == corev1.PodReasonUnschedulable })
	}
}

func encode(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
