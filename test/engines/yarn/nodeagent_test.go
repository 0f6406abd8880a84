package yarn_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/copilot"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/yarnagent"
	"koordinator.sh/koord/bridge/yarn"
	"koordinator.sh/koord/decision/nodeqos/eviction"
	"koordinator.sh/koord/test/engines"
	realyarn "koordinator.sh/koord/test/engines/yarn"
	"koordinator.sh/koord/test/eventually"
)

// nodeAgent is koord-yarn-agent beside a real NodeManager, and what koordlet knows by it.
type nodeAgent struct {
	*testing.T
	client   *copilot.Client
	follower *copilot.Follower
	layout   cgroup.Layout
	tree     *files.Real
	socket   string
}

// startNodeAgent runs the agent until the end of the test.
func startNodeAgent(t *testing.T, nodeManager string) *nodeAgent {
	t.Helper()
	parent := makeKubelet(t)
	options := yarnagent.NewOptions()
	options.ServerEndpoint, options.NodeManagerEndpoint, options.KubeletCgroupRoot = filepath.Join(t.TempDir(), "agent.sock"), nodeManager, parent
	tree, err := files.NewReal(cgroupRoot)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := cgroup.Probe(tree, parent)
	if err != nil {
		t.Fatal(err)
	}
	a := &nodeAgent{T: t, client: copilot.NewClient(options.ServerEndpoint), layout: layout, tree: tree, socket: options.ServerEndpoint}
	a.follower = copilot.NewFollower(copilot.FollowerOptions{Sockets: []string{a.socket}, Tree: tree, Layout: layout, Clock: clock.RealClock{}})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended, followed := make(chan error, 1), make(chan struct{})
	go func() { ended <- yarnagent.Run(ctx, options) }()
	go func() { defer close(followed); a.follower.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-followed
		if err := <-ended; err != nil {
			t.Errorf("the agent ended: %v", err)
		}
		_ = tree.Close() // nothing is buffered
	})
	return a
}

// listed are the containers, masters apart.
func (a *nodeAgent) listed() (masters, tasks []copilot.Container) {
	found, _ := a.client.Containers(a.Context()) // asked again when it fails
	for _, container := range found {
		if strings.HasSuffix(container.Name, "_000001") {
			masters = append(masters, container)
		} else {
			tasks = append(tasks, container)
		}
	}
	return masters, tasks
}

// wantInside checks that all processes that the container started are in its cgroup, in every hierarchy.
func (a *nodeAgent) wantInside(container *copilot.Container) {
	a.Helper()
	content, err := a.tree.Read(a.layout.Statistic(cgroup.Processes, container.CgroupDir), nil)
	if err != nil || len(strings.Fields(string(content))) == 0 {
		a.Errorf("container %s has processes %q, %v", container.Name, content, err)
	}
	hierarchies := 1
	if a.layout.Version == cgroup.V1 {
		hierarchies = 5
	}
	for _, pid := range strings.Fields(string(content)) {
		groups, err := os.ReadFile(fmt.Sprintf("/proc/%s/cgroup", pid))
		if err == nil && strings.Count(string(groups), ":/"+container.CgroupDir+"\n") < hierarchies {
			a.Errorf("process %s of container %s is in\n%s", pid, container.Name, groups)
		}
	}
}

// TestTheRealNodeManager: its containers are found, put into cgroups, measured, and killed as koordlet asks; the application goes on.
func TestTheRealNodeManager(t *testing.T) {
	engines.Require(t, "java", "javac", "mvn")
	cluster := realyarn.Start(t)
	id := cluster.StartNodeManager(t, yarn.Resource{VCores: 4, MiB: 4096})
	agent := startNodeAgent(t, cluster.WebServices(id))
	eventually.True(t, "the agent answers", func() bool { _, err := agent.client.Containers(t.Context()); return err == nil })
	job := cluster.Submit(t, 2, 256, "sleep 25")
	var masters, tasks []copilot.Container
	eventually.True(t, "the master and both tasks are known", func() bool {
		masters, tasks = agent.listed()
		return len(masters) == 1 && len(tasks) == 2
	})
	for _, container := range slices.Concat(masters, tasks) {
		agent.wantInside(&container)
		if amount := copilot.AmountOf(container.Resources.Requests); amount.MilliCPU != 1000 || amount.Memory != 256<<20 {
			t.Errorf("container %s requests %+v", container.Name, amount)
		}
	}
	// What a process had allocated before it was moved stays charged where it was, which may be all that a sleeping one has.
	eventually.True(t, "koordlet measures all of them", func() bool {
		measured := agent.follower.Containers()
		return len(measured) == 3 && !slices.ContainsFunc(measured, func(c eviction.Container) bool {
			isMaster := c.Name == masters[0].Name
			return c.Used == nil || c.CPUTime == nil || isMaster && (c.Used.Memory == 0 || *c.CPUTime == 0)
		})
	})
	killed, err := agent.client.KillByResource(t.Context(), copilot.KillRequest{Resources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}})
	if err != nil || len(killed) != 1 || killed[0].Name == masters[0].Name {
		t.Fatalf("killed %+v, %v; want one task", killed, err)
	}
	eventually.True(t, "YARN starts the task again", func() bool {
		_, now := agent.listed()
		return len(now) == 2 && !slices.ContainsFunc(now, func(c copilot.Container) bool { return c.Name == killed[0].Name })
	})
	_, tasks = agent.listed()
	if err := agent.follower.Kill(t.Context(), eviction.Ref{Agent: "yarn", Name: tasks[1].Name}); err != nil {
		t.Errorf("kill a container as koordlet does: %v", err)
	}
	if got := job.Summary(t); !strings.Contains(got, "SUCCEEDED done=2 killed=2") {
		t.Errorf("the application ended with %q, want both done, and two killed and started again", got)
	}
	eventually.True(t, "no container is left", func() bool { masters, tasks := agent.listed(); return len(masters)+len(tasks) == 0 })
}
