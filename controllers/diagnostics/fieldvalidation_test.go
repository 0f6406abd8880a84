package diagnostics

import (
	"net/http"
	"testing"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	clientrest "k8s.io/client-go/rest"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// TestKubectlFindsThatCreationsTakeFieldValidation asks as kubectl does before it creates an object, as a user without permission to
// list CustomResourceDefinitions.
func TestKubectlFindsThatCreationsTakeFieldValidation(t *testing.T) {
	server := newTestServer(t, &recorder{}, func(a authorizer.Attributes) bool { return a.GetResource() != "customresourcedefinitions" })
	config := &clientrest.Config{Host: server.URL}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	verifiers := map[string]resource.Verifier{
		"version 2": resource.NewQueryParamVerifier(objects, served, resource.QueryParamFieldValidation),
		"version 3": resource.NewQueryParamVerifierV3(objects, served.OpenAPIV3(), resource.QueryParamFieldValidation),
	}
	for name, verifier := range verifiers {
		for _, kind := range []string{"PodExplanation", "NodeExplanation", "NodeExplanationBatch"} {
			t.Run(kind+" in OpenAPI "+name, func(t *testing.T) {
				if err := verifier.HasSupport(diagnosticsv1alpha1.GroupVersion.WithKind(kind)); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestQuestionsCannotBePatched(t *testing.T) {
	server := newTestServer(t, &recorder{}, everything)
	if code, data := send(t, server, http.MethodPatch, podsPath, "application/json", "{}"); code != http.StatusMethodNotAllowed {
		t.Errorf("a patch is answered with status %d: %s", code, data)
	}
}
