package kubectlplugin

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source/live/livetest"
)

// migrationJob is a job for a pod of namespace shop, created two minutes ago.
func migrationJob(name, pod string) schedulingv1alpha1.PodMigrationJob {
	return schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid-of-rebalance", CreationTimestamp: metav1.NewTime(testNow.Add(-2 * time.Minute))},
		Spec:       schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{Namespace: "shop", Name: pod, UID: "shop/web-0"}},
	}
}

// refusedMigration is a job whose Reservation is on worker-2 and whose eviction a PodDisruptionBudget refused three times.
func refusedMigration() schedulingv1alpha1.PodMigrationJob {
	job := migrationJob("rebalance", "web-0")
	job.Annotations = map[string]string{extension.AnnotationPassedArbitration: "true"}
	at := func(ago time.Duration) metav1.Time { return metav1.NewTime(testNow.Add(-ago)) }
	job.Status = schedulingv1alpha1.PodMigrationJobStatus{
		Phase: schedulingv1alpha1.PodMigrationJobRunning, Status: "Eviction", NodeName: "worker-2",
		Conditions: []schedulingv1alpha1.PodMigrationJobCondition{
			{Type: "ReservationCreated", Status: "True", Message: `reservation "uid-of-rebalance" is created`, LastProbeTime: at(110 * time.Second), LastTransitionTime: at(110 * time.Second)},
			{Type: "ReservationScheduled", Status: "True", Message: `reservation "uid-of-rebalance" is on node "worker-2"`, LastProbeTime: at(100 * time.Second), LastTransitionTime: at(100 * time.Second)},
			{Type: "Eviction", Status: "False", Reason: "Evicting", Message: "the eviction was refused, attempt 3: disruption budget", Attempts: 3, LastProbeTime: at(2 * time.Second), LastTransitionTime: at(20 * time.Second)},
		},
	}
	return job
}

// serveMigrations adds jobs, and the Reservation of refusedMigration.
func serveMigrations(server *livetest.Server, jobs ...schedulingv1alpha1.PodMigrationJob) *livetest.Server {
	if server.Lists == nil {
		server.Lists = map[string]runtime.Object{}
	}
	server.Lists["podmigrationjobs"] = &schedulingv1alpha1.PodMigrationJobList{Items: jobs}
	server.Reservations = append(server.Reservations, schedulingv1alpha1.Reservation{
		ObjectMeta: metav1.ObjectMeta{Name: "uid-of-rebalance", UID: "reservation", OwnerReferences: []metav1.OwnerReference{{UID: "uid-of-rebalance"}}},
		Status:     schedulingv1alpha1.ReservationStatus{Phase: schedulingv1alpha1.ReservationAvailable, NodeName: "worker-2"},
	})
	return server
}

// migrationArguments is the ConfigMap of koord-descheduler with arguments of the MigrationController.
func migrationArguments(arguments string) corev1.ConfigMap {
	return corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "koord-descheduler-config"},
		Data: map[string]string{"koord-descheduler-config": "apiVersion: descheduler/v1alpha2\nkind: DeschedulerConfiguration\n" +
			"profiles:\n- name: default\n  pluginConfig:\n  - name: MigrationController\n    args: " + arguments + "\n"},
	}
}

func TestMigrationsPrint(t *testing.T) {
	tests := map[string]struct {
		line string
		edit func(*livetest.Server)
	}{
		"explain-migration":          {line: "explain migration rebalance"},
		"why-migration":              {line: "why pmj/rebalance"},
		"explain-migration-wide":     {line: "explain pmj rebalance -o wide"},
		"explain-migration-name":     {line: "explain podmigrationjob/rebalance -o name"},
		"explain-migration-jsonpath": {line: "explain migration rebalance -o jsonpath={.gates[?(@.state==\"Waiting\")].name}/{.next.action}"},
		"explain-migration-unknown":  {line: "explain migration rebalanc"},
		"explain-migration-args": {line: "explain migration rebalance", edit: func(s *livetest.Server) {
			s.ConfigMaps = append(s.ConfigMaps, migrationArguments("{defaultJobTTL: 1m}"))
		}},
		"explain-migration-bad-args": {line: "explain migration rebalance --strict", edit: func(s *livetest.Server) {
			s.ConfigMaps = append(s.ConfigMaps, migrationArguments("{defaultJobTTL: soon}"))
		}},
		"explain-migration-evicts": {line: "explain migration rebalance", edit: func(s *livetest.Server) {
			job := refusedMigration()
			job.Status.Conditions[2].LastProbeTime = metav1.NewTime(testNow.Add(-time.Minute))
			job.Status.Conditions[2].LastTransitionTime = job.Status.Conditions[2].LastProbeTime
			serveMigrations(s, job)
		}},
		"explain-migration-waits": {line: "explain migration waiting", edit: func(s *livetest.Server) {
			job := migrationJob("waiting", "web-0")
			job.Status.Reason, job.Status.Message = "MaxMigratingPerNode", "2 jobs of the node are running, the limit is 2"
			serveMigrations(s, job)
		}},
		"explain-migration-pod-is-gone": {line: "explain migration rebalance", edit: func(s *livetest.Server) {
			job := refusedMigration()
			job.Spec.PodRef.Name, job.Status = "web-7", schedulingv1alpha1.PodMigrationJobStatus{}
			serveMigrations(s, job)
		}},
		"explain-migration-ended": {line: "explain migration rebalance", edit: func(s *livetest.Server) {
			job := refusedMigration()
			job.Status.Phase, job.Status.Reason, job.Status.Message = "Failed", "Timeout", "timed out after 5m0s"
			serveMigrations(s, job)
		}},
		"explain-migration-without-pods": {line: "explain migration rebalance", edit: func(s *livetest.Server) { s.Denied = []string{"get pods"} }},
		"explain-migration-without-others": {line: "explain migration rebalance", edit: func(s *livetest.Server) {
			s.Denied = []string{"list podmigrationjobs", "get configmaps"}
		}},
		"explain-migration-not-permitted": {line: "explain migration rebalance", edit: func(s *livetest.Server) { s.Denied = []string{"get podmigrationjobs"} }},
		"explain-migration-without-crds":  {line: "explain migration rebalance", edit: func(s *livetest.Server) { s.NoCRDs = true }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := serveMigrations(cluster(), refusedMigration())
			server.Pods[0].OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web", Controller: new(true)}}
			if tc.edit != nil {
				tc.edit(server)
			}
			golden(t, name, tc.line, run(t, server, tc.line))
		})
	}
}
