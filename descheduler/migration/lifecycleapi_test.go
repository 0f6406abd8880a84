package migration

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/decision/descheduling/migration"
)

// lifecycleAPI is an API server with EvictionRequests, validated as by Kubernetes 1.37, and the eviction API.
type lifecycleAPI struct {
	mu       sync.Mutex
	served   bool
	requests map[string]*unstructured.Unstructured
	// evicted are the pods evicted by the eviction API.
	evicted []string
	// discovered counts how often it was asked for the resources.
	discovered int
	// loseAnswer answers the next creation with an error after it was done, and forbid refuses all reads.
	loseAnswer, forbid bool
}

func startLifecycleAPI(t *testing.T) (*lifecycleAPI, *rest.Config) {
	t.Helper()
	api := &lifecycleAPI{served: true, requests: map[string]*unstructured.Unstructured{}}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	return api, &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
}

// change changes the state of the API server between two steps.
func (a *lifecycleAPI) change(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

// intents of the requests, by name.
func (a *lifecycleAPI) intents() map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := map[string]string{}
	for name, request := range a.requests {
		out[name], _, _ = unstructured.NestedString(request.Object, "spec", "intent")
	}
	return out
}

func (a *lifecycleAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	const root = "/apis/lifecycle.k8s.io/v1alpha1"
	rest, isLifecycle := strings.CutPrefix(r.URL.Path, root)
	switch {
	case isLifecycle && rest == "":
		a.discovered++
	case strings.HasSuffix(r.URL.Path, "/eviction"):
		a.evicted = append(a.evicted, r.URL.Path)
		answer(w, http.StatusCreated, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
		return
	}
	if !isLifecycle || !a.served {
		http.NotFound(w, r)
		return
	}
	if rest == "" {
		answer(w, http.StatusOK, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "lifecycle.k8s.io/v1alpha1",
			APIResources: []metav1.APIResource{{Name: "evictionrequests", Kind: "EvictionRequest", Namespaced: true}},
		})
		return
	}
	object, err := a.serve(r, strings.TrimPrefix(rest, "/namespaces/default/evictionrequests"))
	if err != nil {
		err.ErrStatus.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		answer(w, int(err.ErrStatus.Code), err.ErrStatus)
		return
	}
	answer(w, http.StatusOK, object)
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client sees a broken body
}

func (a *lifecycleAPI) serve(r *http.Request, path string) (*unstructured.Unstructured, *apierrors.StatusError) {
	resource, name := migration.EvictionRequests.GroupResource(), strings.TrimPrefix(path, "/")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if r.Method == http.MethodPost {
		return a.create(body)
	}
	existing := a.requests[name]
	switch {
	case a.forbid: // whether there is such an object is not told
		return nil, apierrors.NewForbidden(resource, name, fmt.Errorf("no rule"))
	case existing == nil:
		return nil, apierrors.NewNotFound(resource, name)
	case r.Method == http.MethodGet:
		return existing, nil
	}
	return a.patch(existing, body)
}

func (a *lifecycleAPI) create(body []byte) (*unstructured.Unstructured, *apierrors.StatusError) {
	resource, object := migration.EvictionRequests.GroupResource(), &unstructured.Unstructured{}
	if err := json.Unmarshal(body, &object.Object); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if invalid := invalidRequest(object); invalid != "" {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "post", resource, object.GetName(), invalid, 0, true)
	}
	if a.requests[object.GetName()] != nil {
		return nil, apierrors.NewAlreadyExists(resource, object.GetName())
	}
	delete(object.Object, "status")
	object.SetGeneration(1)
	object.SetUID("request")
	a.requests[object.GetName()] = object
	if a.loseAnswer {
		a.loseAnswer = false
		return nil, apierrors.NewInternalError(fmt.Errorf("the answer is lost"))
	}
	return object, nil
}

func (a *lifecycleAPI) patch(existing *unstructured.Unstructured, body []byte) (*unstructured.Unstructured, *apierrors.StatusError) {
	resource, name := migration.EvictionRequests.GroupResource(), existing.GetName()
	before, err := json.Marshal(existing.Object)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	merged, err := jsonpatch.MergePatch(before, body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(merged, &object.Object); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if object.GetUID() != existing.GetUID() {
		return nil, apierrors.NewConflict(resource, name, fmt.Errorf("the UID in the precondition does not match"))
	}
	invalid := invalidRequest(object)
	was, is := existing.Object["spec"].(map[string]any), object.Object["spec"].(map[string]any)
	if !reflect.DeepEqual(was["target"], is["target"]) || was["requester"] != is["requester"] {
		invalid = "spec.target, spec.requester: field is immutable"
	}
	if invalid != "" {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "patch", resource, name, invalid, 0, true)
	}
	object.Object["status"] = existing.Object["status"]
	if was["intent"] != is["intent"] {
		object.SetGeneration(existing.GetGeneration() + 1)
	}
	a.requests[name] = object
	return object, nil
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// invalidRequest is what the validation of EvictionRequests refuses; empty when nothing.
func invalidRequest(object *unstructured.Unstructured) string {
	text := func(fields ...string) string {
		value, _, _ := unstructured.NestedString(object.Object, fields...)
		return value
	}
	requester := text("spec", "requester")
	domain, _, prefixed := strings.Cut(requester, "/")
	reserved := regexp.MustCompile(`(^|\.)(k8s|kubernetes)\.io$`)
	switch {
	case len(validation.IsDNS1123Subdomain(object.GetName())) > 0:
		return "metadata.name: must be a DNS subdomain"
	case !prefixed || len(validation.IsQualifiedName(requester)) > 0:
		return "spec.requester: must be a label key with a domain"
	case reserved.MatchString(domain):
		return "spec.requester: domain names *.k8s.io, *.kubernetes.io are reserved"
	case text("spec", "intent") != "Eviction" && text("spec", "intent") != "Withdrawn":
		return "spec.intent: must be Eviction or Withdrawn"
	case len(validation.IsDNS1123Subdomain(text("spec", "target", "pod", "name"))) > 0:
		return "spec.target.pod.name: must be a DNS subdomain"
	case !uuidForm.MatchString(text("spec", "target", "pod", "uid")):
		return "spec.target.pod.uid: must be a lowercase UUID in 8-4-4-4-12 format"
	}
	return ""
}
