package coscheduling

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/eventually"
)

// TestGangsOnTooFewNodes has room for 30 of 50 gangs: 30 run whole, no other holds a node, and as those that run end, all
// others do.
func TestGangsOnTooFewNodes(t *testing.T) {
	const count, size = 50, 10
	c := newCluster(t, 15, 20)
	c.start(t)
	begin := time.Now()
	for i := range count {
		c.create(t, fmt.Sprintf("g%d", i), size, size)
	}
	ran := map[string]bool{}
	whole := func() (sum int) {
		for name, bound := range c.bound(t) {
			if bound == size {
				ran[name] = true
				sum += bound
			}
		}
		return sum
	}
	eventually.True(t, "30 gangs run", func() bool { return whole() == 300 })
	t.Logf("30 gangs of 10 in %v", time.Since(begin))
	for len(ran) < count {
		ended := 0
		for name := range c.bound(t) {
			if ended++; ended > 5 {
				break
			}
			for i := range size {
				c.remove(t, fmt.Sprintf("%s-%d", name, i))
			}
		}
		before := len(ran)
		eventually.True(t, fmt.Sprintf("others run after %d", before), func() bool { whole(); return len(ran) >= min(before+5, count) })
	}
	for name, bound := range c.bound(t) {
		if bound != size {
			t.Errorf("%d of %d members of %s are bound", bound, size, name)
		}
	}
}

// TestMembersSayWhatHoldsThem has a gang that does not fit: the member without a node says what is missing on the nodes, the
// others name that member, and all bound pods carry their group.
func TestMembersSayWhatHoldsThem(t *testing.T) {
	c := newCluster(t, 1, 4)
	c.start(t)
	c.create(t, "large", 5, 5)
	messages := func() (own, others int) {
		list, err := c.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			for _, condition := range list.Items[i].Status.Conditions {
				if condition.Type != corev1.PodScheduled || !strings.Contains(condition.Message, `GangGroup "[default/large]" gets rejected due to member Pod "default/large-`) {
					continue
				}
				if others++; strings.HasPrefix(condition.Message, "0/1 nodes are available: 1 Insufficient cpu") {
					own++
				}
			}
		}
		return own, others
	}
	eventually.True(t, "all members say why", func() bool { own, others := messages(); return own == 1 && others == 5 })
	if bound := total(c.bound(t)); bound != 0 {
		t.Errorf("%d members are bound", bound)
	}
	c.groups.Modify(c.group("large", 4))
	eventually.True(t, "four run once four are enough", func() bool { return total(c.bound(t)) == 4 })
	pod, err := c.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range pod.Items {
		annotations := pod.Items[i].Annotations
		if pod.Items[i].Spec.NodeName != "" && (annotations[extension.AnnotationBindGangGroupID] != "default/large" || annotations[extension.DeprecatedAnnotationBindGangMemberCount] != "5") {
			t.Errorf("%s has annotations %v", pod.Items[i].Name, annotations)
		}
	}
}

// TestSchedulerKilledInTheMiddle lets 4 of 10 members be bound, and stops the scheduler. Others want the room, too.
func TestSchedulerKilledInTheMiddle(t *testing.T) {
	c := newCluster(t, 1, 10)
	stop := c.start(t)
	c.bindings.Store(4)
	c.create(t, "a", 10, 10)
	eventually.True(t, "the rest of the bindings fail", func() bool { return c.refused.Load() > 0 && total(c.bound(t)) == 4 })
	stop()
	c.bindings.Store(-1)
	c.create(t, "b", 10, 10)
	c.start(t)
	eventually.True(t, "the gang is completed", func() bool { return c.bound(t)["a"] == 10 })
	if bound := c.bound(t)["b"]; bound != 0 {
		t.Errorf("%d members of the other gang are bound", bound)
	}
}

// TestChangesWhileMembersWait has four members that wait for a fifth, which a scheduling gate holds back.
func TestChangesWhileMembersWait(t *testing.T) {
	tests := map[string]struct {
		change    func(*testing.T, *cluster)
		wantBound int
	}{
		"the minimum is lowered":      {func(_ *testing.T, c *cluster) { c.groups.Modify(c.group("a", 4)) }, 4},
		"the last member is released": {func(t *testing.T, c *cluster) { c.release(t, "a-4") }, 5},
		"a member is bound by others": {func(t *testing.T, c *cluster) { c.bindElsewhere(t, "a-4") }, 5},
		"a member comes":              {func(t *testing.T, c *cluster) { c.createPod(t, "a-9", "a") }, 5},
		"a waiting member is replaced": {func(t *testing.T, c *cluster) {
			c.createPod(t, "a-8", "a")
			c.remove(t, "a-1")
			c.createPod(t, "a-9", "a")
		}, 5},
		"the PodGroup is made again":  {func(_ *testing.T, c *cluster) { c.groups.Delete(c.group("a", 5)); c.groups.Add(c.group("a", 3)) }, 4},
		"the minimum rises and falls": {func(_ *testing.T, c *cluster) { c.groups.Modify(c.group("a", 9)); c.groups.Modify(c.group("a", 2)) }, 4},
		"the minimum rises, others come": {func(t *testing.T, c *cluster) {
			c.groups.Modify(c.group("a", 6))
			c.createPod(t, "a-8", "a")
			c.createPod(t, "a-9", "a")
		}, 6},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 1, 10)
			c.start(t)
			c.createGated(t, "a-4", "a")
			c.create(t, "a", 5, 4)
			eventually.True(t, "four wait", func() bool { return c.state.Counts(keyIn("a")).Waiting == 4 })
			test.change(t, c)
			eventually.True(t, "they run", func() bool { return total(c.bound(t)) == test.wantBound })
		})
	}
}

// TestPlainPodsAndGangs run side by side, and the members of a gang that waits in vain give their nodes back.
func TestPlainPodsAndGangs(t *testing.T) {
	c := newCluster(t, 2, 5)
	c.start(t)
	c.create(t, "large", 11, 11)
	eventually.True(t, "a member is refused", func() bool {
		return len(c.state.Report(keyIn("large")).Gangs[0].Refused) > 0
	})
	for i := range 10 {
		c.createPod(t, fmt.Sprintf("p%d", i), "")
	}
	eventually.True(t, "plain pods run", func() bool { return c.bound(t)[""] == 10 })
	for i := range 10 {
		c.remove(t, fmt.Sprintf("p%d", i))
	}
	c.create(t, "small", 10, 10)
	eventually.True(t, "a gang that fits runs", func() bool { return c.bound(t)["small"] == 10 })
	for i := range 10 {
		c.remove(t, fmt.Sprintf("small-%d", i))
	}
	c.remove(t, "large-3")
	c.groups.Modify(c.group("large", 10))
	eventually.True(t, "the large gang runs once it fits", func() bool { return c.bound(t)["large"] == 10 })
}
