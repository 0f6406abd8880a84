// Package cluster does what has to be done inside a sandbox's cluster once its API server answers: the system's chart,
// the simulated nodes, the workloads of a scenario.
package cluster

import (
	"fmt"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Requests a second, and at once, that the sandbox itself makes while it starts. The API server is its own.
const (
	qps   = 500
	burst = 1000
)

// Cluster is a sandbox's cluster, seen as its administrator.
type Cluster struct {
	kubeconfig string
	config     *rest.Config
	client     kubernetes.Interface
	dynamic    dynamic.Interface
}

// Connect returns the cluster that a kubeconfig leads to. It makes no request yet.
func Connect(kubeconfig string) (*Cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the sandbox's kubeconfig: %w", err)
	}
	config.QPS, config.Burst = qps, burst
	config.UserAgent = "koord-sandbox"
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the sandbox's cluster: %w", err)
	}
	typed := rest.CopyConfig(config)
	typed.ContentType, typed.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	client, err := kubernetes.NewForConfig(typed)
	if err != nil {
		return nil, fmt.Errorf("connect to the sandbox's cluster: %w", err)
	}
	return &Cluster{kubeconfig: kubeconfig, config: config, client: client, dynamic: dynamicClient}, nil
}
