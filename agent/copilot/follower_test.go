package copilot

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	testclock "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const above = "kubepods/besteffort/hadoop-yarn/"

// node is a machine with the followers of some agents.
type node struct {
	*Follower
	tree  *kernelfs.Tree
	clock *testclock.FakeClock
	v     cgroup.Version
}

func newNode(version cgroup.Version, sockets ...string) *node {
	n := &node{tree: kernelfs.New(version, cpuset.Of(0, 1)), clock: testclock.NewFakeClock(noon), v: version}
	n.Follower = NewFollower(FollowerOptions{
		Sockets: sockets, Tree: n.tree, Clock: n.clock, Layout: cgroup.Layout{Version: version, Driver: cgroup.Cgroupfs},
	})
	return n
}

// use has a container have used CPU time, and use memory of which some is page cache.
func (n *node) use(name string, cpu time.Duration, memory, cache int64) {
	n.tree.Make(above + name)
	if n.v == cgroup.V2 {
		n.tree.Show(above+name, "cpu.stat", fmt.Sprintf("usage_usec %d\n", cpu.Microseconds()))
		n.tree.Show(above+name, "memory.current", fmt.Sprint(memory))
		n.tree.Show(above+name, "memory.stat", fmt.Sprintf("inactive_file %d\n", cache))
		return
	}
	n.tree.Show(above+name, "cpuacct.usage", fmt.Sprint(cpu.Nanoseconds()))
	n.tree.Show(above+name, "memory.usage_in_bytes", fmt.Sprint(memory))
	n.tree.Show(above+name, "memory.stat", fmt.Sprintf("total_inactive_file %d\n", cache))
}

// pass lists all agents once, after a while.
func (n *node) pass(t *testing.T, wait time.Duration) {
	t.Helper()
	n.clock.Step(wait)
	for _, a := range n.agents {
		n.list(t.Context(), a)
	}
}

func container(name string) Container {
	return Container{Name: name, Namespace: "yarn", Priority: 5500, CreateTimestamp: noon, CgroupDir: above + name, Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("1Gi")},
	}}
}

func TestContainersAreMeasuredByTheirCgroups(t *testing.T) {
	for _, version := range []cgroup.Version{cgroup.V1, cgroup.V2} {
		t.Run(fmt.Sprintf("version %d", version), func(t *testing.T) {
			n := newNode(version, startScheduler(t, "yarn", container("c1"), container("gone")).socket)
			n.use("c1", 10*time.Second, 300, 100)
			n.pass(t, 0)
			n.use("c1", 13*time.Second, 500, 200)
			n.pass(t, 2*time.Second)
			requests := podrequest.Amount{MilliCPU: 2000, Memory: 1 << 30}
			want := []eviction.Container{
				{
					Agent: "yarn", Namespace: "yarn", Name: "c1", Priority: 5500, Created: noon, CPUTime: new(13 * time.Second), Requests: requests,
					Used: &podrequest.Amount{MilliCPU: 1500, Memory: 300},
				},
				{Agent: "yarn", Namespace: "yarn", Name: "gone", Priority: 5500, Created: noon, Requests: requests},
			}
			if diff := cmp.Diff(want, n.Containers()); diff != "" {
				t.Errorf("containers (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHostileContainersAreLeftOut: what an agent says must not lead koordlet to other cgroups, or into its log and answers unread.
func TestHostileContainersAreLeftOut(t *testing.T) {
	with := func(change func(*Container)) Container {
		out := container("bad")
		change(&out)
		return out
	}
	for name, test := range map[string]struct {
		container Container
		wantWhy   string
	}{
		"a cgroup that leads out by dots":       {container: with(func(c *Container) { c.CgroupDir = above + "../../../system.slice" }), wantWhy: "not a clean path"},
		"a cgroup that is not of best effort":   {container: with(func(c *Container) { c.CgroupDir = "kubepods/burstable/x" }), wantWhy: "not below kubepods/besteffort"},
		"a cgroup whose name begins like it":    {container: with(func(c *Container) { c.CgroupDir = "kubepods/besteffort-2/x" }), wantWhy: "not below kubepods/besteffort"},
		"the cgroup of all best-effort pods":    {container: with(func(c *Container) { c.CgroupDir = "kubepods/besteffort" }), wantWhy: "not below kubepods/besteffort"},
		"no cgroup":                             {container: with(func(c *Container) { c.CgroupDir = "" }), wantWhy: "not below kubepods/besteffort"},
		"the cgroup of a pod":                   {container: with(func(c *Container) { c.CgroupDir = "kubepods/besteffort/pod1234/c" }), wantWhy: "in that of a pod"},
		"a cgroup with a zero byte":             {container: with(func(c *Container) { c.CgroupDir = above + "a\x00b" }), wantWhy: "not a clean path"},
		"a name that is a path":                 {container: with(func(c *Container) { c.Name = "../c1" }), wantWhy: "is no name"},
		"a name with an escape of a terminal":   {container: with(func(c *Container) { c.Name = "c\x1b[2J" }), wantWhy: "is no name"},
		"a name that is too long":               {container: with(func(c *Container) { c.Name = strings.Repeat("c", 300) }), wantWhy: "is no name"},
		"a namespace with a slash":              {container: with(func(c *Container) { c.Namespace = "a/b" }), wantWhy: "is no name"},
		"the cgroup of another container":       {container: with(func(c *Container) { c.CgroupDir = "/" + above + "c1" }), wantWhy: "another one has its cgroup"},
		"the name of another container":         {container: with(func(c *Container) { c.Name = "c1" }), wantWhy: "another one has its name"},
		"nothing at all, such as in {} or null": {wantWhy: "is no name"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(cgroup.V2, startScheduler(t, "yarn", container("c1"), test.container).socket)
			n.pass(t, 0)
			if got := n.Containers(); len(got) != 1 || got[0].Name != "c1" {
				t.Errorf("containers = %+v, want c1 alone", got)
			}
			status := n.Agents()[0]
			if status.Refused != 1 || status.RefusedWhy == nil || !strings.Contains(status.RefusedWhy.Error(), test.wantWhy) {
				t.Errorf("%d refused because %v, want %q", status.Refused, status.RefusedWhy, test.wantWhy)
			}
		})
	}
}

func TestWhatAnAgentThatFailsLeavesKnown(t *testing.T) {
	s := startScheduler(t, "yarn", container("c1"))
	n := newNode(cgroup.V2, s.socket)
	n.pass(t, 0)
	for name, test := range map[string]struct {
		answer  func(http.ResponseWriter, *http.Request)
		wantErr string
	}{
		"an error": {answer: func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "out of order", http.StatusInternalServerError)
		}, wantErr: `500: "out of order"`},
		"a page":           {answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, wantErr: "read the answer"},
		"half an answer":   {answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"containers":[{"name":`) }, wantErr: "read the answer"},
		"another type":     {answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"containers":"none"}`) }, wantErr: "read the answer"},
		"a redirect":       {answer: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, wantErr: "302"},
		"an endless list":  {answer: endless, wantErr: "longer than"},
		"a crowd of tasks": {answer: crowd(mostContainers + 1), wantErr: "more than 20000"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(cgroup.V2, s.socket)
			s.set(func(s *fakeScheduler) { s.answer = nil })
			n.pass(t, 0)
			s.set(func(s *fakeScheduler) { s.answer = test.answer })
			n.pass(t, interval)
			if err := n.Agents()[0].Err; err == nil || !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("error = %v, want %q", err, test.wantErr)
			}
			if got := n.Containers(); len(got) != 1 {
				t.Errorf("%d containers a moment after the agent failed, want those of before", len(got))
			}
			n.pass(t, staleAfter)
			if got := n.Containers(); len(got) != 0 {
				t.Errorf("containers = %+v long after the agent failed", got)
			}
			s.set(func(s *fakeScheduler) { s.answer = nil })
			n.pass(t, interval)
			if got := n.Containers(); len(got) != 1 || n.Agents()[0].Err != nil {
				t.Errorf("containers = %+v after the agent is back, error %v", got, n.Agents()[0].Err)
			}
		})
	}
}

func endless(w http.ResponseWriter, _ *http.Request) {
	chunk := []byte(strings.Repeat(" ", 1<<20))
	for range mostBytes/len(chunk) + 1 {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// crowd answers so many containers, as a list alone.
func crowd(count int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		var b strings.Builder
		for i := range count {
			fmt.Fprintf(&b, `,{"name":"c%d","cgroupDir":"%sc%d"}`, i, above, i)
		}
		_, _ = io.WriteString(w, "["+b.String()[1:]+"]")
	}
}

func TestTenThousandContainersAreKnown(t *testing.T) {
	s := startScheduler(t, "yarn")
	s.set(func(s *fakeScheduler) { s.answer = crowd(10_000) })
	n := newNode(cgroup.V2, s.socket)
	n.pass(t, 0)
	if got := n.Containers(); len(got) != 10_000 || got[9999].Name != "c9999" || got[0].Namespace != "yarn" {
		t.Errorf("%d containers", len(got))
	}
}

func TestAgentsAreToldApart(t *testing.T) {
	yarn, presto := startScheduler(t, "yarn", container("c1")), startScheduler(t, "presto", container("c2"))
	second := startScheduler(t, "yarn", container("c3"))
	n := newNode(cgroup.V2, "/nowhere/agent.sock", yarn.socket, presto.socket, second.socket)
	n.pass(t, 0)
	agents := map[string]string{}
	for _, c := range n.Containers() {
		agents[c.Name] = c.Agent
	}
	if diff := cmp.Diff(map[string]string{"c1": "yarn", "c2": "presto"}, agents); diff != "" {
		t.Errorf("agents of containers (-want +got):\n%s", diff)
	}
	for i, want := range map[int]string{0: "no such file", 3: "both called yarn"} {
		if err := n.Agents()[i].Err; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error of agent %d = %v, want %q", i, err, want)
		}
	}
	if err := n.Kill(t.Context(), eviction.Ref{Agent: "presto", Name: "c2"}); err != nil {
		t.Error(err)
	}
	if len(yarn.killed) != 0 || len(presto.killed) != 1 || presto.killed[0] != "c2" {
		t.Errorf("killed %v by yarn and %v by presto", yarn.killed, presto.killed)
	}
}

func TestKill(t *testing.T) {
	for name, test := range map[string]struct {
		refuse   int
		agent    string
		wantErr  string
		wantGone bool
	}{
		"done":                        {agent: "yarn"},
		"refused":                     {agent: "yarn", refuse: http.StatusInternalServerError, wantErr: `the agent answered 500: "not that one"`},
		"gone between list and kill":  {agent: "yarn", refuse: http.StatusNotFound, wantErr: "not found", wantGone: true},
		"of an agent that is unknown": {agent: "presto", wantErr: "no agent is called"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startScheduler(t, "yarn", container("c1"))
			n := newNode(cgroup.V2, s.socket)
			n.pass(t, 0)
			s.set(func(s *fakeScheduler) { s.refuse = test.refuse })
			err := n.Kill(t.Context(), eviction.Ref{Agent: test.agent, Name: "c1"})
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("Kill() = %v, want %q", err, test.wantErr)
			}
			if gone := errors.Is(err, ErrNotFound); gone != test.wantGone {
				t.Errorf("gone is %t, want %t", gone, test.wantGone)
			}
		})
	}
}
