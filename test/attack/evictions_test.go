package attack

import (
	"context"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/controllers/webhooks/eviction"
	"koordinator.sh/koord/decision/nodeqos/evictionbudget"
	"koordinator.sh/koord/test/sandboxtest"
)

// agentOf asks with a token as the node agent of a node has it.
func agentOf(t *testing.T, node string) kubernetes.Interface {
	t.Helper()
	agent, err := kubernetes.NewForConfig(agentConfig(t, node))
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

// agentConfig has a token as the node agent of a node has it.
func agentConfig(t *testing.T, node string) *rest.Config {
	t.Helper()
	object, err := admin.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return koordletConfig(t, &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Node", Name: node, UID: object.UID})
}

// koordletConfig has a token of koordlet's ServiceAccount, bound to an object or to none.
func koordletConfig(t *testing.T, bound *authenticationv1.BoundObjectReference) *rest.Config {
	t.Helper()
	made, err := admin.CoreV1().ServiceAccounts(systemNamespace).CreateToken(t.Context(), "koordlet", &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: bound},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	as := rest.AnonymousClientConfig(config)
	as.BearerToken, as.QPS, as.Burst = made.Status.Token, 500, 500
	return as
}

// on is a pod of the tenant on a node.
func on(t *testing.T, name, node string) *corev1.Pod {
	t.Helper()
	pod := podOf(name)
	pod.Spec.NodeName = node
	made, err := admin.CoreV1().Pods(tenantNamespace).Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = admin.CoreV1().Pods(tenantNamespace).Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}) // it may be gone
	})
	return made
}

func evict(ctx context.Context, as kubernetes.Interface, pod *corev1.Pod, options metav1.DeleteOptions) error {
	return as.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}, DeleteOptions: &options,
	})
}

// TestAllAgentsTogetherEvictWithinTheBudget has the tokens of three nodes evict as fast as they can, through the webhook that koord-manager
// registered.
func TestAllAgentsTogetherEvictWithinTheBudget(t *testing.T) {
	records := admin.CoreV1().ConfigMaps(systemNamespace)
	reset := func() {
		_ = records.Delete(context.Background(), configuration.EvictionsConfigMapName, metav1.DeleteOptions{})
	} // there may be none
	reset()
	t.Cleanup(reset)
	var agents []kubernetes.Interface
	for _, node := range []string{"sim-0001", "sim-0002", "sim-0003"} {
		agents = append(agents, agentOf(t, node))
	}
	const pods = evictionbudget.Least + 10
	dry := on(t, "tried", "sim-0001")
	awaitBudget(t, agents[0], dry)

	results := make(chan error, pods)
	var group sync.WaitGroup
	for i := range pods {
		pod := on(t, fmt.Sprintf("storm-%d", i), fmt.Sprintf("sim-000%d", i%3+1))
		group.Go(func() {
			err := evict(t.Context(), agents[i%3], pod, metav1.DeleteOptions{})
			for apierrors.IsServiceUnavailable(err) { // others were counted at the same time
				err = evict(t.Context(), agents[i%3], pod, metav1.DeleteOptions{})
			}
			results <- err
		})
	}
	group.Wait()
	close(results)
	evicted := 0
	for err := range results {
		switch {
		case err == nil:
			evicted++
		case !apierrors.IsTooManyRequests(err) || !apierrors.HasStatusCause(err, extension.CauseClusterEvictionBudget) || !strings.Contains(err.Error(), "KOORD1313"):
			t.Errorf("an eviction ends with %v, want that the budget refuses it", err)
		}
	}
	if evicted != evictionbudget.Least {
		t.Errorf("%d pods were evicted, want %d", evicted, evictionbudget.Least)
	}
	if err := evict(t.Context(), admin, dry, metav1.DeleteOptions{}); err != nil {
		t.Errorf("a person's eviction ends with %v, want that it is not counted", err)
	}
	status, err := shared.Koordctl(t.Context(), "status")
	if err != nil || !strings.Contains(status.Stderr, "KOORD1313") {
		t.Errorf("status says %q, %v; want that the budget is used up", status.Stderr, err)
	}
}

// awaitBudget waits until the webhook is in force: a dry run is not counted, and refused only where the webhook looks at it.
func awaitBudget(t *testing.T, agent kubernetes.Interface, pod *corev1.Pod) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		found, err := admin.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), "koordinator-admission", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for i := range found.Webhooks {
			if found.Webhooks[i].Name == "validate-eviction.koordinator.sh" {
				return evict(t.Context(), agent, pod, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
			}
		}
		return fmt.Errorf("the webhook for evictions is not among %d", len(found.Webhooks))
	})
}

// TestAStolenAgentTokenEvictsPodsOfItsNodeOnly asks the handler through the API server. The sandbox has one agent for all nodes, which its
// own koord-manager therefore does not hold to one.
func TestAStolenAgentTokenEvictsPodsOfItsNodeOnly(t *testing.T) {
	serveEvictions(t)
	thief := agentOf(t, "sim-0001")
	own, other := on(t, "own", "sim-0001"), on(t, "other", "sim-0002")
	uid := func(pod *corev1.Pod) metav1.DeleteOptions {
		return metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}}
	}
	attempts := map[string]func() error{
		"plainly":              func() error { return evict(t.Context(), thief, other, metav1.DeleteOptions{}) },
		"by its UID":           func() error { return evict(t.Context(), thief, other, uid(other)) },
		"by another pod's UID": func() error { return evict(t.Context(), thief, other, uid(own)) },
		"in a dry run": func() error {
			return evict(t.Context(), thief, other, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		},
		"of a pod without node": func() error { return evict(t.Context(), thief, mine(t, podOf("nowhere")), metav1.DeleteOptions{}) },
	}
	for name, attempt := range attempts {
		t.Run(name, func(t *testing.T) { refusedBy(t, attempt(), "KOORD1312") })
	}
	if err := evict(t.Context(), thief, own, uid(own)); err != nil {
		t.Errorf("the eviction of a pod of the agent's own node ends with %v", err)
	}
}

// serveEvictions registers the handler for evictions, held to the agent's own node, for the time of a test.
func serveEvictions(t *testing.T) {
	t.Helper()
	live, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	handler := &eviction.Handler{
		Decoder: admission.NewDecoder(scheme.Scheme), Agent: eviction.Options{Namespace: systemNamespace}.Agent(), OwnNode: true, Cached: live, Live: live,
		Budget: &eviction.Budget{Client: live, Live: live, Namespace: tenantNamespace, Percent: 100, Events: events.NewFakeRecorder(10), Clock: clock.RealClock{}},
	}
	server := httptest.NewTLSServer(&admission.Webhook{Handler: handler})
	t.Cleanup(server.Close)
	registrations := admin.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	rule := admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/eviction"}}
	registration := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "evictions-of-own-node"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "own-node.koordinator.sh", AdmissionReviewVersions: []string{"v1"},
			SideEffects: new(admissionregistrationv1.SideEffectClassNoneOnDryRun), FailurePolicy: new(admissionregistrationv1.Fail),
			Rules: []admissionregistrationv1.RuleWithOperations{{Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create}, Rule: rule}},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL: &server.URL, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
		}},
	}
	if _, err := registrations.Create(t.Context(), registration, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := registrations.Delete(context.Background(), registration.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	probe := on(t, "probe", "sim-0002")
	agent := agentOf(t, "sim-0001")
	sandboxtest.Eventually(t, patience, func() error { // a registration is in force a moment after it was made
		err := evict(t.Context(), agent, probe, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}, Preconditions: &metav1.Preconditions{UID: new(types.UID("other"))}})
		if !apierrors.IsForbidden(err) {
			return fmt.Errorf("a dry run ends with %v, want it forbidden", err)
		}
		return nil
	})
}
