package attack

import (
	"context"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// ownReads is what the API server says of reads beyond an agent's node.
const ownReads = "koordlet may read only what belongs to the node its token is bound to"

const (
	ownNode   = "sim-0001"
	otherNode = "sim-0002"
)

// ofNodes are the kinds with one object for each node, which the node names.
var ofNodes = []schema.GroupVersionResource{
	{Version: "v1", Resource: "nodes"},
	{Group: "slo.koordinator.sh", Version: "v1alpha1", Resource: "nodemetrics"},
	{Group: "slo.koordinator.sh", Version: "v1alpha1", Resource: "nodeslos"},
	{Group: "topology.node.k8s.io", Version: "v1alpha1", Resource: "noderesourcetopologies"},
	{Group: "scheduling.koordinator.sh", Version: "v1alpha1", Resource: "devices"},
}

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// read is one request with an agent's token.
type read struct {
	verb     string
	resource schema.GroupVersionResource
	// name is for get; selector is of fields.
	namespace, name, selector, labels string
}

func (r read) String() string {
	return strings.Join([]string{r.verb, r.resource.Resource, r.namespace, r.name, r.selector, r.labels}, " ")
}

func (r read) do(ctx context.Context, as dynamic.Interface) error {
	resource, options := as.Resource(r.resource).Namespace(r.namespace), metav1.ListOptions{FieldSelector: r.selector, LabelSelector: r.labels}
	switch r.verb {
	case "get":
		_, err := resource.Get(ctx, r.name, metav1.GetOptions{})
		return err
	case "list":
		_, err := resource.List(ctx, options)
		return err
	case "deletecollection":
		return resource.DeleteCollection(ctx, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}, options)
	}
	watch, err := resource.Watch(ctx, options)
	if err == nil {
		watch.Stop()
	}
	return err
}

// refused fails the test unless authorization refuses the request. It does so by an error, which API servers answer with 500.
func (r read) refused(t *testing.T, as dynamic.Interface) {
	t.Helper()
	if err := r.do(t.Context(), as); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), ownReads) {
		t.Errorf("%s: ends with %v, want it refused with %q", r, err, ownReads)
	}
}

func dynamicAs(t *testing.T, as *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(as)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestAStolenTokenReadsOfItsNodeAlone reads with a node's token what the agent reads, and then all that its role grants beyond.
func TestAStolenTokenReadsOfItsNodeAlone(t *testing.T) {
	agent := dynamicAs(t, agentConfig(t, ownNode))
	pod := on(t, "elsewhere", otherNode)
	mine := []read{{verb: "list", resource: podResource, selector: "spec.nodeName=" + ownNode}}
	others := []read{
		{verb: "list", resource: podResource},
		{verb: "get", resource: podResource, namespace: pod.Namespace, name: pod.Name},
	}
	for _, verb := range []string{"list", "watch"} {
		mine = append(mine,
			read{verb: verb, resource: podResource, selector: "spec.nodeName=" + ownNode},
			read{verb: verb, resource: podResource, namespace: tenantNamespace, selector: "status.phase=Running,spec.nodeName==" + ownNode},
		)
		others = append(others,
			read{verb: verb, resource: podResource, namespace: tenantNamespace},
			read{verb: verb, resource: podResource, labels: "spec.nodeName=" + ownNode},
			read{verb: verb, resource: podResource, namespace: pod.Namespace, selector: "metadata.name=" + pod.Name},
			read{verb: verb, resource: podResource, selector: "metadata.name=" + ownNode},
			read{verb: verb, resource: podResource, selector: "spec.nodeName="},
			read{verb: verb, resource: podResource, selector: "spec.nodeName=" + otherNode},
			read{verb: verb, resource: podResource, selector: "spec.nodeName!=" + ownNode},
			read{verb: verb, resource: podResource, selector: "spec.nodeName!=" + otherNode},
			read{verb: verb, resource: podResource, selector: "status.nominatedNodeName=" + ownNode},
		)
		for _, kind := range ofNodes {
			mine = append(mine, read{verb: verb, resource: kind, selector: "metadata.name=" + ownNode})
			others = append(others,
				read{verb: verb, resource: kind},
				read{verb: verb, resource: kind, selector: "metadata.name=" + otherNode},
				read{verb: verb, resource: kind, selector: "metadata.name!=" + otherNode},
				read{verb: verb, resource: kind, labels: "kubernetes.io/hostname=" + ownNode},
			)
		}
	}
	for _, kind := range ofNodes {
		others = append(others, read{verb: "get", resource: kind, name: otherNode})
		mine = append(mine, read{verb: "get", resource: kind, name: ownNode})
	}
	for _, selector := range []string{"", "spec.nodeName=" + otherNode} {
		others = append(others, read{verb: "deletecollection", resource: podResource, namespace: tenantNamespace, selector: selector})
	}
	for _, own := range mine {
		// An object that is not there, or not yet, may be looked for.
		if err := own.do(t.Context(), agent); err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", own, err)
		}
	}
	for _, beyond := range others {
		began := time.Now()
		beyond.refused(t, agent)
		if took := time.Since(began); took > time.Second {
			t.Errorf("%s: refused after %s, want at once", beyond, took)
		}
	}
	const counted = `apiserver_authorization_match_condition_evaluation_errors_total{name="koordlet-own-node"`
	metrics, err := admin.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil || !strings.Contains(string(metrics), counted) {
		t.Errorf("no metric %s counts the refusals (%v)", counted, err)
	}
}

// TestATokenOfNoNodeReadsOfNone tries tokens of koordlet's ServiceAccount that no node is in, and an administrator in its name.
func TestATokenOfNoNodeReadsOfNone(t *testing.T) {
	impersonating := rest.CopyConfig(config)
	impersonating.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + systemNamespace + ":koordlet"}
	for name, as := range map[string]*rest.Config{"unbound": koordletConfig(t, nil), "impersonated": impersonating} {
		t.Run(name, func(t *testing.T) {
			agent := dynamicAs(t, as)
			for _, beyond := range []read{
				{verb: "list", resource: podResource},
				{verb: "list", resource: podResource, selector: "spec.nodeName=" + ownNode},
				{verb: "list", resource: podResource, selector: "spec.nodeName="},
				{verb: "get", resource: ofNodes[0], name: ownNode},
				{verb: "list", resource: ofNodes[0]},
			} {
				beyond.refused(t, agent)
			}
		})
	}
}

// TestAReviewSaysWhatAnAgentMayRead asks about an agent as programs do that judge its requests.
func TestAReviewSaysWhatAnAgentMayRead(t *testing.T) {
	agent := agentOf(t, ownNode)
	for selector, want := range map[string]bool{"": false, ownNode: true, otherNode: false} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Version: "v1", Resource: "pods"},
		}}
		if selector != "" {
			review.Spec.ResourceAttributes.FieldSelector = &authorizationv1.FieldSelectorAttributes{Requirements: []metav1.FieldSelectorRequirement{
				{Key: "spec.nodeName", Operator: metav1.FieldSelectorOpIn, Values: []string{selector}},
			}}
		}
		answer, err := agent.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if answer.Status.Allowed != want || answer.Status.Denied == want {
			t.Errorf("pods of %q: %+v, want allowed %v", selector, answer.Status, want)
		}
	}
}
