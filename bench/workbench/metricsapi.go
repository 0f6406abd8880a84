package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"koordinator.sh/koord/bench/controlplane"
)

var apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// metricsAPI serves metrics.k8s.io, which `kubectl top` asks, as a metrics-server would that has the answer ready.
type metricsAPI struct{ server *httptest.Server }

// Close ends it.
func (m *metricsAPI) Close() error {
	m.server.Close()
	return nil
}

// serveMetrics starts one behind the API server's aggregation layer, and waits until it is available.
func serveMetrics(ctx context.Context, plane *controlplane.ControlPlane, nodes int) (_ *metricsAPI, err error) {
	answers, err := metricsAnswers(nodes)
	if err != nil {
		return nil, err
	}
	m := &metricsAPI{httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, known := answers[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	address, _ := m.server.Listener.Addr().(*net.TCPAddr)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "metrics"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost", Ports: []corev1.ServicePort{{Port: int32(address.Port)}}},
	}
	if _, err := plane.Client.CoreV1().Services(namespace).Create(ctx, service, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1beta1.metrics.k8s.io"},
		"spec": map[string]any{
			"group": "metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100), "insecureSkipTLSVerify": true,
			"service": map[string]any{"namespace": namespace, "name": service.Name, "port": int64(address.Port)},
		},
	}}
	if _, err := plane.Dynamic.Resource(apiServices).Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		return plane.Client.Discovery().RESTClient().Get().AbsPath("/apis/metrics.k8s.io/v1beta1/nodes").Do(ctx).Error() == nil, nil
	})
	return m, err
}

// metricsAnswers are the discovery document and the list of what nodes use.
func metricsAnswers(nodes int) (map[string][]byte, error) {
	now := time.Now().UTC().Format(time.RFC3339)
	items := make([]map[string]any, nodes)
	for i := range items {
		items[i] = map[string]any{
			"metadata": map[string]any{"name": nodeName(i), "creationTimestamp": now}, "timestamp": now, "window": "10s",
			"usage": map[string]any{"cpu": fmt.Sprintf("%dm", usedMilli(i)), "memory": fmt.Sprintf("%dMi", usedMiB(i))},
		}
	}
	const version = "metrics.k8s.io/v1beta1"
	answers := map[string][]byte{}
	for path, value := range map[string]any{
		"/apis/" + version: metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: version,
			APIResources: []metav1.APIResource{{Name: "nodes", Kind: "NodeMetrics", Verbs: metav1.Verbs{"get", "list"}}},
		},
		"/apis/" + version + "/nodes": map[string]any{"apiVersion": version, "kind": "NodeMetricsList", "metadata": map[string]any{}, "items": items},
	} {
		body, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		answers[path] = body
	}
	return answers, nil
}
