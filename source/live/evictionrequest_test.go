package live

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// TestAMigrationWithoutEvictionRequestsIsExplained: the policy is EvictionRequest, and the cluster serves none, as Kubernetes 1.36.
func TestAMigrationWithoutEvictionRequestsIsExplained(t *testing.T) {
	cluster := migrating()
	for i := range cluster.server.Pods {
		p := &cluster.server.Pods[i]
		p.UID, p.Labels = types.UID("uid-"+p.Name), map[string]string{extension.LabelPodEvictPolicy: "EvictionRequest"}
	}
	job := &cluster.server.Lists["podmigrationjobs"].(*schedulingv1alpha1.PodMigrationJobList).Items[1]
	job.Spec.Mode, job.Spec.PodRef.UID, job.Status.Phase = schedulingv1alpha1.PodMigrationJobModeEvictionDirectly, "uid-web-0", schedulingv1alpha1.PodMigrationJobRunning
	job.Status.Conditions = []schedulingv1alpha1.PodMigrationJobCondition{{Type: schedulingv1alpha1.PodMigrationJobConditionEviction, Status: "False", Reason: "Evicting"}}
	answer, err := cluster.source(t).ExplainMigration(t.Context(), "b-running")
	if err != nil {
		t.Fatal(err)
	}
	const want = "the eviction API is used: the cluster does not serve evictionrequests.lifecycle.k8s.io/v1alpha1"
	if !strings.HasPrefix(answer.Summary, "at gate Eviction until ") || !strings.HasSuffix(answer.Summary, want) {
		t.Errorf("summary %q, want gate Eviction with %q", answer.Summary, want)
	}
}
