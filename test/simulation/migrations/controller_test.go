package migrations

import (
	corev1 "k8s.io/api/core/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// controller applies migration.Decide, as the controller of koord-descheduler does: what is recorded in the spec, the status, then the
// action. It is killed between any two of them.
type controller struct{ args *migration.Args }

func (c controller) step(w *world, job *schedulingv1alpha1.PodMigrationJob) {
	pod := w.pod(job.Spec.PodRef.Namespace, job.Spec.PodRef.Name)
	verdict := migration.Decide(migration.Input{Job: job, Args: c.args, World: w.worldOf(job, pod), Now: w.now}, nil)
	if verdict.PodUID != "" || verdict.ReservationRef != nil {
		if verdict.PodUID != "" {
			job.Spec.PodRef.UID = verdict.PodUID
		}
		if verdict.ReservationRef != nil {
			job.Spec.ReservationOptions = &schedulingv1alpha1.PodMigrateReservationOptions{ReservationRef: verdict.ReservationRef}
		}
		if w.server.update(job) != nil || w.killed() {
			return
		}
	}
	if was := job.Status.Phase; was != verdict.Status.Phase {
		w.note("%s is %s: %s %s", job.Name, verdict.Status.Phase, verdict.Status.Reason, verdict.Status.Message)
	}
	job.Status = verdict.Status
	if w.server.update(job) != nil || w.killed() {
		return
	}
	c.act(w, job, pod, verdict.Action)
}

// killed is true when the process ends here.
func (w *world) killed() bool { return w.faulty && w.chance(5) }

func (c controller) act(w *world, job *schedulingv1alpha1.PodMigrationJob, pod *corev1.Pod, action migration.Action) {
	switch action.Kind {
	case migration.CreateReservation:
		reservation := migration.NewReservation(job, pod, c.args, w.now)
		reservation.Labels["app"] = job.Labels["app"]
		_ = w.server.create(reservation)
	case migration.DeleteReservation:
		w.server.delete(w.reservation(job))
	case migration.EvictPod:
		attempt := migration.Attempt{Accepted: !w.chance(30)}
		attempt.Disrupted = !attempt.Accepted
		if attempt.Accepted {
			w.deletePod(job, pod)
		}
		if !w.killed() {
			job.Status = migration.EvictionTried(job, attempt, w.now)
			_ = w.server.update(job)
		}
	}
}

func (w *world) pod(namespace, name string) *corev1.Pod {
	pod, _ := w.server.objects[key{kind: "Pod", namespace: namespace, name: name}].(*corev1.Pod)
	return pod
}

func (w *world) reservation(job *schedulingv1alpha1.PodMigrationJob) *schedulingv1alpha1.Reservation {
	reservation, _ := w.server.objects[key{kind: "Reservation", name: string(job.UID)}].(*schedulingv1alpha1.Reservation)
	return reservation
}

func (w *world) worldOf(job *schedulingv1alpha1.PodMigrationJob, pod *corev1.Pod) migration.World {
	out := migration.World{Pod: migration.PodOf(pod), Reservation: migration.ReservationOf(w.reservation(job), job)}
	if out.Reservation != nil && out.Reservation.Node != "" {
		out.Node = &migration.Node{Ready: true}
	}
	ref := job.Status.PodRef
	if ref == nil && out.Reservation != nil && len(out.Reservation.Users) > 0 {
		ref = &out.Reservation.Users[0]
	}
	if ref != nil {
		out.Replacement = migration.ReplacementOf(w.pod(ref.Namespace, ref.Name))
	}
	return out
}

// scheduleReservations finds nodes for some, and none for a few.
func (w *world) scheduleReservations() {
	for _, object := range w.server.present().sorted("Reservation", "") {
		reservation := object.DeepCopyObject().(*schedulingv1alpha1.Reservation)
		if reservation.Status.Phase != "" && reservation.Status.Phase != schedulingv1alpha1.ReservationPending || w.chance(30) {
			continue
		}
		reservation.Status.Phase, reservation.Status.NodeName = schedulingv1alpha1.ReservationAvailable, w.nodes[w.random.IntN(len(w.nodes))]
		if w.chance(10) {
			reservation.Status.Phase, reservation.Status.NodeName = schedulingv1alpha1.ReservationFailed, ""
		}
		_ = w.server.update(reservation)
	}
}

// use lets a new pod use a Reservation of its Deployment, if there is one.
func (w *world) use(pod *corev1.Pod) {
	for _, object := range w.server.present().sorted("Reservation", "") {
		reservation := object.DeepCopyObject().(*schedulingv1alpha1.Reservation)
		if reservation.Status.Phase != schedulingv1alpha1.ReservationAvailable || reservation.Labels["app"] != pod.Labels["app"] {
			continue
		}
		w.ownReservation(reservation)
		reservation.Status.Phase = schedulingv1alpha1.ReservationSucceeded
		reservation.Status.CurrentOwners = []corev1.ObjectReference{{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}}
		_ = w.server.update(reservation)
		return
	}
}

// ownReservation checks that a pod which is to replace another one does not use the Reservation of a job that has its pod still, while the
// job that evicted waits for a pod to use its own.
func (w *world) ownReservation(reservation *schedulingv1alpha1.Reservation) {
	var owner, waits *schedulingv1alpha1.PodMigrationJob
	for _, job := range w.migrationJobs() {
		switch {
		case migration.Finished(job) || job.Labels["app"] != reservation.Labels["app"]:
		case string(job.UID) == reservation.Name:
			owner = job
		case triesToEvict(job) && job.Status.PodRef == nil && w.reservation(job) != nil:
			waits = job
		}
	}
	if owner != nil && waits != nil && !triesToEvict(owner) {
		w.problem("the pod that %s waits for uses the reservation of %s, which has its pod still", waits.Name, owner.Name)
	}
}

// leaks is true for a job that has ended and whose Reservation is there, though no pod uses it.
func (w *world) leaks(job *schedulingv1alpha1.PodMigrationJob) bool {
	return migration.Finished(job) && len(w.reservation(job).Status.CurrentOwners) == 0
}
