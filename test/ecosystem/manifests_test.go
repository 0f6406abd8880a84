package ecosystem

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// parse reads the objects of a file of manifests.
func parse(t *testing.T, manifests []byte) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifests)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects
		}
		object := &unstructured.Unstructured{}
		if err := errors.Join(err, yaml.Unmarshal(document, &object.Object)); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
}

// adapt makes an object of the manifests fit a process of this machine, and says whether it is created at all: no pod runs the controller.
func (s setting) adapt(object *unstructured.Unstructured) bool {
	switch object.GetKind() {
	case "Deployment":
		return false
	case "APIService":
		_ = unstructured.SetNestedField(object.Object, int64(s.api), "spec", "service", "port") // it has a service
		return s.api > 0
	case "Service":
		if s.api == 0 && !strings.HasSuffix(object.GetName(), "-webhook-service") {
			return false
		}
		// The API server calls webhooks and aggregated APIs by the name of their Service, and connects to this host.
		object.Object["spec"] = map[string]any{"type": "ExternalName", "externalName": "localhost"}
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		webhooks, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
		for _, webhook := range webhooks {
			s.direct(webhook.(map[string]any)["clientConfig"].(map[string]any))
		}
		object.Object["webhooks"] = webhooks
	case "CustomResourceDefinition":
		path := []string{"spec", "conversion", "webhook", "clientConfig"}
		if client, found, _ := unstructured.NestedMap(object.Object, path...); found {
			s.direct(client)
			_ = unstructured.SetNestedMap(object.Object, client, path...) // it was read from there
		}
	}
	return true
}

// direct leads the API server to the port of the controller.
func (s setting) direct(client map[string]any) {
	client["service"].(map[string]any)["port"] = int64(s.webhook)
	if len(s.authority) > 0 {
		client["caBundle"] = base64.StdEncoding.EncodeToString(s.authority)
	}
}

func TestManifestsAreAdapted(t *testing.T) {
	manifests := `
apiVersion: apps/v1
kind: Deployment
metadata: {name: kueue-controller-manager}
---
apiVersion: v1
kind: Service
metadata: {name: kueue-webhook-service}
spec: {ports: [{port: 443}], selector: {a: b}}
---
apiVersion: v1
kind: Service
metadata: {name: kueue-visibility-server}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: kueue-mutating}
webhooks: [{name: mpod.kb.io, clientConfig: {service: {name: kueue-webhook-service, path: /pods}}}]
`
	var created []string
	var port any
	for _, object := range parse(t, []byte(manifests)) {
		if !(setting{webhook: 4711}).adapt(object) {
			continue
		}
		created = append(created, object.GetKind())
		if webhooks, found, _ := unstructured.NestedSlice(object.Object, "webhooks"); found {
			port, _, _ = unstructured.NestedFieldNoCopy(webhooks[0].(map[string]any), "clientConfig", "service", "port")
		}
	}
	if want := []string{"Service", "MutatingWebhookConfiguration"}; !slices.Equal(created, want) || port != int64(4711) {
		t.Errorf("created %v, webhook on port %v; want %v on 4711", created, port, want)
	}
}
