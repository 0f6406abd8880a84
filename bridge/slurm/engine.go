package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/bridge/engine"
)

// DefaultCluster is the name of the cluster that slurm.conf is of.
const DefaultCluster = "__default_slurm_cluster__"

// DefaultPartitionPrefix of the partitions that have one node each.
const DefaultPartitionPrefix = "batch-"

const (
	millisPerCPU = 1000
	bytesPerMiB  = 1 << 20
	// restBetweenQueues is how many times as long as reading the queue took is waited before it is read again: it can be long.
	restBetweenQueues = 20
)

// Options of an Engine.
type Options struct {
	// Conf is the path of slurm.conf; empty for the default of Slurm's programs.
	Conf string
	// PartitionPrefix and the name of a node make the name of the partition that has this node alone.
	PartitionPrefix string
	// Timeout bounds one call of a program.
	Timeout time.Duration
}

// Engine is a Slurm cluster, as an engine.
type Engine struct {
	commands commands
	prefix   string
	// unit is what one CPU stands for, and known are the nodes, both of the last observation.
	unit  engine.Amount
	known map[string]bool
	// waits is what the queue said when it was read last, and queueDue when it is read again.
	waits    bool
	queueDue time.Time
}

var (
	_ engine.Engine = (*Engine)(nil)
	_ engine.Killer = (*Engine)(nil)
)

// NewEngine returns the engine of a cluster.
func NewEngine(options Options) *Engine {
	return &Engine{commands: commands{conf: options.Conf, timeout: options.Timeout}, prefix: options.PartitionPrefix}
}

// Name is slurm.
func (*Engine) Name() string { return extension.ThirdPartySlurm }

// Cluster is the default one.
func (*Engine) Cluster() string { return DefaultCluster }

// Close does nothing: programs run only while they are asked.
func (*Engine) Close() {}

// Agent selects the pods of slurmd.
func (*Engine) Agent(pod *corev1.Pod) bool {
	return pod.Labels[extension.LabelAppComponent] == extension.ComponentSlurmd
}

// Keys are the names of nodes that the pods of slurmd are annotated with, the oldest pod's first, and then the one of the node itself.
func (*Engine) Keys(node *corev1.Node, agents []*corev1.Pod) []string {
	return engine.KeysOf(node, agents,
		func(pod *corev1.Pod) []string { return named(pod.Annotations) },
		func(node *corev1.Node) []string { return named(node.Annotations) })
}

func named(annotations map[string]string) []string {
	if name := annotations[extension.AnnotationSlurmNode]; nodeNames.MatchString(name) {
		return []string{name}
	}
	return nil
}

// Observe reads the nodes that have a partition of their own, and whether jobs wait for one.
func (e *Engine) Observe(ctx context.Context) (engine.State, error) {
	perCPU, err := e.memoryPerCPU(ctx)
	if err != nil {
		return engine.State{}, err
	}
	e.unit = engine.Amount{MilliCPU: millisPerCPU, Memory: perCPU * bytesPerMiB}
	partitions, err := e.partitions(ctx)
	if err != nil {
		return engine.State{}, err
	}
	output, err := e.commands.run(ctx, "scontrol", "--oneliner", "show", "node")
	if err != nil {
		return engine.State{}, err
	}
	state := engine.State{Grain: e.unit, Paired: true, Nodes: map[string]engine.Node{}}
	known := map[string]bool{}
	for r := range records(output) {
		n, err := parseNode(r)
		if err != nil {
			return engine.State{}, err
		}
		if own, exists := partitions[e.prefix+n.name]; exists && own.nodes == n.name {
			state.Nodes[n.name], known[n.name] = e.node(n, own, partitions), true
		}
	}
	e.known = known
	state.Waits = e.queue(ctx)
	return state, nil
}

func (e *Engine) memoryPerCPU(ctx context.Context) (int64, error) {
	output, err := e.commands.run(ctx, "scontrol", "show", "config")
	if err != nil {
		return 0, err
	}
	return parseMemoryPerCPU(output)
}

func (e *Engine) partitions(ctx context.Context) (map[string]partition, error) {
	output, err := e.commands.run(ctx, "scontrol", "--oneliner", "show", "partition")
	if err != nil {
		return nil, err
	}
	out := map[string]partition{}
	for r := range records(output) {
		p, err := parsePartition(r)
		if err != nil {
			return nil, err
		}
		out[p.name] = p
	}
	return out, nil
}

// node is a node with its own partition, as an engine sees it. Other partitions that are up give the same CPUs to jobs, too.
func (e *Engine) node(n node, own partition, partitions map[string]partition) engine.Node {
	out := engine.Node{
		Allocated: times(e.unit, max(n.usedCPUs, units(n.usedMiB*bytesPerMiB, e.unit.Memory))),
		Most:      times(e.unit, min(n.cpus, n.mib*bytesPerMiB/e.unit.Memory)),
		Closed:    n.closed || !own.up,
	}
	cpus := bound(own, n.cpus)
	var others []string
	for _, name := range n.partitions {
		if p, exists := partitions[name]; exists && name != own.name && p.up && p.cpusPerNode != 0 {
			cpus += bound(p, n.cpus)
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		slices.Sort(others)
		out.Warning = fmt.Sprintf("Slurm gives the node to jobs by partition %s, too", strings.Join(others, ", "))
	}
	out.Capacity = times(e.unit, min(cpus, n.cpus))
	return out
}

// bound is how many CPUs of a node a partition may allocate.
func bound(p partition, cpus int64) int64 {
	if p.cpusPerNode < 0 {
		return cpus
	}
	return p.cpusPerNode
}

// units is an amount in whole units, rounded up.
func units(amount, unit int64) int64 { return (amount + unit - 1) / unit }

// queue says whether jobs wait for one of the partitions. Where it cannot be read, none does.
func (e *Engine) queue(ctx context.Context) bool {
	began := time.Now()
	if began.Before(e.queueDue) {
		return e.waits
	}
	output, err := e.commands.run(ctx, "squeue", "--noheader", "--all", "--states=PENDING", "--format=%P|%r")
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Failed to read the queue of Slurm", "err", err)
	}
	e.waits = anyWaits(output, func(partition string) bool {
		name, ours := strings.CutPrefix(partition, e.prefix)
		return ours && e.known[name]
	})
	now := time.Now()
	e.queueDue = now.Add(restBetweenQueues * now.Sub(began))
	return e.waits
}

// SetCapacity changes nodes of the last observation; others are left out. Slurm lets jobs beyond the capacity run on, however long: Kill
// ends them.
func (e *Engine) SetCapacity(ctx context.Context, changes []engine.Change) error {
	var errs []error
	for _, change := range changes {
		if !e.known[change.Key] {
			continue
		}
		_, err := e.commands.run(ctx, "scontrol", "update", "PartitionName="+e.prefix+change.Key,
			fmt.Sprintf("MaxCPUsPerNode=%d", change.Capacity.MilliCPU/millisPerCPU))
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
