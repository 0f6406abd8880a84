package scheduleexplanations

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	cachetesting "k8s.io/client-go/tools/cache/testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/scheduler/informer"
	"koordinator.sh/koord/test/informertest"
)

// store holds ScheduleExplanations as an API server would: it refuses outdated writes and notifies watchers.
type store struct {
	source *cachetesting.FakeControllerSource

	mutex   sync.Mutex
	objects map[string]*schedulingv1alpha1.ScheduleExplanation
	version int
	// failures are the errors that the next writes end with; writes counts those that succeed.
	failures []error
	writes   int
}

func (s *store) key(object *schedulingv1alpha1.ScheduleExplanation) string {
	return object.Namespace + "/" + object.Name
}

// put creates or replaces an object.
func (s *store) put(object *schedulingv1alpha1.ScheduleExplanation) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.putLocked(object.DeepCopy())
}

func (s *store) putLocked(object *schedulingv1alpha1.ScheduleExplanation) {
	s.version++
	object.ResourceVersion = strconv.Itoa(s.version)
	_, known := s.objects[s.key(object)]
	s.objects[s.key(object)] = object
	if known {
		s.source.Modify(object.DeepCopy())
	} else {
		s.source.Add(object.DeepCopy())
	}
}

func (s *store) get(key string) *schedulingv1alpha1.ScheduleExplanation {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.objects[key].DeepCopy()
}

func (s *store) written() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.writes
}

func (s *store) fail() error {
	if len(s.failures) == 0 {
		return nil
	}
	err := s.failures[0]
	s.failures = s.failures[1:]
	return err
}

func (s *store) writeStatus(_ context.Context, object *schedulingv1alpha1.ScheduleExplanation) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.fail(); err != nil {
		return err
	}
	current, found := s.objects[s.key(object)]
	switch {
	case !found:
		return apierrors.NewNotFound(Resource.GroupResource(), object.Name)
	case current.ResourceVersion != object.ResourceVersion:
		return apierrors.NewConflict(Resource.GroupResource(), object.Name, errors.New("the object has been modified"))
	}
	edited := current.DeepCopy()
	edited.Status = *object.Status.DeepCopy()
	s.putLocked(edited)
	s.writes++
	return nil
}

func (s *store) remove(_ context.Context, object *schedulingv1alpha1.ScheduleExplanation) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.fail(); err != nil {
		return err
	}
	current, found := s.objects[s.key(object)]
	switch {
	case !found:
		return apierrors.NewNotFound(Resource.GroupResource(), object.Name)
	case current.UID != object.UID:
		return apierrors.NewConflict(Resource.GroupResource(), object.Name, errors.New("the UID differs"))
	}
	delete(s.objects, s.key(object))
	s.source.Delete(current)
	return nil
}

// oracle answers as the test says, and remembers the questions.
type oracle struct {
	mutex  sync.Mutex
	answer func(namespace, pod string) (*diagnosticsv1alpha1.PodExplanationStatus, error)
	asked  []string
	took   time.Duration
}

func (o *oracle) Explain(_ context.Context, question *diagnosticsv1alpha1.PodExplanation) (*diagnosticsv1alpha1.PodExplanation, error) {
	o.mutex.Lock()
	o.asked = append(o.asked, question.Namespace+"/"+question.Spec.PodName)
	answer, took := o.answer, o.took
	o.mutex.Unlock()
	time.Sleep(took) // the clock of the bubble
	status, err := answer(question.Namespace, question.Spec.PodName)
	if err != nil {
		return nil, err
	}
	return &diagnosticsv1alpha1.PodExplanation{Status: *status}, nil
}

// set replaces the answers.
func (o *oracle) set(answer func(namespace, pod string) (*diagnosticsv1alpha1.PodExplanationStatus, error)) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.answer = answer
}

// questions returns how often the oracle was asked.
func (o *oracle) questions() int {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return len(o.asked)
}

// says has the oracle give one answer to all questions.
func says(status *diagnosticsv1alpha1.PodExplanationStatus) func(string, string) (*diagnosticsv1alpha1.PodExplanationStatus, error) {
	return func(string, string) (*diagnosticsv1alpha1.PodExplanationStatus, error) { return status, nil }
}

// fixture is a running Controller in a bubble of time that passes only when everything waits.
type fixture struct {
	*testing.T
	*store
	*oracle
	// client feeds the informers, which show no finished pods; finished has those.
	client, finished *fake.Clientset
}

// inBubble runs a test with a Controller.
func inBubble(t *testing.T, test func(f *fixture), objects ...runtime.Object) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{T: t, client: informertest.NewClientset(objects...), finished: fake.NewClientset()}
		f.store = &store{source: cachetesting.NewFakeControllerSource(), objects: map[string]*schedulingv1alpha1.ScheduleExplanation{}}
		f.oracle = &oracle{answer: says(unschedulable())}
		factory := informers.NewSharedInformerFactory(f.client, 0)
		explanations, err := informer.NewFrom(f.store.source, kind)
		if err != nil {
			t.Fatal(err)
		}
		controller, err := newController(explanations, f.store, Options{
			Pods: factory.Core().V1().Pods(), Nodes: factory.Core().V1().Nodes(), Client: f.finished, Explainer: f.oracle,
			SystemNamespace: "koordinator-system",
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		factory.Core().V1().Pods().Informer()
		factory.Core().V1().Nodes().Informer()
		factory.StartWithContext(ctx)
		done := make(chan error)
		go func() { done <- controller.Run(ctx) }()
		// The source makes a watcher list again, after a second or two, when its first object comes between a list and the watch.
		synctest.Wait()
		test(f)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		factory.Shutdown()
		f.store.source.Shutdown()
	})
}

// after lets time pass, and everything that happens in it.
func (f *fixture) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// ask creates an object of the name "why" in the default namespace.
func (f *fixture) ask(key string, edits ...func(*schedulingv1alpha1.ScheduleExplanation)) {
	object := newExplanation(key)
	object.CreationTimestamp = metav1.Now()
	for _, edit := range edits {
		edit(object)
	}
	f.put(object)
	f.after(time.Second)
}

func newExplanation(key string) *schedulingv1alpha1.ScheduleExplanation {
	return &schedulingv1alpha1.ScheduleExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "why", UID: "why", Generation: 1},
		Spec:       schedulingv1alpha1.ScheduleExplanationSpec{QuestionObjectKey: key},
	}
}

const whyKey = "default/why"

// update replaces a pod, with another resource version.
func (f *fixture) update(pod *corev1.Pod, edit func(*corev1.Pod)) {
	f.Helper()
	pod = pod.DeepCopy()
	edit(pod)
	f.store.mutex.Lock()
	f.store.version++
	pod.ResourceVersion = fmt.Sprint("pod", f.store.version)
	f.store.mutex.Unlock()
	if err := f.client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("pods"), pod, pod.Namespace); err != nil {
		f.Fatal(err)
	}
	synctest.Wait()
}

// finish has a pod succeed, which the informers show as a deletion.
func (f *fixture) finish(pod *corev1.Pod) {
	f.Helper()
	pod = pod.DeepCopy()
	pod.Status.Phase = corev1.PodSucceeded
	if err := f.finished.Tracker().Add(pod); err != nil {
		f.Fatal(err)
	}
	f.delete(pod.Name)
}

// delete removes a pod.
func (f *fixture) delete(name string) {
	f.Helper()
	if err := f.client.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("pods"), "default", name); err != nil {
		f.Fatal(err)
	}
	synctest.Wait()
}

// add creates an object.
func (f *fixture) add(object runtime.Object) {
	f.Helper()
	if err := f.client.Tracker().Add(object); err != nil {
		f.Fatal(err)
	}
	synctest.Wait()
}

func newPod(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)},
		Spec:       corev1.PodSpec{SchedulerName: "koord-scheduler"},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func newNode(name, zone string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": zone}}}
}
