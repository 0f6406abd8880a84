package eviction

import (
	"context"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/nodeqos/evictionbudget"
)

// Path of the webhook.
const Path = "/validate-eviction"

// Handler admits evictions. It is safe for concurrent use.
type Handler struct {
	// Decoder of Evictions; required.
	Decoder admission.Decoder
	// Agent is the user name of the node agents. Evictions that others ask for are none of the handler's business.
	Agent string
	// OwnNode refuses pods of other nodes than the one that the agent's token is bound to.
	OwnNode bool
	// Cached and Live read pods, and Cached their PodDisruptionBudgets.
	Cached, Live client.Reader
	// Budget of the cluster.
	Budget *Budget
}

var _ admission.Handler = (*Handler)(nil)

// Handle answers one request.
func (h *Handler) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Create || request.SubResource != "eviction" || request.UserInfo.Username != h.Agent {
		return admission.Allowed("")
	}
	eviction := &policyv1.Eviction{}
	if err := h.Decoder.Decode(request, eviction); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decode eviction: %w", err))
	}
	name := types.NamespacedName{Namespace: request.Namespace, Name: request.Name}
	pod, err := h.pod(ctx, name, eviction)
	if apierrors.IsNotFound(err) {
		return admission.Allowed("") // the API server says so itself
	}
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("get pod %s: %w", name, err))
	}
	if node, own := boundNode(request), h.OwnNode; own && (node == "" || pod.Spec.NodeName != node) {
		count(resultElsewhere)
		log.FromContext(ctx).Info("Denied an eviction: the pod is not on the node of the token", "pod", name.String(), "node", node)
		return refused(finding.EvictionElsewhere, fmt.Sprintf("pod %s is not on the node that the token of the user is bound to", name))
	}
	if why, err := h.protected(ctx, pod); err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	} else if why != "" {
		count(resultProtected)
		return TooMany(admission.Denied("Cannot evict pod as it would violate the pod's disruption budget: "+why), name, policyv1.DisruptionBudgetCause, why)
	}
	return h.within(ctx, name, IsTried(request, eviction))
}

// protected is why the API server will refuse the eviction because of PodDisruptionBudgets. It looks at them after admission, so what it
// refuses would be counted of the cluster's budget: in a storm agents would use that up with pods that stay.
func (h *Handler) protected(ctx context.Context, pod *corev1.Pod) (why string, err error) {
	var budgets policyv1.PodDisruptionBudgetList
	if err := h.Cached.List(ctx, &budgets, client.InNamespace(pod.Namespace)); err != nil {
		return "", fmt.Errorf("list the PodDisruptionBudgets of namespace %s: %w", pod.Namespace, err)
	}
	return evictionbudget.Protection(pod, budgets.Items), nil
}

// within admits an eviction that the cluster's budget has room for.
func (h *Handler) within(ctx context.Context, name types.NamespacedName, dryRun bool) admission.Response {
	verdict, err := h.Budget.Take(ctx, dryRun)
	if err != nil {
		return admission.Errored(http.StatusServiceUnavailable, err)
	}
	if verdict.Allowed {
		count(resultAdmitted)
		return admission.Allowed("")
	}
	count(resultBudget)
	log.FromContext(ctx).V(1).Info("Denied an eviction: the eviction budget of the cluster is exhausted", "pod", name.String(), "evicted", verdict.Used, "limit", verdict.Limit)
	return TooMany(refused(finding.EvictionBudgetCluster, budgetText(verdict)), name, extension.CauseClusterEvictionBudget, budgetText(verdict))
}

func budgetText(verdict evictionbudget.Verdict) string {
	return fmt.Sprintf("node agents evicted %d pod(s) within %s, the limit is %d", verdict.Used, evictionbudget.Window, verdict.Limit)
}

// pod is read from the cache where the eviction names the UID of the cached pod, so that a pod that was just recreated on another node
// is not taken for the one before.
func (h *Handler) pod(ctx context.Context, name types.NamespacedName, eviction *policyv1.Eviction) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if uid := wantedUID(eviction); uid != "" {
		if err := h.Cached.Get(ctx, name, pod); err == nil && pod.UID == uid {
			return pod, nil
		}
	}
	fresh := &corev1.Pod{}
	return fresh, h.Live.Get(ctx, name, fresh)
}

func wantedUID(eviction *policyv1.Eviction) types.UID {
	if options := eviction.DeleteOptions; options != nil && options.Preconditions != nil && options.Preconditions.UID != nil {
		return *options.Preconditions.UID
	}
	return ""
}

// boundNode is the node that the caller's token is bound to; empty for a token that is bound to none.
func boundNode(request admission.Request) string {
	if claims := request.UserInfo.Extra[serviceaccount.NodeNameKey]; len(claims) == 1 {
		return claims[0]
	}
	return ""
}

func refused(code finding.Code, text string) admission.Response {
	return admission.Denied(fmt.Sprintf("%s (%s)%s", text, code, code.Remedy()))
}
