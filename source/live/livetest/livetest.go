// Package livetest is an API server for tests: it answers from objects in memory over real HTTP, in JSON and protobuf, with
// selectors, and it can refuse, fail or lack what a test wants refused, failing or absent.
package livetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// Server holds what the API server knows. Set the fields before the first request.
type Server struct {
	Nodes        []corev1.Node
	Pods         []corev1.Pod
	Events       []corev1.Event
	Namespaces   []corev1.Namespace
	ConfigMaps   []corev1.ConfigMap
	Metrics      []slov1alpha1.NodeMetric
	NodeSLOs     []slov1alpha1.NodeSLO
	Topologies   []topologyv1alpha1.NodeResourceTopology
	Devices      []schedulingv1alpha1.Device
	Profiles     []configv1alpha1.ClusterColocationProfile
	Reservations []schedulingv1alpha1.Reservation
	// Recommendations of analysis.koordinator.sh.
	Recommendations []analysisv1alpha1.Recommendation
	// Lists are the objects of every other resource of a group, by the resource.
	Lists map[string]runtime.Object
	// Creates answers POST requests, by the resource.
	Creates map[string]http.Handler
	// NoCRDs makes slo.koordinator.sh unknown.
	NoCRDs bool
	// NotInstalled are resources of custom kinds that the server does not know.
	NotInstalled []string
	// NotServed are "group/version" that the server does not know, though it serves others of the group.
	NotServed []string
	// Denied lists "verb resource" that RBAC refuses; "verb resource -A" is refused for all namespaces at once, "get resource name" for one
	// object.
	Denied []string
	// Failing lists "verb resource" that the server does not manage to answer: it says 500.
	Failing []string
	// Diagnostics serves diagnostics.koordinator.sh; nil makes the group unknown.
	Diagnostics http.Handler
	// Version of Kubernetes; a current one when empty.
	Version string
	// Broken answers every request with this status when set.
	Broken int

	mu       sync.Mutex
	requests []string
	url      string
}

// Start serves until the test ends.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
}

// Config is a kubeconfig for the server.
func (s *Server) Config(namespace string) clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(s.Kubeconfig(namespace), &clientcmd.ConfigOverrides{})
}

// Kubeconfig for the server, with one context.
func (s *Server) Kubeconfig(namespace string) clientcmdapi.Config {
	config := *clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: s.url}
	config.AuthInfos["eve"] = &clientcmdapi.AuthInfo{}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "eve", Namespace: namespace}
	config.CurrentContext = "test"
	return config
}

// Requests lists method and path of what was asked, in order.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers like an API server.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.String())
	s.mu.Unlock()
	switch {
	case s.Broken != 0:
		Fail(w, s.Broken, metav1.StatusReasonServiceUnavailable, "the server is broken")
	case r.URL.Path == "/version":
		fmt.Fprintf(w, `{"gitVersion":%q}`, cmp.Or(s.Version, "v1.36.3"))
	case strings.HasPrefix(r.URL.Path, "/apis/diagnostics.koordinator.sh/"):
		s.diagnostics(w, r)
	case s.knows(r.URL.Path):
		fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1"}`)
	default:
		s.resource(w, r)
	}
}

func (s *Server) diagnostics(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/")
	switch resource := parts[len(parts)-1]; {
	case slices.Contains(s.Denied, "create "+resource):
		forbid(w, "create", resource)
	case s.Diagnostics == nil:
		http.NotFound(w, r)
	default:
		s.Diagnostics.ServeHTTP(w, r)
	}
}

// resource serves /api/v1 and the groups of custom resources, whatever their version.
func (s *Server) resource(w http.ResponseWriter, r *http.Request) {
	path, isCore := strings.CutPrefix(r.URL.Path, "/api/v1/")
	if !isCore {
		if path = ours(r.URL.Path); path == "" || s.NoCRDs || s.notServed(r.URL.Path) {
			http.NotFound(w, r)
			return
		}
	}
	namespace, parts := "", strings.Split(path, "/")
	if len(parts) > 2 && parts[0] == "namespaces" {
		namespace, parts = parts[1], parts[2:]
	}
	resource, verb := parts[0], "list"
	if len(parts) == 2 {
		verb = "get"
	}
	if r.Method == http.MethodPost {
		verb = "create"
	}
	if slices.Contains(s.Denied, verb+" "+strings.Join(parts, " ")) || slices.Contains(s.Denied, verb+" "+resource) ||
		namespace == "" && slices.Contains(s.Denied, verb+" "+resource+" -A") {
		forbid(w, verb, resource)
		return
	}
	if slices.Contains(s.Failing, verb+" "+resource) {
		Fail(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "etcd is away")
		return
	}
	if answer, served := s.Creates[resource]; served && verb == "create" {
		answer.ServeHTTP(w, r)
		return
	}
	objects, list := s.objects(resource)
	if list == nil || verb == "create" || slices.Contains(s.NotInstalled, resource) {
		http.NotFound(w, r)
		return
	}
	if verb == "get" {
		one(w, r, objects, namespace, parts[1], resource)
		return
	}
	many(w, r, objects, list, namespace)
}

// ours is what follows the group and version in the path of a group; empty for any other path.
func ours(path string) string {
	parts := strings.SplitN(path, "/", 5)
	if len(parts) < 5 || parts[1] != "apis" {
		return ""
	}
	return parts[4]
}

// knows says whether a path is that of the version of a group, of which there is one of the Lists.
func (s *Server) knows(path string) bool {
	for _, list := range s.Lists {
		if version := list.GetObjectKind().GroupVersionKind().GroupVersion(); path == "/apis/"+version.String() {
			return true
		}
	}
	return false
}

func (s *Server) notServed(path string) bool {
	return slices.ContainsFunc(s.NotServed, func(version string) bool { return strings.HasPrefix(path, "/apis/"+version+"/") })
}

func (s *Server) objects(resource string) ([]runtime.Object, runtime.Object) {
	switch resource {
	case "nodes":
		return pointers(s.Nodes), &corev1.NodeList{}
	case "pods":
		return pointers(s.Pods), &corev1.PodList{}
	case "events":
		return pointers(s.Events), &corev1.EventList{}
	case "namespaces":
		return pointers(s.Namespaces), &corev1.NamespaceList{}
	case "configmaps":
		return pointers(s.ConfigMaps), &corev1.ConfigMapList{}
	case "nodemetrics":
		return pointers(s.Metrics), &slov1alpha1.NodeMetricList{}
	case "nodeslos":
		return pointers(s.NodeSLOs), &slov1alpha1.NodeSLOList{}
	case "recommendations":
		return pointers(s.Recommendations), &analysisv1alpha1.RecommendationList{}
	case "reservations":
		return pointers(s.Reservations), &schedulingv1alpha1.ReservationList{}
	case "clustercolocationprofiles":
		return pointers(s.Profiles), &configv1alpha1.ClusterColocationProfileList{}
	case "devices":
		return pointers(s.Devices), &schedulingv1alpha1.DeviceList{}
	case "noderesourcetopologies":
		return pointers(s.Topologies), &topologyv1alpha1.NodeResourceTopologyList{}
	default:
		return s.listed(resource)
	}
}

// listed are the objects of one of the Lists.
func (s *Server) listed(resource string) ([]runtime.Object, runtime.Object) {
	list, served := s.Lists[resource]
	if !served {
		return nil, nil
	}
	objects, err := meta.ExtractList(list)
	if err != nil {
		return nil, nil
	}
	return objects, list.DeepCopyObject()
}

func pointers[T any, P interface {
	*T
	runtime.Object
}](items []T) []runtime.Object {
	out := make([]runtime.Object, len(items))
	for i := range items {
		out[i] = P(&items[i])
	}
	return out
}

func one(w http.ResponseWriter, r *http.Request, objects []runtime.Object, namespace, name, resource string) {
	for _, object := range objects {
		if m, err := meta.Accessor(object); err == nil && m.GetName() == name && m.GetNamespace() == namespace {
			send(w, r, object)
			return
		}
	}
	Fail(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", resource, name))
}

func many(w http.ResponseWriter, r *http.Request, objects []runtime.Object, list runtime.Object, namespace string) {
	byField, err := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	if err != nil {
		Fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	byLabel, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		Fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	for _, object := range objects[:min(len(objects), 1)] {
		if m, err := meta.Accessor(object); err == nil {
			for _, r := range byField.Requirements() {
				if !fieldsOf(object, m).Has(r.Field) {
					Fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "field label not supported: "+r.Field)
					return
				}
			}
		}
	}
	var kept []runtime.Object
	for _, object := range objects {
		m, err := meta.Accessor(object)
		if err == nil && (namespace == "" || m.GetNamespace() == namespace) && byLabel.Matches(labels.Set(m.GetLabels())) && byField.Matches(fieldsOf(object, m)) {
			kept = append(kept, object)
		}
	}
	if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList") {
		partial := &metav1.PartialObjectMetadataList{}
		for _, object := range kept {
			m, _ := meta.Accessor(object)
			partial.Items = append(partial.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Name: m.GetName(), Namespace: m.GetNamespace(), UID: m.GetUID(), Labels: m.GetLabels(), Annotations: m.GetAnnotations(), OwnerReferences: m.GetOwnerReferences(),
			}})
		}
		send(w, r, partial)
		return
	}
	if err := meta.SetList(list, kept); err != nil {
		Fail(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, err.Error())
		return
	}
	send(w, r, list)
}

func fieldsOf(object runtime.Object, m metav1.Object) fields.Set {
	set := fields.Set{"metadata.name": m.GetName(), "metadata.namespace": m.GetNamespace()}
	switch o := object.(type) {
	case *corev1.Pod:
		set["spec.nodeName"], set["status.phase"] = o.Spec.NodeName, string(o.Status.Phase)
	case *corev1.Event:
		set["involvedObject.name"], set["involvedObject.kind"] = o.InvolvedObject.Name, o.InvolvedObject.Kind
		set["involvedObject.uid"], set["reason"] = string(o.InvolvedObject.UID), o.Reason
	}
	return set
}

func send(w http.ResponseWriter, r *http.Request, object runtime.Object) {
	if !strings.Contains(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		_ = json.NewEncoder(w).Encode(object)
		return
	}
	w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
	if kinds, _, err := scheme.Scheme.ObjectKinds(object); err == nil {
		object = object.DeepCopyObject()
		object.GetObjectKind().SetGroupVersionKind(kinds[0])
	}
	_ = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, w)
}

// Fail answers with a Status.
func Fail(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message,
	})
}

func forbid(w http.ResponseWriter, verb, resource string) {
	Fail(w, http.StatusForbidden, metav1.StatusReasonForbidden,
		fmt.Sprintf("%s is forbidden: User \"eve\" cannot %s resource %q in API group \"\" at the cluster scope", resource, verb, resource))
}
