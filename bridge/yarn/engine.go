package yarn

import (
	"context"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/bridge/engine"
)

// Engine is a YARN cluster, as an engine.
type Engine struct {
	cluster string
	client  client
	// grain is one vcore, in milli-cores, and one MiB.
	grain engine.Amount
	// ids are the nodes of the last observation by their keys.
	ids map[string]NodeID
	// measured are the hosts that have metrics.
	measured map[string]bool
}

var _ engine.Engine = (*Engine)(nil)

// client is how ResourceManagers are called.
type client interface {
	Nodes(ctx context.Context) ([]Node, error)
	Update(ctx context.Context, changes []Change) error
	Pending(ctx context.Context) (Resource, error)
	Close()
}

// NewEngine returns the engine of a cluster, which must be closed. It is called by RPC.
func NewEngine(cluster Cluster, caller Caller, timeout time.Duration) *Engine {
	return &Engine{cluster: cluster.Name, client: NewClient(cluster, caller, timeout), grain: cluster.grain()}
}

// NewRESTEngine returns the engine of a cluster, which must be closed. It is called by its REST API.
func NewRESTEngine(cluster Cluster, options RESTOptions) *Engine {
	return &Engine{cluster: cluster.Name, client: NewRESTClient(cluster, options), grain: cluster.grain()}
}

// Name is hadoop-yarn.
func (*Engine) Name() string { return extension.ThirdPartyYARN }

// Cluster is the name of the cluster.
func (e *Engine) Cluster() string { return e.cluster }

// Close ends the connections.
func (e *Engine) Close() { e.client.Close() }

const bytesPerMiB = 1 << 20

func (c *Cluster) grain() engine.Amount {
	if c.MilliCPUPerVCore <= 0 {
		return engine.Amount{MilliCPU: millisPerCore, Memory: bytesPerMiB}
	}
	return engine.Amount{MilliCPU: c.MilliCPUPerVCore, Memory: bytesPerMiB}
}

// Agent selects the pods of NodeManagers of this cluster.
func (e *Engine) Agent(pod *corev1.Pod) bool {
	return pod.Labels[extension.LabelAppComponent] == extension.ComponentNodeManager && e.belongs(pod.Annotations)
}

func (e *Engine) belongs(annotations map[string]string) bool {
	cluster := annotations[extension.AnnotationYARNClusterID]
	return cluster == e.cluster || cluster == "" && e.cluster == DefaultCluster
}

// Keys are the node IDs of the pods of NodeManagers, the oldest pod's first, and then the one that the node itself is annotated with, for a
// NodeManager that is not a pod.
func (e *Engine) Keys(node *corev1.Node, agents []*corev1.Pod) []string {
	ofPod := func(pod *corev1.Pod) []string { return e.ofPod(pod, node) }
	return engine.KeysOf(node, agents, ofPod, func(node *corev1.Node) []string { return e.annotated(node.Annotations) })
}

func (e *Engine) annotated(annotations map[string]string) []string {
	if id, err := ParseNodeID(annotations[extension.AnnotationYARNNodeID]); err == nil && e.belongs(annotations) {
		return []string{id.String()}
	}
	return nil
}

// ofPod are the IDs of a NodeManager: the one that its pod is annotated with, or else those that the ResourceManager knows with a host that is
// the pod's. While it knows none, the key is one that it never has, so that the node still counts as one with an agent.
func (e *Engine) ofPod(pod *corev1.Pod, node *corev1.Node) []string {
	if _, says := pod.Annotations[extension.AnnotationYARNNodeID]; says {
		return e.annotated(pod.Annotations)
	}
	var keys []string
	hosts := hostsOf(pod, node)
	for key, id := range e.ids {
		if slices.Contains(hosts, id.Host) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return []string{pod.Name + ":unknown"}
	}
	slices.Sort(keys)
	return keys
}

// hostsOf are the names under which a NodeManager in a pod may register: its addresses, its hostname, with the domain of a StatefulSet or
// without, and the names and addresses of the node where the pod uses the node's network: it is the resolver of the node that names it.
func hostsOf(pod *corev1.Pod, node *corev1.Node) []string {
	hostname := pod.Spec.Hostname
	if hostname == "" {
		hostname = pod.Name
	}
	hosts := []string{pod.Status.PodIP, hostname}
	if pod.Spec.Subdomain != "" {
		qualified := hostname + "." + pod.Spec.Subdomain + "." + pod.Namespace
		hosts = append(hosts, qualified, qualified+".svc", qualified+".svc.cluster.local")
	}
	if pod.Spec.HostNetwork {
		hosts = append(hosts, node.Name)
		for _, address := range node.Status.Addresses {
			hosts = append(hosts, address.Address)
		}
	}
	return slices.DeleteFunc(hosts, func(host string) bool { return host == "" })
}

// Observe reads the nodes and what is pending. Where the latter cannot be read, nothing is.
func (e *Engine) Observe(ctx context.Context) (engine.State, error) {
	nodes, err := e.client.Nodes(ctx)
	if err != nil {
		return engine.State{}, err
	}
	state := engine.State{Grain: e.grain, Nodes: make(map[string]engine.Node, len(nodes))}
	ids := make(map[string]NodeID, len(nodes))
	for _, node := range nodes {
		key := node.ID.String()
		ids[key] = node.ID
		state.Nodes[key] = engine.Node{
			Capacity: e.amount(node.Capability), Allocated: e.amount(node.Used),
			Closed: node.State != StateRunning && node.State != StateNew,
		}
	}
	e.ids = ids
	e.measured = measure(e.cluster, nodes, e.measured)
	pending, err := e.client.Pending(ctx)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Failed to read what is pending in YARN", "cluster", e.cluster, "err", err)
	}
	state.Waits = pending.VCores > 0 || pending.MiB > 0
	return state, nil
}

// SetCapacity changes nodes of the last observation; others are left out.
func (e *Engine) SetCapacity(ctx context.Context, changes []engine.Change) error {
	out := make([]Change, 0, len(changes))
	for _, change := range changes {
		id, known := e.ids[change.Key]
		if !known {
			continue
		}
		out = append(out, Change{
			Node:          id,
			Capability:    Resource{VCores: change.Capacity.MilliCPU / e.grain.MilliCPU, MiB: change.Capacity.Memory / e.grain.Memory},
			TimeoutMillis: millis(change.Deadline),
		})
	}
	if len(out) == 0 {
		return nil
	}
	return e.client.Update(ctx, out)
}

// millis is at least one: with zero, YARN kills at once, and below zero an older deadline stays.
func millis(d time.Duration) int32 {
	return int32(min(max(d.Milliseconds(), 1), math.MaxInt32))
}

// amount is a resource in milli-cores and bytes. Numbers that a ResourceManager cannot mean stay within bounds.
func (e *Engine) amount(r Resource) engine.Amount {
	return engine.Amount{MilliCPU: scaled(r.VCores, e.grain.MilliCPU), Memory: scaled(r.MiB, e.grain.Memory)}
}

func scaled(count, unit int64) int64 {
	return min(max(count, 0), math.MaxInt64/4/unit) * unit
}
