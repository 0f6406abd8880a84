package objects

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// The components whose work is told.
const (
	descheduler = "koord-descheduler"
	koordlet    = "koordlet"
)

// evicted is what koordlet's log has of a pod after its eviction.
const evicted = "evicted"

// jobs adds the steps of the PodMigrationJobs that move the pod, and the end of the one that it was created by.
func (t *timeline) jobs() {
	for i := range t.in.Jobs {
		job := &t.in.Jobs[i]
		switch moments := migration.Timeline(job); {
		case refersTo(job.Spec.PodRef, t.in.Pod):
			for _, moment := range moments {
				t.add(moment.At, descheduler, "Migration"+moment.Event, strings.TrimSuffix("PodMigrationJob "+job.Name+": "+moment.Message, ": "), moment.Failed)
			}
		case refersTo(job.Status.PodRef, t.in.Pod):
			t.add(t.in.Pod.CreationTimestamp.Time, descheduler, eventReplaces, replaces(job), false)
		}
	}
}

func replaces(job *schedulingv1alpha1.PodMigrationJob) string {
	if job.Spec.PodRef == nil {
		return "PodMigrationJob " + job.Name
	}
	return fmt.Sprintf("%s/%s, moved by PodMigrationJob %s", job.Spec.PodRef.Namespace, job.Spec.PodRef.Name, job.Name)
}

// refersTo is true for a reference to the pod: by its UID if that is given, as another pod may have had its name.
func refersTo(ref *corev1.ObjectReference, pod *corev1.Pod) bool {
	switch {
	case ref == nil:
		return false
	case ref.UID != "" && pod.UID != "":
		return ref.UID == pod.UID
	}
	return ref.Namespace == pod.Namespace && ref.Name == pod.Name
}

// audit adds what the agent did with the pod. What a feature writes to the same file again and again is one entry.
func (t *timeline) audit() {
	latest := map[string]int{}
	for i := range t.in.Audit {
		entry := &t.in.Audit[i]
		object, about := t.objectOf(entry)
		if !about {
			continue
		}
		message, key := written(object, entry), entry.Owner+" "+entry.Object
		if at, known := latest[key]; known && entry.Error == "" && !t.entries[at].Warning {
			same := &t.entries[at]
			same.Count++
			same.LastTime, same.Message = new(entry.Time), message
			continue
		}
		latest[key] = len(t.entries)
		event := eventWritten
		if entry.New == evicted {
			event = eventEvicted
		}
		t.add(entry.Time.Time, koordlet+"/"+entry.Owner, event, message, entry.Error != "" || event == eventEvicted)
	}
}

// objectOf says what of the pod an entry is about: the pod, or a file in one of its cgroups, whose names have its UID.
func (t *timeline) objectOf(entry *diagnosticsv1alpha1.AuditEntry) (object string, about bool) {
	if entry.Object == "pod "+t.in.Pod.Namespace+"/"+t.in.Pod.Name {
		return "", true
	}
	uid := string(t.in.Pod.UID)
	for _, name := range []string{uid, strings.ReplaceAll(uid, "-", "_")} { // systemd writes dashes as underscores
		if _, below, found := strings.Cut(entry.Object, "pod"+name); found && uid != "" {
			_, file, _ := strings.Cut(below, "/")
			return file + ": ", true
		}
	}
	return "", false
}

func written(object string, entry *diagnosticsv1alpha1.AuditEntry) string {
	text := object + entry.Old + " -> " + entry.New
	for _, more := range []string{entry.Why, entry.Error} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}
