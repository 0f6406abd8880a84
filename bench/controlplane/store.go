package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes/scheme"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/sandbox/state"
)

// writesPerTransaction is below etcd's limit of 128.
const writesPerTransaction = 100

// Store writes objects to etcd, from where the API server serves them like those that were created by requests. That takes a hundredth of
// the time, which matters for 150,000 pods. Nothing is defaulted or validated, so that objects should be changed copies of created ones.
type Store struct{ client *clientv3.Client }

// OpenStore connects to etcd. Close must be called.
func (c *ControlPlane) OpenStore() (*Store, error) {
	dir := state.At(c.Sandbox.Directory())
	ports, err := dir.ReadPorts()
	if err != nil {
		return nil, err
	}
	file := func(name string) string { return filepath.Join(dir.PKI(), name) }
	pair, err := tls.LoadX509KeyPair(file("etcd-client.crt"), file("etcd-client.key"))
	if err != nil {
		return nil, fmt.Errorf("read the certificate for etcd: %w", err)
	}
	ca, err := os.ReadFile(file("etcd-ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the CA of etcd: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{fmt.Sprintf("https://127.0.0.1:%d", ports.EtcdClient)}, TLS: &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool},
	})
	if err != nil {
		return nil, fmt.Errorf("connect to etcd: %w", err)
	}
	return &Store{client}, nil
}

// Close closes the connection.
func (s *Store) Close() error { return s.client.Close() }

// WritePods writes pods.
func (s *Store) WritePods(ctx context.Context, pods []*corev1.Pod) error {
	encoder := scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), corev1.SchemeGroupVersion)
	for chunk := range slices.Chunk(pods, writesPerTransaction) {
		writes := make([]clientv3.Op, len(chunk))
		for i, pod := range chunk {
			pod.ResourceVersion = "" // it is the revision of the write
			value, err := runtime.Encode(encoder, pod)
			if err != nil {
				return fmt.Errorf("encode pod %s/%s: %w", pod.Namespace, pod.Name, err)
			}
			writes[i] = clientv3.OpPut("/registry/pods/"+pod.Namespace+"/"+pod.Name, string(value))
		}
		if _, err := s.client.Txn(ctx).Then(writes...).Commit(); err != nil {
			return fmt.Errorf("write %d pods: %w", len(chunk), err)
		}
	}
	return nil
}

// WriteNodeMetric writes a NodeMetric with its status. It is given what the API server gives to created objects.
func (s *Store) WriteNodeMetric(ctx context.Context, metric *slov1alpha1.NodeMetric) error {
	metric.TypeMeta = metav1.TypeMeta{APIVersion: slov1alpha1.GroupVersion.String(), Kind: "NodeMetric"}
	metric.UID, metric.Generation, metric.CreationTimestamp = uuid.NewUUID(), 1, metav1.Now()
	value, err := json.Marshal(metric)
	if err != nil {
		return fmt.Errorf("encode NodeMetric %s: %w", metric.Name, err)
	}
	if _, err := s.client.Put(ctx, "/registry/"+nodeMetrics.Group+"/"+nodeMetrics.Resource+"/"+metric.Name, string(value)); err != nil {
		return fmt.Errorf("write NodeMetric %s: %w", metric.Name, err)
	}
	return nil
}
