package cluster

import (
	"context"
	"fmt"
	"path/filepath"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/sandbox/scenario"
	"koordinator.sh/koord/sandbox/state"
)

// InstallCRDs applies the custom resource definitions alone.
func (c *Cluster) InstallCRDs(ctx context.Context, _ func(string)) error {
	_, err := release.ApplyCRDs(ctx, c.getter(), false)
	return err
}

// InstallSystem installs the system as `koordctl install` does. The services lead to loopback: to the supervisor's processes, or,
// where there is a real node, to the pods on its network.
func (c *Cluster) InstallSystem(ctx context.Context, spec state.Spec, ports state.Ports, node *realnode.Node) error {
	values := values(spec, ports, node != nil)
	if node != nil {
		runInPods(values, ports, *node)
	}
	_, err := release.Install(ctx, c.getter(), release.Options{
		Values: values,
		// The sandbox's lock makes this the only installer, so what is pending was left by a crash.
		PendingGrace: -1,
	})
	if err != nil {
		return fmt.Errorf("install the chart: %w", err)
	}
	return nil
}

func values(spec state.Spec, ports state.Ports, real bool) map[string]any {
	// Both are always said: what is left out stays as it was when the sandbox had another size.
	interval, duration := component.LargeReportInterval, component.LargeAggregateDuration
	if component.ReportsOften(spec) {
		interval, duration = component.SmallReportInterval, component.SmallAggregateDuration
	}
	if real {
		interval = max(interval, freshness.MinReportInterval) // of the koordlet of the node, which nothing forces
	}
	colocation := map[string]any{
		"metricReportIntervalSeconds":    int(interval.Seconds()),
		"metricAggregateDurationSeconds": int(duration.Seconds()),
	}
	manager := loopbackService(ports.ManagerDiagnostics)
	manager["webhookPort"] = ports.ManagerWebhooks
	return map[string]any{
		// Always said as well: without them, what an earlier start with a real node said would stay.
		"kubernetes": map[string]any{"host": ""},
		"workloads":  map[string]any{"enabled": false},
		"manager":    map[string]any{"service": manager},
		"scheduler":  map[string]any{"service": loopbackService(ports.SchedulerDiagnostics)},
		"descheduler": map[string]any{
			"enabled": true, "service": loopbackService(ports.Descheduler), "config": deschedulerConfig(spec),
		},
		// One process reports for all nodes, so it cannot be held to one.
		"koordlet":            map[string]any{"enabled": true, "restrictToOwnNode": false},
		"bridge":              map[string]any{"hostNetwork": false},
		"sloControllerConfig": map[string]any{"data": map[string]any{"colocation-config": colocation}},
	}
}

// deschedulerConfig is the chart's own for the scenario that is there to be rebalanced, with passes that leave time to look at it before pods
// move, and do not let anybody wait for long. The others stay as they are: their pods leave overutilized nodes only.
func deschedulerConfig(spec state.Spec) map[string]any {
	interval, variance := "2m", 0.0
	if spec.Scenario == scenario.Skewed {
		interval, variance = "90s", 0.1
	}
	return map[string]any{"deschedulingInterval": interval, "loadAwareRebalancing": map[string]any{"varianceWeight": variance}}
}

// runInPods has the system run in pods of a real node, on its network: the cluster has no other, and no kube-proxy.
func runInPods(values map[string]any, ports state.Ports, node realnode.Node) {
	values["workloads"] = map[string]any{"enabled": true}
	values["kubernetes"] = map[string]any{"host": "127.0.0.1", "port": ports.APIServer}
	values["images"] = map[string]any{"registry": realnode.Registry, "tag": realnode.SystemTag, "pullPolicy": "Never"}
	onNode := map[string]any{realnode.Label: "true"}
	part := func(name string, listen map[string]any) {
		part := values[name].(map[string]any)
		part["replicas"], part["hostNetwork"], part["bindAddress"] = 1, true, "127.0.0.1"
		part["ports"], part["nodeSelector"] = listen, onNode
	}
	part("manager", map[string]any{
		"diagnostics": ports.ManagerDiagnostics, "webhooks": ports.ManagerWebhooks,
		"metrics": ports.ManagerMetrics, "health": ports.ManagerHealth,
	})
	part("scheduler", map[string]any{"https": ports.Scheduler, "diagnostics": ports.SchedulerDiagnostics})
	part("descheduler", map[string]any{"https": ports.Descheduler})
	// What is not installed by default, so that koordctl install --set bridge.enabled=true does it.
	bridge := values["bridge"].(map[string]any)
	bridge["replicas"], bridge["hostNetwork"], bridge["bindAddress"], bridge["nodeSelector"] = 1, true, "127.0.0.1", onNode
	values["yarnAgent"] = map[string]any{"nodeSelector": onNode}
	agent := values["koordlet"].(map[string]any)
	agent["nodeSelector"], agent["bindAddress"] = onNode, node.Address().String()
	agent["paths"] = map[string]any{
		"cgroup": node.CgroupView(), "kubelet": node.KubeletRoot(), "nri": filepath.Dir(node.NRISocket()), "state": node.AgentState(),
	}
}

func loopbackService(port int) map[string]any {
	return map[string]any{"externalName": "localhost", "port": port}
}

func (c *Cluster) getter() genericclioptions.RESTClientGetter {
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = &c.kubeconfig
	flags.WithDiscoveryQPS(qps)
	flags.WithDiscoveryBurst(burst)
	return flags
}
