package yarn

import (
	"context"
	_ "embed" // the manifests
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
)

//go:embed cluster.yaml
var cluster string

//go:embed koordinator.yaml
var values string

const (
	// perVCore is what a vcore stands for, in thousandths of a core: both manifests say 20 for each core.
	perVCore = 50
	// initialVCores are those that the NodeManager registers with.
	initialVCores = 1
	// returnWithin bounds how long koord-bridge gives back what a NodeManager had that is gone.
	returnWithin = 30 * time.Second
)

// deploy starts YARN, and then what gives it resources.
func (s *story) deploy(ctx context.Context, t *tutorial.Session) (err error) {
	if s.address, err = addressOf(ctx, t); err != nil {
		return err
	}
	s.manager = resourceManager("http://" + s.address + ":8088")
	if err := t.Apply(ctx, strings.NewReplacer("IMAGE", Image, "ADDRESS", s.address).Replace(cluster)); err != nil {
		return err
	}
	err = t.Await(ctx, "the NodeManager to register", service.StartWithin, func(ctx context.Context) error {
		node, err := s.manager.node(ctx)
		if err == nil && node.State != "RUNNING" {
			err = fmt.Errorf("the node is %s", node.State)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := s.showNode(ctx, t); err != nil {
		return err
	}
	if err := s.install(ctx, t, strings.ReplaceAll(values, "ADDRESS", s.address)); err != nil {
		return err
	}
	if err := t.Await(ctx, "YARN to have what the node offers", service.FollowWithin, s.grows(t)); err != nil {
		return err
	}
	if err := s.showNode(ctx, t); err != nil {
		return err
	}
	if _, err := t.Koordctl(ctx, "explain", "node", t.Node.Name, "batch-cpu"); err != nil {
		return err
	}
	_, err = t.Koordctl(ctx, "top", "nodes")
	return err
}

// addressOf the node, which is that of everything on its network.
func addressOf(ctx context.Context, t *tutorial.Session) (string, error) {
	var node corev1.Node
	if err := t.Ask(ctx, &node, "get", "node", t.Node.Name, "-o", "json"); err != nil {
		return "", err
	}
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			return address.Address, nil
		}
	}
	return "", fmt.Errorf("node %q has no address", node.Name)
}

// install has koord-manager's release give YARN resources, with the values of a file.
func (s *story) install(ctx context.Context, t *tutorial.Session, values string) error {
	const name = "yarn.yaml"
	if err := os.WriteFile(filepath.Join(t.Work, name), []byte(values), 0o600); err != nil {
		return err
	}
	t.Show("cat "+name, values)
	_, err := t.Koordctl(ctx, "install", "-f", name, "--wait")
	return err
}

// uninstall ends the NodeManager, waits until the node has back what that had of it, and takes away what gave it.
func uninstall(ctx context.Context, t *tutorial.Session) error {
	if _, err := t.Run(ctx, t.KubectlPath, "", "delete", "--ignore-not-found", "-n", Namespace, "pod/node-manager"); err != nil {
		return err
	}
	err := t.Await(ctx, "the node to have back what YARN had", returnWithin, func(ctx context.Context) error {
		taken, err := taken(ctx, t)
		if err == nil && taken > 0 {
			err = fmt.Errorf("YARN has %d thousandths of a core", taken)
		}
		return err
	})
	_, failed := t.Run(ctx, t.KoordctlPath, "", "install", "--set", "bridge.enabled=false,yarnAgent.enabled=false,koordlet.featureGates.BECPUEvict=false")
	return errors.Join(err, failed)
}

// taken is what YARN has of the node's batch-cpu by the annotation of the node, in thousandths of a core.
func taken(ctx context.Context, t *tutorial.Session) (int64, error) {
	var node corev1.Node
	if err := t.Ask(ctx, &node, "get", "node", t.Node.Name, "-o", "json"); err != nil {
		return 0, err
	}
	allocations, err := extension.GetThirdPartyAllocations(node.Annotations)
	if err != nil || allocations == nil {
		return 0, err
	}
	var sum int64
	for _, allocation := range allocations.Allocations {
		if allocation.Name == extension.ThirdPartyYARN {
			cpu := allocation.Resources[extension.BatchCPU]
			sum += cpu.Value()
		}
	}
	return sum, nil
}

// grows returns an error unless YARN has more than the NodeManager registered with, and Kubernetes counts as much as taken.
func (s *story) grows(t *tutorial.Session) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		if s.node, err = s.manager.node(ctx); err != nil {
			return err
		}
		if s.taken, err = taken(ctx, t); err != nil {
			return err
		}
		return s.sized(ctx, t)
	}
}

// sized wants that both sides say the same of what YARN has.
func (s *story) sized(context.Context, *tutorial.Session) error {
	if vcores := s.node.vcores(); vcores <= initialVCores || vcores*perVCore != s.taken {
		return fmt.Errorf("YARN may use %d vcores, and Kubernetes counts %d thousandths of a core as taken", vcores, s.taken)
	}
	return nil
}

func (s *story) seenDeployed() string {
	return fmt.Sprintf("The NodeManager registered with %d vcore, and now has %d: %d thousandths of a core, which is what Kubernetes counts as used by "+
		"another scheduler. YARN waits for nothing yet, so that half of what is free stays with pods.", initialVCores, s.node.vcores(), s.taken)
}

// showNode shows what the ResourceManager says of the node.
func (s *story) showNode(ctx context.Context, t *tutorial.Session) error {
	node, err := s.manager.node(ctx)
	if err != nil {
		return err
	}
	said, err := json.Marshal(node)
	if err != nil {
		return err
	}
	t.Show("curl -s "+string(s.manager)+"/ws/v1/cluster/nodes | jq -c '.nodes.node[] | {state, numContainers, usedVirtualCores, "+
		"availableVirtualCores, usedMemoryMB, availMemoryMB}'", string(said))
	return nil
}
