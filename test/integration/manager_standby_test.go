package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/certificate"
	"koordinator.sh/koord/controllers/webhooks"
	"koordinator.sh/koord/controllers/webhooks/node"
	"koordinator.sh/koord/test/sandboxtest"
)

// askReplica posts a question to a port of a manager itself, past the API server, and reads the answer.
func askReplica(t *testing.T, port int, path string, question, answer any) error {
	t.Helper()
	config, err := shared.Config()
	if err != nil {
		t.Fatal(err)
	}
	return askAs(t, config, port, path, question, answer)
}

// askWebhooks asks the webhooks of one replica with the certificate of the API server, without which the sandbox's manager refuses every caller.
func askWebhooks(t *testing.T, port int, path string, question, answer any) error {
	t.Helper()
	config, err := shared.Config()
	if err != nil {
		t.Fatal(err)
	}
	config = rest.CopyConfig(config)
	config.CertData, config.KeyData = nil, nil
	config.CertFile, config.KeyFile = filepath.Join(shared.Directory(), "pki", "front-proxy.crt"), filepath.Join(shared.Directory(), "pki", "front-proxy.key")
	return askAs(t, config, port, path, question, answer)
}

func askAs(t *testing.T, config *rest.Config, port int, path string, question, answer any) error {
	t.Helper()
	own := rest.CopyConfig(config)
	own.ServerName, own.CAFile = "koord-manager."+systemNamespace+".svc", ""
	own.CAData = secretOf(t, certificate.AuthoritySecret).Data[certificate.AuthorityKey]
	asking, err := rest.HTTPClientFor(own)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("https://127.0.0.1:%d%s", port, path), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := asking.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // read to its end
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s: %s: %v", response.Status, data, err)
	}
	return json.Unmarshal(data, answer)
}

// review is the question whether an object may be created, or changed into if there is one before.
func review(t *testing.T, resource metav1.GroupVersionResource, kind, namespace, name string, before, object any) *admissionv1.AdmissionReview {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	question := &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: types.UID("standby-" + name), Resource: resource, Kind: metav1.GroupVersionKind{Group: resource.Group, Version: resource.Version, Kind: kind},
			Namespace: namespace, Name: name, Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: raw},
		},
	}
	if before != nil {
		question.Request.Operation = admissionv1.Update
		if question.Request.OldObject.Raw, err = json.Marshal(before); err != nil {
			t.Fatal(err)
		}
	}
	return question
}

// TestAStandbyAnswersAsTheLeaderDoes asks a replica that does not lead, at its own ports, what the leader is asked: the pod
// that profiles make, whether a pod may be created and a node changed, and why a node offers what it does.
func TestAStandbyAnswersAsTheLeaderDoes(t *testing.T) {
	awaitAdmission(t)
	const namespace = "standby"
	space(t, namespace)
	machine := machines(t, namespace, 1)[0]
	createProfile(t, &configv1alpha1.ClusterColocationProfile{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: configv1alpha1.ClusterColocationProfileSpec{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}},
			QoSClass:          "LS", Labels: map[string]string{"from": "the-profile"},
		},
	})
	standby, leader := startManager(t, managerFile()), ownPorts(t)
	awaitLeader(t, leader.ManagerWebhooks)

	pods := metav1.GroupVersionResource{Version: "v1", Resource: "pods"}
	forbidden := admittedPod(namespace, map[string]string{"koordinator.sh/qosClass": "BE"})
	forbidden.Spec.PriorityClassName = "koord-prod"
	sound := map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "standby-node"}}
	unreadable := map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{
		"name": "standby-node", "annotations": map[string]any{"node.koordinator.sh/reservation": "{"}}}
	for name, test := range map[string]struct {
		path, wantPatch, wantMessage string
		question                     *admissionv1.AdmissionReview
	}{
		"a pod that a profile changes": {path: webhooks.MutatePodPath, wantPatch: "the-profile", question: review(t, pods, "Pod", namespace, "pod", nil, admittedPod(namespace, nil))},
		"a pod that is refused":        {path: webhooks.ValidatePodPath, wantMessage: "KOORD1303", question: review(t, pods, "Pod", namespace, "pod", nil, forbidden)},
		"a node that is refused": {path: node.ValidatePath, wantMessage: "KOORD0201",
			question: review(t, metav1.GroupVersionResource{Version: "v1", Resource: "nodes"}, "Node", "", "standby-node", sound, unreadable)},
	} {
		t.Run(name, func(t *testing.T) {
			sandboxtest.Eventually(t, patience, func() error { // until both know the profile
				var its, own admissionv1.AdmissionReview
				if err := errors.Join(askWebhooks(t, standby.webhooks, test.path, test.question, &its), askWebhooks(t, leader.ManagerWebhooks, test.path, test.question, &own)); err != nil {
					return err
				}
				if diff := cmp.Diff(own.Response, its.Response); diff != "" {
					return fmt.Errorf("the standby answers (-leader +standby):\n%s", diff)
				}
				if !strings.Contains(string(its.Response.Patch), test.wantPatch) || its.Response.Allowed != (test.wantMessage == "") {
					return fmt.Errorf("the answer is allowed %t with patch %s", its.Response.Allowed, its.Response.Patch)
				}
				if test.wantMessage != "" && !strings.Contains(its.Response.Result.Message, test.wantMessage) {
					return fmt.Errorf("refused with %q, want %s", its.Response.Result.Message, test.wantMessage)
				}
				return nil
			})
		})
	}
	t.Run("what a node offers", func(t *testing.T) { standbyExplains(t, standby, leader.ManagerDiagnostics, machine) })
	if port, err := registeredPort(context.WithoutCancel(t.Context())); err != nil || port != leader.ManagerWebhooks {
		t.Errorf("the manager with webhooks at %d leads, want %d: %v", port, leader.ManagerWebhooks, err)
	}
}

// standbyExplains compares explanations of a node, of which only when and by whom they were given may differ.
func standbyExplains(t *testing.T, standby *replica, leader int, name string) {
	question := &diagnosticsv1alpha1.NodeExplanation{
		TypeMeta: metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: "NodeExplanation"},
		Spec:     diagnosticsv1alpha1.NodeExplanationSpec{NodeName: name},
	}
	path := "/apis/" + diagnosticsv1alpha1.GroupVersion.String() + "/nodeexplanations"
	sandboxtest.Eventually(t, patience, func() error { // until what is measured reached both, and has been published
		var its, own diagnosticsv1alpha1.NodeExplanation
		if err := errors.Join(askReplica(t, standby.diagnostics, path, question, &its), askReplica(t, leader, path, question, &own)); err != nil {
			return err
		}
		if its.Status.Origin.Leader || !own.Status.Origin.Leader {
			return fmt.Errorf("the standby says that it leads: %t, the leader: %t", its.Status.Origin.Leader, own.Status.Origin.Leader)
		}
		if diff := cmp.Diff(own.Status.Waterfalls, its.Status.Waterfalls); diff != "" {
			return fmt.Errorf("the standby explains (-leader +standby):\n%s", diff)
		}
		if diff := cmp.Diff(own.Status.Published, its.Status.Published); diff != "" {
			return fmt.Errorf("the standby says of what is published (-leader +standby):\n%s", diff)
		}
		if len(its.Status.Waterfalls) < 4 || its.Status.Metric.State != diagnosticsv1alpha1.MetricFresh {
			return fmt.Errorf("%d waterfalls of a measurement that is %s", len(its.Status.Waterfalls), its.Status.Metric.State)
		}
		return nil
	})
}
