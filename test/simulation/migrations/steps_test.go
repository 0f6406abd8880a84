package migrations

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/arbitration"
	"koordinator.sh/koord/decision/descheduling/migration"
)

func (w *world) drawCount() *int32 {
	if w.chance(50) {
		return new(int32(1 + w.random.IntN(3)))
	}
	return nil
}

func (w *world) drawShare() *intstr.IntOrString {
	switch w.random.IntN(3) {
	case 0:
		return new(intstr.FromInt32(int32(1 + w.random.IntN(3))))
	case 1:
		return new(intstr.FromString(fmt.Sprintf("%d%%", 10+w.random.IntN(50))))
	}
	return nil
}

func (w *world) drawLimiter() *arbitration.ObjectLimiter {
	if w.chance(60) {
		return nil
	}
	return &arbitration.ObjectLimiter{Duration: time.Duration(1+w.random.IntN(5)) * time.Minute, MaxMigrating: new(intstr.FromInt32(int32(1 + w.random.IntN(3)))), Burst: 1 + w.random.IntN(3)}
}

func (w *world) drawLimits() arbitration.Limits {
	return arbitration.Limits{
		MaxMigratingGlobally: w.drawCount(), MaxMigratingPerNode: w.drawCount(), MaxMigratingPerNamespace: w.drawCount(),
		MaxMigratingPerWorkload: w.drawShare(), MaxUnavailablePerWorkload: w.drawShare(), SkipCheckExpectedReplicas: true,
		ObjectLimiters: arbitration.ObjectLimiters{Workload: w.drawLimiter(), Namespace: w.drawLimiter()},
	}
}

// step is anything that may happen.
func (w *world) step() {
	switch dice := w.random.IntN(100); {
	case dice < 45:
		w.resume(w.random.IntN(len(w.deschedulers)))
	case dice < 53:
		w.createJob()
	case dice < 65:
		w.stepJobs(40)
	case dice < 75:
		w.controlDeployments()
	case dice < 83:
		w.now = w.now.Add(time.Duration(1+w.random.IntN(40)) * time.Second)
	case dice < 93:
		w.sync(w.random.IntN(len(w.deschedulers)))
	case dice < 96:
		w.restart(w.random.IntN(len(w.deschedulers)))
	default:
		w.disturb()
	}
}

func (w *world) resume(i int) { w.deschedulers[i].next() }

// sync moves the cache of a process on to the present, or to a moment shortly before. As that of an informer, it does not go back.
func (w *world) sync(i int) {
	history := w.server.history
	lag := 0
	if w.faulty && w.chance(50) {
		lag = w.random.IntN(len(history))
	}
	if moment := history[len(history)-1-lag]; moment.number > w.deschedulers[i].cache.number {
		w.deschedulers[i].cache = moment
	}
}

func (w *world) restart(i int) {
	w.note("descheduler %d is killed", i)
	w.deschedulers[i].stop()
	w.deschedulers[i] = w.start()
}

// createJob asks for the move of any pod, also of one that has a job already.
func (w *world) createJob() {
	pods := w.server.present().sorted("Pod", "")
	if len(pods) == 0 {
		return
	}
	pod := pods[w.random.IntN(len(pods))].(*corev1.Pod)
	w.number++
	job := &schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("job-", w.number), CreationTimestamp: metav1.NewTime(w.now), Labels: map[string]string{"app": pod.Labels["app"]}},
		Spec: schedulingv1alpha1.PodMigrationJobSpec{
			TTL: &metav1.Duration{Duration: 10 * time.Minute}, PodRef: &corev1.ObjectReference{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}, Paused: w.chance(5),
		},
	}
	_ = w.server.create(job)
}

// openJobs are those that have not ended, or whose Reservation is still there.
func (w *world) openJobs() []*schedulingv1alpha1.PodMigrationJob {
	var open []*schedulingv1alpha1.PodMigrationJob
	for _, job := range w.migrationJobs() {
		if arbitration.StateOf(job) != arbitration.Finished || w.reservation(job) != nil && w.leaks(job) {
			open = append(open, job.DeepCopy())
		}
	}
	return open
}

// stepJobs lets the controller look at some of the jobs.
func (w *world) stepJobs(percent int) {
	for _, job := range w.openJobs() {
		if w.chance(percent) {
			w.jobs.step(w, job)
		}
	}
}

// controlDeployments schedules Reservations, creates pods that are missing, and makes others ready.
func (w *world) controlDeployments() {
	w.scheduleReservations()
	for _, deployment := range w.deployments {
		pods := podsOf(w.server.present(), deployment)
		if len(pods) < w.replicas(deployment) {
			w.createPod(deployment, false)
		}
		for _, pod := range pods {
			if !isReady(pod) && w.chance(60) {
				pod = pod.DeepCopy()
				setReady(pod, true)
				_ = w.server.update(pod)
			}
		}
	}
}

// disturb is what users and nodes do.
func (w *world) disturb() {
	jobs, pods := w.migrationJobs(), w.server.present().sorted("Pod", "")
	if len(jobs) == 0 || len(pods) == 0 {
		return
	}
	job, pod := jobs[w.random.IntN(len(jobs))].DeepCopy(), pods[w.random.IntN(len(pods))].DeepCopyObject().(*corev1.Pod)
	switch what := w.random.IntN(4); {
	case what == 0:
		job.Spec.Paused = !job.Spec.Paused
		_ = w.server.update(job)
	case w.calm:
	case what == 1 && arbitration.StateOf(job) != arbitration.Finished && !triesToEvict(job): // one that evicted counts for limiters
		w.note("%s is deleted", job.Name)
		w.server.delete(job)
		if reservation := w.reservation(job); reservation != nil { // as the garbage collector does
			w.server.delete(reservation)
		}
	case what == 2:
		setReady(pod, false)
		_ = w.server.update(pod)
	case what == 3:
		w.note("%s vanishes", pod.Spec.NodeName)
		for _, other := range pods {
			if other.(*corev1.Pod).Spec.NodeName == pod.Spec.NodeName {
				w.server.delete(other)
			}
		}
	}
}

func triesToEvict(job *schedulingv1alpha1.PodMigrationJob) bool {
	return migration.Condition(&job.Status, schedulingv1alpha1.PodMigrationJobConditionEviction) != nil
}

func (w *world) replicas(deployment string) int {
	return int(*w.server.objects[key{kind: "Deployment", namespace: w.namespaceOf(deployment), name: deployment}].(*appsv1.Deployment).Spec.Replicas)
}

func (w *world) available(deployment string) int {
	count := 0
	for _, pod := range podsOf(w.server.present(), deployment) {
		if isReady(pod) {
			count++
		}
	}
	return count
}
