package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/install"
)

// capabilitiesID is the check with the capability matrix.
const capabilitiesID = "node-capabilities"

var nodeChecks = []Check{
	{
		ID: "node-platform", Category: Node, Stage: Always, Title: "the nodes have an operating system and an architecture that there are images for",
		Codes: []finding.Code{finding.NodeUnsupported}, Judge: nodePlatform,
	}, {
		ID: "node-kubelet", Category: Node, Stage: Always, Title: "the kubelets are neither newer than the API server nor more than three minor versions older",
		Codes: []finding.Code{finding.NodeUnsupported}, Judge: nodeKubelet,
	}, {
		ID: "node-runtime", Category: Node, Stage: Always, Title: "the container runtimes support NRI, by which koordlet configures containers when they start",
		Codes: []finding.Code{finding.NodeUnsupported}, Judge: nodeRuntime,
	}, {
		ID: "node-kernel", Category: Node, Stage: Always, Title: "the kernels and cgroups have what koordlet reads",
		Codes: []finding.Code{finding.NodeUnsupported}, Judge: nodeKernel,
	}, {
		ID: capabilitiesID, Category: Node, Needs: []string{installedID}, Title: "the kernels support every feature that is enabled and configured",
		Codes: []finding.Code{finding.FeatureUnsupported}, Judge: nodeCapabilities,
	}, {
		ID: "node-effects", Category: Node, Needs: []string{installedID}, Title: "what the features set is in force on the nodes",
		Codes: []finding.Code{finding.ConfigInert}, Judge: nodeEffects,
	}, {
		ID: "node-offers", Category: Node, Needs: []string{installedID}, Title: "no node offers more than it has",
		Codes: []finding.Code{finding.OfferBeyondNode}, Judge: func(f *Facts) Outcome {
			return f.ofStatus(install.PartNodes, "", finding.OfferBeyondNode)
		},
	},
}

// judgedNodes is the outcome of a check of what the nodes say of themselves; what names it. A problem is empty where there is none, and not
// known where the node says nothing. Nodes with the same problem are one finding.
func judgedNodes(f *Facts, what string, problem func(*corev1.Node) (text string, known bool)) Outcome {
	switch {
	case len(f.Nodes.Unread) > 0:
		return unknown(f.Nodes.Unread...)
	case len(f.Nodes.Value) == 0:
		return skip("there are no nodes")
	}
	groups, good, told := map[string][]string{}, 0, 0
	for i := range f.Nodes.Value {
		node := &f.Nodes.Value[i]
		switch text, known := problem(node); {
		case !known:
			continue
		case text == "":
			good++
		default:
			groups[text] = append(groups[text], node.Name)
		}
		told++
	}
	if told == 0 {
		return skip("no node says its %s", what)
	}
	var found []diagnosticsv1alpha1.Finding
	for _, text := range slices.Sorted(maps.Keys(groups)) {
		found = append(found, report(finding.NodeUnsupported, "", "%s: %s", text, some(groups[text])))
	}
	return judged(fmt.Sprintf("%d/%d nodes", good, told), found)
}

func nodePlatform(f *Facts) Outcome {
	return judgedNodes(f, "platform", func(node *corev1.Node) (string, bool) {
		info := node.Status.NodeInfo
		switch {
		case info.OperatingSystem == "" && info.Architecture == "":
			return "", false
		case info.OperatingSystem != "linux":
			return fmt.Sprintf("operating system %q, koordlet needs linux", info.OperatingSystem), true
		case info.Architecture != "amd64" && info.Architecture != "arm64":
			return fmt.Sprintf("architecture %q, images are for amd64 and arm64", info.Architecture), true
		}
		return "", true
	})
}

// nodeKubelet follows https://kubernetes.io/releases/version-skew-policy/.
func nodeKubelet(f *Facts) Outcome {
	server, err := version.ParseGeneric(f.Installation.Status.Kubernetes.Version)
	if err != nil {
		return unknown(f.Installation.Unread[install.PartKubernetes]...)
	}
	return judgedNodes(f, "kubelet version", func(node *corev1.Node) (string, bool) {
		kubelet, err := version.ParseGeneric(node.Status.NodeInfo.KubeletVersion)
		if err != nil {
			return "", false // such as that of a simulated node
		}
		switch {
		case kubelet.Major() != server.Major() || kubelet.Minor() > server.Minor():
			return fmt.Sprintf("kubelet 1.%d is newer than the API server 1.%d", kubelet.Minor(), server.Minor()), true
		case server.Minor()-kubelet.Minor() > 3:
			return fmt.Sprintf("kubelet 1.%d is more than three minor versions older than the API server 1.%d", kubelet.Minor(), server.Minor()), true
		}
		return "", true
	})
}

// nodeRuntime knows which runtimes have NRI: containerd from 1.7, enabled by default from 2.0, and CRI-O from 1.26.
func nodeRuntime(f *Facts) Outcome {
	return judgedNodes(f, "container runtime", func(node *corev1.Node) (string, bool) {
		name, text, found := strings.Cut(node.Status.NodeInfo.ContainerRuntimeVersion, "://")
		if !found {
			return "", false
		}
		parsed, err := version.ParseGeneric(text)
		old := func(least string) bool { return err == nil && parsed.LessThan(version.MustParseGeneric(least)) }
		switch {
		case name == "containerd" && old("1.7.0"):
			return fmt.Sprintf("containerd %s has no NRI; koord-runtime-proxy is needed", text), true
		case name == "containerd" && old("2.0.0"):
			return fmt.Sprintf("containerd %s has NRI disabled by default; enable it in its configuration", text), true
		case name == "cri-o" && old("1.26.0"):
			return fmt.Sprintf("cri-o %s has no NRI; koord-runtime-proxy is needed", text), true
		case name != "containerd" && name != "cri-o":
			return fmt.Sprintf("container runtime %s has no NRI; koord-runtime-proxy is needed", name), true
		}
		return "", true
	})
}

// nodeKernel judges the version of the kernel, and adds the version of cgroups that the agents found: Nodes do not have it.
func nodeKernel(f *Facts) Outcome {
	out := judgedNodes(f, "kernel version", func(node *corev1.Node) (string, bool) {
		kernel, err := version.ParseGeneric(node.Status.NodeInfo.KernelVersion)
		if err != nil {
			return "", false
		}
		if kernel.LessThan(version.MustParseGeneric("4.13.0")) {
			return fmt.Sprintf("Linux %d.%d does not count OOM kills in cgroups, 4.13 does", kernel.Major(), kernel.Minor()), true
		}
		return "", true
	})
	if cgroups := cgroupVersions(f.Agents.Value); cgroups != "" && out.State != Unknown {
		if out.State == Skipped {
			return pass("cgroups %s", cgroups)
		}
		out.Detail += ", cgroups " + cgroups
	}
	return out
}

// cgroupVersions counts the nodes by what their agents say of cgroups.
func cgroupVersions(agents []AgentAnswer) string {
	counts := map[string]int{}
	for _, answer := range agents {
		if answer.Agent != nil && answer.Agent.Cgroups != "" {
			counts[answer.Agent.Cgroups]++
		}
	}
	var parts []string
	for _, cgroups := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s: %d", cgroups, counts[cgroups]))
	}
	return strings.Join(parts, ", ")
}
