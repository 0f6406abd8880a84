package migrations

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/arbitration"
	"koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/descheduler/arbitrator"
)

// containsVersion is true for a merge patch with the resource version as a precondition.
func containsVersion(data []byte, version string) bool {
	var patch struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	return json.Unmarshal(data, &patch) == nil && patch.Metadata.ResourceVersion == version
}

// world is one cluster with one seed.
type world struct {
	random *rand.Rand
	server *server
	now    time.Time
	limits arbitration.Limits
	jobs   jobController
	// calm worlds have no other disturbance of pods than migrations, and nobody deletes jobs.
	calm bool
	// faulty is true until all faults end.
	faulty       bool
	deschedulers []*descheduler
	deployments  []string
	nodes        []string
	number       int
	// evictions by what object limiters count.
	evictions map[string][]time.Time
	checked   map[types.UID]bool
	trace     []string
	problems  []string
	admitted  int
	moved     int
}

// descheduler is one process: its cache, and its arbitrator as a coroutine.
type descheduler struct {
	cache *snapshot
	dead  bool
	next  func() (string, bool)
	stop  func()
}

type fault int

const (
	noFault fault = iota
	requestLost
	answerLost
)

func (w *world) fault() fault {
	if !w.faulty {
		return noFault
	}
	switch w.random.IntN(20) {
	case 0:
		return requestLost
	case 1:
		return answerLost
	}
	return noFault
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

func (w *world) chance(percent int) bool { return w.random.IntN(100) < percent }

func newWorld(seed uint64) *world {
	w := &world{
		random: rand.New(rand.NewPCG(seed, 0)), server: &server{objects: map[key]client.Object{}}, now: time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC), faulty: true,
		evictions: map[string][]time.Time{}, checked: map[types.UID]bool{}, jobs: model{},
	}
	if w.chance(50) {
		w.jobs = controller{args: migration.DefaultArgs()}
	}
	w.calm = w.chance(50)
	w.limits = w.drawLimits()
	w.nodes = []string{"node-0", "node-1", "node-2", "node-3"}
	for i := range 2 + w.random.IntN(2) {
		w.deploy(fmt.Sprint("app-", i), int32(2+w.random.IntN(7)))
	}
	w.written()
	for range 2 {
		w.deschedulers = append(w.deschedulers, w.start())
	}
	return w
}

func (w *world) written() { w.server.written() }

// deploy creates a Deployment with pods of two ReplicaSets, as in the middle of a rollout.
func (w *world) deploy(name string, replicas int32) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespaceOf(name), Name: name}, Spec: appsv1.DeploymentSpec{Replicas: &replicas}}
	_ = w.server.create(deployment)
	for i := range 2 {
		set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
			Namespace: deployment.Namespace, Name: fmt.Sprint(name, "-", i), OwnerReferences: []metav1.OwnerReference{ownerOf("Deployment", deployment.Name, deployment.UID)},
		}}
		_ = w.server.create(set)
	}
	w.deployments = append(w.deployments, name)
	for range replicas {
		w.createPod(name, true)
	}
}

func (w *world) namespaceOf(deployment string) string {
	return []string{"shop", "lab"}[int(deployment[len(deployment)-1])%2]
}

func ownerOf(kind, name string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "apps/v1", Kind: kind, Name: name, UID: uid, Controller: new(true)}
}

func (w *world) createPod(deployment string, ready bool) {
	w.number++
	set := w.server.objects[key{kind: "ReplicaSet", namespace: w.namespaceOf(deployment), name: fmt.Sprint(deployment, "-", w.number%2)}]
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespaceOf(deployment), Name: fmt.Sprint(deployment, "-", w.number), Labels: map[string]string{"app": deployment},
			OwnerReferences: []metav1.OwnerReference{ownerOf("ReplicaSet", set.GetName(), set.GetUID())},
		},
		Spec:   corev1.PodSpec{SchedulerName: "koord-scheduler", NodeName: w.nodes[w.random.IntN(len(w.nodes))]},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	setReady(pod, ready)
	_ = w.server.create(pod)
	if !ready {
		w.use(pod)
	}
}

func setReady(pod *corev1.Pod, ready bool) {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
}

func isReady(pod *corev1.Pod) bool {
	return len(pod.Status.Conditions) > 0 && pod.Status.Conditions[0].Status == corev1.ConditionTrue
}

// start begins a process, whose cache is what the API server has now.
func (w *world) start() *descheduler {
	d := &descheduler{cache: w.server.present()}
	d.next, d.stop = iter.Pull(func(yield func(string) bool) {
		cached := &connection{world: w, cache: func() *snapshot { return d.cache }, wait: yield, dead: &d.dead}
		live := &connection{world: w, wait: yield, dead: &d.dead}
		a := arbitrator.New(arbitrator.Config{
			Client: cached, Live: live, Namespace: "koordinator-system", Log: logr.Discard(), Now: func() time.Time { return w.now },
			Settings: func() arbitrator.Settings { return arbitrator.Settings{Limits: w.limits} },
		})
		for !d.dead {
			if err := a.Round(context.Background()); err != nil {
				w.note("round: %v", err)
			}
			if !d.dead && !yield("next round") {
				return
			}
		}
	})
	return d
}

func podsOf(objects *snapshot, deployment string) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, object := range objects.sorted("Pod", "") {
		if object.GetLabels()["app"] == deployment {
			pods = append(pods, object.(*corev1.Pod))
		}
	}
	return pods
}

// migrationJobs are all jobs, which must not be modified.
func (w *world) migrationJobs() []*schedulingv1alpha1.PodMigrationJob {
	var jobs []*schedulingv1alpha1.PodMigrationJob
	for _, object := range w.server.present().sorted("PodMigrationJob", "") {
		jobs = append(jobs, object.(*schedulingv1alpha1.PodMigrationJob))
	}
	return jobs
}
