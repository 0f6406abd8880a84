package coscheduling

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/eventually"
)

// TestGangsPreemptAsAWhole has a cluster full of less important pods: a gang that could not run with all of them gone evicts
// none, and one that could evicts as many as it needs.
func TestGangsPreemptAsAWhole(t *testing.T) {
	c := newCluster(t, 3, 4)
	c.preemption = true
	c.start(t)
	for i := range 12 {
		c.createPod(t, fmt.Sprintf("low-%d", i), "")
	}
	eventually.True(t, "the cluster is full", func() bool { return c.bound(t)[""] == 12 })
	protected, err := c.client.CoreV1().Pods("default").Get(t.Context(), "low-3", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	protected.Labels, protected.ResourceVersion = map[string]string{extension.LabelDisablePreemptible: "true"}, "2"
	if _, err := c.client.CoreV1().Pods("default").Update(t.Context(), protected, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.priority = 1000
	c.create(t, "huge", 12, 12)
	eventually.True(t, "the huge gang is refused", func() bool { return len(c.state.Report(keyIn("huge")).Gangs[0].Refused) > 0 })
	c.create(t, "fits", 7, 7)
	eventually.True(t, "the gang that fits runs", func() bool { return c.bound(t)["fits"] == 7 })
	counts := c.bound(t)
	if counts[""] != 5 || counts["huge"] != 0 {
		t.Errorf("%d less important pods and %d of the huge gang run, want 5 and none", counts[""], counts["huge"])
	}
	if _, err := c.client.CoreV1().Pods("default").Get(t.Context(), "low-3", metav1.GetOptions{}); err != nil {
		t.Errorf("the protected pod: %v", err)
	}
}
