package koordlet

import (
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/copilot"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

const (
	yarnCgroup = "kubepods/besteffort/hadoop-yarn"
	shortTask  = "container_1764272000000_0001_01_000003"
	longTask   = "container_1764272000000_0001_01_000002"
)

// yarn is the agent of a NodeManager with two containers, on a socket outside of the bubble.
type yarn struct {
	socket string
	mu     sync.Mutex
	killed []string
}

func startYARN(t *testing.T) *yarn {
	t.Helper()
	y := &yarn{socket: filepath.Join(t.TempDir(), "yarn.sock")}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", y.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: y, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // ends with Close
	t.Cleanup(func() { _ = server.Close() })
	return y
}

func (y *yarn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	y.mu.Lock()
	defer y.mu.Unlock()
	switch r.URL.Path {
	case copilot.PathInformation:
		_ = json.NewEncoder(w).Encode(copilot.Information{Name: "yarn", Version: "v1"})
	case copilot.PathContainers:
		var out copilot.ContainerList
		for _, name := range []string{longTask, shortTask} {
			out.Containers = append(out.Containers, copilot.Container{
				Name: name, Namespace: "yarn", Priority: 5500, CgroupDir: yarnCgroup + "/" + name,
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{extension.BatchCPU: resource.MustParse("2k")}},
			})
		}
		_ = json.NewEncoder(w).Encode(out)
	case copilot.PathKillContainer:
		var request copilot.KillRequest
		_ = json.NewDecoder(r.Body).Decode(&request) // an empty ID fails the test
		y.killed = append(y.killed, request.ContainerID)
	}
}

// yarnFiles are the cgroups of the containers, of which one has worked for longer.
func (r *rig) yarnFiles() {
	for name, cpu := range map[string]time.Duration{longTask: time.Hour, shortTask: time.Minute} {
		at := yarnCgroup + "/" + name
		r.file(filepath.Join(r.options.Cgroup, "cpuacct", at, "cpuacct.usage"), strconv.FormatInt(cpu.Nanoseconds(), 10)+"\n")
		r.file(filepath.Join(r.options.Cgroup, "memory", at, "memory.usage_in_bytes"), strconv.Itoa(4<<30)+"\n")
		r.file(filepath.Join(r.options.Cgroup, "memory", at, "memory.stat"), "total_inactive_file 0\n")
	}
}

// strategyOfMemory has best-effort pods go from 5 % of the memory.
func strategyOfMemory() *slov1alpha1.NodeSLO {
	return &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: nodeName}, Spec: slov1alpha1.NodeSLOSpec{
		HostApplications: []slov1alpha1.HostApplicationSpec{{
			Name: "app", QoS: extension.QoSBE, Priority: extension.PriorityBatch,
			CgroupPath: &slov1alpha1.CgroupPath{Base: slov1alpha1.CgroupBaseTypeKubeBesteffort, RelativePath: "hadoop-yarn/"},
		}},
		ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{
			Enable: new(true), CPUSuppressThresholdPercent: new(int64(90)), CPUSuppressPolicy: slov1alpha1.CPUCfsQuotaPolicy,
			MemoryEvictThresholdPercent: new(int64(5)), MemoryEvictLowerPercent: new(int64(1)),
		},
	}}
}

// runYARN runs an agent of a node with YARN's containers for a while, with its eviction for memory.
func runYARN(t *testing.T, sockets []string, check func(*rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) {
			o.CopilotSockets, o.FeatureGates = sockets, map[string]bool{string(eviction.BEMemoryEvict): true}
		})
		defer r.stop()
		r.yarnFiles()
		r.put("nodeslos", strategyOfMemory())
		r.after(time.Second) // the cluster is known
		r.machine.use("app", 2)
		r.machine.use("batch", 1)
		r.group.Go(func() { r.enforcement.copilots.Run(r.ctx) })
		r.group.Go(func() { r.enforcement.evictor.Run(r.ctx) })
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.group.Go(func() { newReporting(r.options, r.clients, r.cluster, r.measurement, r.standing).run(r.ctx) })
		r.after(70 * time.Second)
		check(r)
	})
}

func TestYARNsContainersAreEvictedBeforePodsOfTheirPriority(t *testing.T) {
	agent := startYARN(t)
	runYARN(t, []string{agent.socket}, func(r *rig) {
		agent.mu.Lock()
		defer agent.mu.Unlock()
		if len(agent.killed) == 0 || agent.killed[0] != shortTask {
			r.Errorf("killed %v, want %s first, which loses least", agent.killed, shortTask)
		}
		var evicted []string
		for _, entry := range r.enforcement.audit.After(0, 100) {
			if entry.Owner == string(eviction.BEMemoryEvict) {
				evicted = append(evicted, entry.Object+" "+entry.New)
			}
		}
		if len(evicted) == 0 || evicted[0] != "container yarn/"+shortTask+" killed" {
			r.Errorf("the audit log has %q", evicted)
		}
		explained, err := newExplainer(r.options, r.cluster, r.measurement, r.enforcement, r.standing).Explain(r.ctx, nodeName, &diagnosticsv1alpha1.AgentQuestion{})
		if err != nil || len(explained.Agents) != 1 || len(explained.Agents[0].Containers) != 2 || len(explained.Agents[0].Problems) != 0 {
			r.Fatalf("agents = %+v, %v", explained.Agents, err)
		}
		got := map[string]float64{}
		for _, sample := range newExplainer(r.options, r.cluster, r.measurement, r.enforcement, r.standing).agentMetrics() {
			got[sample.Metric] = sample.Value
		}
		if diff := cmp.Diff(map[string]float64{agentUpMetric: 1, agentContainersMetric: 2}, got); diff != "" {
			r.Errorf("metrics (-want +got):\n%s", diff)
		}
		first := explained.Agents[0].Containers[0]
		if first.Name != shortTask || first.MemoryUsed == nil || *first.MemoryUsed != 4<<30 || first.WorkSeconds != 60 || first.CPURequest != 2000 {
			r.Errorf("the first container is %+v", first)
		}
		for _, trigger := range explained.Evictions.Triggers {
			if trigger.Feature == string(eviction.BEMemoryEvict) && strings.Contains(trigger.Reason, "off") {
				r.Errorf("trigger %+v", trigger)
			}
		}
	})
}

// TestYARNsContainersCountOnce: their usage is that of the host application, in suppression and in the NodeMetric, whether koordlet knows
// them one by one or not.
func TestYARNsContainersCountOnce(t *testing.T) {
	type counted struct {
		// BestEffort and Above are what suppression counts of pods, in milli-cores.
		BestEffort, Above int64
		// Applications are those of the NodeMetric; what they, the system and the node use is in tenths of a core.
		Applications                  int
		ApplicationUsed, System, Node int64
	}
	tenths := func(list corev1.ResourceList) int64 { return (list.Cpu().MilliValue() + 50) / 100 }
	count := func(sockets ...string) (out counted) {
		runYARN(t, sockets, func(r *rig) {
			budget := r.enforcement.round.suppressionDecision().Budget
			if budget == nil {
				r.Fatal("best-effort pods have no budget")
			}
			status := r.metric()
			out = counted{BestEffort: budget.BestEffortUsed, Above: budget.AboveUsed, Applications: len(status.HostApplicationMetric)}
			out.System, out.Node = tenths(status.NodeMetric.SystemUsage.ResourceList), tenths(status.NodeMetric.NodeUsage.ResourceList)
			for _, application := range status.HostApplicationMetric {
				out.ApplicationUsed += tenths(application.Usage.ResourceList)
			}
		})
		return out
	}
	without, with := count(), count(startYARN(t).socket)
	if diff := cmp.Diff(without, with); diff != "" {
		t.Errorf("counted with the agent (-without +with):\n%s", diff)
	}
	if want := (counted{BestEffort: 1000, Applications: 1, ApplicationUsed: 20, Node: 30}); with != want {
		t.Errorf("counted %+v, want %+v: one core of the pod, and two of the application", with, want)
	}
}
