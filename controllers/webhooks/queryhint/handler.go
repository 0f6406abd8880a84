package queryhint

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/controllers/webhooks/podpatch"
	"koordinator.sh/koord/decision/scheduling/nodefit"
	"koordinator.sh/koord/decision/scheduling/queryhint"
)

// Path of the webhook.
const Path = "/hint-pod"

// Handler writes a scheduling hint to a pod of a query engine that has none. It admits every pod: one without a hint is scheduled
// like any other. It is safe for concurrent use.
type Handler struct {
	// Reader of pods; required, as are Nodes, Decoder and Clock.
	Reader client.Reader
	Nodes  *NodeMemory
	// Settings of the hints.
	Settings queryhint.Settings
	Decoder  admission.Decoder
	Clock    clock.PassiveClock

	// mu keeps requests apart, so that each decision counts the ones before it.
	mu     sync.Mutex
	recent recentHints
}

// Handle answers one request.
func (h *Handler) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Create || request.SubResource != "" {
		return admission.Allowed("")
	}
	var pod corev1.Pod
	if err := h.Decoder.Decode(request, &pod); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decode pod: %w", err))
	}
	pod.Namespace = request.Namespace
	engine, role, belongs := queryhint.RoleOf(pod.Labels)
	if !belongs || hinted(&pod) || pod.Spec.NodeName != "" {
		return admission.Allowed("")
	}
	hint, err := h.hint(ctx, &request, &pod, engine, role)
	if err != nil {
		count(resultFailed)
		klog.FromContext(ctx).Error(err, "Failed to write a scheduling hint; the pod is created without one", "namespace", pod.Namespace, "engine", engine)
		return admission.Allowed("")
	}
	return patch(&pod, hint)
}

// hint decides on the hint of a pod, and remembers it unless the request is a dry run.
func (h *Handler) hint(ctx context.Context, request *admission.Request, pod *corev1.Pod, engine string, role queryhint.Role) (*extension.SchedulingHint, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	in, err := h.input(ctx, pod, engine, role, string(request.UID))
	if err != nil {
		return nil, err
	}
	var trace queryhint.Trace
	verdict := queryhint.Decide(in, &trace)
	count(resultOf(verdict))
	klog.FromContext(ctx).V(4).Info("Decided on a scheduling hint", "namespace", pod.Namespace, "engine", engine, "role", role, "nodes", verdict.Nodes, "reason", verdict.Reason)
	if len(verdict.Nodes) > 0 && (request.DryRun == nil || !*request.DryRun) {
		h.recent.add(recentHint{group: group{pod.Namespace, engine}, id: in.Seed, node: verdict.Nodes[0], role: role, at: in.Now})
	}
	return trace.Hint(in, verdict)
}

// hinted is true for a pod that came with a hint, whether or not it can be read.
func hinted(pod *corev1.Pod) bool {
	return pod.Annotations[extension.AnnotationSchedulingHint] != "" || pod.Annotations[extension.DeprecatedAnnotationSchedulingHint] != ""
}

// patch adds the annotation and nothing else.
func patch(pod *corev1.Pod, hint *extension.SchedulingHint) admission.Response {
	changed := pod.DeepCopy()
	if err := extension.SetSchedulingHint(changed, hint); err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return podpatch.Between(pod, changed)
}

// input reads what the decision goes by.
func (h *Handler) input(ctx context.Context, pod *corev1.Pod, engine string, role queryhint.Role, id string) (queryhint.Input, error) {
	in := queryhint.Input{Now: h.Clock.Now(), Settings: h.Settings, Engine: engine, Role: role, Seed: id}
	nodes, err := h.Nodes.all(ctx)
	if err != nil {
		return in, err
	}
	members, err := h.members(ctx, group{pod.Namespace, engine})
	if err != nil {
		return in, err
	}
	shape := nodefit.NewPod(pod)
	in.Nodes = make([]queryhint.Node, 0, len(nodes))
	for i := range nodes {
		each := queryhint.Node{Name: nodes[i].node.Name, Closed: queryhint.Closed(shape, nodes[i].node), Memory: nodes[i].memory}
		each.Workers, each.Caches = members.on(each.Name)
		in.Nodes = append(in.Nodes, each)
	}
	return in, nil
}
