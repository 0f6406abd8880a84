package frameworkext

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// signers are the plugins of a profile that say what of a pod they look at.
type signers struct {
	plugins []fwk.SignPlugin
	// spread is true when PodTopologySpread is enabled. It refuses to sign any pod as long as it has default constraints, which
	// concern few: whether it has something to say about a pod shows in the cycle.
	spread bool
}

// unlisted plugins are not handed out by the framework. What they look at is signed all the same: NodeResourcesFit signs the
// requests, and the images are added to every signature.
var unlisted = sets.New(names.NodeResourcesBalancedAllocation, names.ImageLocality)

// signersOf returns the signers of a profile among its plugins; nil when a pod's verdicts and scores depend on what no plugin signs.
func signersOf(inner framework.Framework, plugins map[string]fwk.Plugin) *signers {
	if len(inner.Extenders()) > 0 {
		return nil
	}
	enabled, known, found := inner.ListPlugins(), sets.New[string](), &signers{}
	for _, set := range []config.PluginSet{enabled.PreFilter, enabled.Filter, enabled.PreScore, enabled.Score} {
		for _, plugin := range set.Enabled {
			signer, signs := plugins[plugin.Name].(fwk.SignPlugin)
			switch {
			case known.Has(plugin.Name) || unlisted.Has(plugin.Name):
			case plugin.Name == names.PodTopologySpread:
				found.spread = true
			case !signs:
				return nil
			default:
				found.plugins = append(found.plugins, signer)
			}
			known.Insert(plugin.Name)
		}
	}
	if known.Has(names.NodeResourcesBalancedAllocation) && !known.Has(names.NodeResourcesFit) {
		return nil
	}
	return found
}

// of signs a pod whose PreFilter plugins have run: on equal nodes, pods with equal signatures have equal verdicts and scores. It is
// nil for a pod that a plugin treats as one of a kind.
func (s *signers) of(ctx context.Context, state fwk.CycleState, pod *corev1.Pod) fwk.PodSignature {
	if s.spread && (len(pod.Spec.TopologySpreadConstraints) > 0 || !state.GetSkipFilterPlugins().Has(names.PodTopologySpread)) {
		return nil
	}
	parts := map[string]any{"namespace": pod.Namespace, "images": imagesOf(pod)}
	for _, plugin := range s.plugins {
		fragments, status := plugin.SignPod(ctx, pod)
		if !status.IsSuccess() {
			return nil
		}
		for _, fragment := range fragments {
			parts[fragment.Key] = fragment.Value
		}
	}
	signature, err := json.Marshal(parts)
	if err != nil {
		return nil
	}
	return signature
}

func imagesOf(pod *corev1.Pod) []string {
	images := make([]string, 0, len(pod.Spec.InitContainers)+len(pod.Spec.Containers))
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			images = append(images, containers[i].Image)
		}
	}
	return images
}
