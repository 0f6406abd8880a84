package supervisor

import (
	"context"
	"time"

	"koordinator.sh/koord/sandbox/cluster"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/sandbox/state"
)

// prepareRealNode makes this machine ready to be a node. The node's processes are started from a thread in its own mount
// namespace.
func (b *boot) prepareRealNode(ctx context.Context, bundle *pki.Bundle, ports state.Ports) (*component.RealNode, error) {
	host := realnode.ThisHost()
	node, err := host.Prepare(realnode.Of(b.dir, b.spec))
	if err != nil {
		return nil, err
	}
	pairs, err := bundle.EnsureNode(b.dir, time.Now, node.Name, node.Address().String())
	if err != nil {
		return nil, err
	}
	endpoints := realnode.Endpoints{
		Kubelet: ports.Kubelet, KubeletHealth: ports.KubeletHealth, ContainerdMetrics: ports.ContainerdMetrics,
	}
	if err := host.Configure(node, endpoints, realnode.Trust{CAFile: bundle.CAFile, Serving: pairs.Serving}); err != nil {
		return nil, err
	}
	spawning, stop := context.WithCancel(context.WithoutCancel(ctx))
	private := newPrivateSpawner(spawning, node.EnterNamespace)
	b.private, b.leaveNode = private, func() { stop(); <-private.ended }
	return &component.RealNode{Node: node, Pairs: pairs}, nil
}

// awaitSystemPods waits until the system runs in pods of the real node.
func (b *boot) awaitSystemPods(ctx context.Context, admin *cluster.Cluster) error {
	if b.plan.RealNode == nil {
		return nil
	}
	return b.step(ctx, "wait for the pods of Koordinator", func(ctx context.Context, detail func(string)) error {
		ctx, cancel := context.WithTimeout(ctx, componentTimeout)
		defer cancel()
		return admin.AwaitSystemPods(ctx, b.joined, detail)
	})
}

// joinRealNode starts the node's processes and waits until the node is ready.
func (b *boot) joinRealNode(ctx context.Context, admin *cluster.Cluster) error {
	if b.plan.RealNode == nil {
		return nil
	}
	node := b.plan.RealNode.Node
	if err := b.startAndWait(ctx, component.Containerd); err != nil {
		return err
	}
	err := b.step(ctx, "import images", func(ctx context.Context, _ func(string)) error {
		ctx, cancel := context.WithTimeout(ctx, componentTimeout)
		defer cancel()
		return node.ImportImages(ctx)
	})
	if err != nil {
		return err
	}
	if err := admin.GrantKubeletCalls(ctx); err != nil {
		return err
	}
	b.joined = time.Now()
	if err := b.startAndWait(ctx, component.Kubelet); err != nil {
		return err
	}
	return b.step(ctx, "wait for node "+node.Name, func(ctx context.Context, detail func(string)) error {
		ctx, cancel := context.WithTimeout(ctx, componentTimeout)
		defer cancel()
		return admin.AwaitReady(ctx, node.Name, b.joined, detail)
	})
}
