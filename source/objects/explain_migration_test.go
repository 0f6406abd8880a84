package objects

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

type pmj = schedulingv1alpha1.PodMigrationJob

// jobOf moves pod shop/web-0, was created a minute ago and may take five.
func jobOf(edits ...func(*pmj)) *pmj {
	job := &pmj{
		ObjectMeta: metav1.ObjectMeta{Name: "move-web", UID: "uid-job", CreationTimestamp: metav1.NewTime(now.Add(-time.Minute))},
		Spec:       schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{Namespace: "shop", Name: "web-0", UID: "web-0"}},
	}
	for _, edit := range edits {
		edit(job)
	}
	return job
}

func arbitrated(j *pmj) {
	j.Annotations = map[string]string{extension.AnnotationPassedArbitration: "true"}
}

func runningJob(j *pmj) {
	arbitrated(j)
	j.Status.Phase = schedulingv1alpha1.PodMigrationJobRunning
}

func pausedJob(j *pmj)      { j.Spec.Paused = true }
func evictsDirectly(j *pmj) { j.Spec.Mode = schedulingv1alpha1.PodMigrationJobModeEvictionDirectly }

func endedAs(phase schedulingv1alpha1.PodMigrationJobPhase, reason string) func(*pmj) {
	return func(j *pmj) { j.Status.Phase, j.Status.Reason, j.Status.Message = phase, reason, "as it was recorded" }
}

// at records a condition of the job half a minute ago.
func at(of schedulingv1alpha1.PodMigrationJobConditionType, is bool, edits ...func(*schedulingv1alpha1.PodMigrationJobCondition)) func(*pmj) {
	condition := schedulingv1alpha1.PodMigrationJobCondition{Type: of, Status: schedulingv1alpha1.PodMigrationJobConditionStatusFalse}
	if is {
		condition.Status = schedulingv1alpha1.PodMigrationJobConditionStatusTrue
	}
	condition.LastTransitionTime = metav1.NewTime(now.Add(-30 * time.Second))
	condition.LastProbeTime = condition.LastTransitionTime
	for _, edit := range edits {
		edit(&condition)
	}
	return func(j *pmj) { j.Status.Conditions = append(j.Status.Conditions, condition) }
}

// migratingTo adds the job's Reservation on a node that is ready, and edits it.
func migratingTo(on string, edits ...func(*schedulingv1alpha1.Reservation)) func(*MigrationJobSnapshot) {
	return func(in *MigrationJobSnapshot) {
		in.Reservation = &schedulingv1alpha1.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "uid-job", UID: "uid-reservation", OwnerReferences: []metav1.OwnerReference{{UID: "uid-job"}}}}
		if in.Reservation.Status.NodeName = on; on != "" {
			in.Reservation.Status.Phase = schedulingv1alpha1.ReservationAvailable
			n := node(on, readyNode)
			in.Node = &n
		}
		for _, edit := range edits {
			edit(in.Reservation)
		}
	}
}

func usedBy(name string) func(*schedulingv1alpha1.Reservation) {
	return func(r *schedulingv1alpha1.Reservation) {
		r.Status.CurrentOwners = []corev1.ObjectReference{{Namespace: "shop", Name: name, UID: "uid-new"}}
	}
}

// migrationOf explains a job for a pod of a ReplicaSet on node a.
func migrationOf(job *pmj, edits ...func(*MigrationJobSnapshot)) *diagnosticsv1alpha1.MigrationExplanation {
	in := MigrationJobSnapshot{Job: job, Args: migration.DefaultArgs(), Pod: web("web-0", "a"), Now: now}
	for _, edit := range edits {
		edit(&in)
	}
	return ExplainMigration(in)
}

func TestAJobIsExplainedAtEachGate(t *testing.T) {
	const (
		created  = schedulingv1alpha1.PodMigrationJobConditionReservationCreated
		placed   = schedulingv1alpha1.PodMigrationJobConditionReservationScheduled
		evicts   = schedulingv1alpha1.PodMigrationJobConditionEviction
		bound    = schedulingv1alpha1.PodMigrationJobConditionReservationBound
		deadline = " until 2026-03-04T05:10:07Z: "
		changes  = "look at the job again when one of its objects changes at 05:10:07"
		proceeds = "record the step in the status and go on"
	)
	refusedOnce := func(c *schedulingv1alpha1.PodMigrationJobCondition) {
		c.Attempts, c.Reason, c.Message = 1, "Evicting", "the eviction was refused, attempt 1: budget"
		c.LastProbeTime = metav1.NewTime(now.Add(-time.Second))
	}
	replaced := func(j *pmj) {
		j.Status.PodRef, j.Status.NodeName = &corev1.ObjectReference{Namespace: "shop", Name: "web-9", UID: "uid-new"}, "b"
	}
	gone := func(in *MigrationJobSnapshot) { in.Pod = nil }
	replacement := func(edits ...func(*corev1.Pod)) func(*MigrationJobSnapshot) {
		return func(in *MigrationJobSnapshot) {
			in.Replacement = web("web-9", "b", edits...)
			in.Replacement.UID = "uid-new"
		}
	}
	pod := func(edits ...func(*corev1.Pod)) func(*MigrationJobSnapshot) {
		return func(in *MigrationJobSnapshot) { in.Pod = web("web-0", "a", edits...) }
	}
	tests := map[string]struct {
		job      []func(*pmj)
		in       []func(*MigrationJobSnapshot)
		want     string
		wantNext string
	}{
		"it waits for the arbitration": {
			want: "at gate Arbitration" + deadline + "waiting for the arbitrator to let the job start", wantNext: changes,
		},
		"the descheduler starts no job": {
			in:   []func(*MigrationJobSnapshot){func(in *MigrationJobSnapshot) { in.Args.DryRun = true }},
			want: "at gate Arbitration" + deadline + "the descheduler runs with dryRun: no job is started", wantNext: changes,
		},
		"it is paused": {
			job: []func(*pmj){arbitrated, pausedJob}, want: "at gate Arbitration" + deadline + "the job is paused; its ttl ends at 2026-03-04T05:10:07Z", wantNext: changes,
		},
		"a Reservation is to be created": {
			job: []func(*pmj){arbitrated}, want: "at gate ReservationCreated" + deadline + `creating reservation "uid-job"`, wantNext: `create reservation "uid-job"`,
		},
		"the Reservation waits for a node": {
			job: []func(*pmj){runningJob, at(created, true)}, in: []func(*MigrationJobSnapshot){migratingTo("")},
			want: "at gate ReservationScheduled" + deadline + `waiting for the scheduler to find a node for reservation "uid-job"`, wantNext: changes,
		},
		"its node is cordoned": {
			job: []func(*pmj){runningJob, at(created, true)}, in: []func(*MigrationJobSnapshot){migratingTo("b"), func(in *MigrationJobSnapshot) { cordoned(in.Node) }},
			want: "at gate TargetNode" + deadline + `waiting: node "b" is unschedulable`, wantNext: changes,
		},
		"its node is not ready": {
			job: []func(*pmj){runningJob, at(created, true)}, in: []func(*MigrationJobSnapshot){migratingTo("b"), func(in *MigrationJobSnapshot) { notReadyNode(in.Node) }},
			want: "at gate TargetNode" + deadline + `waiting: node "b" is not ready`, wantNext: changes,
		},
		"the eviction is recorded first": {
			job: []func(*pmj){runningJob, at(created, true)}, in: []func(*MigrationJobSnapshot){migratingTo("b")},
			want: "at gate Eviction" + deadline + "evicting the pod", wantNext: proceeds,
		},
		"the pod is evicted": {
			job: []func(*pmj){runningJob, at(created, true), at(placed, true), at(evicts, false)}, in: []func(*MigrationJobSnapshot){migratingTo("b")},
			want: "at gate Eviction" + deadline, wantNext: `evict pod "shop/web-0", by policy Eviction`,
		},
		"the label of the pod says how": {
			job:  []func(*pmj){runningJob, at(created, true), at(placed, true), at(evicts, false)},
			in:   []func(*MigrationJobSnapshot){migratingTo("b"), pod(labelled(extension.LabelPodEvictPolicy, "Delete"))},
			want: "at gate Eviction" + deadline, wantNext: `evict pod "shop/web-0", by policy Delete`,
		},
		"the eviction was refused": {
			job: []func(*pmj){runningJob, at(created, true), at(placed, true), at(evicts, false, refusedOnce)}, in: []func(*MigrationJobSnapshot){migratingTo("b")},
			want: "at gate Eviction" + deadline + "the eviction was refused, attempt 1: budget", wantNext: "look at the job again when one of its objects changes at 05:06:08",
		},
		"the pod terminates": {
			job: []func(*pmj){runningJob, at(created, true), at(placed, true), at(evicts, false)}, in: []func(*MigrationJobSnapshot){migratingTo("b"), pod(terminating)},
			want: "at gate Eviction" + deadline + "waiting for the pod to terminate", wantNext: changes,
		},
		"no pod uses the Reservation yet": {
			job: []func(*pmj){runningJob, at(created, true), at(placed, true), at(evicts, true)}, in: []func(*MigrationJobSnapshot){gone, migratingTo("b")},
			want: "at gate ReservationBound" + deadline + `waiting for the pod that replaces the evicted one to use reservation "uid-job"`, wantNext: changes,
		},
		"the new pod is not ready": {
			job:  []func(*pmj){runningJob, at(created, true), at(placed, true), at(evicts, true), at(bound, true), replaced},
			in:   []func(*MigrationJobSnapshot){gone, migratingTo("b", usedBy("web-9")), replacement(unreadyPod)},
			want: "at gate BoundPodReady" + deadline + `waiting for pod "shop/web-9" to become ready`, wantNext: changes,
		},
		"the new pod is ready": {
			job:  []func(*pmj){runningJob, at(created, true), at(placed, true), at(evicts, true), at(bound, true), replaced},
			in:   []func(*MigrationJobSnapshot){gone, migratingTo("b", usedBy("web-9")), replacement()},
			want: `Succeeded, reason Complete: pod "web-9" replaces the evicted one on node "b"`, wantNext: "end the job as Succeeded, reason Complete",
		},
		"the new pod is deleted": {
			job:  []func(*pmj){runningJob, at(created, true), at(placed, true), at(evicts, true), at(bound, true), replaced},
			in:   []func(*MigrationJobSnapshot){gone, migratingTo("b", usedBy("web-9"))},
			want: `Failed, reason MissingPod: pod "shop/web-9", which replaced the evicted one, is deleted`, wantNext: "end the job as Failed, reason MissingPod",
		},
		"its Deployment replaces the pod first": {
			job: []func(*pmj){runningJob, at(created, true)},
			in: []func(*MigrationJobSnapshot){
				migratingTo("b"), pod(labelled(extension.LabelPodEvictPolicy, "Surge"), labelled(appsv1.DefaultDeploymentUniqueLabelKey, "5f")),
				func(in *MigrationJobSnapshot) {
					in.Workload = &migration.Workload{Name: "web", MaxSurge: 1, Surging: 1}
				},
			},
			want:     "at gate Surge" + deadline + `1 pods of Deployment "web" are being replaced, its maxSurge allows 1`,
			wantNext: "look at the job again when one of its objects changes at 05:06:10",
		},
		"evicted without a Reservation": {
			job: []func(*pmj){runningJob, evictsDirectly, at(evicts, false)}, want: "at gate Eviction" + deadline, wantNext: `evict pod "shop/web-0", by policy Eviction`,
		},

		"its pod does not exist": {
			job: []func(*pmj){arbitrated}, in: []func(*MigrationJobSnapshot){gone}, want: `Failed, reason MissingPod: pod "shop/web-0" does not exist`,
			wantNext: "end the job as Failed, reason MissingPod",
		},
		"its pod is another by now": {
			job: []func(*pmj){arbitrated}, in: []func(*MigrationJobSnapshot){func(in *MigrationJobSnapshot) { in.Pod.UID = "younger" }},
			want:     `Failed, reason MissingPod: pod "shop/web-0" has UID "younger", the job is for the one with UID "web-0"`,
			wantNext: "end the job as Failed, reason MissingPod",
		},
		"its pod has no controller": {
			job: []func(*pmj){arbitrated}, in: []func(*MigrationJobSnapshot){pod(bare)},
			want:     "Failed, reason ForbiddenMigratePod: the pod has no controller that would replace it; mode EvictDirectly evicts it anyway",
			wantNext: "end the job as Failed, reason ForbiddenMigratePod",
		},
		"it names no pod": {
			job: []func(*pmj){arbitrated, func(j *pmj) { j.Spec.PodRef = nil }}, want: "Failed, reason InvalidPodRef: podRef must have a namespace and a name",
			wantNext: "end the job as Failed, reason InvalidPodRef",
		},
		"a user gave it up": {
			job:  []func(*pmj){runningJob, func(j *pmj) { j.DeletionTimestamp = &metav1.Time{Time: now} }},
			want: "Aborted, reason AbortedByUser: the job was aborted by a user", wantNext: "end the job as Aborted, reason AbortedByUser",
		},
		"its time is over": {
			job:      []func(*pmj){func(j *pmj) { j.Spec.TTL = &metav1.Duration{Duration: 30 * time.Second} }},
			want:     "Failed, reason Timeout: timed out after 30s: waiting for the arbitrator to let the job start",
			wantNext: "end the job as Failed, reason Timeout",
		},
		"the Reservation is deleted": {
			job: []func(*pmj){runningJob, at(created, true)}, want: `Aborted, reason MissingReservation: reservation "uid-job" was deleted`,
			wantNext: "end the job as Aborted, reason MissingReservation",
		},

		"it succeeded": {
			job: []func(*pmj){endedAs(schedulingv1alpha1.PodMigrationJobSucceeded, "Complete")}, want: "Succeeded, reason Complete: as it was recorded",
			wantNext: "nothing: the job has ended",
		},
		"it was aborted": {job: []func(*pmj){endedAs(schedulingv1alpha1.PodMigrationJobAborted, "NodeLost")}, want: "Aborted, reason NodeLost: as it was recorded", wantNext: "nothing: the job has ended"},
		"it failed, and left a Reservation": {
			job: []func(*pmj){endedAs(schedulingv1alpha1.PodMigrationJobFailed, "Timeout")}, in: []func(*MigrationJobSnapshot){migratingTo("b")},
			want: "Failed, reason Timeout: as it was recorded", wantNext: `delete reservation "uid-job", which the job created`,
		},
		"it failed, and its Reservation terminates": {
			job:  []func(*pmj){endedAs(schedulingv1alpha1.PodMigrationJobFailed, "Timeout")},
			in:   []func(*MigrationJobSnapshot){migratingTo("b", func(r *schedulingv1alpha1.Reservation) { r.DeletionTimestamp = &metav1.Time{Time: now} })},
			want: "Failed, reason Timeout: as it was recorded", wantNext: "wait for the deletion of the reservation at 05:06:10",
		},
		"it failed, and the Reservation is not its own": {
			job:  []func(*pmj){endedAs(schedulingv1alpha1.PodMigrationJobFailed, "Timeout")},
			in:   []func(*MigrationJobSnapshot){migratingTo("b", func(r *schedulingv1alpha1.Reservation) { r.OwnerReferences = nil })},
			want: "Failed, reason Timeout: as it was recorded", wantNext: "nothing: the job has ended",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := migrationOf(jobOf(tc.job...), tc.in...)
			next := got.Next.Message
			if got.Next.At != nil {
				next += " at " + got.Next.At.UTC().Format(time.TimeOnly)
			}
			if got.Summary != tc.want || next != tc.wantNext {
				t.Errorf("%q, next %q\nwant %q, next %q", got.Summary, next, tc.want, tc.wantNext)
			}
		})
	}
}

func TestTheGatesOfAJobAreListed(t *testing.T) {
	got := migrationOf(jobOf(runningJob, at(schedulingv1alpha1.PodMigrationJobConditionReservationCreated, true)), migratingTo(""))
	var lines []string
	for _, g := range got.Gates {
		line := fmt.Sprintf("%s %s", g.Name, g.State)
		if g.Since != nil {
			line += " since " + g.Since.UTC().Format(time.TimeOnly)
		}
		if g.Deadline != nil {
			line += " until " + g.Deadline.UTC().Format(time.TimeOnly)
		}
		lines = append(lines, line)
	}
	want := []string{
		"Abort Passed", "Arbitration Passed", "Pod Passed", "ReservationCreated Passed since 05:05:37", "ReservationScheduled Waiting since 05:05:37 until 05:10:07",
		"TargetNode NotReached", "Eviction NotReached", "ReservationBound NotReached", "BoundPodReady NotReached",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("gates (-want +got):\n%s", diff)
	}
}

// TestNothingIsDecidedOfAJobWithoutItsObjects: what it waits for would be made up.
func TestNothingIsDecidedOfAJobWithoutItsObjects(t *testing.T) {
	unseen := func(in *MigrationJobSnapshot) { in.Unseen, in.Missing = true, []string{"get pods: not permitted"} }
	got := migrationOf(jobOf(runningJob), unseen)
	if got.Summary != "the gates are unknown: not every object of the job could be read" || got.Gates != nil || got.Next != nil {
		t.Errorf("unexpected answer %+v", got)
	}
	if diff := cmp.Diff([]string{"get pods: not permitted"}, got.Incomplete); diff != "" {
		t.Errorf("incomplete (-want +got):\n%s", diff)
	}
	ended := migrationOf(jobOf(endedAs(schedulingv1alpha1.PodMigrationJobSucceeded, "Complete")), unseen)
	if ended.Summary != "Succeeded, reason Complete: as it was recorded" || ended.Next != nil {
		t.Errorf("unexpected answer of a job that ended: %q, next %+v", ended.Summary, ended.Next)
	}
}

func TestWhatIsRecordedOfAJob(t *testing.T) {
	job := jobOf(runningJob, pausedJob, at(schedulingv1alpha1.PodMigrationJobConditionEviction, false, func(c *schedulingv1alpha1.PodMigrationJobCondition) {
		c.Reason, c.Message, c.Attempts = "Evicting", "refused", 3
	}))
	other := func(name string, edits ...func(*pmj)) pmj {
		j := jobOf(edits...)
		j.Name, j.UID = name, types.UID("uid-"+name)
		return *j
	}
	got := migrationOf(job, migratingTo("b", usedBy("web-9")), func(in *MigrationJobSnapshot) {
		in.JobsSeen = true
		in.Jobs = []pmj{*job, other("waits"), other("runs", runningJob), other("may", arbitrated), other("done", endedAs(schedulingv1alpha1.PodMigrationJobFailed, "Timeout"))}
	})
	got.Summary, got.Gates, got.Next = "", nil, nil
	want := &diagnosticsv1alpha1.MigrationExplanation{
		ObjectMeta: metav1.ObjectMeta{Name: "move-web", UID: "uid-job"}, Mode: "ReservationFirst", Phase: "Running", Paused: true,
		CreatedAt: metav1.NewTime(now.Add(-time.Minute)), Deadline: metav1.NewTime(now.Add(4 * time.Minute)), TargetNode: "b", Reservation: "uid-job", Replacement: "shop/web-9",
		Arbitration: diagnosticsv1alpha1.MigrationArbitration{Passed: true, Annotation: extension.AnnotationPassedArbitration},
		OtherJobs:   &diagnosticsv1alpha1.MigrationCount{Pending: 1, Running: 2},
		Conditions: []diagnosticsv1alpha1.MigrationCondition{{
			Type: "Eviction", Status: "False", Reason: "Evicting", Message: "refused", Attempts: 3, LastTransitionTime: &metav1.Time{Time: now.Add(-30 * time.Second)},
		}},
	}
	want.Pod.Namespace, want.Pod.Name, want.Pod.NodeName = "shop", "web-0", "a"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("job (-want +got):\n%s", diff)
	}
}

func TestTheNodeOfAnotherPodIsNotThatOfTheJob(t *testing.T) {
	for name, tc := range map[string]struct {
		uid  string
		want string
	}{"the same pod": {"web-0", "a"}, "no UID is recorded": {"", "a"}, "a younger pod of the name": {"older", ""}} {
		job := jobOf()
		job.Spec.PodRef.UID = types.UID(tc.uid)
		if got := migrationOf(job).Pod.NodeName; got != tc.want {
			t.Errorf("%s: node %q, want %q", name, got, tc.want)
		}
	}
}

func TestTheArgumentsOfTheMigrationController(t *testing.T) {
	const profiles = "profiles:\n- name: none\n- name: first\n  pluginConfig: [{name: LowNodeLoad, args: {dryRun: true}}, {name: MigrationController, args: {defaultJobTTL: 7m, dryRun: true}}]\n" +
		"- name: second\n  pluginConfig: [{name: MigrationController, args: {defaultJobTTL: 9m}}]\n"
	tests := map[string]struct {
		text    string
		wantTTL time.Duration
		wantErr string
	}{
		"the first profile that has some": {profiles, 7 * time.Minute, ""},
		"none":                            {"profiles: [{name: a}]", migration.DefaultTTL, ""},
		"nothing at all":                  {"", migration.DefaultTTL, ""},
		"no YAML":                         {"a: [", migration.DefaultTTL, "read the DeschedulerConfiguration: "},
		"arguments that are none": {
			"profiles: [{name: a, pluginConfig: [{name: MigrationController, args: {dryRun: 7}}]}]", migration.DefaultTTL,
			`read the arguments of MigrationController in profile "a": `,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			args, err := MigrationArgs(tc.text)
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.HasPrefix(err.Error(), tc.wantErr) {
				t.Errorf("error %v, want %q", err, tc.wantErr)
			}
			if args.DefaultJobTTL.Duration != tc.wantTTL || args.DefaultJobMode != schedulingv1alpha1.PodMigrationJobModeReservationFirst {
				t.Errorf("ttl %s, mode %q, want %s and the default mode", args.DefaultJobTTL.Duration, args.DefaultJobMode, tc.wantTTL)
			}
		})
	}
}
