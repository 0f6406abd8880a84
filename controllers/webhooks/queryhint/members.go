package queryhint

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/queryhint"
)

// group is the pods of one engine.
type group struct{ namespace, engine string }

// members are the pods of an engine, by node.
type members map[string]*struct{ workers, caches int32 }

func (m members) add(node string, role queryhint.Role) {
	if m[node] == nil {
		m[node] = &struct{ workers, caches int32 }{}
	}
	if role == queryhint.Cache {
		m[node].caches++
	} else {
		m[node].workers++
	}
}

func (m members) on(node string) (workers, caches int32) {
	if found := m[node]; found != nil {
		return found.workers, found.caches
	}
	return 0, 0
}

// members counts the pods of an engine that have a node, and those whose hint names one and that have none yet. The cache has no others than
// the former.
func (h *Handler) members(ctx context.Context, of group) (members, error) {
	out, bound := members{}, map[string]bool{}
	for _, label := range []string{extension.LabelQueryWorker, extension.LabelQueryCache} {
		var pods corev1.PodList
		err := h.Reader.List(ctx, &pods, client.InNamespace(of.namespace), client.MatchingLabels{label: of.engine}, client.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, fmt.Errorf("list pods of engine %q in namespace %q: %w", of.engine, of.namespace, err)
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			engine, role, _ := queryhint.RoleOf(pod.Labels)
			if engine != of.engine || label == extension.LabelQueryCache && role == queryhint.Worker {
				continue // counted as a worker
			}
			if h.recent.mayHave(pod.CreationTimestamp.Time) {
				bound[idOf(pod)] = true
			}
			if pod.DeletionTimestamp == nil {
				out.add(pod.Spec.NodeName, role)
			}
		}
	}
	for _, hint := range h.recent.waiting(of, bound, h.Clock.Now()) {
		out.add(hint.node, hint.role)
	}
	return out, nil
}

// idOf is the ID of the hint that koord-manager wrote for a pod; empty where there is none.
func idOf(pod *corev1.Pod) string {
	hint, err := extension.GetSchedulingHint(pod.Annotations)
	if err != nil {
		return ""
	}
	query, err := extension.GetQueryHint(hint)
	if err != nil || query == nil {
		return ""
	}
	return query.ID
}
